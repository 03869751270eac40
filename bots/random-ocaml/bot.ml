(* Plays a random legal action in any game: OCaml's standard library alone.

   Answering with an index needs no JSON parser: [parts] takes an array or object apart, and what is inside its parts
   stays text. *)

let random = ref 1L (* the state of an xorshift64 generator: never zero *)

let below n =
  let open Int64 in
  random := logxor !random (shift_left !random 13);
  random := logxor !random (shift_right_logical !random 7);
  random := logxor !random (shift_left !random 17);
  unsigned_rem !random (of_int n)

(* The index of the closing quote of the string that opens at [at]. *)
let rec string_end text at =
  match text.[at + 1] with
  | '"' -> at + 1
  | '\\' -> string_end text (at + 2)
  | _ -> string_end text (at + 1)

(* What stands between the commas of the array or object [text]. *)
let parts text =
  let part first behind = String.trim (String.sub text first (behind - first)) in
  let rec walk found first depth at =
    match text.[at] with
    | '"' -> walk found first depth (string_end text at + 1)
    | '[' | '{' -> walk found first (depth + 1) (at + 1)
    | (']' | '}') when depth = 1 ->
      let last = part first at in
      List.rev (if last = "" then found else last :: found)
    | ']' | '}' -> walk found first (depth - 1) (at + 1)
    | ',' when depth = 1 -> walk (part first at :: found) (at + 1) depth (at + 1)
    | _ -> walk found first depth (at + 1)
  in
  walk [] 1 1 1

(* A key with its value, both as they are written; strings lose their quotes. *)
let pair part =
  let unquoted text = if text.[0] = '"' then String.sub text 1 (String.length text - 2) else text in
  let key_end = string_end part 0 + 1 in
  let value = String.index_from part key_end ':' + 1 in
  (unquoted (String.sub part 0 key_end),
   unquoted (String.trim (String.sub part value (String.length part - value))))

let rec play () =
  let line = input_line stdin in
  let message = List.map pair (parts line) in
  let get key = List.assoc key message in
  match get "type" with
  | "quit" -> ()
  | kind ->
    (match kind with
     | "hello" -> print_endline {|{"type":"hello","protocol":1,"wants":["legal"],"reusable":true}|}
     | "start" ->
       (* The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits. *)
       let seed = get "seed" in
       random := Int64.of_string ("0x" ^ String.sub seed 0 (min 16 (String.length seed)));
       if !random = 0L then random := 1L;
       print_endline {|{"type":"ready"}|}
     | "act" ->
       let action = below (List.length (parts (get "legal"))) in
       Printf.printf "{\"type\":\"act\",\"id\":%s,\"action\":%Lu}\n%!" (get "id") action
     | "fault" -> prerr_endline line
     | _ -> ());
    play ()

let () = try play () with End_of_file -> ()

## Plays a random legal action in any game, with the standard library alone.
##
## Nim's JSON reader would do, but takes its time for questions of 300 kB. An answer may be an index into the list of
## legal actions, so it is enough to find a few values at the top level, and to count the items of one list.

import std/[strutils]

var random: uint64 = 1 # the state of an xorshift64 generator: never zero

proc below(n: uint64): uint64 =
  random = random xor (random shl 13)
  random = random xor (random shr 7)
  random = random xor (random shl 17)
  if n == 0: 0'u64 else: random mod n

proc send(message: string) =
  stdout.write(message & "\n")
  stdout.flushFile() # a pipe keeps what is written until it is full or flushed

proc stringEnd(text: string, start: int): int =
  ## Where the string that begins at the quote `start` has its closing quote.
  result = start + 1
  while text[result] != '"':
    result += (if text[result] == '\\': 2 else: 1)

proc skipSpace(text: string, start: int): int =
  result = start
  while result < text.len and text[result] in Whitespace:
    inc result

proc find(text, key: string): int =
  ## Where the value of a key at the top level begins; the length of the text if there is none.
  var depth = 0
  var at = 0
  while at < text.len:
    case text[at]
    of '{', '[': inc depth
    of '}', ']': dec depth
    of '"':
      let stop = stringEnd(text, at)
      let colon = skipSpace(text, stop + 1)
      if depth == 1 and colon < text.len and text[colon] == ':' and text[at + 1 ..< stop] == key:
        return skipSpace(text, colon + 1)
      at = stop
    else: discard
    inc at
  text.len

proc count(text: string, start: int): uint64 =
  ## How many items the list has that begins at `start`.
  var commas = 0'u64
  var empty = true
  var depth = 0
  var at = start
  while at < text.len:
    let c = text[at]
    if c in {']', '}'}:
      dec depth
      if depth == 0: break
    else:
      if depth >= 1 and c notin Whitespace:
        empty = false
        if depth == 1 and c == ',': inc commas
      if c in {'[', '{'}: inc depth
      elif c == '"': at = stringEnd(text, at)
    inc at
  if empty: 0'u64 else: commas + 1

proc word(text: string, at: int): string =
  ## A string or number: types, ids and seeds hold no escapes.
  var start = at
  if start < text.len and text[start] == '"': inc start
  var stop = start
  while stop < text.len and text[stop] notin {'"', ',', '}', ' ', '\t'}: inc stop
  text[start ..< stop]

var line = ""
while stdin.readLine(line):
  case word(line, find(line, "type"))
  of "hello":
    send("""{"type":"hello","protocol":1,"wants":["legal"],"reusable":true}""")
  of "start":
    # The referee's seed makes a match reproducible; its first 16 hexadecimal digits are 64 bits.
    let seed = word(line, find(line, "seed"))
    random = fromHex[uint64](seed[0 ..< min(16, seed.len)])
    if random == 0: random = 1
    send("""{"type":"ready"}""")
  of "act":
    let id = word(line, find(line, "id"))
    send("{\"type\":\"act\",\"id\":" & id & ",\"action\":" & $below(count(line, find(line, "legal"))) & "}")
  of "fault":
    stderr.writeLine(line)
  of "quit":
    break
  else: discard

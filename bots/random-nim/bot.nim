## Plays a random legal action in any game, with the standard library alone.

import std/[json, strutils]

var random: uint64 = 1 # the state of an xorshift64 generator: never zero

proc below(n: int): uint64 =
  random = random xor (random shl 13)
  random = random xor (random shr 7)
  random = random xor (random shl 17)
  random mod uint64(n)

proc send(message: JsonNode) =
  stdout.write($message & "\n")
  stdout.flushFile() # a pipe keeps what is written until it is full or flushed

var line = ""
while stdin.readLine(line):
  let message = parseJson(line)
  case message["type"].getStr
  of "hello":
    send(%*{"type": "hello", "protocol": 1, "wants": ["legal"], "reusable": true})
  of "start":
    # The referee's seed makes a match reproducible; its first 16 hexadecimal digits are 64 bits.
    let seed = message["seed"].getStr
    random = fromHex[uint64](seed[0 ..< min(16, seed.len)])
    if random == 0: random = 1
    send(%*{"type": "ready"})
  of "act":
    send(%*{"type": "act", "id": message["id"], "action": below(message["legal"].len)})
  of "fault":
    stderr.writeLine(line)
  of "quit":
    break
  else: discard

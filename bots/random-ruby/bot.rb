# Plays a random legal action in any game: Ruby, nothing to install.
require "json"

$stdin.set_encoding(Encoding::UTF_8) # whatever the locale says
$stdout.sync = true # a pipe is fully buffered, and the referee would wait in vain

BITS = 2**64 - 1
random = 1 # the state of an xorshift64 generator: never zero

below = lambda do |n|
  random ^= random << 13 & BITS
  random ^= random >> 7
  random ^= random << 17 & BITS
  random % n
end

while (line = $stdin.gets)
  message = JSON.parse(line)
  case message["type"]
  when "hello"
    puts JSON.generate(type: "hello", protocol: 1, wants: ["legal"], reusable: true)
  when "start"
    # The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
    random = message["seed"][0, 16].to_i(16)
    random = 1 if random.zero?
    puts JSON.generate(type: "ready")
  when "act"
    puts JSON.generate(type: "act", id: message["id"], action: below.call(message["legal"].size))
  when "fault"
    warn "out of the game, #{message["kind"]}: #{message["message"]}"
  when "quit"
    break
  end
end

// Plays a random legal action in any game: Go's standard library alone.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// The keys of all messages that this bot looks at.
type message struct {
	Type, Seed, Kind, Message string

	ID    json.Number
	Legal []json.RawMessage // an answer is an index, so the actions themselves are not read
}

var random uint64 = 1 // the state of an xorshift64 generator: never zero

func below(n int) uint64 {
	random ^= random << 13
	random ^= random >> 7
	random ^= random << 17
	return random % uint64(n)
}

func seeded(seed string) uint64 {
	// The referee's seed makes a match reproducible; its first 16 hex digits are 64 bits.
	if len(seed) > 16 {
		seed = seed[:16]
	}
	if bits, err := strconv.ParseUint(seed, 16, 64); err == nil && bits != 0 {
		return bits
	}
	return 1
}

func main() {
	for input := json.NewDecoder(os.Stdin); ; {
		var heard message
		if input.Decode(&heard) != nil {
			return // the end of input means quit, too
		}
		switch heard.Type {
		case "hello":
			fmt.Println(`{"type":"hello","protocol":1,"wants":["legal"],"reusable":true}`)
		case "start":
			random = seeded(heard.Seed)
			fmt.Println(`{"type":"ready"}`)
		case "act":
			fmt.Printf(`{"type":"act","id":%s,"action":%d}`+"\n", heard.ID, below(len(heard.Legal)))
		case "fault":
			fmt.Fprintf(os.Stderr, "out of the game, %s: %s\n", heard.Kind, heard.Message)
		case "quit":
			return
		}
	}
}

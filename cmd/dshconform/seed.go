package main

import (
	"math/rand/v2"
	"strconv"
)

// defaultSeed makes every run the same unless somebody asks for another.
const defaultSeed = 1

// seedLimit keeps seeds exact in every JSON reader.
const seedLimit = 1 << 53

// seedOf reads --seed.
func seedOf(text string) (uint64, error) {
	if text == "random" {
		return rand.Uint64N(seedLimit), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seed >= seedLimit {
		return 0, misuse("--seed takes a number below 2^53 or the word random, not %q", text)
	}
	return seed, nil
}

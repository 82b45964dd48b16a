package testenv

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flag
)

// seed is what the tests draw from unless told otherwise.
const seed = "1"

func init() {
	if _, told := os.LookupEnv("RAPID_SEED"); told {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(err) // rapid has no such flag any more
	}
}

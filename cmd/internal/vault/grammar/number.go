package grammar

import (
	"strconv"

	"vaultwicket/cmd/internal/vault/answer"
)

// Number reads a parameter that is a whole number within bounds, or returns
// what counts without it.
func (p Values) Number(name string, fallback, least, most int) (int, error) {
	if !p.Has(name) {
		return fallback, nil
	}
	n, err := strconv.Atoi(p[name])
	if err != nil || n < least || n > most {
		return 0, answer.Misuse("Invalid number: %s. Use %s from %d to %d.", p[name], name, least, most)
	}
	return n, nil
}

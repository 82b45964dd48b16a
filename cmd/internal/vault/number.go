package vault

import "strconv"

// number reads a parameter that is a whole number within bounds, or returns
// what counts without it.
func (p params) number(name string, fallback, least, most int) (int, error) {
	if !p.has(name) {
		return fallback, nil
	}
	n, err := strconv.Atoi(p[name])
	if err != nil || n < least || n > most {
		return 0, misuse("Invalid number: %s. Use %s from %d to %d.", p[name], name, least, most)
	}
	return n, nil
}

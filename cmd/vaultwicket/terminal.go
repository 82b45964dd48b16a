package main

import "vaultwicket/gateway/clean"

// visible shows text from outside in our own messages: what a terminal would
// obey, or a reader would not see, stands there as an escape.
func visible(s string) string {
	text, _ := clean.Text(s)
	return text
}

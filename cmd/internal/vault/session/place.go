package session

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/answer"
)

// Place says in which part of the vault something was looked for, for notices:
// the folder as it was typed, or the vault.
func Place(folder string) string {
	if bare := strings.Trim(folder, "/"); bare != "" {
		return fmt.Sprintf("%q", answer.Verbatim(quote.Short(bare)))
	}
	return "the vault"
}

// Count writes a number of things out: "1 note", "6 notes".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

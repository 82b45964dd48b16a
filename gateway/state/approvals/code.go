package approvals

import (
	"crypto/rand"
	"io"
	"strings"
)

// alphabet has no two characters that the user could take for each other: no 0
// and O, no 1, I and L.
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const codeLength = 8 // of 31 characters: nobody meets the code of another question by mistake

// newCode makes a code that nobody can guess.
func newCode() string { return codeFrom(rand.Reader) }

// codeFrom makes a code of a source that never fails, every code as likely as another.
func codeFrom(source io.Reader) string {
	const fair = 256 - 256%len(alphabet)
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		var random [1]byte
		_, _ = io.ReadFull(source, random[:])
		if int(random[0]) < fair {
			code = append(code, alphabet[int(random[0])%len(alphabet)])
		}
	}
	return string(code)
}

// displayCode writes a code as the user reads it.
func displayCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// parseCode reads a code as the user types it. It reports false for what no
// question can have, so a code can be part of a file name.
func parseCode(typed string) (code string, ok bool) {
	code = strings.Map(upper, strings.ReplaceAll(typed, "-", ""))
	return code, isCode(code)
}

// upper leaves alone what is not ASCII: some of it has capitals that are.
func upper(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

func isCode(text string) bool {
	return len(text) == codeLength && strings.Trim(text, alphabet) == ""
}

package gateway

import (
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
)

// cutText returns at most limit bytes of s, whole characters, and whole lines
// when that costs no more than an eighth.
func cutText(s string, limit int) string {
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if newline := strings.LastIndexByte(s[:end], '\n'); newline >= limit-limit/8 {
		end = newline + 1
	}
	return s[:end]
}

const maxQuoted = 200 // of a text from outside in one of our messages

func clip(s string) string {
	return quote.Clip(s, maxQuoted)
}

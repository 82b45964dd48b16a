package pages

import (
	"bytes"
	"encoding/json"
)

// maxCompact bounds the text that [Compact] works on, in bytes: it makes a copy.
const maxCompact = 4 << 20

// Compact returns JSON without the space between its tokens, which costs a model as much
// as the values do. Keys and values keep their bytes. What is no JSON, or longer than
// 4 MiB, is returned as it is.
func Compact(text string) string {
	if len(text) > maxCompact {
		return text
	}
	var b bytes.Buffer
	b.Grow(len(text))
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

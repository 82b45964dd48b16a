package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// Compact is JSON without white space between its values. As the structured content of a
// result it is written as it is, where other values are encoded or checked. It is a string
// so that a text of the result can be the same one.
type Compact string

// MarshalJSON returns the JSON itself.
func (c Compact) MarshalJSON() ([]byte, error) { return []byte(c), nil }

// AppendResult appends the JSON-RPC response with the result of a tool, byte for byte as mcp-go
// encodes it, without a newline. An error comes from a value of the result that cannot be encoded.
func AppendResult(to []byte, id any, r *mcp.CallToolResult) ([]byte, error) {
	// About how long the response with a result is: a long one would outgrow its buffer again and again.
	compact, _ := r.StructuredContent.(Compact)
	length := len(compact)
	for _, c := range r.Content {
		if text, isText := c.(mcp.TextContent); isText {
			length += len(text.Text)
		}
	}
	to = slices.Grow(to, length+length/8+around)
	to = append(to, `{"jsonrpc":"`+mcp.JSONRPC_VERSION+`","id":`...)
	switch id := id.(type) { // those of [Message]
	case float64: // an integer within 2^53
		to = strconv.AppendInt(to, int64(id), 10)
	case string:
		to = appendString(to, id)
	default:
		to = append(to, Encode(id)...)
	}
	to = append(to, `,"result":`...)
	if r.Meta != nil || r.ResultType != "" || len(r.InputRequests) > 0 || r.RequestState != "" {
		return appendAny(to, r, "}")
	}
	to = append(to, `{"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			to = append(to, ',')
		}
		text, isText := c.(mcp.TextContent)
		image, isImage := c.(mcp.ImageContent)
		switch {
		case isText && text.Annotations == nil && text.Meta == nil:
			to = appendString(append(to, `{"type":`...), text.Type)
			to = append(appendString(append(to, `,"text":`...), text.Text), '}')
		case isImage && image.Annotations == nil && image.Meta == nil:
			to = appendString(append(to, `{"type":`...), image.Type)
			to = appendString(append(to, `,"data":`...), image.Data)
			to = append(appendString(append(to, `,"mimeType":`...), image.MIMEType), '}')
		default:
			var err error
			if to, err = appendAny(to, c, ""); err != nil {
				return nil, err
			}
		}
	}
	to = append(to, ']')
	if r.IsError {
		to = append(to, `,"isError":true`...)
	}
	// Append the structured content, if there is one, and the end.
	const key = `,"structuredContent":`
	compact, ok := r.StructuredContent.(Compact)
	switch {
	case len(r.RawStructuredContent) > 0:
		return appendAny(append(to, key...), r.RawStructuredContent, "}}")
	case r.StructuredContent == nil:
		return append(to, "}}"...), nil
	case ok && len(compact) > 0:
		return append(appendEscaped(append(to, key...), compact, inDocument), "}}"...), nil
	}
	return appendAny(append(to, key...), r.StructuredContent, "}}")
}

// around is room for the rest of a result, in bytes.
const around = 256

// appendAny appends a value as encoding/json encodes it, and then end.
func appendAny(to []byte, value any, end string) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(append(to, encoded...), end...), nil
}

const hexDigits = "0123456789abcdef"

// The bytes that encoding/json may not write as they are: in a document, where only HTML is
// escaped, and in the text of a string. Of the characters beyond ASCII it escapes two, which
// begin with 0xE2.
var (
	inDocument = specialBytes("<>&\xe2")
	inString   = specialBytes("<>&\xe2\"\\\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f")
)

func specialBytes(list string) *[256]bool {
	var special [256]bool
	for i := range len(list) {
		special[list[i]] = true
	}
	return &special
}

// appendString appends a string as encoding/json encodes it.
func appendString(to []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return append(to, Encode(s)...)
	}
	return append(appendEscaped(append(to, '"'), s, inString), '"')
}

// appendEscaped appends valid UTF-8 with its special bytes escaped.
func appendEscaped[T string | Compact](to []byte, s T, special *[256]bool) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		separator := i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8 // after 0xE2: U+2028 or U+2029
		if s[i] == 0xE2 && !separator {
			continue
		}
		to = append(to, s[start:i]...)
		if s[i] == 0xE2 {
			i += 2
			to = append(to, '\\', 'u', '2', '0', '2', hexDigits[s[i]&0xF])
		} else if short := strings.IndexByte("\"\\\b\f\n\r\t", s[i]); short >= 0 {
			to = append(to, '\\', `"\bfnrt`[short])
		} else {
			to = append(to, '\\', 'u', '0', '0', hexDigits[s[i]>>4], hexDigits[s[i]&0xF])
		}
		start = i + 1
	}
	return append(to, s[start:]...)
}

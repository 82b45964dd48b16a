package message

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// Compact is JSON without white space between its values. As the structured content of a
// result it is written as it is, where other values are encoded or checked. It is a string
// so that a text of the result can be the same one.
type Compact string

// MarshalJSON returns the JSON itself.
func (c Compact) MarshalJSON() ([]byte, error) { return []byte(c), nil }

// AppendResult appends the JSON-RPC response with the result of a tool, byte for byte as
// mcp-go encodes it, without a newline. An error comes from a value of the result that
// cannot be encoded.
func AppendResult(to []byte, id any, r *mcp.CallToolResult) ([]byte, error) {
	to = slices.Grow(to, lengthOf(r))
	to = append(to, `{"jsonrpc":"`+mcp.JSONRPC_VERSION+`","id":`...)
	to = append(appendID(to, id), `,"result":`...)
	if r.Meta != nil || r.ResultType != "" || len(r.InputRequests) > 0 || r.RequestState != "" {
		return appendAny(to, r, "}")
	}
	to, err := appendContent(append(to, `{"content":[`...), r.Content)
	if err != nil {
		return nil, err
	}
	to = append(to, ']')
	if r.IsError {
		to = append(to, `,"isError":true`...)
	}
	return appendStructured(to, r)
}

// lengthOf returns about how long the response with a result is: a long one would outgrow
// its buffer again and again.
func lengthOf(r *mcp.CallToolResult) int {
	compact, _ := r.StructuredContent.(Compact)
	length := len(compact)
	for _, c := range r.Content {
		if text, isText := c.(mcp.TextContent); isText {
			length += len(text.Text)
		}
	}
	return length + length/8 + around
}

// around is for what stands around the texts of a result.
const around = 256

// appendStructured appends the structured content, if there is one, and the end.
func appendStructured(to []byte, r *mcp.CallToolResult) ([]byte, error) {
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

func appendContent(to []byte, content []mcp.Content) (_ []byte, err error) {
	for i, c := range content {
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
			if to, err = appendAny(to, c, ""); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

// appendAny appends a value as encoding/json encodes it, and what comes behind it.
func appendAny(to []byte, value any, end string) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(append(to, encoded...), end...), nil
}

// appendID appends an id of [Message].
func appendID(to []byte, id any) []byte {
	switch id := id.(type) {
	case float64: // an integer within 2^53
		return strconv.AppendInt(to, int64(id), 10)
	case string:
		return appendString(to, id)
	}
	return append(to, Encode(id)...)
}

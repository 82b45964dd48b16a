package harness

import (
	"encoding/json"
)

// Answer is an answer of the protocol, as far as these tests look at it.
type Answer struct {
	ID     json.RawMessage
	Result struct {
		StructuredContent json.RawMessage
		Contents          []struct {
			Text, MIMEType string
			Meta           map[string]any `json:"_meta"`
		}
		Messages   []json.RawMessage
		Completion struct{ Values []string }
		IsError    bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

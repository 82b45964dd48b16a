package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxDepth bounds nesting. The deepest message of the protocol needs 8.
	maxDepth = 32

	// maxValues bounds the values in one message. Decoded, each costs many times
	// its bytes; the largest batch the gateway takes has a tenth of this.
	maxValues = 1 << 16

	// maxInteger is the largest number that JSON readers agree on.
	maxInteger = 1 << 53

	// maxQuoted bounds what an error repeats of a message, in bytes.
	maxQuoted = 80
)

// exactKeys are the keys that mean something to mcp-go in a message (1) and in its
// params or result (2). mcp-go takes them in any case; a message that spells one of them
// otherwise is refused.
var exactKeys = map[int][]string{
	1: {"jsonrpc", "id", "method", "params", "result", "error"},
	2: {"name", "arguments", "_meta", "task", "inputResponses", "requestState", "requestId", "uri", "ref", "argument", "cursor", "level", "action", "content"},
}

type messageKind uint8

const (
	request messageKind = iota + 1
	notification
	response
)

// message is what the transport needs to know of a message that passed
// [decodeMessage].
type message struct {
	kind    messageKind
	id      any // string or float64, as mcp-go decodes it; nil for a notification
	method  string
	cancels any // the id that a notifications/cancelled names, or nil
	// tool and arguments are those of a tools/call, as they came.
	tool      string
	arguments json.RawMessage
}

// messageError is a message that is refused before mcp-go sees it.
type messageError struct {
	code int // JSON-RPC's
	id   any // the id of the message, nil when it has none that can be used
	text string
}

func (e *messageError) Error() string { return e.text }

// encode returns the answer to the message.
func (e *messageError) encode() []byte {
	return encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"id":      e.id,
		"error":   map[string]any{"code": e.code, "message": e.text},
	})
}

// decodeMessage reads one JSON-RPC message strictly: valid UTF-8, one object,
// no key twice at any depth, no key of the protocol in another spelling, an id
// that every JSON reader sees alike. A message that passes means the same to
// every reader. The error is a *messageError.
func decodeMessage(line []byte) (message, error) {
	if !utf8.Valid(line) {
		return message{}, &messageError{code: mcp.PARSE_ERROR, text: "message is not valid UTF-8"}
	}
	if !json.Valid(line) {
		return message{}, &messageError{code: mcp.PARSE_ERROR, text: "message is not valid JSON"}
	}
	fields, lintErr := lint(line, exactKeys)
	if lintErr != nil {
		_ = json.Unmarshal(line, &fields) // for the id alone
	}
	if fields == nil {
		return message{}, &messageError{code: mcp.INVALID_REQUEST, text: notAnObject(line)}
	}
	m, err := decodeEnvelope(fields)
	if lintErr != nil {
		err = lintErr
	}
	if err != nil {
		return message{}, &messageError{code: mcp.INVALID_REQUEST, id: m.id, text: err.Error()}
	}
	return m, nil
}

func notAnObject(line []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(line, jsonSpace), []byte("[")) {
		return "batches are not supported: send one message a line"
	}
	return "message is not a JSON object"
}

// decodeEnvelope reads the outer object. Whatever the error, the id is there
// when it is a good one.
func decodeEnvelope(fields map[string]json.RawMessage) (message, error) {
	m := message{}
	var idErr error
	if raw, ok := fields["id"]; ok {
		m.id, idErr = decodeID(raw)
	}
	var version string
	if json.Unmarshal(fields["jsonrpc"], &version) != nil || version != mcp.JSONRPC_VERSION {
		return m, fmt.Errorf("jsonrpc must be %q", mcp.JSONRPC_VERSION)
	}
	if _, ok := fields["method"]; !ok {
		return decodeResponse(m, fields, idErr)
	}
	if idErr != nil {
		return m, idErr
	}
	return decodeRequest(m, fields)
}

func decodeRequest(m message, fields map[string]json.RawMessage) (message, error) {
	if has(fields, "result") || has(fields, "error") {
		return m, errors.New("a message with a method must have neither result nor error")
	}
	if !isString(fields["method"]) || json.Unmarshal(fields["method"], &m.method) != nil || m.method == "" {
		return m, errors.New("method must be a string")
	}
	if params := fields["params"]; !isObject(params) && !isNull(params) {
		return m, errors.New("params must be an object")
	}
	if m.id != nil {
		m.kind = request
		m.tool, m.arguments = callOf(m.method, fields["params"])
		return m, nil
	}
	m.kind = notification
	if m.method != string(mcp.MethodNotificationCancelled) {
		return m, nil
	}
	var err error
	if m.cancels, err = decodeCancelled(fields["params"]); err != nil {
		return m, fmt.Errorf("requestId: %w", err)
	}
	return m, nil
}

// callOf returns the tool and the arguments of a tools/call; whether they are good
// is for its handler to say.
func callOf(method string, params json.RawMessage) (tool string, arguments json.RawMessage) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if method != string(mcp.MethodToolsCall) || json.Unmarshal(params, &call) != nil { // exactKeys has seen to the spelling
		return "", nil
	}
	return call.Name, call.Arguments
}

// decodeResponse reads an answer of the client to a request of ours. One
// without an id answers nothing and is nothing to answer either.
func decodeResponse(m message, fields map[string]json.RawMessage, idErr error) (message, error) {
	if has(fields, "result") == has(fields, "error") {
		return m, errors.New("a message must have a method, or one of result and error")
	}
	if idErr != nil && string(fields["id"]) != "null" {
		return m, idErr
	}
	m.kind = response
	return m, nil
}

func decodeCancelled(params json.RawMessage) (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(params, &fields); err != nil {
		return nil, errors.New("is missing")
	}
	return decodeID(fields["requestId"])
}

// decodeID returns a string or a float64, the two types in which mcp-go holds
// an id.
func decodeID(raw json.RawMessage) (any, error) {
	if isString(raw) {
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || number > maxInteger || number < -maxInteger || string(raw) == "-0" {
		return nil, errors.New("id must be a string or an integer within 2^53")
	}
	return float64(number), nil
}

func has(fields map[string]json.RawMessage, name string) bool {
	_, ok := fields[name]
	return ok
}

func isString(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte(`"`)) }

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// resembles returns the name that key is another spelling of, in case or by a
// letter that folds or looks like an ASCII one, or "" when key is exact or has
// nothing to do with any of names.
func resembles(key string, names []string) string {
	if slices.Contains(names, key) {
		return ""
	}
	for _, name := range names {
		if strings.EqualFold(dotted(key), name) {
			return name
		}
	}
	return ""
}

// dotted replaces the two letters i of Turkish, which Unicode folds to no other
// letter but a reader takes for one.
func dotted(key string) string {
	return strings.Map(func(r rune) rune {
		if r == 'ı' || r == 'İ' {
			return 'i'
		}
		return r
	}, key)
}

// clip shortens text for an error and replaces what a terminal would act on.
func clip(text string) string {
	cut := text
	if len(text) > maxQuoted {
		cut = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, cut)
}

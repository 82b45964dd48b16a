// Package message decodes the JSON-RPC messages of MCP clients strictly, and reads
// the head of the messages that mcp-go writes.
//
// encoding/json takes keys in any case and lets the last of two equal keys win, so
// two readers of one message can see different requests. [Decode] accepts only a
// message that every JSON reader decodes alike. The package decides nothing about
// tools or commands.
package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxDepth is the maximum nesting. The deepest message of the protocol needs 8.
	maxDepth = 32

	// maxValues is the maximum number of values in one message. A decoded value needs
	// many times its bytes; the largest batch of the gateway has a tenth of this.
	maxValues = 1 << 16
)

// exactKeys are the keys that mcp-go reads in a message (depth 1) and in its params or
// result (depth 2). mcp-go accepts them in any case; a message that spells one of them
// differently is rejected.
var exactKeys = map[int][]string{
	1: {"jsonrpc", "id", "method", "params", "result", "error"},
	2: {"name", "arguments", "_meta", "task", "inputResponses", "requestState", "requestId", "uri", "ref", "argument", "cursor", "level", "action", "content"},
}

// Kind is the kind of a JSON-RPC message.
type Kind uint8

// The kinds of messages.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is the part of a decoded message that the transport needs.
type Message struct {
	Kind    Kind
	ID      any // string or float64, as mcp-go decodes it; nil for a notification
	Method  string
	Cancels any // the request id in a notifications/cancelled, or nil
	// Tool and Arguments are those of a tools/call, not decoded further.
	Tool      string
	Arguments json.RawMessage
	// Plain says that a tools/call is of a form that needs nothing of mcp-go, see [Message.readCall].
	// Meta is the _meta of a plain call, nil for none.
	Plain bool
	Meta  *mcp.Meta
}

// Error is a message that is rejected before mcp-go sees it.
type Error struct {
	Code int // of JSON-RPC
	ID   any // the id of the message, nil if it has no usable one
	Text string
}

func (e *Error) Error() string { return e.Text }

// Encode returns the JSON-RPC error response to the message.
func (e *Error) Encode() []byte {
	return Encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"id":      e.ID,
		"error":   map[string]any{"code": e.Code, "message": e.Text},
	})
}

// Decode reads one JSON-RPC message strictly: valid UTF-8, one object,
// no duplicate key at any depth, no key of the protocol in another spelling, an id
// that every JSON reader decodes alike. The error is an *[Error].
func Decode(line []byte) (Message, error) {
	if !utf8.Valid(line) {
		return Message{}, &Error{Code: mcp.PARSE_ERROR, Text: "message is not valid UTF-8"}
	}
	if !json.Valid(line) {
		return Message{}, &Error{Code: mcp.PARSE_ERROR, Text: "message is not valid JSON"}
	}
	l := lint(line, exactKeys)
	defer l.release()
	fields := l.fields
	if l.err != nil {
		fields = looseFields(line) // for the id alone
	}
	if fields == nil {
		return Message{}, &Error{Code: mcp.INVALID_REQUEST, Text: notAnObject(line)}
	}
	m, err := decodeEnvelope(fields)
	if m.Method == string(mcp.MethodToolsCall) && m.Kind == Request {
		m.readCall(l)
	}
	if l.err != nil {
		err = l.err
	}
	if err != nil {
		return Message{}, &Error{Code: mcp.INVALID_REQUEST, ID: m.ID, Text: err.Error()}
	}
	return m, nil
}

// looseFields returns the fields of an object that encoding/json takes, nil if it is none.
func looseFields(line []byte) (fields Fields) {
	var loose map[string]json.RawMessage
	_ = json.Unmarshal(line, &loose)
	for name, value := range loose {
		fields = append(fields, Field{Name: []byte(name), Value: value})
	}
	return fields
}

func notAnObject(line []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(line, Space), []byte("[")) {
		return "JSON-RPC batches are not supported; send one message at a time"
	}
	return "message is not a JSON object"
}

// decodeEnvelope decodes the outer object. With an error it still returns the id, if
// that is valid.
func decodeEnvelope(fields Fields) (Message, error) {
	m := Message{}
	var idErr error
	if raw := fields.Get("id"); raw != nil {
		m.ID, idErr = decodeID(raw)
	}
	if version, ok := String(fields.Get("jsonrpc")); !ok || version != mcp.JSONRPC_VERSION {
		return m, fmt.Errorf("jsonrpc must be %q", mcp.JSONRPC_VERSION)
	}
	if !fields.has("method") {
		return decodeResponse(m, fields, idErr)
	}
	if idErr != nil {
		return m, idErr
	}
	return decodeRequest(m, fields)
}

func decodeRequest(m Message, fields Fields) (Message, error) {
	if fields.has("result") || fields.has("error") {
		return m, errors.New("a message with a method must have neither result nor error")
	}
	if m.Method, _ = String(fields.Get("method")); m.Method == "" {
		return m, errors.New("method must be a string")
	}
	if params := fields.Get("params"); !IsObject(params) && !IsNull(params) {
		return m, errors.New("params must be an object")
	}
	if m.ID != nil {
		m.Kind = Request
		return m, nil
	}
	m.Kind = Notification
	if m.Method != string(mcp.MethodNotificationCancelled) {
		return m, nil
	}
	var err error
	if m.Cancels, err = decodeCancelled(fields.Get("params")); err != nil {
		return m, fmt.Errorf("requestId: %w", err)
	}
	return m, nil
}

// decodeResponse decodes a response of the client to a request of the server. A response
// without an id matches no request and is ignored.
func decodeResponse(m Message, fields Fields, idErr error) (Message, error) {
	if fields.has("result") == fields.has("error") {
		return m, errors.New("a message must have a method, or exactly one of result and error")
	}
	if idErr != nil && string(fields.Get("id")) != "null" {
		return m, idErr
	}
	m.Kind = Response
	return m, nil
}

func decodeCancelled(params json.RawMessage) (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(params, &fields); err != nil {
		return nil, errors.New("is missing")
	}
	return decodeID(fields["requestId"])
}

// decodeID returns a string or a float64, the two types that mcp-go uses for ids.
func decodeID(raw json.RawMessage) (any, error) {
	if text, ok := String(raw); ok {
		return text, nil
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || number > MaxInteger || number < -MaxInteger || string(raw) == "-0" {
		return nil, errors.New("id must be a string or an integer within 2^53")
	}
	return float64(number), nil
}

// Package transport implements the MCP protocol: messages, sessions, and the two transports,
// [ServeStdio] on standard input and output, and [ServeHTTP].
//
// [Decode] decodes JSON-RPC messages strictly. encoding/json ignores the case of keys and lets the last
// of two equal keys win, so two parsers can see different requests in one message. Decode accepts only
// messages that every JSON parser decodes alike.
//
// [Server] answers requests in the same way for both transports; [methods] lists them. The types of
// messages are those of mcp-go. A notification is written before [Peer.Notify] returns, so that none
// arrives after the response to its request.
//
// The package decides nothing about tools or commands, and does not access notes.
package transport

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
	// maxDepth is the maximum nesting depth. The deepest message of the protocol needs 8.
	maxDepth = 32

	// maxValues is the maximum number of values in one message, because a decoded value needs many
	// times its size in JSON. The largest batch of the gateway has a tenth as many.
	maxValues = 1 << 16
)

// exactKeys lists the keys that are read in a message (depth 1) and in its params or result (depth 2).
// A message with a key that differs from one of them only in spelling is rejected, because
// encoding/json would accept it in any case.
var exactKeys = map[int][]string{
	1: {"jsonrpc", "id", "method", "params", "result", "error"},
	2: {
		"name",
		"arguments",
		"_meta",
		"task",
		"inputResponses",
		"requestState",
		"requestId",
		"uri",
		"ref",
		"argument",
		"cursor",
		"level",
		"action",
		"content",
	},
}

// Kind is the kind of a JSON-RPC message.
type Kind uint8

// The kinds of messages.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Message is a decoded message.
type Message struct {
	Kind    Kind
	ID      any // string or float64; nil for a notification
	Method  string
	Cancels any             // the request id in a notifications/cancelled, nil for other messages
	Raw     []byte          // the whole message
	Params  json.RawMessage // not decoded further
	// Result and Failure are the content of a response, which has exactly one of them.
	Result, Failure json.RawMessage
	// Meta is the _meta of the params, nil if it is missing or invalid.
	Meta *mcp.Meta
	// Tool and Arguments are those of a tools/call.
	Tool      string
	Arguments json.RawMessage

	params  Fields
	isPlain bool // a tools/call without fields other than the ones decoded above
}

// Param returns a field of the params, nil if it is missing.
func (m *Message) Param(name string) json.RawMessage { return m.params.Get(name) }

// Error is a JSON-RPC error with which a message is answered.
type Error struct {
	Code int // JSON-RPC error code
	ID   any // the id of the rejected message, nil if it has no valid one
	Text string
	Data any // additional data for programs, nil for none
}

func (e *Error) Error() string { return e.Text }

// Encode returns the JSON-RPC error response to a rejected message.
func (e *Error) Encode() []byte {
	return Encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"id":      e.ID,
		"error":   map[string]any{"code": e.Code, "message": e.Text},
	})
}

// Decode decodes one JSON-RPC message strictly: it must be valid UTF-8 and a single object, without
// duplicate keys at any depth or misspelled keys of the protocol, and with an id that every JSON parser
// decodes alike. The message refers to line. The error is an *[Error].
func Decode(line []byte) (Message, error) {
	if !utf8.Valid(line) {
		return Message{}, &Error{Code: mcp.PARSE_ERROR, Text: "message is not valid UTF-8"}
	}
	if !json.Valid(line) {
		return Message{}, &Error{Code: mcp.PARSE_ERROR, Text: "message is not valid JSON"}
	}
	l := lint(line, exactKeys)
	fields := l.fields
	if l.err != nil { // decode with encoding/json, only to find the id for the error response
		var loose map[string]json.RawMessage
		_ = json.Unmarshal(line, &loose)
		for name, value := range loose {
			fields = append(fields, Field{Name: []byte(name), Value: value})
		}
	}
	switch {
	case fields != nil:
	case bytes.HasPrefix(bytes.TrimLeft(line, Space), []byte("[")):
		return Message{}, &Error{
			Code: mcp.INVALID_REQUEST,
			Text: "JSON-RPC batches are not supported; send one message at a time",
		}
	default:
		return Message{}, &Error{Code: mcp.INVALID_REQUEST, Text: "message is not a JSON object"}
	}
	m := Message{Raw: line, params: l.params}
	err := m.readEnvelope(fields)
	m.readMeta()
	if m.Method == string(mcp.MethodToolsCall) && m.Kind == Request {
		m.readCall(l.hasHuge)
	}
	if l.err != nil {
		err = l.err
	}
	if err != nil {
		return Message{}, &Error{Code: mcp.INVALID_REQUEST, ID: m.ID, Text: err.Error()}
	}
	return m, nil
}

// readEnvelope decodes the fields of the outer object. The id is set if it is valid, even if there is an
// error. A response with the id null is valid, although it matches no request.
func (m *Message) readEnvelope(fields Fields) error {
	var idErr error
	id := fields.Get("id")
	if id != nil {
		m.ID, idErr = decodeID(id)
	}
	if version, ok := String(fields.Get("jsonrpc")); !ok || version != mcp.JSONRPC_VERSION {
		return fmt.Errorf("jsonrpc must be %q", mcp.JSONRPC_VERSION)
	}
	m.Params = fields.Get("params")
	m.Result = fields.Get("result")
	m.Failure = fields.Get("error")
	method := fields.Get("method")
	switch {
	case method == nil && (m.Result != nil) == (m.Failure != nil):
		return errors.New("a message must have a method, or exactly one of result and error")
	case idErr != nil && (method != nil || string(id) != "null"):
		return idErr
	case method == nil:
		m.Kind = Response
		return nil
	case m.Result != nil || m.Failure != nil:
		return errors.New("a message with a method must have neither result nor error")
	}
	if m.Method, _ = String(method); m.Method == "" {
		return errors.New("method must be a string")
	}
	if !IsObject(m.Params) && !IsNull(m.Params) {
		return errors.New("params must be an object")
	}
	m.Kind = Request
	if m.ID != nil {
		return nil
	}
	m.Kind = Notification
	if m.Method != string(mcp.MethodNotificationCancelled) {
		return nil
	}
	var cancelled map[string]json.RawMessage
	err := errors.New("is missing")
	if json.Unmarshal(m.Params, &cancelled) == nil {
		m.Cancels, err = decodeID(cancelled["requestId"])
	}
	if err != nil {
		return fmt.Errorf("requestId: %w", err)
	}
	return nil
}

// decodeID decodes an id to a string or a float64, like the types of mcp-go.
func decodeID(raw json.RawMessage) (any, error) {
	if text, ok := String(raw); ok {
		return text, nil
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	isExact := -MaxInteger <= number && number <= MaxInteger
	if err != nil || !isExact || string(raw) == "-0" {
		return nil, errors.New("id must be a string or an integer within 2^53")
	}
	return float64(number), nil
}

// readMeta decodes the _meta of the params, if it is valid.
func (m *Message) readMeta() {
	raw := m.params.Get("_meta")
	if !IsObject(raw) {
		return
	}
	meta := &mcp.Meta{}
	if json.Unmarshal(raw, meta) == nil {
		m.Meta = meta
	}
}

// readCall reads the params of a tools/call, without decoding or copying the arguments. A call is plain unless it has
// other fields, such as a task or the answer to a question, or a number that encoding/json might not decode.
func (m *Message) readCall(hasHuge bool) {
	name := m.params.Get("name")
	tool, hasName := String(name)
	if !hasName && !IsNull(name) {
		return
	}
	m.Tool = tool
	m.Arguments = m.params.Get("arguments")
	if !hasName || hasHuge {
		return
	}
	for i := range m.params {
		switch string(m.params[i].Name) {
		case "name", "arguments", "_meta":
		default:
			return
		}
	}
	m.isPlain = m.Meta != nil || IsNull(m.params.Get("_meta"))
}

// call returns a tools/call as a request of mcp-go. The error is an *[Error].
func (m *Message) call() (mcp.CallToolRequest, error) {
	if !m.isPlain {
		return decode[mcp.CallToolRequest](*m)
	}
	return mcp.CallToolRequest{
		Request: mcp.Request{Method: m.Method},
		Params:  mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta},
	}, nil
}

package wire

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Server answers the requests of clients. It must not be changed while it is used.
type Server struct {
	MCP *server.MCPServer

	// Tools are the handlers of tools by name whose plain calls (see [Message]) do not go
	// through mcp-go, which would decode each message several times to find out what it is,
	// and encode each answer in four passes. A handler gets the [Peer] in its context and the
	// arguments as RawArguments, but neither the server nor decoded arguments. Middleware of
	// MCP is not run for these calls. nil has mcp-go answer every call.
	Tools map[string]server.ToolHandlerFunc

	// Changes reports, from the tool and the arguments of a call, whether it would change
	// something; nil means that no call does. On standard input such calls run one at a time,
	// in the order of arrival: nothing else keeps an order.
	Changes func(tool string, arguments json.RawMessage) bool

	// Large reports whether the answer to a call may have megabytes. The transports bound how
	// many such answers are in memory while clients do not read them. nil means that none has.
	Large func(tool string, arguments json.RawMessage) bool

	// Lacks returns the scopes, separated by spaces, that the access token of the client would need
	// for a call that is denied because the token does not have them, "" for any other call; nil
	// means that access tokens deny none.
	Lacks func(tool string, arguments json.RawMessage) (scopes string)

	// Log receives messages for the operator, without text of messages.
	Log *slog.Logger
}

// ErrInternal is sent in place of a panic value, which can contain text of a note.
var ErrInternal = errors.New("internal error; please report it, the log has the details")

// AppendResponse answers a request of a client. It appends the JSON-RPC response without a
// newline, byte for byte as mcp-go encodes it. code is that of an error response, 0 for a result.
// A handler that panics gets an error response; the log has the type of the panic and the stack.
func (s *Server) AppendResponse(ctx context.Context, to []byte, p *Peer, m Message) (response []byte, code int) {
	fail := func(err error) ([]byte, int) {
		return append(to, ErrorResponse(m.ID, mcp.INTERNAL_ERROR, err.Error())...), mcp.INTERNAL_ERROR
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.Log.Error("a call panicked", "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			response, code = fail(ErrInternal)
		}
	}()
	ctx = s.MCP.WithContext(ctx, p)
	if handler := s.Tools[m.Tool]; m.Plain && handler != nil {
		result, err := handler(ctx, mcp.CallToolRequest{
			Request: mcp.Request{Method: m.Method},
			Params:  mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta},
		})
		if err == nil && result == nil {
			err = fmt.Errorf("tool '%s' handler returned no result", m.Tool)
		}
		if err == nil {
			response, err = AppendResult(to, m.ID, result)
		}
		if err != nil {
			return fail(err)
		}
		return response, 0
	}
	var answer mcp.JSONRPCMessage
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		answer = s.listen(ctx, p, m)
	} else {
		answer = s.MCP.HandleMessage(ctx, m.Raw)
	}
	if refusal, failed := answer.(mcp.JSONRPCError); failed {
		code = refusal.Error.Code
		if _, rest, explains := strings.Cut(refusal.Error.Message, explained); explains {
			refusal.Error.Message, _, _ = strings.Cut(rest, explained)
			answer = refusal
		}
	}
	line, err := json.Marshal(answer)
	if err != nil {
		return fail(err)
	}
	return append(to, line...), code
}

// explained encloses a sentence that is the whole message of an error response.
const explained = "\x1e"

// Explain returns a name that does not exist, for a hook to put in place of one that mcp-go would
// not find: the error response has the right code for the version of the protocol, and the
// sentence as its message.
func Explain(sentence string) string { return explained + sentence + explained }

// ErrorResponse returns the error response to a request as mcp-go encodes it.
func ErrorResponse(id any, code int, text string) []byte {
	line, _ := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(id), code, text, nil)) // only text
	return line
}

// listen answers a subscription, which lasts until ctx ends: first its acknowledgement, then
// the notifications that it is for, then the response. mcp-go sends all but the last to the
// session, so a subscription has one of its own.
func (s *Server) listen(ctx context.Context, p *Peer, m Message) mcp.JSONRPCMessage {
	own := *p
	own.Session = NewSession(rand.Text())
	own.subscription = true
	if err := s.MCP.RegisterSession(ctx, &own); err != nil {
		return mcp.NewJSONRPCError(mcp.NewRequestId(m.ID), mcp.INTERNAL_ERROR, err.Error(), nil)
	}
	over, sent := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		for {
			select {
			case n := <-own.notifications:
				_ = own.sendNotification(n, m.ID) // without a client the context ends
			case <-over:
				for len(own.notifications) > 0 {
					_ = own.sendNotification(<-own.notifications, m.ID)
				}
				return
			}
		}
	}()
	answer := s.MCP.HandleMessage(s.MCP.WithContext(ctx, &own), m.Raw)
	s.MCP.UnregisterSession(ctx, own.SessionID())
	close(over)
	<-sent
	return answer
}

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

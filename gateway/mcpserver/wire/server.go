package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

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

// errInternal is sent in place of a panic value, which can contain text of a note.
var errInternal = errors.New("internal error; please report it, the log has the details")

// Respond answers a request of a client. It returns the JSON-RPC response without a newline, byte
// for byte as mcp-go encodes it. code is that of an error response, 0 for a result. A handler that
// panics gets an error response; the log has the type of the panic and the stack.
func (s *Server) Respond(ctx context.Context, p *Peer, m Message) (response []byte, code int) {
	fail := func(err error) ([]byte, int) {
		return ErrorResponse(m.ID, mcp.INTERNAL_ERROR, err.Error()), mcp.INTERNAL_ERROR
	}
	defer func() {
		if fault := recover(); fault != nil {
			s.Log.Error("a call panicked", "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			response, code = fail(errInternal)
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
			response, err = EncodeResult(m.ID, result)
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
	return line, code
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

// around is room for the rest of a response, in bytes.
const around = 512

// EncodeResult returns the JSON-RPC response with the result of a tool, byte for byte as mcp-go
// encodes it, without a newline. An error comes from a value of the result that cannot be encoded.
func EncodeResult(id any, r *mcp.CallToolResult) ([]byte, error) {
	compact, _ := r.StructuredContent.(Compact)
	if r.Meta != nil || r.ResultType != "" || len(r.InputRequests) > 0 || r.RequestState != "" || len(r.RawStructuredContent) > 0 || r.StructuredContent != nil && compact == "" {
		return json.Marshal(mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Result: r})
	}
	type result struct {
		Content []mcp.Content `json:"content"`
		IsError bool          `json:"isError,omitempty"`
	}
	length := 2*len(compact) + around // about that of the response: a long one would outgrow its buffer
	for _, c := range r.Content {
		if image, ok := c.(mcp.ImageContent); ok {
			length += len(image.Data)
		}
	}
	var out bytes.Buffer
	out.Grow(length)
	// The encoder of a CallToolResult would read its text three times.
	err := json.NewEncoder(&out).Encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Result  result `json:"result"`
	}{mcp.JSONRPC_VERSION, id, result{append([]mcp.Content{}, r.Content...), r.IsError}})
	if err != nil {
		return nil, err
	}
	out.Truncate(out.Len() - len("}}\n"))
	if compact != "" {
		out.WriteString(`,"structuredContent":`)
		json.HTMLEscape(&out, []byte(compact))
	}
	out.WriteString("}}")
	return out.Bytes(), nil
}

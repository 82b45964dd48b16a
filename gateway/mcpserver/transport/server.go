package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/sourcegraph/conc/panics"
)

// Server is what clients can ask for: how it introduces itself, and a handler for each thing that it
// offers. It must not be changed while it is used. A handler that its capabilities do not declare is not
// called, and may be nil.
//
// A handler gets the client that asks. An error of it becomes an error response: an [*Error] with its code,
// any other with that of an internal error.
type Server struct {
	// Info, Instructions and Capabilities are what a client learns first.
	Info         mcp.Implementation
	Instructions string
	Capabilities mcp.ServerCapabilities

	// Versions returns the versions of the protocol that a client with a name is told of, of all that there are; nil
	// tells each of all. A request in another version is answered as well.
	Versions func(client string, all []string) []string

	// KeepMs is how long clients may keep the results of methods, in milliseconds; those of other methods
	// they may not keep. No result may be shared between users.
	KeepMs map[mcp.MCPMethod]int64

	// ListTools returns the tools that a client is shown, sorted by name.
	ListTools func(*Peer) []mcp.Tool
	// CallTool calls a tool, also one that is not shown. It gets the arguments as they were sent, and may
	// not rely on decoded ones.
	CallTool ToolHandler

	// ListResources and ListTemplates return the resources that a client is shown, sorted by name.
	ListResources func() []mcp.Resource
	ListTemplates func() []mcp.ResourceTemplate
	// ReadResource reads a resource, also one that is not shown. See [Peer.MissingResource].
	ReadResource func(context.Context, *Peer, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error)

	// ListPrompts returns the prompts, sorted by name.
	ListPrompts func() []mcp.Prompt
	// GetPrompt returns a prompt.
	GetPrompt func(context.Context, *Peer, mcp.GetPromptRequest) (*mcp.GetPromptResult, error)

	// Complete returns what an argument of a prompt or a template can be.
	Complete func(context.Context, mcp.CompleteRequest) (mcp.Completion, error)

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

	streams streams
}

// ToolHandler answers a call of a tool.
type ToolHandler func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error)

// errInternal is sent in place of a panic value, which can contain text of a note.
var errInternal = errors.New("internal error; please report it, the log has the details")

// Respond answers a request of a client. It returns the JSON-RPC response as a line. code is that of
// an error response, 0 for a result. A handler that panics gets an error response; the log has the type
// of the panic and the stack.
func (s *Server) Respond(ctx context.Context, p *Peer, m Message) (line []byte, code int) {
	panicked := panics.Try(func() {
		result, err := s.answer(ctx, p, m)
		if err == nil {
			line, err = encode(&response{mcp.JSONRPC_VERSION, m.ID, result})
		}
		if err != nil {
			line, code = failed(m.ID, err)
		}
	})
	if panicked != nil {
		s.Log.Error("a call panicked", "panic", fmt.Sprintf("%T", panicked.Value), "stack", string(panicked.Stack))
		return failed(m.ID, errInternal)
	}
	return line, code
}

// response is a JSON-RPC response with a result.
type response struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Result  any    `json:"result"`
}

// failed returns the error response to a request as a line, and its code.
func failed(id any, err error) (line []byte, code int) {
	refusal := &Error{Code: mcp.INTERNAL_ERROR, Text: err.Error()}
	_ = errors.As(err, &refusal)
	line, _ = encode(mcp.NewJSONRPCError(mcp.NewRequestId(id), refusal.Code, refusal.Text, refusal.Data)) // only text
	return line, refusal.Code
}

// encode returns a value as a line of JSON. A line of megabytes is allocated once.
func encode(v any) ([]byte, error) {
	var line bytes.Buffer
	err := json.NewEncoder(&line).Encode(v)
	return line.Bytes(), err
}

// answer returns the result of a request.
func (s *Server) answer(ctx context.Context, p *Peer, m Message) (any, error) {
	if err := p.readVersion(m.Meta); err != nil {
		return nil, err
	}
	method, known := methods[mcp.MCPMethod(m.Method)]
	if !known {
		return nil, &Error{Code: mcp.METHOD_NOT_FOUND, Text: fmt.Sprintf("Method %s not found", m.Method)}
	}
	if err := method.unavailable(m.Method, s, p); err != nil {
		return nil, err
	}
	result, err := method.answer(ctx, s, p, m)
	if err != nil {
		return nil, err
	}
	if p.Modern() {
		s.addMetadata(result, mcp.MCPMethod(m.Method))
	}
	if called, ok := result.(*mcp.CallToolResult); ok {
		return wireResult(called), nil
	}
	return result, nil
}

// addMetadata adds to a result what protocol version 2026-07-28 has in each: whether it is the last one, the name of
// the server, and how long the client may keep it.
func (s *Server) addMetadata(result any, method mcp.MCPMethod) {
	if all, ok := result.(mcp.ResultMetadata); ok {
		if all.GetResultType() == "" {
			all.SetResultType(mcp.ResultTypeComplete)
		}
		all.EnsureResultMeta().SetServerInfo(s.Info)
	}
	if kept, ok := result.(mcp.CacheHintSetter); ok {
		kept.SetCacheHints(s.KeepMs[method], mcp.CacheScopePrivate)
	}
}

// toolResult is the result of a tool as it is sent. The encoder of mcp.CallToolResult, of which the fields and their
// order are, makes a map of them and reads each text three times.
type toolResult struct {
	Meta              *mcp.Meta         `json:"_meta,omitempty"`
	Content           []mcp.Content     `json:"content"`
	InputRequests     mcp.InputRequests `json:"inputRequests,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
	RequestState      string            `json:"requestState,omitempty"`
	ResultType        mcp.ResultType    `json:"resultType,omitempty"`
	StructuredContent any               `json:"structuredContent,omitempty"`
}

func wireResult(r *mcp.CallToolResult) *toolResult {
	sent := &toolResult{
		Meta: r.Meta, Content: r.Content, InputRequests: r.InputRequests, IsError: r.IsError,
		RequestState: r.RequestState, ResultType: r.ResultType, StructuredContent: r.StructuredContent,
	}
	if sent.Content == nil {
		sent.Content = []mcp.Content{} // it is required
	}
	if len(r.RawStructuredContent) > 0 {
		sent.StructuredContent = r.RawStructuredContent
	}
	return sent
}

// ErrorResponse returns the error response to a request.
func ErrorResponse(id any, code int, text string) []byte {
	line, _ := failed(id, &Error{Code: code, Text: text})
	return bytes.TrimSuffix(line, []byte("\n"))
}

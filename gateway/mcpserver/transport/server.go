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

// Server describes an MCP server: its name and capabilities, and a handler for each of its features. It
// must not be changed while it is in use. Handlers of features that Capabilities does not declare are
// not called, and may be nil.
//
// Handlers receive the client that sent the request. Their errors become error responses: an [*Error]
// with its code, any other as an internal error.
type Server struct {
	// Info, Instructions and Capabilities are sent to a client in the handshake.
	Info         mcp.Implementation
	Instructions string
	Capabilities mcp.ServerCapabilities

	// Versions selects, from all protocol versions, those to offer to the client with the given name; nil offers all.
	// Requests in other versions are answered as well.
	Versions func(client string, all []string) []string

	// KeepMs is how long clients may cache the results of methods, in milliseconds. Results of methods
	// that are not listed must not be cached, and no result may be shared between users.
	KeepMs map[mcp.MCPMethod]int64

	// ListTools returns the tools to list for a client, sorted by name.
	ListTools func(*Peer) []mcp.Tool
	// CallTool calls a tool, which need not be listed. It receives the arguments only as raw JSON; decoded
	// arguments may be missing.
	CallTool ToolHandler

	// ListResources and ListTemplates return the listed resources and templates, sorted by name.
	ListResources func() []mcp.Resource
	ListTemplates func() []mcp.ResourceTemplate
	// ReadResource reads a resource, which need not be listed. For a missing one it returns the error of
	// [Peer.MissingResource].
	ReadResource func(context.Context, *Peer, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error)

	// ListPrompts returns the prompts, sorted by name.
	ListPrompts func() []mcp.Prompt
	// GetPrompt returns a prompt.
	GetPrompt func(context.Context, *Peer, mcp.GetPromptRequest) (*mcp.GetPromptResult, error)

	// Complete returns possible values of an argument of a prompt or a template.
	Complete func(context.Context, mcp.CompleteRequest) (mcp.Completion, error)

	// Changes reports, from the tool and the arguments of a call, whether it would change something; nil
	// means that no call does. On standard input, such calls run one at a time in the order of arrival.
	// The order of other requests is not preserved.
	Changes func(tool string, arguments json.RawMessage) bool

	// Large reports whether the answer to a call may have megabytes. The transports limit how many such
	// answers are in memory while clients do not read them. nil means that no answer has.
	Large func(tool string, arguments json.RawMessage) bool

	// Lacks returns the scopes, separated by spaces, that the client's access token is missing for a
	// call, "" if none are missing; nil means that no call requires scopes.
	Lacks func(tool string, arguments json.RawMessage) (scopes string)

	// Log receives messages for the operator. They contain no protocol messages.
	Log *slog.Logger

	streams streams
}

// ToolHandler answers a tool call.
type ToolHandler func(context.Context, *Peer, mcp.CallToolRequest) (*mcp.CallToolResult, error)

// errInternal is sent instead of a panic value, which can contain note text.
var errInternal = errors.New("internal error; please report it, the log has the details")

// Respond answers a request of a client. It returns the JSON-RPC response as a line. code is the code
// of an error response, 0 for a result. If a handler panics, the answer is an error response, and the
// type of the panic value and the stack are logged.
func (s *Server) Respond(ctx context.Context, p *Peer, m Message) (line []byte, code int) {
	panicked := panics.Try(func() {
		result, err := s.answer(ctx, p, m)
		if err == nil {
			line, err = encode(&response{mcp.JSONRPC_VERSION, m.ID, result})
		}
		if err != nil {
			line, code = errorLine(m.ID, err)
		}
	})
	if panicked != nil {
		s.Log.Error("a call panicked", "panic", fmt.Sprintf("%T", panicked.Value), "stack", string(panicked.Stack))
		return errorLine(m.ID, errInternal)
	}
	return line, code
}

// response is a JSON-RPC response with a result.
type response struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Result  any    `json:"result"`
}

// errorLine returns the error response to a request, as a line, and its code.
func errorLine(id any, err error) (line []byte, code int) {
	refusal := &Error{Code: mcp.INTERNAL_ERROR, Text: err.Error()}
	_ = errors.As(err, &refusal)
	line, _ = encode(mcp.NewJSONRPCError(mcp.NewRequestId(id), refusal.Code, refusal.Text, refusal.Data)) // only text
	return line, refusal.Code
}

// encode returns a value as a line of JSON.
func encode(v any) ([]byte, error) {
	var line bytes.Buffer
	err := json.NewEncoder(&line).Encode(v)
	return line.Bytes(), err
}

// answer handles a request and returns its result.
func (s *Server) answer(ctx context.Context, p *Peer, m Message) (any, error) {
	if err := p.readVersion(m.Meta); err != nil {
		return nil, err
	}
	method, isKnown := methods[mcp.MCPMethod(m.Method)]
	if !isKnown {
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

// addMetadata adds the metadata that protocol version 2026-07-28 requires in every result: whether the result is
// complete, the name of the server, and how long the client may cache it.
func (s *Server) addMetadata(result any, method mcp.MCPMethod) {
	if metadata, ok := result.(mcp.ResultMetadata); ok {
		if metadata.GetResultType() == "" {
			metadata.SetResultType(mcp.ResultTypeComplete)
		}
		metadata.EnsureResultMeta().SetServerInfo(s.Info)
	}
	if cacheable, ok := result.(mcp.CacheHintSetter); ok {
		cacheable.SetCacheHints(s.KeepMs[method], mcp.CacheScopePrivate)
	}
}

// toolResult is the encoded form of mcp.CallToolResult, with the same fields in the same order. The encoder of mcp-go
// is avoided because it builds a map and scans each text three times.
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
		Meta:              r.Meta,
		Content:           r.Content,
		InputRequests:     r.InputRequests,
		IsError:           r.IsError,
		RequestState:      r.RequestState,
		ResultType:        r.ResultType,
		StructuredContent: r.StructuredContent,
	}
	if sent.Content == nil {
		sent.Content = []mcp.Content{} // required by the protocol
	}
	if len(r.RawStructuredContent) > 0 {
		sent.StructuredContent = r.RawStructuredContent
	}
	return sent
}

// ErrorResponse returns the error response to a request.
func ErrorResponse(id any, code int, text string) []byte {
	line, _ := errorLine(id, &Error{Code: code, Text: text})
	return bytes.TrimSuffix(line, []byte("\n"))
}

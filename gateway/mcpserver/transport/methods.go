package transport

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// methods lists the requests that clients can send. Those about tasks are included so that the error can
// state that tasks are not supported.
var methods = map[mcp.MCPMethod]method{
	mcp.MethodInitialize:     {versions: withHandshake, answer: decoded((*Server).initialize)},
	mcp.MethodPing:           {versions: withHandshake, answer: decoded((*Server).ping)},
	mcp.MethodServerDiscover: {versions: stateless, answer: decoded((*Server).discover)},

	mcp.MethodToolsList: {feature: tools, answer: decoded((*Server).listTools)},
	mcp.MethodToolsCall: {feature: tools, answer: callTool},

	mcp.MethodResourcesList:          {feature: resources, answer: decoded((*Server).listResources)},
	mcp.MethodResourcesTemplatesList: {feature: resources, answer: decoded((*Server).listTemplates)},
	mcp.MethodResourcesRead:          {feature: resources, answer: decoded((*Server).readResource)},

	mcp.MethodPromptsList: {feature: prompts, answer: decoded((*Server).listPrompts)},
	mcp.MethodPromptsGet:  {feature: prompts, answer: decoded((*Server).getPrompt)},

	mcp.MethodCompletionComplete: {feature: completions, answer: decoded((*Server).complete)},

	mcp.MethodSetLogLevel:        {feature: logging, versions: withHandshake, answer: decoded((*Server).setLogLevel)},
	mcp.MethodResourcesSubscribe: {feature: resources, versions: withHandshake, answer: decoded((*Server).subscribe)},
	mcp.MethodResourcesUnsubscribe: {
		feature:  resources,
		versions: withHandshake,
		answer:   decoded((*Server).unsubscribe),
	},
	mcp.MethodSubscriptionsListen: {versions: stateless, answer: listen},

	mcp.MethodTasksGet:    {feature: tasks},
	mcp.MethodTasksCancel: {feature: tasks},
	mcp.MethodTasksList:   {feature: tasks, versions: withHandshake},
	mcp.MethodTasksResult: {feature: tasks, versions: withHandshake},
}

// method describes a kind of request that clients can send.
type method struct {
	versions versions
	feature  feature
	answer   answer
}

// answer handles a request. It returns the result, or an error for the response.
type answer func(context.Context, *Server, *Peer, Message) (any, error)

// versions are the protocol versions in which a method exists.
type versions uint8

const (
	everyVersion  versions = iota
	withHandshake          // up to 2025-11-25
	stateless              // since 2026-07-28
)

// feature is the server capability that a method belongs to, by its name in error messages; "" for none.
type feature string

const (
	tools       feature = "tools"
	resources   feature = "resources"
	prompts     feature = "prompts"
	completions feature = "completions"
	logging     feature = "logging"
	tasks       feature = "tasks" // not supported
)

func (f feature) isDeclared(in *mcp.ServerCapabilities) bool {
	switch f {
	case tools:
		return in.Tools != nil
	case resources:
		return in.Resources != nil
	case prompts:
		return in.Prompts != nil
	case completions:
		return in.Completions != nil
	case logging:
		return in.Logging != nil
	}
	return f == ""
}

// unavailable returns an error if the server does not support the method for the client, nil if it does. name is the
// name of the method.
func (m method) unavailable(name string, s *Server, p *Peer) error {
	reason := ""
	switch {
	case m.versions == withHandshake && p.Modern():
		reason = fmt.Sprintf("%q was removed in protocol version %s", name, mcp.ProtocolVersion20260728)
	case m.versions == stateless && !p.Modern():
		reason = fmt.Sprintf("%q requires protocol version %s or later", name, mcp.ProtocolVersion20260728)
	case !m.feature.isDeclared(&s.Capabilities):
		reason = string(m.feature) + " not supported"
	default:
		return nil
	}
	return &Error{Code: mcp.METHOD_NOT_FOUND, Text: reason}
}

// decoded converts a method of [Server] that handles a decoded request to an answer.
func decoded[Request, Result any](do func(*Server, context.Context, *Peer, Request) (*Result, error)) answer {
	return func(ctx context.Context, s *Server, p *Peer, m Message) (any, error) {
		request, err := decode[Request](m)
		if err != nil {
			return nil, err
		}
		result, err := do(s, ctx, p, request)
		if err != nil {
			return nil, err
		}
		return result, nil
	}
}

// decode decodes a request as a type of mcp-go. The error is an *[Error].
func decode[Request any](m Message) (request Request, err error) {
	if err := json.Unmarshal(m.Raw, &request); err != nil {
		return request, &Error{Code: mcp.INVALID_REQUEST, Text: fmt.Sprintf("unparsable %s request: %s", m.Method, err)}
	}
	return request, nil
}

func (s *Server) initialize(_ context.Context, p *Peer, r mcp.InitializeRequest) (*mcp.InitializeResult, error) {
	version := mcp.NegotiateLegacyVersion(r.Params.ProtocolVersion)
	p.introduce(version, clientInfo{name: r.Params.ClientInfo.Name, capabilities: r.Params.Capabilities})
	return &mcp.InitializeResult{
		ProtocolVersion: version,
		Capabilities:    s.Capabilities,
		ServerInfo:      s.Info,
		Instructions:    s.Instructions,
	}, nil
}

func (s *Server) ping(context.Context, *Peer, mcp.PingRequest) (*mcp.EmptyResult, error) {
	return &mcp.EmptyResult{}, nil
}

func (s *Server) discover(_ context.Context, p *Peer, _ mcp.DiscoverRequest) (*mcp.DiscoverResult, error) {
	versions := mcp.ValidProtocolVersions
	if s.Versions != nil {
		versions = s.Versions(p.info().name, slices.Clone(versions))
	}
	return &mcp.DiscoverResult{
		SupportedVersions: versions,
		Capabilities:      s.Capabilities,
		Instructions:      s.Instructions,
	}, nil
}

func (s *Server) listTools(_ context.Context, p *Peer, r mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	listed, err := after(r.Params.Cursor, s.ListTools(p))
	if err != nil {
		return nil, err
	}
	return &mcp.ListToolsResult{Tools: listed}, nil
}

func callTool(ctx context.Context, s *Server, p *Peer, m Message) (any, error) {
	call, err := m.call()
	if err != nil {
		return nil, err
	}
	result, err := s.CallTool(ctx, p, call)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return nil, fmt.Errorf("tool '%s' handler returned no result", m.Tool)
	}
	return result, nil
}

func (s *Server) listResources(
	_ context.Context, _ *Peer, r mcp.ListResourcesRequest,
) (*mcp.ListResourcesResult, error) {
	listed, err := after(r.Params.Cursor, s.ListResources())
	if err != nil {
		return nil, err
	}
	return &mcp.ListResourcesResult{Resources: listed}, nil
}

func (s *Server) listTemplates(
	_ context.Context, _ *Peer, r mcp.ListResourceTemplatesRequest,
) (*mcp.ListResourceTemplatesResult, error) {
	listed, err := after(r.Params.Cursor, s.ListTemplates())
	if err != nil {
		return nil, err
	}
	return &mcp.ListResourceTemplatesResult{ResourceTemplates: listed}, nil
}

func (s *Server) readResource(
	ctx context.Context, p *Peer, r mcp.ReadResourceRequest,
) (*mcp.ReadResourceResult, error) {
	contents, err := s.ReadResource(ctx, p, r)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: contents}, nil
}

func (s *Server) listPrompts(_ context.Context, _ *Peer, r mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	listed, err := after(r.Params.Cursor, s.ListPrompts())
	if err != nil {
		return nil, err
	}
	return &mcp.ListPromptsResult{Prompts: listed}, nil
}

func (s *Server) getPrompt(ctx context.Context, p *Peer, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return s.GetPrompt(ctx, p, r)
}

func (s *Server) complete(ctx context.Context, _ *Peer, r mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	if r.Params.Ref == nil { // the params are missing
		return nil, &Error{Code: mcp.INVALID_REQUEST, Text: "unknown reference type: <nil>"}
	}
	completion, err := s.Complete(ctx, r)
	if err != nil {
		return nil, err
	}
	if completion.Values == nil {
		completion.Values = []string{} // required by the protocol
	}
	return &mcp.CompleteResult{Completion: completion}, nil
}

// logLevels are the valid levels of log messages.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

func (s *Server) setLogLevel(_ context.Context, p *Peer, r mcp.SetLevelRequest) (*mcp.EmptyResult, error) {
	if !slices.Contains(logLevels, r.Params.Level) {
		return nil, &Error{Code: mcp.INVALID_PARAMS, Text: fmt.Sprintf("invalid logging level '%s'", r.Params.Level)}
	}
	p.setLogLevel(r.Params.Level)
	return &mcp.EmptyResult{}, nil
}

func (s *Server) subscribe(_ context.Context, _ *Peer, r mcp.SubscribeRequest) (*mcp.EmptyResult, error) {
	return s.acknowledge("subscribe", r.Params.URI)
}

func (s *Server) unsubscribe(_ context.Context, _ *Peer, r mcp.UnsubscribeRequest) (*mcp.EmptyResult, error) {
	return s.acknowledge("unsubscribe", r.Params.URI)
}

// acknowledge answers a request to start or stop notifications about a resource. It records nothing, because no
// resource changes.
func (s *Server) acknowledge(what, uri string) (*mcp.EmptyResult, error) {
	if !s.Capabilities.Resources.Subscribe {
		return nil, &Error{Code: mcp.METHOD_NOT_FOUND, Text: "resources " + what + " not supported"}
	}
	if uri == "" {
		return nil, &Error{Code: mcp.INVALID_PARAMS, Text: "uri is required"}
	}
	return &mcp.EmptyResult{}, nil
}

// after returns the elements of a sorted list after a cursor, which is a name in base64. Lists are not paginated, so
// the server never issues a cursor, but it accepts one.
func after[T mcp.Named](cursor mcp.Cursor, elements []T) ([]T, error) {
	if elements == nil {
		elements = []T{} // required by the protocol
	}
	if cursor == "" {
		return elements, nil
	}
	last, err := base64.StdEncoding.DecodeString(string(cursor))
	if err != nil {
		return nil, &Error{Code: mcp.INVALID_PARAMS, Text: err.Error()}
	}
	first := slices.IndexFunc(elements, func(element T) bool { return element.GetName() > string(last) })
	if first < 0 {
		return elements[len(elements):], nil
	}
	return elements[first:], nil
}

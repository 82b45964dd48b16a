package mcpserver

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/catalog"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/wire"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// The URIs of the resources.
const (
	scheme       = "vaultwicket://"
	commandsURI  = scheme + "commands"
	policyURI    = scheme + "policy"
	statusURI    = scheme + "status"
	helpPrefix   = scheme + "help/"
	helpURI      = helpPrefix + "{command}"
	outputPrefix = scheme + "output/"
	outputURI    = outputPrefix + "{id}"

	mimeJSON = "application/json"
	mimeText = "text/plain"
)

// fixedResource is a resource with one URI and a JSON text.
type fixedResource struct {
	uri, name, title, description string
	read                          func() any
}

// addResources registers the resources and the completion of their URIs. There are no
// notifications about changes: a client reads again.
func (h handler) addResources(s *server.MCPServer, hooks *server.Hooks) {
	for _, option := range []server.ServerOption{
		server.WithResourceCapabilities(false, false), // before AddResource, see tools
		server.WithCompletions(),
		server.WithResourceCompletionProvider(completer{h}),
	} {
		option(s)
	}
	began := time.Now()
	fixed := []fixedResource{
		{commandsURI, "commands", "Commands", "every command: tier, effect, signature, whether it is permitted, and if not, why and who can change that", func() any {
			entries := []catalog.Entry{} // as "vaultwicket commands --all --json", without the details of help
			for _, c := range h.Gateway.Listing() {
				entries = append(entries, c.Entry())
			}
			return entries
		}},
		{policyURI, "policy", "Policy", "settings of each vault and their sources", func() any { return h.Gateway.Policies() }},
		{statusURI, "status", "Status", "whether calls are enabled, available backends, limits", func() any {
			return struct {
				Version string `json:"version"`
				gateway.Status
				UptimeSeconds int64 `json:"uptimeSeconds"`
			}{h.Version, h.Gateway.Status(), int64(time.Since(began).Seconds())}
		}},
	}
	for _, r := range fixed {
		s.AddResource(
			mcp.NewResource(r.uri, r.name, mcp.WithResourceTitle(r.title), mcp.WithResourceDescription(r.description), mcp.WithMIMEType(mimeJSON)),
			func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				text, err := excerpt.JSON(r.read()) // a model reads it
				if err != nil {
					return nil, fmt.Errorf("encode %s: %w", r.uri, err)
				}
				return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.uri, MIMEType: mimeJSON, Text: text}}, nil
			})
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate(helpURI, "help", mcp.WithTemplateTitle("Help"), mcp.WithTemplateMIMEType(mimeText),
		mcp.WithTemplateDescription("one command: parameters, tier, effect, whether it is permitted and how the user can change that")), h.readHelp)
	s.AddResourceTemplate(mcp.NewResourceTemplate(outputURI, "output", mcp.WithTemplateTitle("Output"), mcp.WithTemplateMIMEType(mimeText),
		mcp.WithTemplateDescription("the rest of a truncated result, by its cursor")), h.readOutput)
	if h.App.Page != nil { // no list has the document of the app: clients find it by the tools
		s.AddResource(mcp.NewResource(appURI, "difference", mcp.WithMIMEType(appMIME)), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: appURI, MIMEType: appMIME, Text: h.App.Page(), Meta: map[string]any{"ui": map[string]any{"prefersBorder": true}}}}, nil
		})
		hooks.AddAfterListResources(func(_ context.Context, _ any, _ *mcp.ListResourcesRequest, list *mcp.ListResourcesResult) {
			list.Resources = slices.DeleteFunc(list.Resources, func(r mcp.Resource) bool { return r.URI == appURI })
		})
	}
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, req *mcp.ReadResourceRequest) {
		req.Params.URI = h.canonical(ctx, fixed, req.Params.URI)
	})
}

// readHelp returns the help of the command that [handler.canonical] has looked up.
func (h handler) readHelp(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	name, _ := segment(req.Params.URI, helpPrefix)
	listed, err := h.Gateway.Explain(name)
	if err != nil {
		return nil, visibleError(err)
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: mimeText, Text: listed.Explained().Text()}}, nil
}

// maxURI is the maximum length of a URI that is looked up, in bytes. Valid ones are shorter
// than a tenth of it.
const maxURI = 512

// canonical returns the canonical spelling of a URI, or an explanation that is no URI. It is called before mcp-go
// looks for a handler, whose error always gets the code of an internal error. mcp-go returns the right code for a
// missing resource, which differs between the two protocol generations, only for a URI without a handler.
func (h handler) canonical(ctx context.Context, fixed []fixedResource, uri string) string {
	if len(uri) > maxURI {
		return missing(uri, "the URI is too long")
	}
	for _, r := range fixed {
		if r.uri == uri {
			return uri
		}
	}
	switch {
	case uri == appURI && h.App.Page != nil:
		return uri
	case strings.HasPrefix(uri, helpPrefix):
		// The canonical URI of the help of a command, given plain or percent-encoded.
		name, ok := segment(uri, helpPrefix)
		if !ok {
			return missing(uri, commandsURI+" lists the commands")
		}
		if allowlist.Exists(name) {
			return helpPrefix + url.QueryEscape(name)
		}
		if near := allowlist.Meant(name); near != "" {
			return missing(uri, "did you mean "+helpPrefix+near+"?")
		}
		return missing(uri, commandsURI+" lists the commands")
	case strings.HasPrefix(uri, outputPrefix):
		// Check that the rest of a result is still kept.
		cursor, ok := segment(uri, outputPrefix)
		if !ok || url.QueryEscape(cursor) != cursor {
			return missing(uri, "use the cursor exactly as in the result")
		}
		if h.Gateway.Admits() != nil {
			return uri // the handler returns the reason
		}
		if err := h.Gateway.Kept(wire.PeerOf(ctx).Caller, cursor); err != nil {
			return missing(uri, visibleError(err).Error())
		}
		return uri
	}
	names := []string{strings.TrimPrefix(helpURI, scheme), strings.TrimPrefix(outputURI, scheme)}
	for _, r := range fixed {
		names = append(names, strings.TrimPrefix(r.uri, scheme))
	}
	if name, ours := strings.CutPrefix(uri, scheme); ours {
		if near := excerpt.Nearest(name, names[2:]); near != "" {
			return missing(uri, "did you mean "+scheme+near+"?")
		}
	}
	return missing(uri, "valid: "+scheme+strings.Join(names, ", "+scheme))
}

// segment returns the path segment after the prefix of a URI, decoded once. ok is false if
// it is empty, more than one segment, or badly encoded.
func segment(uri, prefix string) (text string, ok bool) {
	rest, found := strings.CutPrefix(uri, prefix)
	text, err := url.PathUnescape(rest)
	return text, found && err == nil && rest != "" && !strings.ContainsAny(rest, "/?#")
}

// missing returns an explanation in place of a URI.
func missing(uri, hint string) string {
	return wire.Explain(fmt.Sprintf("resource %q not found; %s", wire.Clip(uri), hint))
}

// maxResource is the maximum size of one resource text, in bytes. A client reads a resource
// for itself, so it is larger than a result for a model.
const maxResource = 1 << 20

// The keys in the _meta of an output.
const (
	metaNext    = "vaultwicket/next"    // URI of the next page
	metaNotices = "vaultwicket/notices" // notices of the result
)

// readOutput returns the next page of a truncated result, whose cursor [handler.canonical] has looked
// up, as the tool would return it, with a larger limit.
func (h handler) readOutput(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	cursor, _ := segment(req.Params.URI, outputPrefix)
	if err := h.Gateway.Admits(); err != nil {
		return nil, visibleError(err)
	}
	client, _ := clientOf(ctx)
	result := h.Gateway.Do(ctx, gateway.Request{
		Cursor: cursor, MaxOutput: maxResource, Limit: math.MaxInt, Keep: true, Caller: wire.PeerOf(ctx).Caller, Client: client, Surface: surface(wire.PeerOf(ctx)),
	})
	result = marked(h, result)
	if !result.OK {
		return nil, visibleError(result.Error)
	}
	contents := mcp.TextResourceContents{URI: req.Params.URI, MIMEType: mimeText, Text: result.Stdout, Meta: map[string]any{}}
	if result.Rows() {
		contents.MIMEType = mimeJSON
	}
	if next := result.Truncated.Cursor; next != "" {
		contents.Meta[metaNext] = outputPrefix + next
	}
	if len(result.Notices) > 0 {
		contents.Meta[metaNotices] = result.Notices
	}
	return []mcp.ResourceContents{contents}, nil
}

// maxCompletions is the maximum of the protocol for one result.
const maxCompletions = 100

// completer completes the names of commands and the arguments of prompts. It never
// completes the name of a note or a folder or text of a note, because it may be hidden.
type completer struct{ handler }

// CompleteResourceArgument completes the command of vaultwicket://help/{command}.
func (c completer) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != helpURI || argument.Name != "command" {
		return &mcp.Completion{}, nil
	}
	return complete(argument.Value, allowlist.Names()), nil
}

// CompletePromptArgument completes the argument of a prompt.
func (c completer) CompletePromptArgument(_ context.Context, name string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	p, err := findPrompt(name)
	if err != nil {
		return &mcp.Completion{}, nil
	}
	for _, a := range p.argumentsFor(c.Gateway.VaultNames()) {
		if a.Name == argument.Name && a.suggest != nil {
			return complete(argument.Value, a.suggest(noon(c.clock()))), nil
		}
	}
	return &mcp.Completion{}, nil
}

// complete returns the words that begin with the typed text, then those that contain it
// elsewhere, each in the given order.
func complete(typed string, words []string) *mcp.Completion {
	typed = strings.ToLower(typed)
	var prefixed, containing []string
	for _, word := range words {
		switch folded := strings.ToLower(word); {
		case strings.HasPrefix(folded, typed):
			prefixed = append(prefixed, word)
		case strings.Contains(folded, typed):
			containing = append(containing, word)
		}
	}
	all := slices.Concat(prefixed, containing)
	shown := all[:min(len(all), maxCompletions)]
	return &mcp.Completion{Values: shown, Total: len(all), HasMore: len(all) > len(shown)}
}

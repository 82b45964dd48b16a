package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway"
	"vaultwicket/gateway/catalog"
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

// fixed are the resources that always exist. None of them contains data of a note, so they
// can be read while vaultwicket is paused.
func (h handler) fixed(began time.Time) []fixedResource {
	return []fixedResource{
		{commandsURI, "commands", "Commands", "every command: tier, effect, signature, whether it is permitted, and if not, why and who can change that", h.commands},
		{policyURI, "policy", "Policy", "settings of each vault and their sources", func() any { return h.Gateway.Policies() }},
		{statusURI, "status", "Status", "whether calls are enabled, available backends, limits", func() any { return h.status(began) }},
	}
}

// addResources registers the resources and the completion of their URIs. There are no
// notifications about changes: a client reads again.
func (h handler) addResources(s *server.MCPServer, hooks *server.Hooks) {
	for _, option := range []server.ServerOption{
		server.WithResourceCapabilities(false, false), // before AddResource, see tools
		server.WithCompletions(),
		server.WithResourceHandlerMiddleware(h.recoverResource),
		server.WithResourceCompletionProvider(completer{h}),
	} {
		option(s)
	}
	fixed := h.fixed(time.Now())
	for _, r := range fixed {
		s.AddResource(
			mcp.NewResource(r.uri, r.name, mcp.WithResourceTitle(r.title), mcp.WithResourceDescription(r.description), mcp.WithMIMEType(mimeJSON)),
			func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return jsonContents(r.uri, r.read())
			})
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate(helpURI, "help", mcp.WithTemplateTitle("Help"), mcp.WithTemplateMIMEType(mimeText),
		mcp.WithTemplateDescription("one command: parameters, tier, effect, whether it is permitted and how the user can change that")), h.readHelp)
	s.AddResourceTemplate(mcp.NewResourceTemplate(outputURI, "output", mcp.WithTemplateTitle("Output"), mcp.WithTemplateMIMEType(mimeText),
		mcp.WithTemplateDescription("the rest of a truncated result, by its cursor")), h.readOutput)
	hooks.AddBeforeReadResource(finder{h, fixed}.find)
}

// commands is the whole table, one entry per command: the output of "vaultwicket commands
// --all --json" without the details of help.
func (h handler) commands() any {
	entries := []catalog.Entry{}
	for _, c := range h.Gateway.Listing() {
		entries = append(entries, c.Entry())
	}
	return entries
}

func (h handler) status(began time.Time) any {
	return struct {
		Version string `json:"version"`
		gateway.Status
		UptimeSeconds int64 `json:"uptimeSeconds"`
	}{h.Version, h.Gateway.Status(), int64(time.Since(began).Seconds())}
}

// readHelp returns the help of the command that [finder.find] has looked up.
func (h handler) readHelp(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	name, ok := segment(req.Params.URI, helpPrefix)
	if !ok {
		return nil, errMissing
	}
	listed, err := h.Gateway.Explain(name)
	if err != nil {
		return nil, visibleError(err)
	}
	return textContents(req.Params.URI, mimeText, listed.Explained().Text()), nil
}

func textContents(uri, mime, text string) []mcp.ResourceContents {
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: text}}
}

func jsonContents(uri string, value any) ([]mcp.ResourceContents, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a model reads it
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %s: %w", uri, err)
	}
	return textContents(uri, mimeJSON, strings.TrimSuffix(text.String(), "\n")), nil
}

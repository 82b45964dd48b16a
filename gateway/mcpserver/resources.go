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

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
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

// Descriptions of two resources, for clients.
const (
	commandsSummary = "every command: tier, effect, signature, whether it is permitted, and if not, why and who can change that"
	helpSummary     = "one command: parameters, tier, effect, whether it is permitted and how the user can change that"
)

// resource is a resource with a fixed URI.
type resource struct {
	mcp.Resource
	unlisted bool // not in the list: clients learn the URI in another way
	read     func() (text string, err error)
	meta     map[string]any
}

// resources returns the resources with fixed URIs, sorted by name. There are no notifications of
// changes: a client has to read them again.
func (h handler) resources() []resource {
	start := time.Now()
	document := func(name, title, description string, content func() any) resource {
		described := mcp.Resource{
			URI:         scheme + name,
			Name:        name,
			Title:       title,
			Description: description,
			MIMEType:    mimeJSON,
		}
		read := func() (string, error) { return excerpt.JSON(content()) }
		return resource{Resource: described, read: read}
	}
	resources := []resource{
		document("commands", "Commands", commandsSummary, func() any {
			entries := []gateway.CommandEntry{} // as "vaultwicket commands --all --json", without the details of help
			for _, c := range h.Gateway.Listing() {
				entries = append(entries, c.Entry())
			}
			return entries
		}),
		document(
			"policy",
			"Policy",
			"settings of each vault and their sources",
			func() any { return h.Gateway.Policies() },
		),
		document("status", "Status", "whether calls are enabled, available backends, limits", func() any {
			return struct {
				Version string `json:"version"`
				gateway.Status
				UptimeSeconds int64 `json:"uptimeSeconds"`
			}{h.Version, h.Gateway.Status(), int64(time.Since(start).Seconds())}
		}),
	}
	if h.App.Page != nil { // the definitions of tools refer to the document of the app
		resources = append(resources, resource{
			Resource: mcp.Resource{URI: appURI, Name: "difference", MIMEType: appMIME}, unlisted: true,
			read: func() (string, error) { return h.App.Page(), nil },
			meta: map[string]any{"ui": map[string]any{"prefersBorder": true}},
		})
	}
	return resources
}

// listedResources returns the descriptions of all resources that are listed.
func listedResources(resources []resource) (listed []mcp.Resource) {
	for i := range resources {
		if !resources[i].unlisted {
			listed = append(listed, resources[i].Resource)
		}
	}
	return listed
}

// templates returns the templates of resources whose URIs have a variable part.
func templates() []mcp.ResourceTemplate {
	return []mcp.ResourceTemplate{
		mcp.NewResourceTemplate(helpURI, "help", mcp.WithTemplateTitle("Help"), mcp.WithTemplateMIMEType(mimeText),
			mcp.WithTemplateDescription(helpSummary)),
		mcp.NewResourceTemplate(
			outputURI,
			"output",
			mcp.WithTemplateTitle("Output"),
			mcp.WithTemplateMIMEType(mimeText),
			mcp.WithTemplateDescription("the rest of a truncated result, by its cursor"),
		),
	}
}

// maxURI is the maximum length of a URI in bytes. Valid ones are less than a tenth as long.
const maxURI = 512

// readResource reads a resource by its URI.
func (h handler) readResource(
	ctx context.Context, resources []resource, client *transport.Peer, uri string,
) ([]mcp.ResourceContents, error) {
	missing := func(hint string) error {
		return client.MissingResource(fmt.Sprintf("resource %q not found; %s", transport.Clip(uri), hint))
	}
	if len(uri) > maxURI {
		return nil, missing("the URI is too long")
	}
	for i := range resources {
		if r := &resources[i]; r.URI == uri {
			text, err := r.read()
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", uri, err)
			}
			contents := mcp.TextResourceContents{URI: uri, MIMEType: r.MIMEType, Text: text, Meta: r.meta}
			return []mcp.ResourceContents{contents}, nil
		}
	}
	switch {
	case strings.HasPrefix(uri, helpPrefix):
		return h.readHelp(uri, missing)
	case strings.HasPrefix(uri, outputPrefix):
		return h.readOutput(ctx, client, uri, missing)
	}
	return nil, missing(otherURI(listedResources(resources), uri))
}

// otherURI returns advice about the URI to use instead of one that does not exist.
func otherURI(listed []mcp.Resource, uri string) string {
	var names []string
	for i := range listed {
		names = append(names, strings.TrimPrefix(listed[i].URI, scheme))
	}
	if name, isOurs := strings.CutPrefix(uri, scheme); isOurs {
		if near := excerpt.Nearest(name, names); near != "" {
			return "did you mean " + scheme + near + "?"
		}
	}
	valid := []string{helpURI, outputURI}
	for _, name := range names {
		valid = append(valid, scheme+name)
	}
	return "valid: " + strings.Join(valid, ", ")
}

// readHelp returns the help of the command in a URI. The name may be percent-encoded.
func (h handler) readHelp(uri string, missing func(hint string) error) ([]mcp.ResourceContents, error) {
	name, ok := segment(uri, helpPrefix)
	if !ok || !allowlist.Exists(name) {
		near := allowlist.Meant(name)
		if !ok || near == "" {
			return nil, missing(commandsURI + " lists the commands")
		}
		return nil, missing("did you mean " + helpPrefix + near + "?")
	}
	listed, err := h.Gateway.Explain(name)
	if err != nil {
		return nil, visibleError(err)
	}
	contents := mcp.TextResourceContents{
		URI: helpPrefix + url.QueryEscape(name), MIMEType: mimeText, Text: listed.Explained().Text(),
	}
	return []mcp.ResourceContents{contents}, nil
}

// segment returns the path segment after the prefix of a URI, percent-decoded once. ok is false
// unless there is exactly one valid, non-empty segment.
func segment(uri, prefix string) (text string, ok bool) {
	rest, found := strings.CutPrefix(uri, prefix)
	text, err := url.PathUnescape(rest)
	isSingle := rest != "" && !strings.ContainsAny(rest, "/?#")
	return text, found && isSingle && err == nil
}

// maxResource is the maximum size of one resource text, in bytes. It is larger than that of a result,
// because clients read resources for themselves and not for a model.
const maxResource = 1 << 20

// Keys in the _meta of an output.
const (
	metaNext    = "vaultwicket/next"    // URI of the next page
	metaNotices = "vaultwicket/notices" // notices of the result
	metaUnread  = "vaultwicket/unread"  // how many notes and folders could not be read for the result
)

// readOutput returns the next page of a truncated result by its cursor. It is the page that the tool would return, but
// with a larger size limit.
func (h handler) readOutput(
	ctx context.Context, peer *transport.Peer, uri string, missing func(hint string) error,
) ([]mcp.ResourceContents, error) {
	cursor, ok := segment(uri, outputPrefix)
	if !ok || url.QueryEscape(cursor) != cursor {
		return nil, missing("use the cursor exactly as in the result")
	}
	if err := h.Gateway.Admits(); err != nil {
		return nil, visibleError(err)
	}
	if err := h.Gateway.Kept(peer.Caller, cursor); err != nil {
		return nil, missing(visibleError(err).Error())
	}
	client, _ := peer.Client()
	result := h.Gateway.Do(ctx, gateway.Request{
		Cursor: cursor, MaxOutput: maxResource, Limit: math.MaxInt, Keep: true,
		Caller: peer.Caller, Client: client, Surface: surface(peer),
	})
	result = withMarks(h, result)
	if !result.OK {
		return nil, visibleError(result.Error)
	}
	contents := mcp.TextResourceContents{URI: uri, MIMEType: mimeText, Text: result.Stdout, Meta: map[string]any{}}
	if result.Rows() {
		contents.MIMEType = mimeJSON
	}
	if next := result.Truncated.Cursor; next != "" {
		contents.Meta[metaNext] = outputPrefix + next
	}
	if len(result.Notices) > 0 {
		contents.Meta[metaNotices] = result.Notices
	}
	if result.Unread > 0 {
		contents.Meta[metaUnread] = result.Unread
	}
	return []mcp.ResourceContents{contents}, nil
}

// maxCompletions is the protocol's maximum number of completions in one result.
const maxCompletions = 100

// completeArgument completes the command in vaultwicket://help/{command} and the arguments of
// prompts. It never suggests names of notes or folders, or note text, because these may be hidden.
func (h handler) completeArgument(_ context.Context, req mcp.CompleteRequest) (mcp.Completion, error) {
	argument := req.Params.Argument
	switch ref := req.Params.Ref.(type) {
	case mcp.ResourceReference:
		if ref.URI == helpURI && argument.Name == "command" {
			return complete(argument.Value, allowlist.Names()), nil
		}
	case mcp.PromptReference:
		p, err := findPrompt(ref.Name)
		if err != nil {
			return mcp.Completion{}, nil
		}
		for _, a := range p.argumentsFor(h.Gateway.VaultNames()) {
			if a.Name == argument.Name && a.suggest != nil {
				return complete(argument.Value, a.suggest(noon(h.clock()))), nil
			}
		}
	}
	return mcp.Completion{}, nil
}

// complete returns the words that begin with the typed text, followed by those that contain it
// elsewhere. Each group keeps the order of words.
func complete(typed string, words []string) mcp.Completion {
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
	return mcp.Completion{Values: shown, Total: len(all), HasMore: len(all) > len(shown)}
}

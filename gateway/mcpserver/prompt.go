package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
)

// prompt is a piece of work that a person can ask for: words for a model about
// which calls to make. The text of notes is never in it.
type prompt struct {
	name, title, description string
	arguments                []promptArgument
	write                    func(*draft) string
}

// promptArgument is what a person may say about the work. Every argument is
// optional.
type promptArgument struct {
	name, description string
	// check says what is wrong with a value, "" if nothing is.
	check func(text string) string
	// offers are values to choose from, given the day of today; nil for none.
	// They are never the names of notes or of what is in them: not all of them
	// may be known to who asks.
	offers func(today time.Time) []string
}

// PromptNames returns the names of the prompts, in their order.
func PromptNames() []string {
	var names []string
	for _, p := range prompts() {
		names = append(names, p.name)
	}
	return names
}

// Prompt returns the text of a prompt for a model that uses gw: a client without
// prompts can be given it by hand. now is the time of the person. The error has
// the methods Code and Hint; it is about a name, or an argument, that is none.
func Prompt(gw *gateway.Gateway, name string, arguments map[string]string, now time.Time) (string, error) {
	p, err := promptOf(name)
	if err != nil {
		return "", err
	}
	if err := p.check(gw, arguments); err != nil {
		return "", err
	}
	return p.write(newDraft(gw, arguments, now)), nil
}

func promptOf(name string) (prompt, error) {
	for _, p := range prompts() {
		if p.name == name {
			return p, nil
		}
	}
	hint := "the prompts are " + strings.Join(PromptNames(), ", ")
	if near := allowlist.Nearest(name, PromptNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return prompt{}, &promptError{clip(name), "there is no such prompt", hint}
}

// check holds the arguments against what the prompt takes.
func (p prompt) check(gw *gateway.Gateway, arguments map[string]string) error {
	taken := p.takes(gw.VaultNames())
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		i := slices.IndexFunc(taken, func(a promptArgument) bool { return a.name == name })
		if i < 0 {
			return unknownArgument(p, name, taken)
		}
		if arguments[name] == "" {
			continue // as clients send a field that was left empty
		}
		if reason := taken[i].check(arguments[name]); reason != "" {
			return &promptError{p.name, fmt.Sprintf("argument %q: %s", name, reason), ""}
		}
	}
	return nil
}

func unknownArgument(p prompt, name string, taken []promptArgument) error {
	var names []string
	for _, a := range taken {
		names = append(names, a.name)
	}
	hint := "it takes " + strings.Join(names, ", ")
	if near := allowlist.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &promptError{p.name, fmt.Sprintf("argument %q: there is no such argument", clip(name)), hint}
}

// takes are the arguments of the prompt; where there are several vaults, which of
// them is one more.
func (p prompt) takes(vaults []string) []promptArgument {
	if len(vaults) < 2 {
		return p.arguments
	}
	return append(slices.Clone(p.arguments), vaultArgument(vaults))
}

// promptError is what is wrong with a request for a prompt.
type promptError struct{ prompt, reason, hint string }

// Code puts it with the wrong requests.
func (e *promptError) Code() string { return codeBadRequest }

// Hint says what would be right, "" when the error says it all.
func (e *promptError) Hint() string { return e.hint }

func (e *promptError) Error() string { return fmt.Sprintf("prompt %q: %s", e.prompt, e.reason) }

// addPrompts registers the prompts. The list is the same for every policy: what is
// closed is left out of the texts.
func (h handler) addPrompts(s *server.MCPServer, hooks *server.Hooks) {
	for _, option := range []server.ServerOption{
		server.WithPromptCapabilities(false), // before AddPrompt, see tools
		server.WithPromptHandlerMiddleware(h.recoverPrompt),
		server.WithPromptCompletionProvider(completer{h}),
	} {
		option(s)
	}
	for _, p := range prompts() {
		listed := mcp.NewPrompt(p.name, mcp.WithPromptTitle(p.title), mcp.WithPromptDescription(p.description))
		for _, a := range p.takes(h.Gateway.VaultNames()) {
			listed.Arguments = append(listed.Arguments, mcp.PromptArgument{Name: a.name, Description: a.description})
		}
		s.AddPrompt(listed, h.prompt)
	}
	hooks.AddBeforeGetPrompt(h.checkPrompt)
}

func (h handler) prompt(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := Prompt(h.Gateway, req.Params.Name, req.Params.Arguments, h.clock())
	if err != nil {
		return nil, visibleError(err)
	}
	p, _ := promptOf(req.Params.Name)
	return mcp.NewGetPromptResult(p.description, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
}

// checkPrompt puts words in place of a name if there is no such prompt or an
// argument is wrong: see [finder] for why that is found out so early. What mcp-go
// says then has the code of wrong parameters.
func (h handler) checkPrompt(_ context.Context, _ any, req *mcp.GetPromptRequest) {
	_, err := guarded(h.Log, "prompt", func() (string, error) {
		p, err := promptOf(req.Params.Name)
		if err == nil {
			err = p.check(h.Gateway, req.Params.Arguments)
		}
		return "", err
	})
	if wrong, ok := err.(*promptError); ok {
		req.Params.Name = strings.TrimSuffix(wrong.prompt+" ("+wrong.reason+"; "+wrong.hint, "; ") + ")"
	}
}

package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/prompts"
)

// addPrompts registers the prompts. The list does not depend on the policy: what is
// disabled is left out of the texts.
func (h handler) addPrompts(s *server.MCPServer, hooks *server.Hooks) {
	for _, option := range []server.ServerOption{
		server.WithPromptCapabilities(false), // before AddPrompt, see tools
		server.WithPromptHandlerMiddleware(h.recoverPrompt),
		server.WithPromptCompletionProvider(completer{h}),
	} {
		option(s)
	}
	for _, p := range prompts.All() {
		listed := mcp.NewPrompt(p.Name, mcp.WithPromptTitle(p.Title), mcp.WithPromptDescription(p.Description))
		for _, a := range p.Arguments(h.Gateway.VaultNames()) {
			listed.Arguments = append(listed.Arguments, mcp.PromptArgument{Name: a.Name, Description: a.Description})
		}
		s.AddPrompt(listed, h.prompt)
	}
	hooks.AddBeforeGetPrompt(h.checkPrompt)
}

func (h handler) prompt(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := prompts.Text(h.Gateway, req.Params.Name, req.Params.Arguments, h.clock())
	if err != nil {
		return nil, visibleError(err)
	}
	p, _ := prompts.Find(req.Params.Name)
	return mcp.NewGetPromptResult(p.Description, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
}

// checkPrompt replaces the name of an unknown prompt, or of one with an invalid argument,
// by an explanation: see [finder] for the reason. mcp-go then answers with the code of
// invalid parameters.
func (h handler) checkPrompt(_ context.Context, _ any, req *mcp.GetPromptRequest) {
	_, err := guarded(h.Log, "prompt", func() (string, error) {
		p, err := prompts.Find(req.Params.Name)
		if err == nil {
			err = p.Check(h.Gateway, req.Params.Arguments)
		}
		return "", err
	})
	if wrong := (*prompts.Error)(nil); errors.As(err, &wrong) {
		var notes []string
		for _, note := range []string{wrong.Reason, wrong.Hint()} {
			if note != "" {
				notes = append(notes, note)
			}
		}
		req.Params.Name = wrong.Prompt + " (" + strings.Join(notes, "; ") + ")"
	}
}

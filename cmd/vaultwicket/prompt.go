package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

var helpOfPrompt = description{
	Name: "prompt", Usage: "[flags] NAME [key=value …]", Group: groupStart, Summary: "print an MCP prompt, for a client without prompts",
	Examples: []example{
		{"the morning review, with three days before", "vaultwicket prompt --vault ~/Notes morning-review days=3"},
		{"a briefing on a topic", "vaultwicket prompt --vault ~/Notes --tier v1 briefing topic=garden"},
	},
}

// promptText is "vaultwicket prompt": the text of an MCP prompt for the settings in force, for
// clients that support only tools.
func promptText(_ context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("prompt", std, args, nil)
	if err != nil {
		return err
	}
	if len(o.Rest) == 0 {
		return &terminal.UsageError{
			Reason: "no prompt given",
			Advice: "the prompts are " + strings.Join(mcpserver.PromptNames(), ", "),
		}
	}
	arguments := map[string]string{}
	for _, word := range o.Rest[1:] {
		name, value, ok := strings.Cut(word, "=")
		if _, twice := arguments[name]; twice || !ok {
			return &terminal.UsageError{
				Reason: fmt.Sprintf("invalid or duplicate argument %q", excerpt.Short(word)),
				Advice: "write key=value, such as days=3",
			}
		}
		arguments[name] = value
	}
	clock, err := bootstrap.Clock(std)
	if err != nil {
		return err
	}
	text, err := mcpserver.PromptText(o.Gateway, o.Rest[0], arguments, bootstrap.DayClock(clock, o.DayStart)())
	if err != nil {
		return err
	}
	if o.JSON {
		printed := struct {
			Name string `json:"name"`
			Text string `json:"text"`
		}{o.Rest[0], text}
		return terminal.PrintJSON(std.Out, printed, terminal.ExitDone)
	}
	return terminal.Write(std.Out, text+"\n")
}

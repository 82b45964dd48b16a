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

var promptHelp = description{
	Name: "prompt", Usage: "[flags] NAME [key=value …]", Group: groupStart, Summary: "print an MCP prompt, for a client without prompts",
	Examples: []example{
		{"the morning review, with three days before", "vaultwicket prompt --vault ~/Notes morning-review days=3"},
		{"a briefing on a topic", "vaultwicket prompt --vault ~/Notes --tier v1 briefing topic=garden"},
	},
}

// promptText runs "vaultwicket prompt", which prints an MCP prompt for the present settings. It is for
// clients that only support tools.
func promptText(_ context.Context, std terminal.Streams, args []string) error {
	opened, err := bootstrap.Open("prompt", std, args, nil)
	if err != nil {
		return err
	}
	if len(opened.Rest) == 0 {
		return &terminal.UsageError{
			Reason: "no prompt given",
			Advice: "the prompts are " + strings.Join(mcpserver.PromptNames(), ", "),
		}
	}
	arguments := map[string]string{}
	for _, word := range opened.Rest[1:] {
		name, value, ok := strings.Cut(word, "=")
		if _, isDuplicate := arguments[name]; isDuplicate || !ok {
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
	text, err := mcpserver.PromptText(opened.Gateway, opened.Rest[0], arguments, bootstrap.DayClock(clock, opened.DayStart)())
	if err != nil {
		return err
	}
	if opened.JSON {
		printed := struct {
			Name string `json:"name"`
			Text string `json:"text"`
		}{opened.Rest[0], text}
		return terminal.PrintJSON(std.Out, printed, terminal.ExitDone)
	}
	return terminal.Write(std.Out, text+"\n")
}

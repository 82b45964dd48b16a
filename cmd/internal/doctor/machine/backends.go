package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/rawvault"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// versionOfApp asks the Obsidian CLI, through the gate like every call: with a policy
// that lets nothing else through.
func versionOfApp(ctx context.Context, s settings.Settings, std terminal.Streams) (string, *failure.Error) {
	runner, err := settings.NewRunner(s, std, false, nil)
	if err != nil {
		return "", failure.Of(err)
	}
	defer runner.Close()
	g := gateway.New(gateway.Config{
		Policy: s.ForVersion(), Runner: runner, Backend: gateway.App, Session: settings.Session(), Getenv: std.Getenv, Log: slog.New(slog.DiscardHandler),
	})
	answer := g.Do(ctx, gateway.Request{Command: "version"})
	if answer.Error != nil {
		return "", answer.Error
	}
	return strings.TrimSpace(answer.Stdout), nil
}

// journals opens journals as a server of the settings would.
func journals(s settings.Settings, std terminal.Streams) func(gateway.Vault) (*journal.Journal, error) {
	return func(v gateway.Vault) (*journal.Journal, error) {
		runner, err := settings.NewRunner(s, std, false, nil)
		if err != nil {
			return nil, err
		}
		defer runner.Close()
		g := gateway.New(gateway.Config{Vault: v, Runner: runner, Backend: gateway.Embedded, Session: settings.Session(), Getenv: std.Getenv, Log: slog.New(slog.DiscardHandler)})
		return g.Journal("")
	}
}

// sandboxOf asks the embedded CLI what it is locked into for a vault.
func sandboxOf(ctx context.Context, self, folder string) (string, error) {
	printed, complaint, err := clients.Ask(ctx, []string{self, rawvault.Name, folder, "--status"}, "")
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(complaint))
	}
	for line := range strings.Lines(printed) {
		if held, found := strings.CutPrefix(line, "sandbox\t"); found {
			return strings.TrimSpace(held), nil
		}
	}
	return "", errors.New("it does not say what it is locked into")
}

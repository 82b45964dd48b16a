package gateway

import (
	"context"
	"strings"

	"vaultwicket/policy"
)

// AppVersion returns what the Obsidian CLI answers to version. An error says that there is
// no CLI, that the app is closed, or that the policy disables the command.
func (g *Gateway) AppVersion(ctx context.Context) (string, error) {
	out, err := g.askApp(ctx, func(p policy.Permit) policy.Permit { return p })
	return strings.TrimSpace(out), err
}

// AppHelp returns the help text of the Obsidian CLI, which a caller of help never sees. It
// tells which commands the installed app has.
func (g *Gateway) AppHelp(ctx context.Context) (string, error) {
	return g.askApp(ctx, policy.Permit.Help)
}

// askApp runs the call of version that the policy permits, or what is derived from its
// permit, on the app.
func (g *Gateway) askApp(ctx context.Context, derived func(policy.Permit) policy.Permit) (string, error) {
	if err := g.Admits(); err != nil {
		return "", err
	}
	program, err := g.runner.App()
	if err != nil {
		return "", err
	}
	plan, err := g.vaults[0].Plan(Request{Command: "version"})
	if err != nil {
		return "", err
	}
	out, err := g.runner.Run(ctx, derived(plan.routes[0].permit), program)
	switch {
	case err != nil:
		return "", err
	case out.Failure != nil:
		return "", out.Failure
	}
	return out.Stdout, nil
}

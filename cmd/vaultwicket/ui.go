package main

import (
	"context"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/serving"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
)

var uiHelp = description{
	Name: "ui", Usage: "[flags] [--listen ADDRESS]", Group: groupReview, Summary: "open a local page: activity, approvals, changes, policy",
	About: []string{
		"The link is shown in your terminal and works once, within 15 minutes; Enter shows another one. The page can be opened on this machine only, and closes when the command ends.",
		"A browser that opens the link is paired: for 90 days it can decide about questions whose links your client opens, even when the page is closed.",
	},
	Examples: []example{
		{"on a free port", "vaultwicket ui"},
		{"on a port of your choice", "vaultwicket ui --listen 127.0.0.1:8766"},
	},
}

// anyPort lets the system pick a free port.
const anyPort = "127.0.0.1:0"

// runUI runs "vaultwicket ui", which serves the local page until the command ends.
func runUI(ctx context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("ui", std, args, pageFlags)
	if err != nil {
		return err
	}
	return serving.ServePage(ctx, o, o.Flags.Lookup("listen").Value.String(), ui.Config{
		Agents: func() ([]ui.Agent, error) { return listAgents(std, args) },
		Revoke: func(name string) error { return oversight.Revoke(std, name) },
		Health: func(ctx context.Context) []ui.Finding { return health(ctx, std, args) },
	})
}

// listAgents returns the agents for the page. args are those of the command.
func listAgents(std terminal.Streams, args []string) ([]ui.Agent, error) {
	f := settings.NewFlags("ui")
	f.Reviews = true
	f.FindsVault = true
	pageFlags(f)
	s, _, err := f.Load(std, args)
	if err != nil {
		return nil, err
	}
	agents, err := oversight.Agents(std, f, s)
	if err != nil {
		return nil, err
	}
	result := []ui.Agent{}
	for _, agent := range agents {
		result = append(result, ui.Agent{
			Name:      agent.Name,
			State:     agent.State,
			Tier:      agent.Tier,
			Mutations: agent.Mutations,
			Vaults:    agent.Vaults,
			Expires:   agent.Expires,
		})
	}
	return result, nil
}

// health returns the findings of "vaultwicket doctor" for the settings of the command with these args.
func health(ctx context.Context, std terminal.Streams, args []string) []ui.Finding {
	m, _, err := doctor.ThisMachine(std, args, pageFlags)
	if err != nil {
		return []ui.Finding{{Check: "doctor", Level: string(doctor.Problem), What: err.Error()}}
	}
	var result []ui.Finding
	for _, f := range doctor.Check(ctx, m).Findings {
		finding := ui.Finding{Check: f.Check, Level: string(f.Level), What: f.What, Why: f.Why, Fix: f.Fix}
		result = append(result, finding)
	}
	return result
}

// pageFlags registers the flags of ui that are not settings.
func pageFlags(f *settings.Flags) {
	f.WithoutJSON()
	f.Resident = true // one process plans and applies the accepted parts of a proposal
	f.String("listen", anyPort, "loopback address and port, such as 127.0.0.1:8766 (port 0: any that is free)")
}

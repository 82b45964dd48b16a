package main

import (
	"context"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/drift"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/catalog"
)

// drifted compares the commands of the installed app with the table, and returns those that
// are new there as commands that nothing enables. Where the app is not used or does not
// answer there are none.
func (o opened) drifted(ctx context.Context, std terminal.Streams) (unknown []catalog.Explained) {
	if o.Backend == gateway.Embedded {
		return nil
	}
	d, err := drift.Check(ctx, std.Getenv, o.gateway)
	if err != nil {
		return nil
	}
	noteDrift(std, d)
	for _, name := range d.New {
		unknown = append(unknown, catalog.Explained{
			Entry:   catalog.Entry{Name: name, Tier: "unknown", Effect: "unknown", Signature: name, Code: allowlist.CodeUnknownCommand},
			Why:     "new in Obsidian " + d.Version + " and not known to vaultwicket; permanently disabled",
			Summary: "unknown", MaxEffect: "unknown", Since: "unknown", Params: []catalog.ExplainedParam{},
		})
	}
	return unknown
}

// noteDrift says in which commands the app differs from the table.
func noteDrift(std terminal.Streams, d drift.Drift) {
	if len(d.New) > 0 {
		terminal.Notef(std.Err, "Obsidian %s has commands that vaultwicket does not know and does not enable: %s", d.Version, strings.Join(d.New, ", "))
	}
	if len(d.Missing) > 0 {
		terminal.Notef(std.Err, "Obsidian %s does not list these commands; a core plugin may be off: %s", d.Version, strings.Join(d.Missing, ", "))
	}
}

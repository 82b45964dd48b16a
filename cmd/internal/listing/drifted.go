package listing

import (
	"context"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/drift"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/catalog"
)

// drifted compares the commands of the installed app with the table, and returns those that
// are new there as commands that nothing enables. Where the app is not used or does not
// answer there are none.
func drifted(ctx context.Context, o settings.Opened) (unknown []catalog.Explained) {
	if o.Backend == gateway.Embedded {
		return nil
	}
	d, err := drift.Check(ctx, o.Std.Getenv, o.Gateway)
	if err != nil {
		return nil
	}
	for _, notice := range d.Notices() {
		terminal.Notef(o.Std.Err, "%s", notice)
	}
	for _, name := range d.New {
		unknown = append(unknown, catalog.Explained{
			Entry:   catalog.Entry{Name: name, Tier: "unknown", Effect: "unknown", Signature: name, Code: allowlist.CodeUnknownCommand},
			Why:     "new in Obsidian " + d.Version + " and not known to vaultwicket; permanently disabled",
			Summary: "unknown", MaxEffect: "unknown", Since: "unknown", Params: []catalog.ExplainedParam{},
		})
	}
	return unknown
}

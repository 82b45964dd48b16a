package main

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var auditHelp = description{
	Name: "audit", Usage: "list [flags] | what-if [flags] | verify [flags] | export FILE|-", Group: groupReview, Summary: "list, verify or export the audit log",
	About: []string{
		"The log has a line for each decision and each outcome, chained by hashes. It contains names, lengths and digests, but never text of a note.",
		"\"list\" prints entries, \"verify\" checks that nobody has changed or removed lines, and \"export\" writes all lines as they are.",
		"\"what-if\" counts by day what the content rules found, and with --secrets, --suspicious or --remote-links what they would have done with that setting. It knows only what the log says: which rules found what in which calls.",
		"\"verify --checkpoints\" also compares the log with signed checkpoints in a file that was kept elsewhere, such as lines sent by the setting export. This detects a log that was rewritten as a whole. --key is the public key that must have signed them; without it, the key is printed.",
	},
	Examples: []example{
		{"what was denied today", "vaultwicket audit list --decision deny --since today"},
		{"has somebody changed the log?", "vaultwicket audit verify"},
		{"how many calls would be refused?", "vaultwicket audit what-if --secrets block"},
		{"all lines, as JSON", "vaultwicket audit export audit.jsonl"},
		{"does the log match what the collector has?", "vaultwicket audit verify --checkpoints collected.jsonl"},
	},
}

// audit runs "vaultwicket audit". Flags may also come before the action.
func audit(ctx context.Context, std terminal.Streams, args []string) error {
	if len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if i := flagWords(auditHelp.Name, args); i < len(args) {
			args = slices.Concat([]string{args[i]}, args[:i], args[i+1:])
		}
	}
	return oversight.Audit(ctx, std, args)
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// subcommand is a subcommand of vaultwicket: its description for help and
// manual, and the function that runs it with the arguments after its name.
type subcommand struct {
	description
	run func(ctx context.Context, std terminal.Streams, args []string) error
}

// subcommands returns the table of subcommands, in the order of the help text.
func subcommands() []subcommand {
	return []subcommand{
		{setupHelp, setUp},
		{installHelp, install},
		{uninstallHelp, uninstall},
		{serveHelp, serve},
		{promptHelp, promptText},
		{doctorHelp, runDoctor},
		{demoHelp, runDemo},
		{runHelp, runCall},
		{dryRunHelp, dryRun},
		{batchHelp, runBatch},
		{commandsHelp, listCommands},
		{explainHelp, explain},
		{vaultHelp, vaultFlags},
		{approvalsHelp, oversight.Approvals},
		{approveHelp, oversight.Approve},
		{denyHelp, oversight.Deny},
		{grantHelp, oversight.Grant},
		{grantsHelp, oversight.Grants},
		{pauseHelp, oversight.Pause},
		{resumeHelp, oversight.Resume},
		{agentHelp, oversight.Agent},
		{passkeyHelp, oversight.Passkey},
		{uiHelp, runUI},
		{todayHelp, oversight.Today},
		{reviewHelp, oversight.Review},
		{scanHelp, oversight.Scan},
		{journalHelp, oversight.Journal},
		{undoHelp, undo},
		{auditHelp, audit},
		{configHelp, settings.Command},
		{accessHelp, oversight.Access},
		{flowHelp, oversight.Flow},
		{compareHelp, compareBackends},
		{completionHelp, printCompletion},
		{manHelp, printManual},
		{versionHelp, printVersion},
		{helpHelp, help},
	}
}

// unknownSubcommand returns the error for an unknown subcommand, with a suggestion. after are the arguments that
// follow the name.
func unknownSubcommand(name string, after []string) error {
	if strings.HasPrefix(name, "-") {
		err := &terminal.UsageError{
			Reason: "no command given",
			Advice: `"vaultwicket help" lists the commands; flags can be before or after one`,
		}
		isKnown := func(word string) bool { _, unknown := allowlist.Describe(word); return unknown == nil }
		if at := slices.IndexFunc(after, isKnown); at >= 0 { // "--vault Notes read Plan"
			err.Advice = fmt.Sprintf(`a command of a vault needs "run": vaultwicket run %s … %s`, name, after[at])
		}
		return err
	}
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.Name)
	}
	err := &terminal.UsageError{
		Reason: fmt.Sprintf("unknown command %q", excerpt.Short(name)),
		Advice: `"vaultwicket help" shows the commands`,
	}
	colonName := ""
	if len(after) > 0 {
		if _, unknown := allowlist.Describe(name + ":" + after[0]); unknown == nil { // "daily read"
			colonName = name + ":" + after[0]
		}
	}
	if colonName != "" {
		err.Advice = fmt.Sprintf(`did you mean "vaultwicket run %s"?`, colonName)
	} else if near := excerpt.Nearest(name, names); near != "" {
		err.Advice = fmt.Sprintf("did you mean %q?", near)
	} else if _, known := allowlist.Describe(name); known == nil {
		err.Advice = fmt.Sprintf(`"vaultwicket run %[1]s" runs this command of a vault, "vaultwicket explain %[1]s" describes it`, name)
	}
	return err
}

// conventions maps the usual flags for help and version to subcommands.
var conventions = map[string]string{"-h": "help", "--help": "help", "-V": "version", "--version": "version"}

// subcommandNamed returns the subcommand with this name, or for a usual flag for help or version.
func subcommandNamed(name string) (subcommand, bool) {
	if convention, known := conventions[name]; known {
		name = convention
	}
	for _, c := range subcommands() {
		if c.Name == name {
			return c, true
		}
	}
	return subcommand{}, false
}

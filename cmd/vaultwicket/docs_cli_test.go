package main

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/terminal"
)

// cliPage is the page about the subcommands, from the table that help and manual pages are
// made from.
func cliPage() string {
	var b strings.Builder
	b.WriteString("# Command line\n\n" + generated)
	b.WriteString("`vaultwicket COMMAND [flags] [arguments]`. The same is printed by `vaultwicket help COMMAND`, and as manual pages by `vaultwicket man`. `-h` and `--help`, `-V` and `--version` work behind every command.\n" +
		"Every [setting](settings.md) is a flag, too, of the commands that have settings.\n")
	group := ""
	for _, c := range subcommands() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		b.WriteString(subcommandSection(c.description))
	}
	b.WriteString("\n## Exit status\n\n" + tableHead("status", "meaning"))
	for _, one := range terminal.ExitMeanings {
		b.WriteString(tableRow(fmt.Sprint(one.Status), one.Meaning))
	}
	b.WriteString("\nThe codes of failures are in [codes](codes.md). `doctor` has statuses of its own, see above.\n" +
		"\n## Colours and widths\n\n" +
		"On a terminal, lists have headers and relative times, and columns are cut to its width; ids are whole. Everywhere else lines are as scripts need them: no header, nothing cut, exact times.\n" +
		"`--color always` and `--color never` decide on colours. Without them `NO_COLOR` turns them off, `CLICOLOR_FORCE` on, and otherwise a terminal has them. JSON and CSV never do.\n")
	return b.String()
}

func subcommandSection(c description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n`%s`\n\n%s.\n", c.Name, strings.TrimSpace("vaultwicket "+c.Name+" "+c.Usage), strings.ToUpper(c.Summary[:1])+c.Summary[1:])
	for _, paragraph := range c.About {
		b.WriteString("\n" + paragraph + "\n")
	}
	f := ownAndSettings(flagsOf(c.Name))
	if len(f.Own) > 0 {
		b.WriteString("\n" + tableHead("flag", ""))
		for _, one := range f.Own {
			b.WriteString(flagRow(one))
		}
	}
	if len(f.Settings) > 0 {
		b.WriteString("\nIt has the settings as flags.\n")
	}
	b.WriteString("\n```console\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "# %s\n$ %s\n", e.What, e.Line)
	}
	b.WriteString("```\n")
	return b.String()
}

func flagRow(f terminal.Flag) string { return tableRow(code(f.Form()), f.Usage) }

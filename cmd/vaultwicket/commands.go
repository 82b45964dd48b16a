package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/catalog"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

var helpOfCommands = description{
	Name: "commands", Usage: "[flags] [--all]", Group: groupUse, Summary: "list enabled commands; with --all also the others, and why not",
	Examples: []example{
		{"what is enabled by default", "vaultwicket commands"},
		{"everything, with the reason for each that is not enabled", "vaultwicket commands --all"},
	},
}

var helpOfExplain = description{
	Name: "explain", Usage: "[flags] COMMAND", Group: groupUse, Summary: "describe a command: parameters, tier, effect, whether it is enabled",
	Examples: []example{{"the parameters of a command", "vaultwicket explain tasks"}},
}

func listCommands(ctx context.Context, std terminal.Streams, args []string) error {
	var all bool
	var look terminal.ScreenOptions
	o, err := bootstrap.Open("commands", std, args, func(f *settings.Flags) {
		f.BoolVar(&all, "all", false, "also the commands that are not enabled, and why not")
		f.CallsServer()
		look.ColorFlag(f.FlagSet)
	})
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("commands: unexpected argument %q", excerpt.Short(o.Rest[0])), Advice: `"vaultwicket explain COMMAND" shows one command`}
	}
	commands := []catalog.Explained{}
	if o.Remote != nil {
		list, err := serverOf(o, nil).Commands(ctx)
		if err != nil {
			return err
		}
		for _, c := range list {
			if all || c.Allowed {
				commands = append(commands, catalog.Explained{Entry: c, Why: c.Hint, Params: []catalog.ExplainedParam{}})
			}
		}
	} else {
		for _, c := range o.Gateway.Listing() {
			if all || c.Enabled() {
				commands = append(commands, c.Explained())
			}
		}
		if all {
			commands = append(commands, drifted(ctx, o)...)
		}
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, commands, terminal.ExitDone)
	}
	// Print the parameters of commands, or with all whether each is enabled.
	s := terminal.NewScreen(std, look, time.Time{})
	last := []terminal.Column{{Title: "command and its parameters", Min: 10}}
	if all {
		last = []terminal.Column{{Title: "command"}, {Title: "enabled", Min: 10}}
	}
	table := s.Table(append([]terminal.Column{{Title: "tier"}, {Title: "effect"}}, last...)...)
	for _, c := range commands {
		effect := terminal.Cell{Text: c.Effect, Style: terminal.EffectStyles[c.Effect]}
		switch {
		case !all:
			table.Add(terminal.Text(c.Tier), effect, terminal.Text(c.Signature))
		case c.Why == "":
			table.Add(terminal.Text(c.Tier), effect, terminal.Text(c.Name), terminal.Cell{Text: "allowed", Style: terminal.Good})
		default:
			table.Add(terminal.Text(c.Tier), effect, terminal.Text(c.Name), terminal.Cell{Text: c.Why, Style: terminal.Faint})
		}
	}
	return table.Flush()
}

func explain(ctx context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("explain", std, args, (*settings.Flags).CallsServer)
	if err != nil {
		return err
	}
	if len(o.Rest) != 1 {
		return &terminal.UsageError{Reason: "explain requires one command", Advice: `"vaultwicket commands --all" lists them`}
	}
	var text string
	if o.Remote != nil {
		if o.JSON {
			return &terminal.UsageError{Reason: "explain: --json cannot be combined with --url", Advice: "leave one of them out"}
		}
		text, err = serverOf(o, nil).Help(ctx, o.Rest[0])
		text = terminal.Visible(text)
	} else {
		var c catalog.Listing
		if c, err = o.Gateway.Explain(o.Rest[0]); err == nil {
			text = c.Explained().Text()
		}
		if err == nil && o.JSON {
			return terminal.PrintJSON(std.Out, c.Explained(), terminal.ExitDone)
		}
	}
	if err != nil {
		return err
	}
	return terminal.Write(std.Out, text)
}

// drifted compares the commands of the installed app with the table, and returns the unknown
// ones, which nothing enables. It returns none if the app is not used or does not answer.
func drifted(ctx context.Context, o bootstrap.Opened) (unknown []catalog.Explained) {
	if o.Backend == settings.Embedded {
		return nil
	}
	d, err := checkDrift(ctx, o.Std.Getenv, o.Gateway)
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

// drift is the difference between the commands of a version of the app and the table.
type drift struct {
	Version string   `json:"version"` // as the app says it
	New     []string `json:"new"`     // commands that vaultwicket does not know
	// Missing are commands of the table that the app does not list. Commands of a disabled
	// core plugin are missing, too.
	Missing []string `json:"missing"`
}

type installedApp interface {
	AppVersion(ctx context.Context) (string, error)
	AppHelp(ctx context.Context) (string, error)
}

// checkDrift asks the app for its version, and for its help if this version was not asked
// before. The result is kept in the cache folder.
func checkDrift(ctx context.Context, getenv func(string) string, app installedApp) (drift, error) {
	version, err := app.AppVersion(ctx)
	if err != nil {
		return drift{}, err
	}
	if known, ok := knownDrift(getenv); ok && known.Version == version {
		return known, nil
	}
	help, err := app.AppHelp(ctx)
	if err != nil {
		return drift{}, err
	}
	d := driftOf(version, commandsIn(help))
	name := driftFile(getenv)
	if name == "" || len(d.Version) > maxDriftVersion || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return d, nil
	}
	text, _ := json.Marshal(d)
	_, _ = ownerfiles.Replace(ownerfiles.Disk{}, name+".new", name, append(text, '\n'), time.Time{}) // without it the app is asked again
	return d, nil
}

// Notices say in which commands the app differs from the table.
func (d drift) Notices() (notices []string) {
	if len(d.New) > 0 {
		notices = append(notices, fmt.Sprintf("Obsidian %s has commands that vaultwicket does not know and does not enable: %s", d.Version, strings.Join(d.New, ", ")))
	}
	if len(d.Missing) > 0 {
		notices = append(notices, fmt.Sprintf("Obsidian %s does not list these commands; a core plugin may be off: %s", d.Version, strings.Join(d.Missing, ", ")))
	}
	return notices
}

// knownDrift returns the result of the last check; it starts nothing. ok is false where there was none.
func knownDrift(getenv func(string) string) (d drift, ok bool) {
	text, err := os.ReadFile(driftFile(getenv))
	if err != nil || json.Unmarshal(text, &d) != nil {
		return drift{}, false
	}
	valid := func(names []string) bool {
		return len(names) <= maxDriftCommands && !slices.ContainsFunc(names, func(name string) bool { return !commandName().MatchString(name) })
	}
	return d, d.Version != "" && len(d.Version) <= maxDriftVersion && valid(d.New) && valid(d.Missing)
}

const (
	maxDriftCommands = 1000
	maxDriftVersion  = 200
)

// driftFile returns the file of the cached result, "" without a cache folder.
func driftFile(getenv func(string) string) string {
	folder := ownerfiles.CacheFolder(getenv, "")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "obsidian-commands.json")
}

var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}(:[a-z0-9-]{1,40}){0,3}$`) })

// commandsIn returns the commands of a help text: in the sections below "Commands:", the
// first word of each line that begins with two blanks. It returns nil for another text.
func commandsIn(help string) (names []string) {
	_, list, found := strings.Cut("\n"+strings.ReplaceAll(help, "\r\n", "\n"), "\nCommands:\n")
	if !found {
		return nil
	}
	for line := range strings.Lines(list) {
		rest, indented := strings.CutPrefix(line, "  ")
		if !indented || strings.HasPrefix(rest, " ") {
			continue
		}
		if word := strings.Fields(rest); len(word) > 0 && commandName().MatchString(word[0]) && len(names) < maxDriftCommands {
			names = append(names, word[0])
		}
	}
	return names
}

// driftOf compares the commands of the app with the table. A help text without any says nothing.
func driftOf(version string, has []string) drift {
	d := drift{Version: version, New: []string{}, Missing: []string{}}
	if len(has) == 0 {
		return d
	}
	known := map[string]bool{}
	for c := range allowlist.Commands() {
		known[c.Name] = true
		if !c.EmbeddedOnly && !slices.Contains(has, c.Name) {
			d.Missing = append(d.Missing, c.Name)
		}
	}
	for _, name := range has {
		if !known[name] && !slices.Contains(d.New, name) {
			d.New = append(d.New, name)
		}
	}
	return d
}

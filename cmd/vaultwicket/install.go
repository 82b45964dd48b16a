package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/serving"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

var installHelp = description{
	Name: "install", Usage: "[flags] CLIENT | --all | --list", Group: groupStart, Summary: "add vaultwicket to an MCP client, after showing the change",
	About: []string{
		"The entry is read-only unless --edit is given. It does not pre-approve any calls, except for Codex with --edit, which then leaves the questions to vaultwicket. Clients that ask about every read get a rule for the tool that only reads: see --headless.",
		"The settings of the client are changed with its own command if it has one, or else edited in place: comments, order and other entries stay, and a backup is kept.",
	},
	Examples: []example{
		{"which clients are here, and what is installed", "vaultwicket install --list"},
		{"let a client read a vault", "vaultwicket install cursor --vault ~/Notes"},
		{"let it change notes, too", "vaultwicket install claude-code --vault ~/Notes --tier v1 --edit"},
		{"with rights and a history of its own", "vaultwicket install cursor --vault ~/Notes --tier v1 --agent"},
		{
			"another one, which edits in one folder",
			"vaultwicket install cursor --name work --vault ~/Work --tier v1 --edit --agent --access Drafts=rwd",
		},
		{"only print the entry", "vaultwicket install zed --vault ~/Notes --print"},
	},
}

var uninstallHelp = description{
	Name: "uninstall", Usage: "[flags] CLIENT | --all", Group: groupStart, Summary: "remove vaultwicket from an MCP client, after showing the change",
	Examples: []example{
		{"remove the entry of one client", "vaultwicket uninstall cursor"},
		{"show what would be removed everywhere", "vaultwicket uninstall --all --dry-run"},
	},
}

// install runs "vaultwicket install", which adds an entry for vaultwicket to the settings of an MCP client.
func install(ctx context.Context, std terminal.Streams, args []string) error {
	return installAfter(ctx, std, args, func(ctx context.Context) bool {
		return terminal.Confirm(ctx, std.In, std.Err, "Write this change?")
	})
}

// installAfter does the same as install, with another function that asks the user before writing.
func installAfter(ctx context.Context, std terminal.Streams, args []string, confirm func(context.Context) bool) error {
	var levels []string
	return changeClient(ctx, std, "install", args, &levels, confirm, func(f terminal.FlagSet, o *clients.Options) {
		f.BoolVar(&o.List, "list", false, "list the clients that were found, and what is installed")
		f.BoolVar(&o.JSON, "json", false, "with --list: print JSON")
		f.StringVar(&o.Vault, "vault", "", "vault name, id or folder (a folder needs a slash: ./Notes)")
		f.BoolVar(&o.Edit, "edit", false, "let the agent change notes with the commands of its tier: the entry has --allow-mutations")
		f.StringVar(
			&o.Tier,
			"tier",
			"",
			"highest enabled tier of the entry: v0, v1, v2 or v3 (default: that of the settings, v0)",
		)
		f.StringVar(
			&o.Agent,
			"agent",
			"",
			"start the server for an agent with the rights of --edit and --tier, which is defined if it is not (without a name: named after the client)",
		)
		f.Lookup("agent").NoOptDefVal = ofClient
		f.StringArrayVar(
			&levels,
			"access",
			nil,
			"with --agent: access of a folder or note, such as Work=rw or /=r (none, r, rw or rwd); repeatable",
		)
		f.StringVar(&o.URL, "url", "", "connect to a running server, such as http://127.0.0.1:8765/mcp")
		f.StringVar(
			&o.Token,
			"token-env",
			"VAULTWICKET_TOKEN",
			"with --url: environment variable from which the client takes the token",
		)
		f.BoolVar(
			&o.Headless,
			"headless",
			false,
			"let the client read notes without asking each time, as it has to without a terminal (default: as it was; for a new entry Claude Code is asked about, Gemini CLI and Qwen Code get it)",
		)
		f.BoolVar(&o.Print, "print", false, "print the entry; nothing is written")
		f.BoolVar(&o.Link, "link", false, "print a link that installs it, where the client has one")
		f.BoolVar(&o.Replace, "replace", false, "replace an existing entry with this name, whatever it starts")
	})
}

// noteMissingVault prints a note if neither the entry nor the settings name a vault: such a server can use notes only
// while the app runs.
func noteMissingVault(std terminal.Streams, o clients.Options) {
	if o.Vault != "" || o.URL != "" {
		return
	}
	s, _, err := settings.NewFlags("install").Load(std, nil)
	isNamed := slices.ContainsFunc(s.Served, func(v settings.Served) bool { return v.Vault != (settings.Vault{}) })
	if err != nil || isNamed {
		return
	}
	terminal.Notef(
		std.Err,
		"no vault is given: agents can use notes only while the Obsidian app runs, and those of the vault that is open there; "+
			"--vault with the folder of your notes changes that",
	)
}

// ofClient is the value of the flag --agent without a value.
const ofClient = "client"

// agentRights are the choices for the rights of an agent that install defines.
var agentRights = []struct {
	text, tier string
	edit       bool
}{
	{"read daily and random notes", "v0", false},
	{"read all notes", "v1", false},
	{"read and edit all notes, with your approval of every change", "v2", true},
}

// agentOfEntry completes the options for the agent of an entry, and asks for its rights at a terminal if no flag
// gives them. The caller calls define after writing the entry; it defines the agent in the settings file.
func agentOfEntry(
	ctx context.Context,
	std terminal.Streams,
	o *clients.Options,
	levels []string,
) (define func() error, err error) {
	nothing := func() error { return nil }
	if o.Agent == "" {
		if len(levels) > 0 {
			return nil, &terminal.UsageError{
				Reason: "install: --access needs --agent",
				Advice: "rights for folders are those of an agent, or of a vault in the settings file",
			}
		}
		return nothing, nil
	}
	if o.Agent == ofClient {
		o.Agent = o.Client
	}
	if err := settings.CheckAgentName(o.Agent); err != nil {
		return nil, &terminal.UsageError{Reason: "install: --agent: " + err.Error()}
	}
	f := settings.NewFlags("install")
	f.Reviews = true
	s, _, err := f.Load(std, nil)
	if err != nil {
		return nil, err
	}
	rules, err := settings.AccessTable(o.Agent, levels)
	if err != nil {
		return nil, &terminal.UsageError{Reason: "install: --access: " + err.Error()}
	}
	_, isDefined := s.Agents[o.Agent]
	hasRights := o.Edit || o.Tier != "" || levels != nil
	onlyShows := o.Print || o.Link || o.DryRun
	canAsk := !o.Yes && terminal.IsTerminal(std.In) && terminal.IsTerminal(std.Err)
	isDecided := isDefined || hasRights
	isAsked := canAsk && !isDecided && !onlyShows
	if isAsked {
		fmt.Fprintf(std.Err, "What may the agent %s do?\n", o.Agent)
		for i, choice := range agentRights {
			fmt.Fprintf(std.Err, "  %d  %s\n", i+1, choice.text)
		}
		fmt.Fprintf(std.Err, "1 to %d [1]: ", len(agentRights))
		line, ok := terminal.Ask(ctx, std.In, std.Err)
		n, err := strconv.Atoi(cmp.Or(line, "1"))
		isChoice := err == nil && 1 <= n && n <= len(agentRights)
		if !ok || !isChoice {
			return nil, terminal.Fail(terminal.ExitDenied, "nothing was written: no rights were chosen", "")
		}
		o.Tier = agentRights[n-1].tier
		o.Edit = agentRights[n-1].edit
	}
	if onlyShows {
		return nothing, nil
	}
	return func() error {
		tier := cmp.Or(o.Tier, "v0")
		lines := []string{"tier = " + strconv.Quote(tier), "allow-mutations = " + strconv.FormatBool(o.Edit)}
		if isAsked && o.Edit {
			lines = append(lines, `confirm = "writes"`)
		}
		file, added, err := f.DefineAgent(std, o.Agent, append(lines, rules...))
		if err == nil && added {
			err = oversight.Forget(std, o.Agent)
		}
		switch {
		case err != nil:
			return err
		case !added:
			terminal.Notef(
				std.Err,
				"[agents.%s] in %s stays as it is: the rights there and those of the entry both apply",
				o.Agent,
				terminal.Visible(file),
			)
		case len(s.Agents) == 0:
			terminal.Notef(
				std.Err,
				"added [agents.%s] to %s; a server without --agent is now allowed nothing: define [agents.default] for it",
				o.Agent,
				terminal.Visible(file),
			)
		default:
			terminal.Notef(std.Err, "added [agents.%s] to %s", o.Agent, terminal.Visible(file))
		}
		return nil
	}, nil
}

// uninstall runs "vaultwicket uninstall", which removes an entry.
func uninstall(ctx context.Context, std terminal.Streams, args []string) error {
	return changeClient(
		ctx,
		std,
		"uninstall",
		args,
		new([]string),
		func(ctx context.Context) bool { return terminal.Confirm(ctx, std.In, std.Err, "Write this change?") },
		func(_ terminal.FlagSet, o *clients.Options) { o.Remove = true },
	)
}

// changeClient runs install or uninstall. define adds the flags of the command, confirm asks the user before writing,
// and levels are the values of --access, which are set when the flags are parsed.
func changeClient(
	ctx context.Context,
	std terminal.Streams,
	name string,
	args []string,
	levels *[]string,
	confirm func(context.Context) bool,
	define func(terminal.FlagSet, *clients.Options),
) error {
	s := clients.Session{Out: std.Out, Err: std.Err}
	if err := parseChange(&s, name, args, define); err != nil {
		return err
	}
	if err := completeEntry(&s.Options, std, name); err != nil {
		return err
	}
	defineAgent, err := agentOfEntry(ctx, std, &s.Options, *levels)
	if err != nil {
		return err
	}
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	working, _ := os.Getwd()
	executable, err := terminal.ThisProgram()
	if err != nil {
		return err
	}
	system := clients.System{OS: runtime.GOOS, Getenv: std.Getenv, Project: working}
	s.Installer = clients.Installer{
		System:  system,
		Backups: filepath.Join(state, "clients"),
		Run:     clients.Run,
		Now:     time.Now,
	}
	s.Binary = system.Binary(executable)
	canAsk := terminal.IsTerminal(std.In) && terminal.IsTerminal(std.Err)
	s.Confirm = func(ctx context.Context) (yes, asked bool) { return canAsk && confirm(ctx), canAsk }
	s.Ask = func(ctx context.Context, question string) (yes, asked bool) {
		return canAsk && terminal.Confirm(ctx, std.In, std.Err, question), canAsk
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	if err := defineAgent(); err != nil {
		return err
	}
	onlyShows := s.Print || s.Link || s.DryRun
	isChange := !onlyShows && !s.List
	if name == "install" && isChange && system.HasPackagedClient() {
		oversight.ShareState(std)
	}
	if name == "install" && !s.List {
		noteMissingVault(std, s.Options)
	}
	addsEditing := isChange && !s.Remove && s.Edit
	mayAsk := canAsk && !s.Yes
	if addsEditing && mayAsk {
		serving.PairBrowser(ctx, std, state)
	}
	return nil
}

// parseChange sets the options of a session from the arguments of install or uninstall. define adds the flags of the
// command.
func parseChange(s *clients.Session, name string, args []string, define func(terminal.FlagSet, *clients.Options)) error {
	var flags terminal.FlagSet
	rest, err := terminal.ParseFlags(name, args, func(f terminal.FlagSet) {
		flags = f
		define(f, &s.Options)
		f.BoolVar(&s.All, "all", false, "every client that was found")
		f.StringVar(&s.Scope, "scope", string(clients.User), "user, or project for the current folder")
		f.StringVar(&s.Name, "name", "vaultwicket", "name of the server, one for each vault and agent")
		f.BoolVar(&s.DryRun, "dry-run", false, "show the difference; nothing is written")
		f.BoolVar(&s.Yes, "yes", false, "write without asking")
	})
	if err != nil {
		return err
	}
	if headless := flags.Lookup("headless"); headless != nil {
		s.HeadlessGiven = headless.Changed
	}
	if len(rest) > 1 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("%s: unexpected argument %q", name, excerpt.Short(rest[1])),
			Advice: name + " takes one client, or --all",
		}
	}
	if s.JSON && !s.List {
		return &terminal.UsageError{
			Reason: name + ": --json requires --list",
			Advice: "leave out --json, or list the clients with: vaultwicket install --list --json",
		}
	}
	if len(rest) == 1 {
		s.Client = rest[0]
	}
	return nil
}

// completeEntry makes the vault and the tier of an entry unambiguous. A client can start the server in any folder, so
// the entry needs the absolute path.
func completeEntry(o *clients.Options, std terminal.Streams, name string) error {
	if folder := bootstrap.FolderNamed(std, o.Vault); folder != "" {
		o.Vault = folder
	}
	if o.Tier == "" {
		return nil
	}
	tier, err := tiers.ParseTier(o.Tier)
	if err != nil {
		return &terminal.UsageError{Reason: name + ": --tier: " + err.Error()}
	}
	o.Tier = tier.String()
	return nil
}

package clients

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Options are the flags of install and uninstall.
type Options struct {
	Client                  string // the identifier of a client, "" with All or List
	All, List, JSON         bool
	Vault, Name, URL, Token string
	Edit                    bool   // the entry allows changes to notes
	Tier                    string // the tier in the entry, "" for the tier of the settings
	Agent                   string // the agent for which the entry starts the server, "" for none
	Scope                   string // user or project
	Print, Link             bool
	DryRun, Yes, Replace    bool
	Remove                  bool // the command is uninstall
	// Headless adds the rule for reading without a terminal. HeadlessGiven is false if the user did not give the flag.
	Headless, HeadlessGiven bool
}

// Session is one run of a command.
type Session struct {
	Options
	Installer Installer
	Binary    string // the absolute path of this program
	Out, Err  io.Writer
	// Confirm asks the user whether to write the change that was shown, and Ask asks another question. asked is false if
	// nobody can be asked.
	Confirm func(ctx context.Context) (yes, asked bool)
	Ask     func(ctx context.Context, question string) (yes, asked bool)
}

// Run does what the options request. The error is a [*terminal.Failure] or an error of writing the output.
func (s Session) Run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	switch {
	case s.List:
		return s.list()
	case s.All:
		return s.changeAll(ctx)
	}
	c, ok := Find(s.Client)
	if !ok {
		help := `"vaultwicket install --list" shows the clients`
		if near := excerpt.Nearest(s.Client, IDs()); near != "" {
			help = fmt.Sprintf("did you mean %q?", near)
		}
		return usage(fmt.Sprintf("unknown client %q", s.Client), help)
	}
	if !s.Print && !s.Link {
		return s.changeClient(ctx, c)
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	link := c.Link(server)
	if !s.Print {
		if link == "" {
			return usage(
				c.Name+" has no link for this",
				fmt.Sprintf(`"vaultwicket install %s --print" shows what to add`, c.ID),
			)
		}
		_, err = fmt.Fprintln(s.Out, link)
		return err
	}
	text, err := c.Snippet(server)
	if err != nil {
		return err
	}
	place := "its settings"
	if file := s.Installer.System.File(c, Scope(s.Scope)); file != "" {
		place = terminal.Visible(file)
	}
	fmt.Fprintf(s.Err, "%s: add this to %s\n", c.Name, place)
	if _, err := io.WriteString(s.Out, text); err != nil {
		return err
	}
	fmt.Fprintln(s.Err, c.after)
	if link != "" {
		fmt.Fprintf(s.Err, "Or open %s\n", link)
	}
	return nil
}

// errDeclined is the error after the user was asked and declined.
var errDeclined = terminal.Fail(terminal.ExitDenied, "nothing was written: you declined", "")

// usage returns the error for invalid options.
func usage(reason, help string) error { return terminal.Fail(terminal.ExitInvalid, reason, help) }

// check returns an error if the options are invalid or exclude each other.
func (s Session) check() error {
	switch {
	case s.Client == "" && !s.All && !s.List:
		return usage("no client given", `"vaultwicket install --list" shows the clients`)
	case s.Client != "" && s.All,
		s.Client != "" && s.List,
		s.All && s.List:
		return usage("a client, --all and --list exclude each other", "")
	case s.Client == "" && (s.Print || s.Link):
		return usage("--print and --link need a client", "")
	case s.Scope != string(User) && s.Scope != string(Project):
		return usage(fmt.Sprintf("invalid value %q for --scope", s.Scope), "use user or project")
	case s.All && s.Scope == string(Project):
		return usage("--all is for the scope user", "name a client for a project")
	case s.URL != "":
		return s.checkURL()
	}
	return nil
}

// checkURL returns an error if the URL of a server is invalid or is combined with options for another kind of server.
func (s Session) checkURL() error {
	address, err := url.Parse(s.URL)
	isLocal := err == nil && (address.Hostname() == "localhost" || net.ParseIP(address.Hostname()).IsLoopback())
	isUnencrypted := strings.HasPrefix(s.URL, "http://")
	isWeb := isUnencrypted || strings.HasPrefix(s.URL, "https://")
	hasHost := err == nil && address.Hostname() != ""
	hasOddCharacters := strings.ContainsAny(s.URL, " \t\r\n\"'@")
	switch {
	case !isWeb, !hasHost, hasOddCharacters:
		return usage(
			fmt.Sprintf("invalid value %q for --url", s.URL),
			"use an address such as http://127.0.0.1:8765/mcp",
		)
	case isUnencrypted && !isLocal:
		return usage(
			fmt.Sprintf("invalid value %q for --url: the token would be sent in clear", s.URL),
			"use https for another machine",
		)
	case s.Agent != "":
		return usage(
			"--url cannot be combined with --agent",
			`give the client the token that "vaultwicket agent add" prints`,
		)
	case s.Edit || s.Vault != "":
		return usage(
			"--url cannot be combined with --edit or --vault",
			`the settings of the server at the address decide; see "vaultwicket help serve"`,
		)
	case strings.Trim(s.Token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || s.Token == "":
		return usage("invalid value for --token-env", "use the name of an environment variable, never the token itself")
	}
	return nil
}

// server returns the server that an entry is for.
func (s Session) server() (Server, error) {
	server := Server{Name: s.Name, Command: s.Binary, URL: s.URL, Token: s.Token, System: s.Installer.System.OS}
	vault := s.Vault
	if why := appvaults.ForeignHere(vault); why != "" {
		return server, usage("invalid value for --vault: "+why, "")
	}
	if strings.ContainsAny(vault, `/\`) || vault == "." || vault == ".." {
		folder, err := filepath.Abs(vault)
		if err != nil {
			return server, usage(fmt.Sprintf("vault %q: %v", s.Vault, err), "")
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return server, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("vault folder %q does not exist", folder),
				"check --vault",
			)
		}
		vault = folder
	}
	if s.URL == "" && Temporary(s.Binary) {
		return server, terminal.Fail(
			terminal.ExitNotReady,
			`this program was started by "go run" and will be deleted`,
			"build or install vaultwicket first",
		)
	}
	server.Args = Args(vault, s.Edit, s.Tier)
	if s.Agent != "" {
		server.Args = append(server.Args, "--agent", s.Agent)
	}
	return server, nil
}

// changeAll installs or removes the entry in every client that was found.
func (s Session) changeAll(ctx context.Context) error {
	tried := 0
	failed := 0
	var firstFailure *terminal.Failure
	for _, c := range All() {
		if _, ok := c.Writes(User); !ok || s.Installer.System.Found(c) == "" {
			continue
		}
		err := s.changeClient(ctx, c)
		tried++
		var failure *terminal.Failure
		switch {
		case err == nil:
		case errors.Is(err, errDeclined):
			fmt.Fprintf(s.Err, "%s: %v\n", c.Name, err)
		case errors.As(err, &failure) && ctx.Err() == nil:
			failed++
			fmt.Fprintf(s.Err, "%s: %s\n", c.Name, terminal.Visible(failure.Message))
			if firstFailure == nil {
				firstFailure = failure
			}
		default:
			return err
		}
	}
	if tried == 0 {
		return terminal.Fail(
			terminal.ExitNotReady,
			"no client was found",
			`name one; "vaultwicket install --list" shows the clients`,
		)
	}
	if firstFailure != nil {
		return terminal.Fail(firstFailure.Status, fmt.Sprintf("%d of %d clients failed", failed, tried), firstFailure.Advice)
	}
	return nil
}

// changeClient installs or removes the entry in one client: it shows the change, asks, and writes it.
func (s Session) changeClient(ctx context.Context, c Client) error {
	change, server, err := s.plan(ctx, c)
	if err != nil {
		return err
	}
	if change.None() {
		text := "is already installed as"
		if s.Remove {
			text = "is not installed as"
		}
		_, err := fmt.Fprintf(
			s.Out,
			"%s: vaultwicket %s %q in %s\n",
			c.Name,
			text,
			s.Name,
			terminal.Visible(change.File),
		)
		return err
	}
	var shown strings.Builder
	for _, argv := range change.Commands {
		fmt.Fprintf(&shown, "$ %s\n", shellLine(argv))
	}
	shown.WriteString(change.Diff())
	text := terminal.Visible(shown.String()) + terminal.Fit(s.Out, terminal.Visible(s.explain(c, change)))
	if _, err := io.WriteString(s.Out, text); err != nil || s.DryRun {
		return err
	}
	if !s.Yes {
		yes, asked := s.Confirm(ctx)
		switch {
		case !asked:
			return usage(
				"nothing was written: confirmation needs a terminal",
				"--yes writes without asking, --dry-run only shows",
			)
		case !yes:
			return errDeclined
		}
	}
	backup, err := change.Write(ctx)
	if err != nil {
		return err
	}
	done := "installed as"
	if s.Remove {
		done = "removed:"
	}
	fmt.Fprint(s.Out, terminal.Fit(s.Out, fmt.Sprintf("%s: %s %q. %s\n", c.Name, done, s.Name, c.after)))
	if backup != "" {
		fmt.Fprintf(s.Out, "Backup: %s\n", terminal.Visible(backup))
	}
	if !s.Remove && c.warning != "" {
		terminal.Message(s.Err, terminal.Warning, c.warning)
	}
	if !s.Remove {
		readsAlready, err := s.Installer.AllowsReading(c, server)
		if err != nil {
			return err
		}
		for _, need := range c.Headless(server, readsAlready && change.Scope == User) {
			fmt.Fprint(s.Out, terminal.Fit(s.Out, need+"\n"))
		}
	}
	return nil
}

// plan returns the change that installs or removes the entry. server is zero for a removal.
func (s Session) plan(ctx context.Context, c Client) (change *Change, server Server, err error) {
	if s.Remove {
		change, err = s.Installer.Uninstall(c, Scope(s.Scope), s.Name)
		return change, server, err
	}
	server, err = s.server()
	if err != nil {
		return nil, server, err
	}
	change, err = s.Installer.Install(c, Scope(s.Scope), server, s.Replace)
	if err != nil {
		return nil, server, err
	}
	return change, server, s.allowReading(ctx, change, server)
}

// explain describes for the user what a change does, in lines.
func (s Session) explain(c Client, change *Change) string {
	var lines strings.Builder
	if !s.Remove && s.URL != "" {
		fmt.Fprintf(
			&lines,
			"The client takes the token from the environment variable %s; set it to what the token file of the server contains.\n",
			s.Token,
		)
	}
	if !s.Remove && s.URL == "" {
		lines.WriteString(s.permissions() + "\n")
		if s.Edit && c.ID == "codex" {
			lines.WriteString(codexApproves + "\n")
		}
	}
	if change.rule != nil {
		lines.WriteString(change.rule.describe(c) + "\n")
	}
	return lines.String()
}

// allowReading adds the rule for reading to a change, or removes the one that an earlier entry had, as the flag
// --headless, the existing rule, the client or the user decide, in this order.
func (s Session) allowReading(ctx context.Context, change *Change, server Server) error {
	c := change.Client
	if !c.CanAllowReading(change.Scope, server) {
		return change.WithdrawReading(server)
	}
	hasRule, err := s.Installer.AllowsReading(c, server)
	if err != nil {
		return err
	}
	wants := hasRule || !c.reads.asked
	canAsk := !s.Yes && !s.DryRun && !change.None()
	switch {
	case s.HeadlessGiven:
		wants = s.Headless
	case !wants && canAsk:
		question := fmt.Sprintf("May %s read notes through vaultwicket without asking each time? It has to without a terminal.", c.Name)
		wants, _ = s.Ask(ctx, question)
	}
	if !wants {
		return change.WithdrawReading(server)
	}
	return change.AllowReading(server)
}

// shellLine quotes words so that a Unix shell would read the same words.
func shellLine(words []string) string {
	var quoted []string
	for _, word := range words {
		if word == "" ||
			strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=") != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}

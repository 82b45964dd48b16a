package oversight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
)

// grantFlags are the flags of "vaultwicket grant".
type grantFlags struct {
	terms  consent.GrantTerms
	length time.Duration
}

// add adds the flags to f.
func (g *grantFlags) add(f *settings.Flags) {
	f.Reviews = true // --agent is the agent that gets the grant
	f.StringVar(&g.terms.Server, "server", "", "session of the running server that gets it, where no agent is defined")
	f.StringSliceVar(&g.terms.Commands, "commands", nil, "commands that it may run, such as append,create")
	f.StringSliceVar(&g.terms.Folders, "in", nil, "folders of the vault, with all that is below them; / is the whole vault")
	f.IntVar(&g.terms.Notes, "notes", consent.DefaultGrantNotes, "maximum number of different notes that it may change")
	f.IntVar(&g.terms.Changes, "changes", consent.DefaultGrantChanges, "maximum number of changes, up to 1000")
	f.DurationVar(&g.length, "for", consent.DefaultGrantTime, "how long it is valid, such as 2h")
	f.BoolVar(&g.terms.Destructive, "destructive", false, "also changes that are destructive; requires --lines and --notes")
	f.IntVar(&g.terms.Lines, "lines", 0, "maximum number of lines that it may remove or replace, in all")
	f.IntVar(&g.terms.Links, "links", 0, "maximum number of links that it may break")
	f.StringVar(&g.terms.Why, "why", "", "a remark, for you")
}

// Grant runs "vaultwicket grant". It shows in one sentence what an agent would be allowed in advance, asks the user at
// the terminal that the process belongs to, and stores the grant.
func Grant(ctx context.Context, std terminal.Streams, args []string) error {
	var flags grantFlags
	opened, err := bootstrap.Open("grant", std, args, flags.add)
	if err != nil {
		return err
	}
	defer opened.Runner.Close()
	if len(opened.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("grant: unexpected argument %q", excerpt.Short(opened.Rest[0])),
			Advice: `"vaultwicket help grant" shows the flags`,
		}
	}
	if flags.terms.Destructive && !opened.Lookup("notes").Changed {
		return &terminal.UsageError{Reason: "grant: --destructive requires --notes and --lines"}
	}
	noteState(std)
	state, err := opened.SecretsFolder(std)
	if err != nil {
		return err
	}
	if err := flags.complete(opened, state); err != nil {
		return err
	}
	console, err := std.OpenConsole()
	if err != nil {
		return terminal.FailureOf(&failure.Error{
			Code: "unconfirmed", Message: "grant requires a terminal: " + err.Error(), Hint: "run it in a terminal window",
		})
	}
	defer console.Close()
	now := time.Now()
	fmt.Fprintln(console, terminal.Visible(flags.terms.Sentence(now.Add(flags.length), now)))
	if !terminal.Confirm(ctx, console, console, "Allow this?") {
		return terminal.FailureOf(&failure.Error{Code: "unconfirmed", Message: "nothing is granted"})
	}
	grant, err := consent.OpenGrants(state, nil).Give(flags.terms, flags.length)
	if err != nil {
		return grantError(err)
	}
	consent.LogGrant(state, grant, consent.GrantGiven, bootstrap.AtTerminal, bootstrap.Session())
	if opened.JSON {
		granted := struct {
			ID      string    `json:"id"`
			Expires time.Time `json:"expires"`
		}{grant.ID, grant.Expires}
		return terminal.PrintJSON(std.Out, granted, terminal.ExitDone)
	}
	fmt.Fprintf(std.Out, "granted %s to %s until %s\n", grant.ID, sanitize.Line(grant.Who()),
		grant.Expires.Local().Format(time.DateTime))
	return nil
}

// complete adds the agent or server and the vault to the terms, and limits the time to what the settings allow.
func (g *grantFlags) complete(opened bootstrap.Opened, state string) (err error) {
	terms := &g.terms
	terms.Agent = opened.Reviewed
	rights := opened.Policy
	switch {
	case terms.Agent == "" && len(opened.Agents) > 0:
		names := slices.Sorted(maps.Keys(opened.Agents))
		return &terminal.UsageError{Reason: "grant requires --agent", Advice: "the agents are " + strings.Join(names, ", ")}
	case terms.Agent != "":
		agent, defined := opened.Agents[terms.Agent]
		if !defined {
			return &terminal.UsageError{
				Reason: fmt.Sprintf("unknown agent %q", excerpt.Short(terms.Agent)),
				Advice: "add it with: vaultwicket agent add " + terms.Agent,
			}
		}
		standing, err := admission.StandingOf(state, terms.Agent)
		if err != nil {
			return stateUnknown(err)
		}
		if standing.Revoked {
			return &terminal.UsageError{Reason: fmt.Sprintf("the agent %q is revoked", terms.Agent)}
		}
		terms.Generation = standing.Generation
		rights = rights.Meet(agent.Rights)
		if !agent.Expires.IsZero() {
			g.length = min(g.length, time.Until(agent.Expires))
		}
	default:
		if err := checkServer(state, terms.Server); err != nil {
			return err
		}
	}
	if g.length, err = withinMaxGrant(rights, g.length); err != nil {
		return err
	}
	if terms.Vault, terms.Identity, terms.Folders, err = opened.Gateway.GrantPlace("", terms.Folders); err != nil {
		return err
	}
	if err := terms.Check(); err != nil {
		return &terminal.UsageError{Reason: "grant: " + err.Error(), Advice: `"vaultwicket help grant" shows the flags`}
	}
	return nil
}

// withinMaxGrant limits a time to the setting max-grant. It is an error if that setting disables grants.
func withinMaxGrant(p policy.Policy, length time.Duration) (time.Duration, error) {
	if p.MaxGrantTime() == 0 {
		return 0, terminal.FailureOf(&failure.Error{
			Code: policy.CodeDisabled, Message: "grants are disabled by the setting max-grant",
			Hint: "it comes from " + p.Origins["max-grant"],
		})
	}
	return min(length, p.MaxGrantTime()), nil
}

// checkServer returns an error unless a server over standard input and output is running with this session.
func checkServer(state, session string) error {
	running, err := ownerfiles.Servers(ownerfiles.ServersFolder(state))
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, "the running servers are not known: "+err.Error(), "")
	}
	var sessions []string
	for _, s := range running {
		if s.Transport == "stdio" {
			sessions = append(sessions, s.Session)
		}
	}
	if slices.Contains(sessions, session) {
		return nil
	}
	advice := "define an agent with: vaultwicket agent add NAME"
	if len(sessions) > 0 {
		advice = "the sessions of running servers are " + strings.Join(sessions, ", ")
	}
	return &terminal.UsageError{Reason: "grant requires --agent, or --server with the session of a running server", Advice: advice}
}

// shownGrant is a grant as "grants --json" prints it.
type shownGrant struct {
	ID          string    `json:"id"`
	Agent       string    `json:"agent,omitempty"`
	Server      string    `json:"server,omitempty"`
	Vault       string    `json:"vault"`
	Commands    []string  `json:"commands"`
	Folders     []string  `json:"folders"`
	Destructive bool      `json:"destructive,omitempty"`
	Made        time.Time `json:"made"`
	Expires     time.Time `json:"expires"`
	Notes       bound     `json:"notes"`
	Changes     bound     `json:"changes"`
	Lines       *bound    `json:"lines,omitempty"`
	Links       bound     `json:"links"`
	Why         string    `json:"why,omitempty"`
	Ended       string    `json:"ended,omitempty"` // why it has ended, "" while it is in force
}

// bound is a limit of a grant and how much of it is left.
type bound struct {
	Max  int `json:"max"`
	Left int `json:"left"`
}

// shownGrantOf returns a grant for display.
func shownGrantOf(g consent.Grant, now time.Time) shownGrant {
	changes, notes, lines, links := g.Left()
	s := shownGrant{
		ID:          g.ID,
		Agent:       g.Agent,
		Server:      g.Server,
		Vault:       sanitize.Line(g.Vault),
		Commands:    g.Commands,
		Folders:     g.Folders,
		Destructive: g.Destructive,
		Made:        g.Made,
		Expires:     g.Expires,
		Why:         sanitize.Line(g.Why),
		Ended:       g.EndedBy(now),
		Notes:       bound{g.Notes, notes},
		Changes:     bound{g.Changes, changes},
		Links:       bound{g.Links, links},
	}
	if lines >= 0 {
		s.Lines = &bound{g.GrantTerms.Lines, lines}
	}
	return s
}

// Grants runs "vaultwicket grants", which lists the grants with what is left of them, or ends a grant.
func Grants(_ context.Context, std terminal.Streams, args []string) error {
	var asJSON, showAll bool
	var screenOptions terminal.ScreenOptions
	rest, err := terminal.ParseFlags("grants", args, func(f terminal.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		f.BoolVar(&showAll, "all", false, "also those that have ended in the last 30 days")
		screenOptions.Flags(f)
	})
	if err != nil {
		return err
	}
	noteState(std)
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 2 && rest[0] == "end":
		ended, err := consent.OpenGrants(state, nil).End(rest[1])
		if err != nil {
			return grantError(err)
		}
		consent.LogGrant(state, ended, consent.GrantEnded, bootstrap.AtTerminal, bootstrap.Session())
		_, err = fmt.Fprintf(std.Out, "ended %s; what was made under it: vaultwicket undo --grant %[1]s\n", ended.ID)
		return err
	case len(rest) > 0:
		return &terminal.UsageError{Reason: "usage: vaultwicket grants [end ID]"}
	}
	list, damaged, err := consent.OpenGrants(state, nil).List()
	if err != nil {
		return grantError(err)
	}
	for _, damage := range damaged {
		terminal.Notef(std.Err, "%s; it counts for nothing", sanitize.Line(damage.Error()))
	}
	now := time.Now()
	shown := []shownGrant{}
	for _, g := range list {
		entry := shownGrantOf(g, now)
		if showAll || entry.Ended == "" {
			shown = append(shown, entry)
		}
	}
	if asJSON {
		return terminal.PrintJSON(std.Out, shown, terminal.ExitDone)
	}
	if len(shown) == 0 {
		terminal.Notef(std.Err, "no grant is in force")
	}
	return printGrants(std, screenOptions, shown, now)
}

// printGrants prints a table of grants.
func printGrants(std terminal.Streams, screenOptions terminal.ScreenOptions, grants []shownGrant, now time.Time) error {
	screen := terminal.NewScreen(std, screenOptions, now)
	table := screen.Table(
		terminal.Column{Title: "grant"},
		terminal.Column{Title: "for"},
		terminal.Column{Title: "commands", Min: 10},
		terminal.Column{Title: "in", Min: 8},
		terminal.Column{Title: "left", Min: 10},
		terminal.Column{Title: "until"},
	)
	for _, grant := range grants {
		left := fmt.Sprintf("%d of %s, %d of %s", grant.Changes.Left, sanitize.Counted(grant.Changes.Max, "change"), grant.Notes.Left, sanitize.Counted(grant.Notes.Max, "note"))
		if grant.Lines != nil {
			left += fmt.Sprintf(", %d of %s", grant.Lines.Left, sanitize.Counted(grant.Lines.Max, "line"))
		}
		until := terminal.Text(grant.Expires.Local().Format(time.DateTime))
		if grant.Ended != "" {
			until = terminal.Cell{Text: "ended: " + grant.Ended, Style: terminal.Faint}
		}
		who := grant.Agent
		if who == "" {
			who = "server " + grant.Server
		}
		where := make([]string, len(grant.Folders))
		for i, folder := range grant.Folders {
			where[i] = sanitize.Line(folder)
		}
		table.Add(terminal.Text(grant.ID), terminal.Text(who), terminal.Text(strings.Join(grant.Commands, ", ")),
			terminal.Text(grant.Vault+": "+strings.Join(where, ", ")), terminal.Text(left), until)
	}
	return table.Flush()
}

// grantError returns an error of the store of grants with its exit status and hint.
func grantError(err error) error {
	var unknown *consent.UnknownGrant
	var invalid *consent.InvalidTerms
	var damaged *consent.DamagedGrant
	switch {
	case errors.As(err, &unknown), errors.As(err, &damaged):
		return terminal.FailureOf(&failure.Error{
			Code: "not_found", Message: err.Error(), Hint: `"vaultwicket grants" lists them`,
		})
	case errors.As(err, &invalid):
		return &terminal.UsageError{Reason: "grant: " + err.Error()}
	}
	return terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
}

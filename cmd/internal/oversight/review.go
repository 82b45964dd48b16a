package oversight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// reviewFlags are the flags of "vaultwicket review".
type reviewFlags struct {
	grant, since string
	undo         []string
	screen       terminal.ScreenOptions
}

func (r *reviewFlags) add(f *settings.Flags) {
	f.Reviews = true
	f.StringVar(&r.grant, "grant", "", "only what the grant with this id allowed")
	f.StringVar(&r.since, "since", "", "start time: "+terminal.MomentHelp+" (default: the last review, or a day ago)")
	f.StringSliceVar(&r.undo, "undo", nil, "take back the changes with these ids, each by itself")
	r.screen.Flags(f.FlagSet)
}

// Review is "vaultwicket review": what agents have changed under grants, as one difference a note, with the changes that
// it is made of; or it takes some of them back.
func Review(ctx context.Context, std terminal.Streams, args []string) error {
	var r reviewFlags
	o, err := bootstrap.Open("review", std, args, r.add)
	if err != nil {
		return err
	}
	defer o.Runner.Close()
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("review: unexpected argument %q", excerpt.Short(o.Rest[0])),
			Advice: `"vaultwicket help review" shows the flags`,
		}
	}
	noteState(std)
	if len(r.undo) > 0 {
		return takeBack(ctx, o, r.undo)
	}
	now := time.Now()
	wanted := journal.Filter{Grant: r.grant, Agent: o.Reviewed}
	isOfAll := r.since == "" && r.grant == "" && o.Reviewed == ""
	switch {
	case r.since != "":
		if wanted.Since, err = terminal.ParseMoment("since", r.since, now, terminal.FirstMoment); err != nil {
			return err
		}
	case r.grant == "":
		wanted.Since = o.Gateway.LastReview("", now)
	}
	found, err := o.Gateway.Review(ctx, "", wanted)
	if err == nil {
		err = o.Gateway.Compare(ctx, "", found.Notes)
	}
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	if found.IsCut {
		terminal.Notef(std.Err, "these are the latest %d changes; \"vaultwicket journal list\" has the others", found.Changes)
	}
	if err := printReview(o, terminal.NewScreen(std, r.screen, now), found.Notes, wanted.Since); err != nil {
		return err
	}
	if isOfAll {
		if !found.Running.IsZero() {
			now = found.Running
		}
		_ = o.Gateway.NoteReview("", now) // without it the next review has more
	}
	return nil
}

// reviewedNote is a note as "review --json" prints it.
type reviewedNote struct {
	Path     string         `json:"path"`
	From     string         `json:"from,omitempty"` // where it was before
	Added    *int           `json:"added,omitempty"`
	Removed  *int           `json:"removed,omitempty"`
	Diff     string         `json:"diff,omitempty"`
	ByOthers bool           `json:"byOthers,omitempty"` // something else has changed it in between
	Changes  []reviewedStep `json:"changes"`
}

// reviewedStep is one change of a note.
type reviewedStep struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Command string    `json:"command"`
	Agent   string    `json:"agent,omitempty"`
	Grant   string    `json:"grant"`
}

func reviewedNoteOf(n *gateway.ReviewedNote) reviewedNote {
	shown := reviewedNote{Path: n.File.Path, From: n.File.From, ByOthers: n.ByOthers}
	if n.IsKnown {
		shown.Added = &n.Change.Added
		shown.Removed = &n.Change.Removed
		shown.Diff = sanitize.String(n.Change.Unified("a/"+cmp.Or(n.File.From, n.File.Path), "b/"+n.File.Path))
	}
	for _, e := range n.Entries {
		shown.Changes = append(shown.Changes, reviewedStep{e.ID, e.Time, e.Command, ownerfiles.AgentOf(e.Caller), e.Grant})
	}
	return shown
}

func printReview(o bootstrap.Opened, s terminal.Screen, notes []*gateway.ReviewedNote, since time.Time) error {
	if o.JSON {
		list := []reviewedNote{}
		for _, n := range notes {
			list = append(list, reviewedNoteOf(n))
		}
		return terminal.PrintJSON(o.Std.Out, list, terminal.ExitDone)
	}
	if len(notes) == 0 {
		what := "nothing that is in effect was changed under a grant"
		if !since.IsZero() {
			what += " since " + since.Local().Format(time.DateTime)
		}
		terminal.Notef(o.Std.Err, "%s", what)
		return nil
	}
	for i, n := range notes {
		if i > 0 {
			fmt.Fprintln(o.Std.Out)
		}
		name := n.File.Path
		if n.File.From != "" {
			name = n.File.From + " -> " + name
		}
		fmt.Fprintln(o.Std.Out, s.Paint(terminal.Strong, sanitize.Line(name)))
		if n.ByOthers {
			fmt.Fprintln(o.Std.Out, "  also changed by something else in between")
		}
		if !n.IsKnown {
			fmt.Fprintln(o.Std.Out, "  its texts are not kept any more")
		}
		PrintQuestion(o.Std.Out, s, n.Lines())
		for _, e := range n.Entries {
			fmt.Fprintf(o.Std.Out, "  %s  %s  %s by %s, %s\n", e.ID, s.Time(e.Time), sanitize.Line(e.Command),
				sanitize.Line(cmp.Or(ownerfiles.AgentOf(e.Caller), e.By())), sanitize.Line(e.Grant))
		}
	}
	fmt.Fprintln(o.Std.Out, "\nTake back what you do not want with: vaultwicket review --undo ID,ID")
	return nil
}

// takeBack takes back changes that were made under grants, each by itself and the latest first, and says which were left
// and why.
func takeBack(ctx context.Context, o bootstrap.Opened, ids []string) error {
	kept, err := o.Gateway.Journal("")
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	slices.Reverse(ids) // an id begins with the time
	status := terminal.ExitDone
	var left []string
	for _, id := range ids {
		reason := ""
		e, err := kept.Entry(ctx, id)
		switch {
		case err != nil || !e.SeenBy(o.Gateway.Visible("")):
			reason = "no such change"
			status = max(status, terminal.StatusOfCode(failure.CodeNotFound))
		case e.Grant == "":
			reason = "it was not made under a grant; use vaultwicket undo"
			status = max(status, terminal.StatusOfCode(failure.CodeBadRequest))
		default:
			user := &User{Std: o.Std, Progress: o.Progress("undo")}
			result := o.Gateway.Do(bootstrap.Counting(ctx, user.Progress), gateway.Request{
				Command: "undo", Words: []string{"id=" + id}, Ask: user.Asker(), AtTerminal: true, Owner: true,
				Caller: bootstrap.AtTerminal, Client: bootstrap.AtTerminal, Surface: bootstrap.AtTerminal,
			})
			user.Progress.Stop()
			if result.Error != nil {
				reason = result.Error.Message
				status = max(status, terminal.StatusOfResult(result.Error))
			}
		}
		if reason != "" {
			left = append(left, id)
			fmt.Fprintf(o.Std.Out, "left %s: %s\n", sanitize.Line(id), terminal.Visible(reason))
			continue
		}
		fmt.Fprintf(o.Std.Out, "undone %s\n", id)
	}
	if len(left) > 0 {
		return terminal.Fail(status, "not taken back: "+sanitize.Line(strings.Join(left, ", ")), "")
	}
	return nil
}

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

// add adds the flags to f.
func (r *reviewFlags) add(f *settings.Flags) {
	f.Reviews = true
	f.StringVar(&r.grant, "grant", "", "only what the grant with this id allowed")
	f.StringVar(&r.since, "since", "", "start time: "+terminal.MomentHelp+" (default: the last review, or a day ago)")
	f.StringSliceVar(&r.undo, "undo", nil, "take back the changes with these ids, each by itself")
	r.screen.Flags(f.FlagSet)
}

// Review runs "vaultwicket review", which shows what agents have changed under grants, as one difference per note
// with the changes behind it. With --undo it undoes changes instead.
func Review(ctx context.Context, std terminal.Streams, args []string) error {
	var flags reviewFlags
	opened, err := bootstrap.Open("review", std, args, flags.add)
	if err != nil {
		return err
	}
	defer opened.Runner.Close()
	if len(opened.Rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("review: unexpected argument %q", excerpt.Short(opened.Rest[0])),
			Advice: `"vaultwicket help review" shows the flags`,
		}
	}
	noteState(std)
	if len(flags.undo) > 0 {
		return takeBack(ctx, opened, flags.undo)
	}
	now := time.Now()
	filter := journal.Filter{Grant: flags.grant, Agent: opened.Reviewed}
	isComplete := flags.since == "" && flags.grant == "" && opened.Reviewed == ""
	switch {
	case flags.since != "":
		if filter.Since, err = terminal.ParseMoment("since", flags.since, now, terminal.FirstMoment); err != nil {
			return err
		}
	case flags.grant == "":
		filter.Since = opened.Gateway.LastReview("", now)
	}
	review, err := opened.Gateway.Review(ctx, "", filter)
	if err == nil {
		err = opened.Gateway.Compare(ctx, "", review.Notes)
	}
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	if review.Unread > 0 {
		terminal.Notef(
			std.Err,
			"%s could not be read, and their changes are left out; the next review has them, too",
			sanitize.Counted(review.Unread, "note"),
		)
	}
	isUnknown := len(review.Notes) == 0 && review.Unread > 0
	if isUnknown && !opened.JSON {
		return nil // not that nothing was changed
	}
	if review.IsCut {
		terminal.Notef(std.Err, "these are the latest %d changes; \"vaultwicket journal list\" has the others", review.Changes)
	}
	if err := printReview(opened, terminal.NewScreen(std, flags.screen, now), review.Notes, filter.Since); err != nil {
		return err
	}
	if isComplete && review.Unread == 0 {
		if !review.Running.IsZero() {
			now = review.Running
		}
		_ = opened.Gateway.NoteReview("", now) // if this fails, the next review repeats these changes
	}
	return nil
}

// reviewedNote is a note as "review --json" prints it.
type reviewedNote struct {
	Path     string         `json:"path"`
	From     string         `json:"from,omitempty"` // its path before it was moved
	Added    *int           `json:"added,omitempty"`
	Removed  *int           `json:"removed,omitempty"`
	Diff     string         `json:"diff,omitempty"`
	ByOthers bool           `json:"byOthers,omitempty"` // it was also changed by something else in between
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

// reviewedNoteOf returns a note for --json.
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

// printReview prints the changed notes. since is the start of the reviewed time, zero for no start.
func printReview(opened bootstrap.Opened, screen terminal.Screen, notes []*gateway.ReviewedNote, since time.Time) error {
	if opened.JSON {
		list := []reviewedNote{}
		for _, n := range notes {
			list = append(list, reviewedNoteOf(n))
		}
		return terminal.PrintJSON(opened.Std.Out, list, terminal.ExitDone)
	}
	if len(notes) == 0 {
		what := "nothing that is in effect was changed under a grant"
		if !since.IsZero() {
			what += " since " + since.Local().Format(time.DateTime)
		}
		terminal.Notef(opened.Std.Err, "%s", what)
		return nil
	}
	for i, n := range notes {
		if i > 0 {
			fmt.Fprintln(opened.Std.Out)
		}
		name := n.File.Path
		if n.File.From != "" {
			name = n.File.From + " -> " + name
		}
		fmt.Fprintln(opened.Std.Out, screen.Paint(terminal.Strong, sanitize.Line(name)))
		if n.ByOthers {
			fmt.Fprintln(opened.Std.Out, "  also changed by something else in between")
		}
		if !n.IsKnown {
			fmt.Fprintln(opened.Std.Out, "  its texts are not kept any more")
		}
		PrintQuestion(opened.Std.Out, screen, n.Lines())
		for _, e := range n.Entries {
			fmt.Fprintf(opened.Std.Out, "  %s  %s  %s by %s, %s\n", e.ID, screen.Time(e.Time), sanitize.Line(e.Command),
				sanitize.Line(cmp.Or(ownerfiles.AgentOf(e.Caller), e.By())), sanitize.Line(e.Grant))
		}
	}
	fmt.Fprintln(opened.Std.Out, "\nTake back what you do not want with: vaultwicket review --undo ID,ID")
	return nil
}

// takeBack undoes changes that were made under grants, one at a time and the latest first, and prints which ones were
// not undone and why.
func takeBack(ctx context.Context, opened bootstrap.Opened, ids []string) error {
	changes, err := opened.Gateway.Journal("")
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	slices.Reverse(ids) // ids begin with the time, so the latest change is now first
	status := terminal.ExitDone
	var left []string
	for _, id := range ids {
		reason, idStatus := takeBackOne(ctx, opened, changes, id)
		status = max(status, idStatus)
		if reason != "" {
			left = append(left, id)
			fmt.Fprintf(opened.Std.Out, "left %s: %s\n", sanitize.Line(id), terminal.Visible(reason))
			continue
		}
		fmt.Fprintf(opened.Std.Out, "undone %s\n", id)
	}
	if len(left) > 0 {
		return terminal.Fail(status, "not taken back: "+sanitize.Line(strings.Join(left, ", ")), "")
	}
	return nil
}

// takeBackOne undoes a change that was made under a grant. reason is why it was not undone, "" if it was.
func takeBackOne(
	ctx context.Context,
	opened bootstrap.Opened,
	changes *journal.Journal,
	id string,
) (reason string, status int) {
	entry, err := changes.Entry(ctx, id)
	sight := opened.Gateway.Sight("")
	switch {
	case err != nil:
		return "no such change", terminal.StatusOfCode(failure.CodeNotFound)
	case entry.SeenBy(sight.Sees):
	case sight.Unread() > 0:
		return "its note cannot be read now", terminal.StatusOfCode(failure.Of(sight.Whole()).Code)
	default:
		return "no such change", terminal.StatusOfCode(failure.CodeNotFound)
	}
	if entry.Grant == "" {
		return "it was not made under a grant; use vaultwicket undo", terminal.StatusOfCode(failure.CodeBadRequest)
	}
	user := &User{Std: opened.Std, Progress: opened.Progress("undo")}
	result := opened.Gateway.Do(bootstrap.Counting(ctx, user.Progress), gateway.Request{
		Command:    "undo",
		Words:      []string{"id=" + id},
		Ask:        user.Asker(),
		AtTerminal: true,
		Owner:      true,
		Caller:     bootstrap.AtTerminal,
		Client:     bootstrap.AtTerminal,
		Surface:    bootstrap.AtTerminal,
	})
	user.Progress.Stop()
	if result.Error != nil {
		return result.Error.Message, terminal.StatusOfResult(result.Error)
	}
	return "", terminal.ExitDone
}

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/audit"
)

// auditQuery selects lines and their output format.
type auditQuery struct {
	since, until string
	filter       audit.Filter
	json, csv    bool
	screen       terminal.ScreenOptions
}

const auditLines = 100 // a screen or two; --limit 0 shows all

func (q *auditQuery) flags(f terminal.FlagSet) {
	f.StringVar(&q.since, "since", "", "start time: "+terminal.MomentHelp)
	f.StringVar(&q.until, "until", "", "end time, in the same formats (dates inclusive)")
	f.StringVar(&q.filter.Command, "command", "", "only this command")
	f.StringVar(&q.filter.Decision, "decision", "", "only this decision: "+strings.Join(auditDecisions, ", "))
	f.StringVar(&q.filter.Vault, "vault", "", "only this vault")
	f.StringVar(&q.filter.Session, "session", "", "only this session")
	f.StringVar(&q.filter.Agent, "agent", "", "only this agent")
	f.StringVar(&q.filter.Code, "code", "", "only this error code")
	f.IntVar(&q.filter.Limit, "limit", auditLines, "maximum number of entries, the newest (0: all)")
	f.BoolVar(&q.json, "json", false, "print JSON")
	f.BoolVar(&q.csv, "csv", false, "print CSV")
	q.screen.Flags(f)
}

var auditDecisions = []string{"allow", "ask", "reply", "deny"}

// parse turns the texts of the flags into a filter.
func (q *auditQuery) parse(rest []string, now time.Time) (err error) {
	switch {
	case len(rest) > 0:
		return &terminal.UsageError{Reason: fmt.Sprintf("audit list: unexpected argument %q", quote.Short(rest[0])), Advice: `"vaultwicket audit list --help" shows the flags`}
	case q.json && q.csv:
		return &terminal.UsageError{Reason: "--json and --csv cannot be combined"}
	case q.filter.Limit < 0:
		return &terminal.UsageError{Reason: fmt.Sprintf("flag --limit: invalid value %d, want 0 or more", q.filter.Limit), Advice: "0 shows all entries"}
	case q.filter.Decision != "" && !slices.Contains(auditDecisions, q.filter.Decision):
		return &terminal.UsageError{Reason: fmt.Sprintf("flag --decision: unknown decision %q%s", quote.Short(q.filter.Decision), quote.DidYouMean(q.filter.Decision, auditDecisions)),
			Advice: "the decisions are " + strings.Join(auditDecisions, ", ")}
	}
	if q.filter.Since, err = terminal.ParseMoment("since", q.since, now, false); err != nil {
		return err
	}
	if q.filter.Until, err = terminal.ParseMoment("until", q.until, now, true); err != nil {
		return err
	}
	if !q.filter.Since.IsZero() && !q.filter.Until.IsZero() && !q.filter.Since.Before(q.filter.Until) {
		return &terminal.UsageError{Reason: fmt.Sprintf("--since %q is not before --until %q", quote.Short(q.since), quote.Short(q.until))}
	}
	return nil
}

// listAudit is "vaultwicket audit list".
func listAudit(ctx context.Context, std terminal.Streams, args []string) error {
	var q auditQuery
	rest, err := terminal.ParseFlags("audit list", args, q.flags)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := q.parse(rest, now); err != nil {
		return err
	}
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	var to lineWriter = newLineTable(terminal.NewScreen(std, q.screen, now))
	switch {
	case q.json:
		to = newLineArray(std.Out)
	case q.csv:
		to = newLineSheet(std.Out)
	}
	limit := q.filter.Limit
	if limit > 0 {
		q.filter.Limit++ // one more tells whether there are more
	}
	for line, err := range newestLines(std, audit.Lines(state, q.filter), limit) {
		switch {
		case ctx.Err() != nil:
			return terminal.Silent(terminal.ExitInterrupted)
		case isDamage(err):
			noteDamage(std, err)
			continue
		case err != nil:
			return auditError(err)
		}
		if err := to.write(line); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
	}
	if err := to.end(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// newestLines keeps the newest lines up to the limit; if there are more, it prints a note.
func newestLines(std terminal.Streams, lines iter.Seq2[audit.Line, error], limit int) iter.Seq2[audit.Line, error] {
	if limit == 0 {
		return lines
	}
	return func(yield func(audit.Line, error) bool) {
		type item struct {
			line audit.Line
			err  error
		}
		var kept []item
		for line, err := range lines {
			kept = append(kept, item{line, err})
		}
		if more := len(kept) - limit; more > 0 {
			kept = kept[more:]
			terminal.Notef(std.Err, "showing the newest %d; --limit 0 shows all", limit)
		}
		for _, it := range kept {
			if !yield(it.line, it.err) {
				return
			}
		}
	}
}

func isDamage(err error) bool {
	var damaged *audit.Damaged
	return errors.As(err, &damaged)
}

func noteDamage(std terminal.Streams, err error) {
	terminal.Notef(std.Err, "%s", clean.Line(err.Error()))
}

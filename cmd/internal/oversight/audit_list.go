package oversight

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// auditQuery contains the flags of "audit list".
type auditQuery struct {
	since, until string
	filter       audit.Filter
	json, csv    bool
	screen       terminal.ScreenOptions
}

const auditLines = 100 // a screen or two; --limit 0 shows all

// period adds the flags that all reports of the log have.
func (q *auditQuery) period(f terminal.FlagSet) {
	f.StringVar(&q.since, "since", "", "start time: "+terminal.MomentHelp)
	f.StringVar(&q.until, "until", "", "end time, in the same formats (dates inclusive)")
	f.StringVar(&q.filter.Vault, "vault", "", "only this vault")
	f.StringVar(&q.filter.Agent, "agent", "", "only this agent")
	f.BoolVar(&q.json, "json", false, "print JSON")
	q.screen.Flags(f)
}

// flags adds the flags of "audit list".
func (q *auditQuery) flags(f terminal.FlagSet) {
	q.period(f)
	f.StringVar(&q.filter.Command, "command", "", "only this command")
	f.StringVar(&q.filter.Decision, "decision", "", "only this decision: "+strings.Join(auditDecisions, ", "))
	f.StringVar(&q.filter.Session, "session", "", "only this session")
	f.StringVar(&q.filter.Code, "code", "", "only this error code")
	f.IntVar(&q.filter.Limit, "limit", auditLines, "maximum number of entries, the newest (0: all)")
	f.BoolVar(&q.csv, "csv", false, "print CSV")
}

var auditDecisions = []string{"allow", "ask", "reply", "deny", "skip"}

// parse checks the flags, and sets the times of the filter.
func (q *auditQuery) parse(rest []string, now time.Time) (err error) {
	switch {
	case len(rest) > 0:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("audit list: unexpected argument %q", excerpt.Short(rest[0])),
			Advice: `"vaultwicket audit list --help" shows the flags`,
		}
	case q.json && q.csv:
		return &terminal.UsageError{Reason: "--json and --csv cannot be combined"}
	case q.filter.Limit < 0:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("flag --limit: invalid value %d, want 0 or more", q.filter.Limit),
			Advice: "0 shows all entries",
		}
	case q.filter.Decision != "" && !slices.Contains(auditDecisions, q.filter.Decision):
		return &terminal.UsageError{
			Reason: fmt.Sprintf(
				"flag --decision: unknown decision %q%s",
				excerpt.Short(q.filter.Decision),
				excerpt.DidYouMean(q.filter.Decision, auditDecisions),
			),
			Advice: "the decisions are " + strings.Join(auditDecisions, ", "),
		}
	}
	if q.filter.Since, err = terminal.ParseMoment("since", q.since, now, terminal.FirstMoment); err != nil {
		return err
	}
	if q.filter.Until, err = terminal.ParseMoment("until", q.until, now, terminal.EndOfDate); err != nil {
		return err
	}
	if !q.filter.Since.IsZero() && !q.filter.Until.IsZero() && !q.filter.Since.Before(q.filter.Until) {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("--since %q is not before --until %q", excerpt.Short(q.since), excerpt.Short(q.until)),
		}
	}
	return nil
}

// listAudit runs "vaultwicket audit list".
func listAudit(ctx context.Context, std terminal.Streams, args []string) error {
	var query auditQuery
	rest, err := terminal.ParseFlags("audit list", args, query.flags)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := query.parse(rest, now); err != nil {
		return err
	}
	noteState(std)
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	writer := newLineTable(terminal.NewScreen(std, query.screen, now))
	switch {
	case query.json:
		writer = newLineArray(std.Out)
	case query.csv:
		writer = newLineSheet(std.Out)
	}
	limit := query.filter.Limit
	if limit > 0 {
		query.filter.Limit++ // an extra line shows that there are more
	}
	lines := newestLines(std, audit.Lines(ctx, state, query.filter), limit)
	_, err = eachLine(ctx, std, lines, func(line audit.Line) error {
		if err := writer.write(line); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		return nil
	})
	if err != nil {
		return lineError(err)
	}
	if err := writer.end(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// eachLine calls do for each readable line. It prints a note for each damaged line and returns their number. It stops
// when ctx is done.
func eachLine(
	ctx context.Context,
	std terminal.Streams,
	lines iter.Seq2[audit.Line, error],
	do func(audit.Line) error,
) (damaged int, err error) {
	for line, err := range lines {
		if ctx.Err() != nil {
			return damaged, ctx.Err()
		}
		if _, isDamage := errors.AsType[*audit.Damaged](err); isDamage {
			damaged++
			terminal.Notef(std.Err, "%s", sanitize.Line(err.Error()))
			continue
		}
		if err != nil {
			return damaged, err
		}
		if err := do(line); err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// lineError turns an error of [eachLine] into the error of a subcommand.
func lineError(err error) error {
	var coded interface{ Code() string }
	switch {
	case errors.Is(err, context.Canceled):
		return terminal.Silent(terminal.ExitInterrupted)
	case errors.As(err, &coded):
		return auditError(err)
	}
	return err
}

// newestLines returns the last limit lines, all for 0. If there are more, it prints a note.
func newestLines(std terminal.Streams, lines iter.Seq2[audit.Line, error], limit int) iter.Seq2[audit.Line, error] {
	if limit == 0 {
		return lines
	}
	return func(yield func(audit.Line, error) bool) {
		type item struct {
			line audit.Line
			err  error
		}
		var items []item
		for line, err := range lines {
			items = append(items, item{line, err})
		}
		if more := len(items) - limit; more > 0 {
			items = items[more:]
			terminal.Notef(std.Err, "showing the newest %d; --limit 0 shows all", limit)
		}
		for _, entry := range items {
			if !yield(entry.line, entry.err) {
				return
			}
		}
	}
}

// lineWriter prints lines one at a time, because a log can be larger than memory.
type lineWriter struct {
	write func(audit.Line) error
	end   func() error
}

const tableRows = 1000 // rows that are aligned with each other

// newLineTable returns a writer that prints lines as a table.
func newLineTable(s terminal.Screen) lineWriter {
	t := s.Table(
		terminal.Column{Title: "no"},
		terminal.Column{Title: "when"},
		terminal.Column{Title: "decision"},
		terminal.Column{Title: "command", Min: 8},
		terminal.Column{Title: "vault", Min: 4},
		terminal.Column{Title: "details", Min: 8},
	)
	rows := 0
	number := 0 // rows are numbered, because the two parts of the log have separate line numbers
	write := func(l audit.Line) error {
		number++
		rows++
		if rows > tableRows {
			if err := t.Flush(); err != nil {
				return err
			}
			rows = 1
		}
		what := sanitize.Line(cmp.Or(l.Decision, l.Kind))
		t.Add(
			terminal.Text(strconv.Itoa(number)),
			terminal.Text(s.Time(l.Time)),
			terminal.Cell{Text: what, Style: terminal.DecisionStyles[what]},
			terminal.Text(cmp.Or(l.Command, "-")),
			terminal.Text(cmp.Or(l.Vault, "-")),
			terminal.Text(strings.Join(detailsOf(l), ", ")),
		)
		return nil
	}
	return lineWriter{write: write, end: t.Flush}
}

// detailsOf returns the values of a line that have no column of their own, most with their names.
func detailsOf(l audit.Line) (details []string) {
	add := func(name, value string) {
		if value != "" {
			details = append(details, name+sanitize.Line(value))
		}
	}
	add("", l.Code)
	if l.Count > 0 {
		add("", sanitize.Counted(l.Count, "more call"))
	}
	if l.Exit != nil && *l.Exit != 0 {
		add("exit=", strconv.Itoa(*l.Exit))
	}
	add("rule=", l.Rule)
	add("found=", strings.Join(l.Found, " + "))
	add("shadow=", strings.Join(l.Shadow, " + "))
	add("by=", l.By)
	add("change=", l.Change)
	add("agent=", l.Agent)
	if l.Client != "" { // the client chose the name, which could look like other details
		add("client=", inQuotes(l.Client))
	}
	if l.Repair != nil {
		add("", l.Repair.Why)
	}
	add("session=", l.Session)
	return details
}

// newLineArray returns a writer that prints lines as a JSON array.
func newLineArray(w io.Writer) lineWriter {
	out := bufio.NewWriter(w)
	separator := "[\n  "
	end := "[]\n"
	return lineWriter{func(l audit.Line) error {
		text, err := excerpt.JSON(l) // the same bytes as in the log, so that the hash in the next line matches
		if err == nil {
			_, err = out.WriteString(separator + text)
			separator = ",\n  "
			end = "\n]\n"
		}
		return err
	}, func() error {
		if _, err := out.WriteString(end); err != nil {
			return err
		}
		return out.Flush()
	}}
}

// sheetColumns are the names of the columns of a CSV file.
var sheetColumns = []string{
	"seq", "time", "exit", "durationMs",
	"kind", "decision", "call", "session", "client", "surface", "vault", "command", "effect",
	"rule", "code", "backend", "note", "before", "after", "change", "params", "agent", "found", "shadow",
}

// newLineSheet returns a writer that prints lines as CSV, after a row with the names of the columns.
func newLineSheet(out io.Writer) lineWriter {
	sheet := csv.NewWriter(out)
	_ = sheet.Write(sheetColumns) // end reports an error
	return lineWriter{func(l audit.Line) error {
		exit := ""
		if l.Exit != nil {
			exit = strconv.Itoa(*l.Exit)
		}
		var params []string
		for _, p := range l.Params {
			params = append(params, p.Name)
		}
		cells := []string{
			strconv.FormatUint(l.Seq, 10),
			l.Time.UTC().Format(time.RFC3339Nano),
			exit,
			strconv.FormatInt(l.DurationMs, 10),
		}
		for _, name := range []string{
			l.Kind, l.Decision, l.Call, l.Session, l.Client, l.Surface, l.Vault, l.Command, l.Effect,
			l.Rule, l.Code, l.Backend, l.Note, l.Before, l.After, l.Change, strings.Join(params, " "), l.Agent, strings.Join(l.Found, "; "), strings.Join(l.Shadow, "; "),
		} {
			name = sanitize.Line(name)
			if name != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(name)[0]) {
				name = "'" + name // otherwise a spreadsheet could run it as a formula: clients choose their names
			}
			cells = append(cells, name)
		}
		return sheet.Write(cells)
	}, func() error {
		sheet.Flush()
		return sheet.Error()
	}}
}

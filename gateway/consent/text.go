package consent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// extent is how much a question shows.
type extent struct{ rows, bytes int }

// How much the user is shown before they decide. A form has ten rows if that tells it,
// else more; the whole question is for where it can be scrolled.
var (
	brief = extent{10, 2 << 10}
	form  = extent{24, 2 << 10}
	whole = extent{3000, 64 << 10}
)

const (
	leastRows    = 6       // of one of several questions that are asked together
	maxShownLine = 4 << 10 // of a line
	maxDeciding  = 32 << 10
	// leastDeciding is that of one of several questions that are asked together.
	leastDeciding = 4 << 10
	maxShownName  = 512 // bytes of a path, of which the ends say most
	maxShort      = 80  // bytes of a value that is a part of a row

	// MaxShownFiles is how many files of something are named where they are not the subject.
	MaxShownFiles = 8
)

// Describe fills in what the user is shown of a call, which is one of several that are
// asked about together. changes are those of q.Files, nil if they are not known. The error
// says that a value that has to be shown is too long for it.
func (q *Question) Describe(call allowlist.Call, changes []difference.Change, together int) error {
	q.Does = Does(q.Command, q.Files, q.Rest)
	size := 0
	for _, name := range call.AskedInFull() {
		value, _ := call.Param(name)
		size += len(value)
		_, complete := valueLines(value, extent{whole.rows / together, maxDeciding})
		if !complete || size > max(leastDeciding, maxDeciding/together) {
			return failure.New(failure.CodeTooLong, "make it several calls with shorter values",
				"command %q requires user approval, and the value of %q is too long to ask about: %d bytes with the others before it, of %d", q.Command, name, size, max(leastDeciding, maxDeciding/together))
		}
	}
	show := func(e extent) ([]Line, bool) {
		return q.lines(call, changes, extent{max(e.rows/together, leastRows), e.bytes / together})
	}
	q.Lines, _ = show(whole)
	short, fits := show(brief)
	if !fits {
		short, fits = show(form)
	}
	q.Text, q.InForm = Draw(short), fits
	return nil
}

// lines writes a question, and reports whether it tells all that a form has to tell: each
// file with something of its change, and what decides in full.
func (q Question) lines(call allowlist.Call, changes []difference.Change, show extent) (lines []Line, tells bool) {
	tells = true
	does := call.Loss()
	switch e := call.Effect(); {
	case does != "":
	case e == tiers.Writes:
		does = "changes notes"
	case e == tiers.Destroys:
		does = "deletes or overwrites notes"
	case e == tiers.Publishes && call.Sends():
		does = "sends texts of notes to another machine, until the server stops"
	case e == tiers.Publishes:
		does = "changes what is published"
	default:
		does = "changes the app"
	}
	lines = words(fmt.Sprintf("Allow %q in the vault %s?", q.Command, quoted(cmp.Or(q.Vault, "of the app"))), fmt.Sprintf("It %s.", does))
	if q.Links != "" {
		lines = append(lines, words("It "+q.Links+".")...)
	}
	if q.Because != "" {
		lines = append(lines, words("It may carry text away: "+q.Because+".")...)
	}
	if len(q.Files) == 0 && q.Path != "" {
		lines = append(lines, Named("path", q.Path))
	}
	params, inFull := call.Params(), call.AskedInFull()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := call.Param(name)
		switch {
		case value == "":
			lines = append(lines, words(name)...)
		case value == q.Path, len(q.Files) > 0 && value == q.Files[0].From: // it is in the text already
		case len(value) <= maxShort && !strings.ContainsAny(value, "\r\n"):
			lines = append(lines, Named(name, value))
		case slices.Contains(inFull, name):
			lines = append(lines, words(fmt.Sprintf("%s, %d bytes:", name, len(value)))...)
			excerpt, complete := valueLines(value, extent{show.rows - rowsOf(lines), maxDeciding})
			lines, tells = append(lines, excerpt...), tells && complete
		default:
			lines = append(lines, words(fmt.Sprintf("%s: %d bytes", name, len(value)))...)
			if changes == nil {
				excerpt, _ := valueLines(value, extent{show.rows - rowsOf(lines), show.bytes})
				lines = append(lines, excerpt...)
			}
		}
	}
	if changes == nil {
		changes = make([]difference.Change, len(q.Files))
	}
	files, all := fileLines(q.Files, changes, q.Rest, extent{show.rows - rowsOf(lines), show.bytes}, show.rows > form.rows)
	return append(lines, files...), tells && all
}

// valueLines shows a value, and reports whether it does so in full.
func valueLines(value string, show extent) (lines []Line, complete bool) {
	c := difference.Of(nil, []byte(value))
	if c.Binary {
		return words("not a text"), false
	}
	shown := fit([]difference.Change{c}, extent{max(1, show.rows), show.bytes}, maxDeciding)[0]
	complete = true
	for _, l := range shown.Lines {
		lines = append(lines, linesOf(l, Quoted)...)
		complete = complete && len(l.Cuts) == 0
	}
	if left, _ := shown.Left(); left > 0 {
		return append(lines, words(fmt.Sprintf("… left out: %s", sanitize.Counted(left, "line")))...), false
	}
	return lines, complete
}

// Changes shows the changes of files, one for each, and counts those of the rest.
func Changes(files []PlannedFile, changes []difference.Change, rest Rest) []Line {
	lines, _ := fileLines(files, changes, rest, whole, true)
	return lines
}

// fileLines shows files with their changes, and counts the rest. It reports whether all files are there, and of
// each something of what changes. placed says that it is told where in a file a part is.
func fileLines(files []PlannedFile, changes []difference.Change, rest Rest, show extent, placed bool) (lines []Line, all bool) {
	all = true
	n, rows := 0, 0
	for n < len(files) {
		next := rowsOf([]Line{files[n].Named()}) + min(1, len(changes[n].Lines))
		if rows+next > show.rows-min(1, len(files)-n-1+rest.Files()) && n > 0 {
			break
		}
		n, rows = n+1, rows+next
	}
	left := show.rows
	for _, f := range files[:n] {
		left -= rowsOf([]Line{f.Named()})
	}
	shown := fit(changes[:n], extent{left, show.bytes}, maxShownLine)
	for range 2 { // what is left out takes rows that say so, and more is left out then
		said := 0
		for _, c := range shown {
			if added, removed := c.Left(); added+removed > 0 {
				said++
			}
		}
		shown = fit(changes[:n], extent{left - said, show.bytes}, maxShownLine)
	}
	for i, c := range shown {
		part, told := changeLines(c, placed)
		lines, all = append(append(lines, files[i].Named()), part...), all && told
	}
	if left := len(files) - n + rest.Files(); left > 0 {
		added, removed := rest.Added, rest.Removed
		for _, c := range changes[n:] {
			added += c.Added
			removed += c.Removed
		}
		return append(lines, words(fmt.Sprintf("and %s more, with %s added and %d removed", sanitize.Counted(left, "file"), sanitize.Counted(added, "line"), removed))...), false
	}
	return lines, all
}

// changeLines shows what changes in one file.
func changeLines(c difference.Change, placed bool) (lines []Line, told bool) {
	if c.Binary {
		return words("not a text"), true
	}
	told = c.Added+c.Removed == 0
	for i, hunk := range c.Hunks() {
		if at := cmp.Or(hunk[0].Old, hunk[0].New); i > 0 || placed && at > 1 {
			lines = append(lines, words(fmt.Sprintf("at line %d:", at))...)
		}
		for _, l := range hunk {
			lines = append(lines, linesOf(l, LineKind(l.Sign))...)
			told = told || l.Sign != difference.Same
			if l.NoEnd && l.Sign != difference.Same && slices.ContainsFunc(hunk, func(other difference.Line) bool {
				return other.Text == l.Text && other.Sign != l.Sign && !other.NoEnd
			}) {
				lines = append(lines, words("(without a newline at its end)")...)
			}
		}
	}
	if added, removed := c.Left(); added+removed > 0 {
		lines = append(lines, words(fmt.Sprintf("… left out: %s added, %d removed", sanitize.Counted(added, "line"), removed))...)
	}
	return lines, told
}

// fit chooses what is shown of changes.
func fit(changes []difference.Change, show extent, line int) []difference.Change {
	line = min(line, rowWidth*max(1, show.rows/max(1, 2*len(changes))))
	return difference.Fit(changes, difference.Extent{
		Rows: show.rows, Bytes: show.bytes, Line: line, Place: 1,
		Cost: func(l difference.Line) int { return rowsOf(linesOf(l, LineKind(l.Sign))) },
	})
}

// linesOf returns the lines that show a line of a change. The first one begins it, also
// where its beginning is left out.
func linesOf(l difference.Line, kind LineKind) (lines []Line) {
	done := 0
	for _, cut := range l.Cuts {
		lines = append(lines, Line{Kind: kind, Text: l.Text[done:cut.At], More: len(lines) > 0})
		lines = append(lines, words("… left out: "+sanitize.Counted(cut.Bytes, "byte"))...)
		done = cut.At
	}
	if len(l.Cuts) == 0 || done < len(l.Text) {
		lines = append(lines, Line{Kind: kind, Text: l.Text[done:], More: len(l.Cuts) > 0})
	}
	if kind == Quoted {
		return lines
	}
	if lines[0].Old, lines[0].New = l.Old, l.New; len(l.Cuts) == 0 && kind != Same {
		lines[0].From, lines[0].To = l.From, l.To
	}
	return lines
}

func words(texts ...string) (lines []Line) {
	for _, text := range texts {
		lines = append(lines, Line{Text: text})
	}
	return lines
}

// Row is a row of a question on a screen. Its text begins with what tells the kinds apart
// where there is no other way.
type Row struct {
	Kind LineKind
	Text string
}

const (
	// Columns are those of a terminal that does not tell how wide it is.
	Columns = 80
	// rowWidth is how many columns of a line are in one row then.
	rowWidth  = Columns - barWidth
	barWidth  = 4 // columns of what is before a line, and of an ellipsis, at most
	leastWide = 16
)

// Rows draws lines in rows that fit a terminal, which would break longer ones where text that
// someone else has chosen would begin a row. A row of a note or a value has a bar before it, a
// row that goes on has an ellipsis after the bar, and of a change every row has its sign.
func Rows(lines []Line, columns int) (rows []Row) {
	for _, l := range lines {
		first, further := "", "  "
		switch l.Kind {
		case Words:
		case Quoted:
			first, further = "> ", ">…"
		default:
			first, further = "│ "+string(l.Kind), "│…"+string(l.Kind)
		}
		for i, part := range sanitize.Rows(l.Text, max(leastWide, columns-barWidth)) {
			if i > 0 || l.More {
				first = further
			}
			rows = append(rows, Row{l.Kind, first + part})
		}
	}
	return rows
}

// SignOf returns the sign of a row that [Draw] has drawn: "-" or "+", else "".
func SignOf(row string) string {
	for _, before := range []string{"│ ", "│…"} {
		if rest, ok := strings.CutPrefix(row, before); ok && rest != "" && (rest[0] == '-' || rest[0] == '+') {
			return rest[:1]
		}
	}
	return ""
}

func rowsOf(lines []Line) (n int) { return len(Rows(lines, Columns)) }

// Draw returns the rows of lines as one text, without a newline at the end.
func Draw(lines []Line) string {
	var b strings.Builder
	for i, row := range Rows(lines, Columns) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(row.Text)
	}
	return b.String()
}

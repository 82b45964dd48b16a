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
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// extent is how much of a change is shown that is not asked about.
type extent struct{ rows, bytes int }

// messageFor is for where it can be scrolled.
var told = extent{3000, 64 << 10}

const (
	maxShownLine = 4 << 10 // of a line of a change that is not asked about
	// maxValue is how long a value is that is shown where the change is not known.
	maxValue     = 32 << 10
	maxShownName = 512 // bytes of a path, of which the ends say most
	maxShort     = 80  // bytes of a value that is a part of a row
	maxInHeading = 48  // bytes of a name in the first line

	// maxQuestion is how many bytes the lines of a question take, see [linesCost]: a person can read them in parts.
	maxQuestion = 8 << 20
)

// Describe fills in what the user is shown of a call: first what it does, then who asks, then every line that it
// removes and adds, whole. changes are those of q.Files, nil if they are not known. The error says that a value that
// has to be shown is too long for it.
func (q *Question) Describe(call allowlist.Call, changes []difference.Change) error {
	q.Does = Does(q.Command, q.Files, q.Rest)
	q.Lines = []Line{{Kind: Act, Text: q.act(call, changes)}}
	q.say("%s", askedBy(q.Requester, q.Client))
	does := call.Loss()
	if does == "" && changes == nil {
		does = effectOf(call)
	}
	if does != "" {
		q.say("It %s.", does)
	}
	q.why = cmp.Or(does, q.Does)
	if q.Links != "" {
		q.say("It %s.", q.Links)
	}
	if q.Because != "" {
		q.say("It may carry text away: %s.", q.Because)
	}
	q.heading = len(q.Lines)
	if changes == nil { // nothing else says what would be written
		if err := q.addValues(call); err != nil {
			return err
		}
		changes = make([]difference.Change, len(q.Files))
	}
	_, permanent := call.Param("permanent")
	shown, reason := filesOf(q.Files, changes, q.Rest, permanent)
	q.Lines = append(q.Lines, shown...)
	q.finish(reason)
	return nil
}

// finish notes why the question cannot be asked, "" if it shows all.
func (q *Question) finish(reason string) {
	if cost := linesCost(q.Lines); reason == "" && cost > maxQuestion {
		reason = fmt.Sprintf("what it would write takes %d MiB, of %d that can be shown", cost>>20, maxQuestion>>20)
	}
	q.Unshown = reason
	q.Text = Draw(q.Lines[:q.heading])
}

// Together fills in what the user is shown of the operations of a batch that are asked about in one question. further
// is what is said of the other operations.
func (q *Question) Together(operations int, each []Question, further []Line) {
	heading := fmt.Sprintf("%s (vault %s)", capital(q.Does), quotedIn(cmp.Or(q.Vault, "of the app"), maxInHeading))
	q.Lines = []Line{{Kind: Act, Text: heading}}
	need := "one of which needs approval"
	if len(each) > 1 {
		need = fmt.Sprintf("%d of which need approval", len(each))
	}
	q.say("A batch of %s, %s. %s", sanitize.Counted(operations, "operation"), need, askedBy(q.Requester, q.Client))
	q.heading = len(q.Lines)
	q.why = fmt.Sprintf("would %s in %s", q.Does, sanitize.Counted(len(each), "operation"))
	reason := ""
	for i, one := range each {
		lines := slices.Clone(one.Lines)
		lines[0].Text = fmt.Sprintf("%d. %s", i+1, lines[0].Text)
		lines = slices.Delete(lines, 1, 2) // who asks
		q.Lines = append(q.Lines, lines...)
		reason = cmp.Or(reason, one.Unshown)
	}
	var counted difference.Change
	for _, l := range q.Lines {
		counted.Added += l.Added
		counted.Removed += l.Removed
	}
	q.Lines[0].Text += countsOf([]difference.Change{counted}, q.Rest)
	if len(further) > 0 {
		if linesCost(q.Lines)+linesCost(further) > maxQuestion { // they need no approval, and keep none from being asked for
			further = withoutTexts(further)
		}
		q.Lines = append(append(q.Lines, Line{Kind: Act, Text: "The batch also does this:"}), further...)
	}
	q.finish(reason)
}

// withoutTexts returns lines without those of notes, which are counted.
func withoutTexts(lines []Line) (rest []Line) {
	for _, l := range lines {
		switch l.Kind {
		case Same, Added, Removed, Place:
			continue
		case File:
			rest = append(rest, l)
			rest = append(rest, words(fmt.Sprintf("… left out: %s added, %d removed", sanitize.Counted(l.Added, "line"), l.Removed))...)
		default:
			rest = append(rest, l)
		}
	}
	return rest
}

// Besides shows files that change without an approval, beside what is asked about: with every line that changes, or
// counted if that is more than can be shown.
func Besides(files []PlannedFile, changes []difference.Change, rest Rest) []Line {
	if changes == nil {
		changes = make([]difference.Change, len(files))
	}
	lines, reason := filesOf(files, changes, rest, true)
	if reason != "" {
		return withoutTexts(lines)
	}
	return lines
}

const (
	maxClicked      = 200 << 10 // bytes of new text above which the act is typed in words to approve it
	maxClickedFiles = 1000      // files above which it is
)

// typed returns the words that the user types to approve the question, "" if they need not.
func (q *Question) typed() string {
	files := q.Rest.Files()
	added := 0
	for _, l := range q.Lines {
		switch l.Kind {
		case File:
			files++
		case Added, Quoted:
			added += len(l.Text)
		}
	}
	if files <= maxClickedFiles && added <= maxClicked {
		return ""
	}
	return q.Does
}

// reason says in a few words why the call requires approval, for the agent.
func (q *Question) reason() string { return cmp.Or(q.why, q.Does) }

func (q *Question) say(format string, args ...any) {
	q.Lines = append(q.Lines, words(fmt.Sprintf(format, args...))...)
}

// effectOf says what a call does whose change is not known.
func effectOf(call allowlist.Call) string {
	switch e := call.Effect(); {
	case e == tiers.Writes: // the first line says so
		return ""
	case e == tiers.Destroys:
		return "deletes or overwrites notes"
	case e == tiers.Publishes && call.Sends():
		return "sends texts of notes to another machine, until the server stops"
	case e == tiers.Publishes:
		return "changes what is published"
	}
	return "changes the app"
}

// askedBy says who asks. A name that a client gives itself is quoted, and said to be that.
func askedBy(caller, client string) string {
	switch agent := ownerfiles.AgentOf(caller); {
	case agent != "":
		return fmt.Sprintf("Asked by the agent %s.", quotedIn(agent, maxInHeading))
	case ownerfiles.SessionOf(caller) == Terminal:
		return "Asked by your terminal."
	case ownerfiles.SessionOf(caller) == LocalPage:
		return "Asked by you on the page."
	case client != "":
		return fmt.Sprintf("Asked by a client that calls itself %s.", quotedIn(client, maxInHeading))
	}
	return "Asked by a client that gives no name."
}

// act says what a call does, in one line.
func (q *Question) act(call allowlist.Call, changes []difference.Change) string {
	in := fmt.Sprintf("(vault %s)", quotedIn(cmp.Or(q.Vault, "of the app"), maxInHeading))
	_, permanent := call.Param("permanent")
	_, overwrites := call.Param("overwrite")
	many := len(q.Files) + q.Rest.Files()
	if many == 0 {
		return fmt.Sprintf("%s %s", q.actOnUnknown(), in)
	}
	counts := countsOf(changes, q.Rest)
	if many > 1 {
		what := capital(q.Does)
		switch old, isReplaced := call.Param("old"); {
		case isReplaced:
			now, _ := call.Param("new")
			what = fmt.Sprintf(
				"Replace %s by %s: %s",
				quotedIn(old, maxInHeading/2),
				quotedIn(now, maxInHeading/2),
				q.Does,
			)
		case permanent:
			what += " for good"
		default:
			what = q.actOnFolder(call, what)
		}
		return fmt.Sprintf("%s %s%s", what, in, counts)
	}
	f := q.Files[0]
	name := quotedIn(f.Path, maxInHeading)
	switch {
	case f.From != "":
		return fmt.Sprintf("Move %s to %s %s%s", quotedIn(f.From, maxInHeading), name, in, counts)
	case f.Before == "":
		return fmt.Sprintf("Create %s %s%s", name, in, counts)
	case f.After == "" && permanent:
		return fmt.Sprintf("Delete for good: %s %s%s", name, in, counts)
	case f.After == "":
		return fmt.Sprintf("Delete %s %s%s", name, in, counts)
	case overwrites:
		return fmt.Sprintf("Overwrite %s %s%s", name, in, counts)
	}
	return fmt.Sprintf("Change %s %s%s", name, in, counts)
}

// actOnFolder says what a call does to the folder that it names, and what to those files; what alone if it names none.
func (q *Question) actOnFolder(call allowlist.Call, what string) string {
	folder := folderNamed(call)
	if folder == "" {
		return what
	}
	name := quotedIn(folder, maxInHeading)
	verb, known := allowlist.VerbOf(q.Command)
	to, named := call.Param("to")
	if !named {
		to, named = call.Param("name")
	}
	isMoved := known && named && strings.HasSuffix(verb.Wants, " the folder") // that is what it is about
	if !isMoved {
		return fmt.Sprintf("%s, of the folder %s", what, name)
	}
	return fmt.Sprintf("%s %s to %s: %s", capital(verb.Wants), name, quotedIn(to, maxInHeading), q.Does)
}

// actOnUnknown says what a call does of which the files are not known.
func (q *Question) actOnUnknown() string {
	does := "run " + q.Command
	if verb, ok := allowlist.VerbOf(q.Command); ok {
		does = verb.Wants
		if q.Path != "" && verb.Before != "" {
			does += " " + verb.Before
		}
	}
	if q.Path != "" {
		does += " " + quotedIn(q.Path, maxInHeading)
	}
	return capital(does)
}

// folderNamed returns the folder that a call is about, "" for none.
func folderNamed(call allowlist.Call) string {
	for _, named := range call.NamedPaths() {
		if named.Folder && !named.To {
			return named.Path
		}
	}
	return ""
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// countsOf says how many lines changes remove and add, such as ": −12 +3 lines"; "" for none.
func countsOf(changes []difference.Change, rest Rest) string {
	added := rest.Added
	removed := rest.Removed
	for _, c := range changes {
		added += c.Added
		removed += c.Removed
	}
	var parts []string
	if removed > 0 {
		parts = append(parts, fmt.Sprintf("−%d", removed))
	}
	if added > 0 {
		parts = append(parts, fmt.Sprintf("+%d", added))
	}
	switch {
	case len(parts) == 0:
		return ""
	case added+removed == 1:
		return fmt.Sprintf(": %s line", parts[0])
	}
	return fmt.Sprintf(": %s lines", strings.Join(parts, " "))
}

// addValues shows the values of a call whose change is not known.
func (q *Question) addValues(call allowlist.Call) error {
	if len(q.Files) == 0 && q.Path != "" &&
		quotedIn(q.Path, maxInHeading) != quoted(q.Path) { // the first line has its ends
		q.Lines = append(q.Lines, Named("path", q.Path))
	}
	params := call.Params()
	size := 0
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := call.Param(name)
		switch {
		case value == "":
			q.say("%s", name)
		case value == q.Path: // it is in the text already
		case len(value) <= maxShort && !strings.ContainsAny(value, "\r\n"):
			q.Lines = append(q.Lines, Named(name, value))
		default:
			lines, shown := valueLines(value)
			if size += len(value); size > maxValue || !shown {
				return failure.New(
					failure.CodeTooLong,
					"make it several calls with shorter values",
					"command %q requires user approval, and the value of %q is too long to ask about: %d bytes with the others before it, of %d",
					q.Command,
					name,
					size,
					maxValue,
				)
			}
			q.say("%s, %s:", name, sanitize.Counted(len(value), "byte"))
			q.Lines = append(q.Lines, lines...)
		}
	}
	return nil
}

// valueLines shows a value as a whole, and reports whether it can.
func valueLines(value string) (lines []Line, shown bool) {
	c := difference.Whole(nil, []byte(value), maxQuestion)
	if !c.IsComplete() {
		return nil, false
	}
	for _, l := range c.Lines {
		lines = append(lines, linesOf(l, Quoted)...)
	}
	return lines, true
}

// filesOf shows files with every line that changes, and counts the rest. reason says why that is not all that would be
// written, "" if it is. What goes to the trash is known by its name, size and hash; its text is shown beside.
func filesOf(
	files []PlannedFile,
	changes []difference.Change,
	rest Rest,
	permanent bool,
) (lines []Line, reason string) {
	for i, f := range files {
		c := changes[i]
		isTrashed := f.After == "" && f.Before != "" && !permanent
		name := f.line(c)
		lines = append(lines, name)
		switch {
		case c.Binary || isTrashed && !c.IsComplete():
		case !c.IsComplete() && reason == "":
			reason = fmt.Sprintf(
				"the change of %s has more lines than can be shown: %d added, %d removed",
				quotedIn(f.Path, maxInHeading),
				c.Added,
				c.Removed,
			)
		}
		part := changeLines(c)
		for j := range part {
			part[j].Aside = isTrashed
		}
		lines = append(lines, part...)
	}
	if n := rest.Files(); n > 0 {
		isTold := rest.Changed+rest.Made+rest.Added == 0 && (rest.Deleted == 0 || !permanent)
		if !isTold {
			reason = cmp.Or(reason, fmt.Sprintf("it changes %s than can be shown", sanitize.Counted(n, "file")+" more"))
		}
		lines = append(lines, restLine(n, rest.Added, rest.Removed))
	}
	return lines, reason
}

func restLine(files, added, removed int) Line {
	return words(fmt.Sprintf("and %s more, with %s added and %d removed", sanitize.Counted(files, "file"), sanitize.Counted(added, "line"), removed))[0]
}

// Changes shows the changes of files, one for each, as far as there is room, and counts those of the rest.
func Changes(files []PlannedFile, changes []difference.Change, rest Rest) (lines []Line) {
	n := 0
	rows := 0
	for n < len(files) {
		next := 1 + min(1, len(changes[n].Lines))
		if rows+next > told.rows-min(1, len(files)-n-1+rest.Files()) && n > 0 {
			break
		}
		n = n + 1
		rows = rows + next
	}
	for i, c := range fit(changes[:n], extent{told.rows - 2*n, told.bytes}) {
		lines = append(append(lines, files[i].line(c)), changeLines(c)...)
	}
	if left := len(files) - n + rest.Files(); left > 0 {
		added := rest.Added
		removed := rest.Removed
		for _, c := range changes[n:] {
			added += c.Added
			removed += c.Removed
		}
		lines = append(lines, restLine(left, added, removed))
	}
	return lines
}

// line names a file, and says what becomes of it.
func (f PlannedFile) line(c difference.Change) Line {
	l := Line{
		Kind:    File,
		Path:    sanitize.Line(f.Path),
		Source:  sanitize.Line(f.From),
		Added:   c.Added,
		Removed: c.Removed,
	}
	switch {
	case f.From != "":
		l.Text = "moves"
	case f.Before == "":
		l.Text = "makes"
	case f.After == "":
		l.Text = "removes"
		l.Size = f.Size
		l.Hash = f.Before
	default:
		l.Text = "changes"
	}
	return l
}

// changeLines shows what changes in one file, with the line at which each part begins but a first one at the beginning.
func changeLines(c difference.Change) (lines []Line) {
	if c.Binary {
		return words("not a text")
	}
	for i, hunk := range c.Hunks() {
		if at := cmp.Or(hunk[0].Old, hunk[0].New); i > 0 || at > 1 {
			lines = append(lines, Line{Kind: Place, Text: fmt.Sprintf("at line %d:", at)})
		}
		for _, l := range hunk {
			lines = append(lines, linesOf(l, LineKind(l.Sign))...)
			isEnd := l.NoEnd && l.Sign != difference.Same
			lines[len(lines)-1].NoEnd = isEnd && differsAtItsEnd(l, hunk)
		}
	}
	if added, removed := c.Left(); added+removed > 0 {
		lines = append(
			lines,
			words(fmt.Sprintf("… left out: %s added, %d removed", sanitize.Counted(added, "line"), removed))...)
	}
	return lines
}

// differsAtItsEnd reports whether the missing newline after a line that is removed or added makes a difference: the other
// side ends with one, or has the line with one.
func differsAtItsEnd(l difference.Line, hunk []difference.Line) bool {
	endsSame := false
	for _, other := range hunk {
		if other.Sign == l.Sign {
			continue
		}
		if !other.NoEnd && other.Sign != difference.Same && other.Text == l.Text {
			return true
		}
		endsSame = endsSame || other.NoEnd
	}
	return !endsSame
}

// fit chooses what is shown of changes that are not asked about.
func fit(changes []difference.Change, show extent) []difference.Change {
	return difference.Fit(changes, difference.Extent{
		Rows: show.rows, Bytes: show.bytes, Line: maxShownLine, Place: 1,
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
	lines[0].Old = l.Old
	lines[0].New = l.New
	if len(l.Cuts) == 0 && kind != Same {
		lines[0].From = l.From
		lines[0].To = l.To
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
		first := ""
		further := "  "
		switch l.Kind {
		case Words, Act, File, Place:
		case Quoted:
			first = "> "
			further = ">…"
		default:
			first = "│ " + string(l.Kind)
			further = "│…" + string(l.Kind)
		}
		for i, part := range sanitize.Rows(l.words(), max(leastWide, columns-barWidth)) {
			if i > 0 || l.More {
				first = further
			}
			rows = append(rows, Row{l.Kind, first + part})
		}
		if l.NoEnd {
			rows = append(rows, Row{Words, noEnd})
		}
	}
	return rows
}

const noEnd = "(without a newline at its end)"

// words returns the text of a line. Of a file it is what becomes of it, and of one that is deleted also what it is.
func (l Line) words() string {
	if l.Kind != File {
		return l.Text
	}
	name := Named(l.Text, l.Path).Text
	if l.Source != "" {
		name = Named(l.Text, l.Source, l.Path).Text
	}
	if l.Hash == "" {
		return name
	}
	return fmt.Sprintf("%s (%s, hash %s)", name, sanitize.Counted(int(l.Size), "byte"), l.Hash)
}

// SignOf returns the sign of a row that [Draw] has drawn: "-" or "+", else "".
func SignOf(row string) string {
	for _, before := range []string{"│ ", "│…"} {
		rest, isDrawn := strings.CutPrefix(row, before)
		hasSign := strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+")
		if isDrawn && hasSign {
			return rest[:1]
		}
	}
	return ""
}

func rowsOf(lines []Line) (n int) { return len(Rows(lines, Columns)) }

// linesCost is what lines take where they are stored, in bytes.
func linesCost(lines []Line) (cost int) {
	for _, l := range lines {
		cost += lineBytes + len(l.Text) + len(l.Path) + len(l.Source)
	}
	return cost
}

// Form returns the question as it is shown in a form of a client, which shows rows of it: all of it, or what it does
// and every line that is removed or added without those around them. ok is false if there is no room for that. What
// goes to the trash is named, and its text left out.
func (q Question) Form(rows, bytes int) (text string, ok bool) {
	if q.Unshown != "" {
		return "", false
	}
	var changed []Line
	files := 0
	for _, l := range q.Lines {
		if l.Kind == File {
			files++
		}
	}
	for _, l := range q.Lines {
		isContext := l.Aside || l.Kind == Same || l.Kind == Place
		isOnlyFile := l.Kind == File && files == 1 && l.Hash == ""
		isInHeadline := isOnlyFile && q.namesInFull(l)
		if isContext || isInHeadline {
			continue
		}
		changed = append(changed, l)
	}
	for _, lines := range [][]Line{q.Lines, changed} {
		if rowsOf(lines) > rows {
			continue
		}
		if text = Draw(lines); len(text) <= bytes {
			return text, true
		}
	}
	return "", false
}

// namesInFull reports whether the first line of the question has the whole name of a file.
func (q Question) namesInFull(l Line) bool {
	for _, name := range []string{l.Path, l.Source} {
		if quotedIn(name, maxInHeading) != quoted(name) {
			return false
		}
	}
	return true
}

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

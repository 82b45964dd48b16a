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

// extent limits the display of a change that needs no approval.
type extent struct{ rows, bytes int }

// scrollable is the extent for a display that can be scrolled.
var scrollable = extent{3000, 64 << 10}

const (
	maxShownLine = 4 << 10 // bytes of a line of a change that needs no approval
	// maxValue is the maximum total length in bytes of values that are shown if the change is unknown.
	maxValue     = 32 << 10
	maxShownName = 512 // bytes of a path, whose start and end tell most
	maxShort     = 80  // bytes of a value that is a part of a row
	maxInHeading = 48  // bytes of a name in the first line

	// maxQuestion is the maximum cost of the lines of a question, see [linesCost]: users can read them in parts.
	maxQuestion = 8 << 20
)

// Describe sets the lines that describe a call to the user: first what it does, then who asks, then every whole line
// that it removes and adds. changes are those of q.Files, nil if they are unknown. It returns an error if a value that
// must be shown is too long.
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
	if changes == nil { // only the values tell what would be written
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

// finish sets the text of the question, and the reason why it cannot be asked, "" if it shows everything.
func (q *Question) finish(reason string) {
	cost := linesCost(q.Lines)
	if reason == "" && cost > maxQuestion {
		reason = fmt.Sprintf("what it would write takes %d MiB, of %d that can be shown", cost>>20, maxQuestion>>20)
	}
	q.Unshown = reason
	q.Text = Draw(q.Lines[:q.heading])
}

// Together sets the lines of one question about several operations of a batch. each has their questions, further the
// lines about the operations that need no approval.
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
	for i, operation := range each {
		lines := slices.Clone(operation.Lines)
		lines[0].Text = fmt.Sprintf("%d. %s", i+1, lines[0].Text)
		lines = slices.Delete(lines, 1, 2) // who asks
		q.Lines = append(q.Lines, lines...)
		reason = cmp.Or(reason, operation.Unshown)
	}
	var total difference.Change
	for _, l := range q.Lines {
		total.Added += l.Added
		total.Removed += l.Removed
	}
	q.Lines[0].Text += countsOf([]difference.Change{total}, q.Rest)
	if len(further) > 0 {
		if linesCost(q.Lines)+linesCost(further) > maxQuestion { // lines that need no approval must not prevent the question
			further = withoutTexts(further)
		}
		q.Lines = append(q.Lines, Line{Kind: Act, Text: "The batch also does this:"})
		q.Lines = append(q.Lines, further...)
	}
	q.finish(reason)
}

// withoutTexts replaces the lines of notes by their number.
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

// Besides returns lines about files that change without an approval, for display beside a question: with every line
// that changes, or only their number if that is more than can be shown.
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
	maxClicked      = 200 << 10 // bytes of new text above which the user must type words to approve
	maxClickedFiles = 1000      // files above which they must
)

// typed returns the words that the user must type to approve the question, or "".
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

// reason returns in a few words why the call requires approval, for the agent.
func (q *Question) reason() string { return cmp.Or(q.why, q.Does) }

// say adds a line of text of this program.
func (q *Question) say(format string, args ...any) {
	q.Lines = append(q.Lines, words(fmt.Sprintf(format, args...))...)
}

// effectOf describes the effect of a call whose change is unknown, or returns "" if the first line tells it.
func effectOf(call allowlist.Call) string {
	switch e := call.Effect(); {
	case e == tiers.Writes: // the first line tells it
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

// askedBy returns a sentence about who asks. It makes clear that the name of a client is its own claim.
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

// act describes what a call does, in one line.
func (q *Question) act(call allowlist.Call, changes []difference.Change) string {
	inVault := fmt.Sprintf("(vault %s)", quotedIn(cmp.Or(q.Vault, "of the app"), maxInHeading))
	_, permanent := call.Param("permanent")
	_, overwrites := call.Param("overwrite")
	fileCount := len(q.Files) + q.Rest.Files()
	if fileCount == 0 {
		return fmt.Sprintf("%s %s", q.actOnUnknown(), inVault)
	}
	counts := countsOf(changes, q.Rest)
	if fileCount > 1 {
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
		return fmt.Sprintf("%s %s%s", what, inVault, counts)
	}
	f := q.Files[0]
	name := quotedIn(f.Path, maxInHeading)
	switch {
	case f.From != "":
		return fmt.Sprintf("Move %s to %s %s%s", quotedIn(f.From, maxInHeading), name, inVault, counts)
	case f.Before == "":
		return fmt.Sprintf("Create %s %s%s", name, inVault, counts)
	case f.After == "" && permanent:
		return fmt.Sprintf("Delete for good: %s %s%s", name, inVault, counts)
	case f.After == "":
		return fmt.Sprintf("Delete %s %s%s", name, inVault, counts)
	case overwrites:
		return fmt.Sprintf("Overwrite %s %s%s", name, inVault, counts)
	}
	return fmt.Sprintf("Change %s %s%s", name, inVault, counts)
}

// actOnFolder adds the folder that a call names to what, a description of its effect on files. It returns what if the
// call names none.
func (q *Question) actOnFolder(call allowlist.Call, what string) string {
	folder := folderNamed(call)
	if folder == "" {
		return what
	}
	name := quotedIn(folder, maxInHeading)
	verb, known := allowlist.VerbOf(q.Command)
	to, hasName := call.Param("to")
	if !hasName {
		to, hasName = call.Param("name")
	}
	isMoved := known && hasName && strings.HasSuffix(verb.Wants, " the folder") // the command is about the folder itself
	if !isMoved {
		return fmt.Sprintf("%s, of the folder %s", what, name)
	}
	return fmt.Sprintf("%s %s to %s: %s", capital(verb.Wants), name, quotedIn(to, maxInHeading), q.Does)
}

// actOnUnknown describes what a call does whose files are unknown.
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

// folderNamed returns the folder that a call is about, or "".
func folderNamed(call allowlist.Call) string {
	for _, named := range call.NamedPaths() {
		if named.Folder && !named.To {
			return named.Path
		}
	}
	return ""
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// countsOf returns how many lines changes remove and add, such as ": −12 +3 lines", or "" for none.
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

// addValues adds lines with the parameters of a call whose change is unknown. It returns an error if they are too long.
func (q *Question) addValues(call allowlist.Call) error {
	isPathInHeading := len(q.Files) == 0 && q.Path != ""
	if isPathInHeading && quotedIn(q.Path, maxInHeading) != quoted(q.Path) { // there it is shortened
		q.Lines = append(q.Lines, Named("path", q.Path))
	}
	params := call.Params()
	size := 0
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := call.Param(name)
		switch {
		case value == "":
			q.say("%s", name)
		case value == q.Path: // already shown
		case len(value) <= maxShort && !strings.ContainsAny(value, "\r\n"):
			q.Lines = append(q.Lines, Named(name, value))
		default:
			lines, ok := valueLines(value)
			size += len(value)
			if size > maxValue || !ok {
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

// valueLines returns the lines of a whole value. ok is false if the value is too long.
func valueLines(value string) (lines []Line, ok bool) {
	c := difference.Whole(nil, []byte(value), maxQuestion)
	if !c.IsComplete() {
		return nil, false
	}
	for _, l := range c.Lines {
		lines = append(lines, linesOf(l, Quoted)...)
	}
	return lines, true
}

// filesOf returns lines about files with every line that changes, and the number of the rest. reason is why these do not
// show everything that would be written, or "". A file that goes to the trash is identified by its name, size and hash;
// its text is marked as an aside.
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
		text := changeLines(c)
		for j := range text {
			text[j].Aside = isTrashed
		}
		lines = append(lines, text...)
	}
	if n := rest.Files(); n > 0 {
		isHarmless := rest.Changed+rest.Made+rest.Added == 0 && (rest.Deleted == 0 || !permanent)
		if !isHarmless {
			reason = cmp.Or(reason, fmt.Sprintf("it changes %s than can be shown", sanitize.Counted(n, "file")+" more"))
		}
		lines = append(lines, restLine(n, rest.Added, rest.Removed))
	}
	return lines, reason
}

// restLine returns the line that counts the files that are not shown.
func restLine(files, added, removed int) Line {
	return words(fmt.Sprintf("and %s more, with %s added and %d removed", sanitize.Counted(files, "file"), sanitize.Counted(added, "line"), removed))[0]
}

// Changes returns lines about the changes of files, one change for each file, as far as there is room, and counts those
// of the rest.
func Changes(files []PlannedFile, changes []difference.Change, rest Rest) (lines []Line) {
	n := 0
	rows := 0
	for n < len(files) {
		next := 1 + min(1, len(changes[n].Lines))
		if rows+next > scrollable.rows-min(1, len(files)-n-1+rest.Files()) && n > 0 {
			break
		}
		n++
		rows += next
	}
	for i, c := range fit(changes[:n], extent{scrollable.rows - 2*n, scrollable.bytes}) {
		lines = append(lines, files[i].line(c))
		lines = append(lines, changeLines(c)...)
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

// line returns the line that names a file and what happens to it.
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

// changeLines returns lines about the change of one file. Each hunk follows a line with its position, except for a first
// one at the start of the file.
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

// differsAtItsEnd reports whether the missing newline after a removed or added line makes a difference: the other side
// ends with one, or has the same line with one.
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

// fit shortens changes that need no approval to an extent.
func fit(changes []difference.Change, limit extent) []difference.Change {
	return difference.Fit(changes, difference.Extent{
		Rows: limit.rows, Bytes: limit.bytes, Line: maxShownLine, Place: 1,
		Cost: func(l difference.Line) int { return rowsOf(linesOf(l, LineKind(l.Sign))) },
	})
}

// linesOf returns the lines that show a line of a change. The first of them is the start of that line, even if
// its text is left out.
func linesOf(l difference.Line, kind LineKind) (lines []Line) {
	shown := 0
	for _, cut := range l.Cuts {
		lines = append(lines, Line{Kind: kind, Text: l.Text[shown:cut.At], More: len(lines) > 0})
		lines = append(lines, words("… left out: "+sanitize.Counted(cut.Bytes, "byte"))...)
		shown = cut.At
	}
	if len(l.Cuts) == 0 || shown < len(l.Text) {
		lines = append(lines, Line{Kind: kind, Text: l.Text[shown:], More: len(l.Cuts) > 0})
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

// words returns lines of text of this program.
func words(texts ...string) (lines []Line) {
	for _, text := range texts {
		lines = append(lines, Line{Text: text})
	}
	return lines
}

// Row is a row of a question on a screen. Its text begins with a sign for its kind.
type Row struct {
	Kind LineKind
	Text string
}

const (
	// Columns is the width of a terminal that does not report it.
	Columns = 80
	// rowWidth is the number of columns for text in a row of such a terminal.
	rowWidth = Columns - barWidth
	barWidth = 4  // maximum columns of the signs before the text
	minWidth = 16 // minimum columns for text
)

// Rows splits lines into rows that fit a terminal. A terminal would break longer rows, so that text
// that someone else chose could begin a row. A row of a note or value begins with a bar, a
// continued row has an ellipsis after the bar, and every row of a change has its sign.
func Rows(lines []Line, columns int) (rows []Row) {
	for _, l := range lines {
		prefix := ""
		continuation := "  "
		switch l.Kind {
		case Words, Act, File, Place:
		case Quoted:
			prefix = "> "
			continuation = ">…"
		default:
			prefix = "│ " + string(l.Kind)
			continuation = "│…" + string(l.Kind)
		}
		for i, part := range sanitize.Rows(l.words(), max(minWidth, columns-barWidth)) {
			if i > 0 || l.More {
				prefix = continuation
			}
			rows = append(rows, Row{l.Kind, prefix + part})
		}
		if l.NoEnd {
			rows = append(rows, Row{Words, noEnd})
		}
	}
	return rows
}

const noEnd = "(without a newline at its end)"

// words returns the text of a line. For a file, this is what happens to it; for a deleted one also its size and hash.
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

// SignOf returns the sign of a row that [Draw] returned: "-", "+" or "".
func SignOf(row string) string {
	for _, bar := range []string{"│ ", "│…"} {
		rest, isDrawn := strings.CutPrefix(row, bar)
		hasSign := strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+")
		if isDrawn && hasSign {
			return rest[:1]
		}
	}
	return ""
}

func rowsOf(lines []Line) (n int) { return len(Rows(lines, Columns)) }

// linesCost returns about how many bytes lines take when stored.
func linesCost(lines []Line) (cost int) {
	for _, l := range lines {
		cost += lineOverhead + len(l.Text) + len(l.Path) + len(l.Source)
	}
	return cost
}

// Form returns the text of the question for a form of a client that displays at most so many rows and bytes: the whole
// question, or without unchanged lines and the text of files that go to the trash. ok is false if even that is too long.
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
		text = Draw(lines)
		if len(text) <= bytes {
			return text, true
		}
	}
	return "", false
}

// namesInFull reports whether the names of a file are short enough to be whole in the first line of the question.
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

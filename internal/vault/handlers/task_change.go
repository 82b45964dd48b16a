package handlers

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/task"
)

func init() {
	register(
		Command{
			Name:      "task",
			Plan:      markTasks,
			Verify:    meansMarked,
			OnlyReads: func(p call.Values) bool { return !slices.ContainsFunc(taskChanges[:], p.Has) },
		},
		Command{Name: "task:add", Plan: add},
		Command{Name: "task:reschedule", Plan: reschedule},
	)
}

// The parameters of task that change it, of which one is given at most.
var taskChanges = [...]string{"toggle", "done", "todo", "status"}

// newMark returns the mark that a task shall have, ok is false if the request
// asks to see it only.
func newMark(p call.Values, now rune) (mark rune, ok bool, err error) {
	switch given := len(p.Given(taskChanges[:]...)); {
	case given == 0 && p.Has("date"):
		return 0, false, answer.Misuse(
			"date=<date> is the day on which a task is done: give done, toggle or status=<mark> too.",
		)
	case given == 0:
		return now, false, nil
	case given > 1:
		return 0, false, answer.Misuse("Use toggle, done, todo or status=<mark>, not several.")
	case p.Has("toggle"): // as a click does: an open task is done, every other is open
		if now == ' ' {
			return 'x', true, nil
		}
		return ' ', true, nil
	case p.Has("done"):
		return 'x', true, nil
	case p.Has("todo"):
		return ' ', true, nil
	}
	mark, size := utf8.DecodeRuneInString(p["status"])
	if size != len(p["status"]) || mark == utf8.RuneError {
		return 0, false, answer.Misuse("Invalid status: %s. Use one character.", p["status"])
	}
	return mark, true, nil
}

// markTasks shows a task, or changes its mark. What the
// app prints after a change was never recorded: the answer is the task as it is
// then, in the form in which it is shown, so that a caller sees which one it
// was. A task that has the mark already is shown all the same.
func markTasks(v *call.Vault, p call.Values) (change.Proposal, error) {
	one, err := namedTask(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	mark, changes, err := newMark(p, one.Mark)
	if err != nil {
		return change.Proposal{}, err
	}
	if !changes {
		shown := answer.From(v.Disk, showTask(one.Target, one.Task)).About(one.Path)
		return change.Proposal{ReadAnswer: &shown}, nil
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return change.Proposal{}, err
	}
	day := v.Today()
	if p.Has("date") {
		days, err := call.Days(p["date"], day)
		if err != nil {
			return change.Proposal{}, err
		}
		day = days.First
		settings.Managed = true
		settings.Asked = true // who names the day wants to have it written
	}
	contentType, err := task.Mark(one.text, one.Mark, mark, day, settings)
	if err != nil {
		return change.Proposal{}, answer.Failure(
			"Task %q cannot be completed: %v. Its mark alone can be changed once the text is mended.",
			one.name(),
			err,
		)
	}
	edited, err := edit.SetTask(one.note, one.Line, mark)
	if err != nil {
		return change.Proposal{}, explainEditError(markdown.Scan(one.note), err)
	}
	if !contentType.Extra {
		after, err := taskAt(one.Target, edited, one.Line)
		proposal := change.ProposeChange(one.Path, one.note, edited, showTask(one.Target, after))
		proposal.Already = fmt.Sprintf("the task %q has this status already", one.name())
		return proposal, err
	}
	return completed(one, mark, contentType)
}

// completed returns the proposal for a task of which more than the mark changes: its line
// gets the dates of the plugin, and the next task a line of its own. The answer has both.
func completed(one namedOne, mark rune, contentType task.Change) (change.Proposal, error) {
	// A line after the task that is indented more belongs to it.
	_, rest, _ := bytes.Cut(one.note[one.MarkAt.Start:], []byte("\n"))
	below, _, _ := bytes.Cut(rest, []byte("\n"))
	if contentType.Removed && len(bytes.TrimSpace(below)) > 0 && indentOf(string(below)) > indentOf(one.head) {
		return change.Proposal{}, answer.Failure(
			"Task %q cannot be completed: it says that it is to be deleted then, and there are items below it.",
			one.name(),
		)
	}
	var lines []string
	if !contentType.Removed {
		lines = append(lines, one.lineWith(string(mark), contentType.Text))
	}
	if contentType.HasNext {
		at := len(lines)
		if !contentType.Below {
			at = 0
		}
		lines = slices.Insert(lines, at, one.lineWith(contentType.NextMark, contentType.Next))
	}
	edited := one.with(lines...)
	place := one.Line
	next := one.Line
	switch {
	case contentType.HasNext && contentType.Below && !contentType.Removed:
		next++
	case contentType.HasNext:
		place++
	}
	said := "removed\t" + one.Text + "\n"
	if !contentType.Removed {
		after, err := taskAt(one.Target, edited, place)
		if err != nil {
			return change.Proposal{}, err
		}
		said = showTask(one.Target, after)
	}
	if contentType.HasNext {
		after, err := taskAt(one.Target, edited, next)
		if err != nil {
			return change.Proposal{}, err
		}
		said += "next\t" + after.Text + "\nnext-line\t" + strconv.Itoa(next) + "\n"
	}
	proposal := change.ProposeChange(one.Path, one.note, edited, said)
	proposal.AppDoesLess = answer.AppDoesLess.Failure(
		"The app would change the mark of the task %q alone, and not what the Tasks plugin changes with it.",
		one.name(),
	)
	return proposal, nil
}

// meansMarked judges a task whose mark was changed.
func meansMarked(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return change.Verdict{}, err
	}
	was, err := taskAt(t, c.Before.Text.ForProgram(), line)
	if err != nil {
		return change.Verdict{}, err
	}
	mark, _, err := newMark(p, was.Mark)
	if err != nil {
		return change.Verdict{}, err
	}
	wanted, err := edit.SetTask(c.Before.Text.ForProgram(), line, mark)
	if err != nil {
		return change.Verdict{}, nil
	}
	if verdict := change.Ending(wanted, c.Now.Text.ForProgram()); verdict.Done {
		return verdict, nil
	}
	// The line may be elsewhere by now, and a plugin may have added to it when it was marked.
	contentType := lineNumber(wanted, line)
	unmarked := lineNumber(c.Before.Text.ForProgram(), line)
	isMarked := countBeginnings(c.Now.Text.ForProgram(), contentType) == countBeginnings(wanted, contentType)
	isLeft := countBeginnings(c.Now.Text.ForProgram(), unmarked) != countBeginnings(wanted, unmarked)
	if !isMarked || isLeft || contentType == unmarked {
		return change.Verdict{}, nil
	}
	return change.Beyond(wanted, c.Now.Text.ForProgram(), "", ""), nil
}

// lineNumber returns a line of a text, counted from 1, without its break; "" where there is none.
func lineNumber(text []byte, number int) string {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; n == number {
			return strings.TrimRight(string(line), "\r\n")
		}
	}
	return ""
}

// countBeginnings returns how many lines of a text begin so.
func countBeginnings(text []byte, beginning string) (n int) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(beginning)) {
			n++
		}
	}
	return n
}

// namedOne is the task that a request names, in the text of its note.
type namedOne struct {
	call.Target
	markdown.Task
	note []byte
	at   markdown.Span // of its line, without the break
	head string        // of its line up to the box: the indent, quote marks and the mark of the list
	gap  string        // between the box and the text
	text string        // after them
}

// namedTask finds the task that a request names.
func namedTask(v *call.Vault, p call.Values) (namedOne, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return namedOne{}, err
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return namedOne{}, answer.ReadError(t.Typed, err)
	}
	found, err := taskAt(t, text, line)
	if err != nil {
		return namedOne{}, err
	}
	one := namedOne{Target: t, Task: found, note: text}
	start := bytes.LastIndexByte(text[:found.MarkAt.Start], '\n') + 1
	one.head = strings.TrimPrefix(string(text[start:found.MarkAt.Start-len("[")]), "\ufeff")
	rest, _, _ := strings.Cut(string(text[found.MarkAt.End+len("]"):]), "\n")
	rest = strings.TrimSuffix(rest, "\r")
	one.at = markdown.Span{
		Start: found.MarkAt.Start - len("[") - len(one.head),
		End:   found.MarkAt.End + len("]") + len(rest),
	}
	one.text = strings.TrimLeft(rest, " \t")
	one.gap = rest[:len(rest)-len(one.text)]
	return one, nil
}

// name is the place of the task, for messages.
func (n namedOne) name() answer.Verbatim {
	return answer.Verbatim(n.Path.String() + ":" + strconv.Itoa(n.Line))
}

// lineWith returns the line of the task with another mark and text.
func (n namedOne) lineWith(mark, text string) string {
	return n.head + "[" + mark + "]" + n.gap + text
}

// with returns the note with other lines in place of that of the task, or without it.
func (n namedOne) with(lines ...string) []byte {
	before := n.note[:n.at.Start]
	after := n.note[n.at.End:]
	if len(lines) == 0 {
		_, after, _ = bytes.Cut(after, []byte("\n"))
	}
	end := "\n"
	if bytes.HasPrefix(after, []byte("\r\n")) || len(after) == 0 && bytes.HasSuffix(before, []byte("\r\n")) {
		end = "\r\n"
	}
	return slices.Concat(before, []byte(strings.Join(lines, end)), after)
}

// indentOf measures the blanks at the start of a line, after the marks of quotes. A tab
// counts as four.
func indentOf(line string) int {
	rest := strings.TrimLeft(line, "> ")
	width := len(line) - len(rest)
	blanks := len(rest) - len(strings.TrimLeft(rest, "\t"))
	return width + 4*blanks
}

// The dates of a task that a request can give.
var (
	dateNames  = []string{"due", "scheduled", "start"}
	dateFields = map[string]task.Field{"due": task.Due, "scheduled": task.Scheduled, "start": task.Start}
)

// add adds a task at the end of a note, or below a heading.
func add(v *call.Vault, p call.Values) (change.Proposal, error) {
	text := strings.TrimSpace(p["content"])
	for _, mark := range []string{"- ", "* ", "+ ", "[ ] "} { // it may come as a task already
		text = strings.TrimLeft(strings.TrimPrefix(text, mark), " \t")
	}
	if strings.Trim(text, "-*+") == "" || strings.ContainsAny(text, "\r\n") {
		return change.Proposal{}, answer.Misuse("Invalid value for content: a task is one line of text.")
	}
	fields, err := datesOf(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	if p.Has("recurs") {
		if _, err := task.Parse(p["recurs"]); err != nil {
			return change.Proposal{}, answer.Misuse(
				"Invalid value for recurs: %v. Use a rule such as \"every week on Friday\" or \"every 2 months when done\".",
				err,
			)
		}
	}
	if level := p["priority"]; level != task.Normal {
		fields[task.Priority] = level
	}
	fields[task.Recurs] = p["recurs"]
	settings, err := pluginSettings(v)
	if err != nil {
		return change.Proposal{}, err
	}
	line := "- [ ] " + task.New(text, fields, v.Today(), settings)
	if p.Has("create-heading") && !p.Has("heading") {
		return change.Proposal{}, answer.Misuse(
			"create-heading makes the heading that heading=<text> names: give it too.",
		)
	}
	proposal, err := editNamed(v, p, addedTo, func(text []byte) ([]byte, error) {
		switch {
		case p.Has("create-heading"):
			return edit.AppendUnderMade(text, p["heading"], line)
		case p.Has("heading"):
			return edit.AppendUnder(text, p["heading"], line)
		}
		return edit.Append(text, line, edit.OwnLine), nil
	})
	if err != nil {
		return proposal, err
	}
	// The answer has the line of the new task. Where the text is a task no more, as in code, nothing
	// is to be added.
	tasks := markdown.Scan(proposal.Steps[0].After.Text.ForProgram()).Tasks
	for _, t := range slices.Backward(tasks) {
		if t.Text == line {
			proposal.Message += ":" + strconv.Itoa(t.Line)
			return proposal, nil
		}
	}
	return change.Proposal{}, answer.Failure(
		"The task cannot be added to %q: at that place the line would not be a task.",
		answer.Verbatim(proposal.Note.String()),
	)
}

// addedTo begins the answer to a task that was added, with its place after it.
const addedTo = "Task added to: "

// datesOf reads the dates that a request gives. A week or a month is its last day for what is
// due, and its first one otherwise.
func datesOf(v *call.Vault, p call.Values) (map[task.Field]string, error) {
	fields := map[task.Field]string{}
	for _, name := range dateNames {
		if !p.Has(name) {
			continue
		}
		days, err := call.DaysAhead(p[name], v.Today())
		if err != nil {
			return nil, err
		}
		day := days.First
		if name == "due" {
			day = days.Last
		}
		fields[dateFields[name]] = day.Format(time.DateOnly)
	}
	return fields, nil
}

// reschedule changes dates of a task, and nothing else of its note.
func reschedule(v *call.Vault, p call.Values) (change.Proposal, error) {
	fields, err := datesOf(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	if len(fields) == 0 && !p.Has("clear") {
		return change.Proposal{}, answer.Misuse(
			"Missing required parameter: due=<date>, scheduled=<date>, start=<date> or clear=<name>",
		)
	}
	if p.Has("clear") && p.Has(p["clear"]) {
		return change.Proposal{}, answer.Misuse("Use %s=<date> or clear=%s, not both.", p["clear"], p["clear"])
	}
	one, err := namedTask(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return change.Proposal{}, err
	}
	text := one.text
	for field, date := range fields {
		text = task.Set(text, field, date, settings.NewFormat())
	}
	if p.Has("clear") {
		text = task.Remove(text, dateFields[p["clear"]])
	}
	edited := one.with(one.lineWith(string(one.Mark), text))
	after, err := taskAt(one.Target, edited, one.Line)
	if err != nil {
		return change.Proposal{}, err
	}
	proposal := change.ProposeChange(
		one.Path,
		one.note,
		edited,
		"Rescheduled: "+one.Path.String()+":"+strconv.Itoa(one.Line)+"\n"+after.Text,
	)
	proposal.Already = fmt.Sprintf("the task %q has these dates already", one.name())
	return proposal, nil
}

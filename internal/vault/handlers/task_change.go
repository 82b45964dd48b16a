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
			Verify:    verifyMarked,
			OnlyReads: func(p call.Values) bool { return !slices.ContainsFunc(taskChanges[:], p.Has) },
		},
		Command{Name: "task:add", Plan: add},
		Command{Name: "task:reschedule", Plan: reschedule},
	)
}

// taskChanges are the parameters that change the mark of a task. A request may have at most one of them.
var taskChanges = [...]string{"toggle", "done", "todo", "status"}

// newMark returns the requested mark of a task whose present mark is now. ok is false if the request only shows the
// task.
func newMark(p call.Values, current rune) (mark rune, ok bool, err error) {
	switch given := len(p.Given(taskChanges[:]...)); {
	case given == 0 && p.Has("date"):
		return 0, false, answer.Misuse(
			"date=<date> is the day on which a task is done: give done, toggle or status=<mark> too.",
		)
	case given == 0:
		return current, false, nil
	case given > 1:
		return 0, false, answer.Misuse("Use toggle, done, todo or status=<mark>, not several.")
	case p.Has("toggle"): // like a click in the app: an open task becomes done, any other becomes open
		if current == ' ' {
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

// markTasks shows a task, or plans to change its mark. What the app prints after a change is not known; here the
// answer is the changed task in the same form, so that the caller sees which task it was.
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
		reply := answer.From(v.Disk, showTask(one.Target, one.Task)).About(one.Path)
		return change.Proposal{ReadAnswer: &reply}, nil
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
		settings.Asked = true // a caller that gives the date wants it written
	}
	marked, err := task.Mark(one.text, one.Mark, mark, day, settings)
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
	if !marked.Extra {
		after, err := taskAt(one.Target, edited, one.Line)
		proposal := change.ProposeChange(one.Path, one.note, edited, showTask(one.Target, after))
		proposal.Already = fmt.Sprintf("the task %q has this status already", one.name())
		return proposal, err
	}
	return planCompletion(one, mark, marked)
}

// planCompletion returns the proposal for a task of which more than the mark changes: its line gets the dates of the
// Tasks plugin, and the next occurrence of a recurring task a line of its own. The answer shows both.
func planCompletion(original namedTaskLine, mark rune, marked task.Change) (change.Proposal, error) {
	// A following line with deeper indentation belongs to the task.
	_, rest, _ := bytes.Cut(original.note[original.MarkAt.Start:], []byte("\n"))
	below, _, _ := bytes.Cut(rest, []byte("\n"))
	if marked.Removed && len(bytes.TrimSpace(below)) > 0 && indentOf(string(below)) > indentOf(original.head) {
		return change.Proposal{}, answer.Failure(
			"Task %q cannot be completed: it says that it is to be deleted then, and there are items below it.",
			original.name(),
		)
	}
	var lines []string
	if !marked.Removed {
		lines = append(lines, original.lineWith(string(mark), marked.Text))
	}
	if marked.HasNext {
		at := len(lines)
		if !marked.Below {
			at = 0
		}
		lines = slices.Insert(lines, at, original.lineWith(marked.NextMark, marked.Next))
	}
	edited := original.with(lines...)
	place := original.Line
	next := original.Line
	switch {
	case marked.HasNext && marked.Below && !marked.Removed:
		next++
	case marked.HasNext:
		place++
	}
	message := "removed\t" + original.Text + "\n"
	if !marked.Removed {
		after, err := taskAt(original.Target, edited, place)
		if err != nil {
			return change.Proposal{}, err
		}
		message = showTask(original.Target, after)
	}
	if marked.HasNext {
		after, err := taskAt(original.Target, edited, next)
		if err != nil {
			return change.Proposal{}, err
		}
		message += "next\t" + after.Text + "\nnext-line\t" + strconv.Itoa(next) + "\n"
	}
	proposal := change.ProposeChange(original.Path, original.note, edited, message)
	proposal.AppDoesLess = answer.AppDoesLess.Failure(
		"The app would change the mark of the task %q alone, and not what the Tasks plugin changes with it.",
		original.name(),
	)
	return proposal, nil
}

// verifyMarked judges a task whose mark the app changed.
func verifyMarked(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return change.Verdict{}, err
	}
	before, err := taskAt(t, c.Before.Text.ForProgram(), line)
	if err != nil {
		return change.Verdict{}, err
	}
	mark, _, err := newMark(p, before.Mark)
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
	// A plugin may have moved the line, or appended to it.
	marked := lineNumber(wanted, line)
	unmarked := lineNumber(c.Before.Text.ForProgram(), line)
	isMarked := countBeginnings(c.Now.Text.ForProgram(), marked) == countBeginnings(wanted, marked)
	isLeft := countBeginnings(c.Now.Text.ForProgram(), unmarked) != countBeginnings(wanted, unmarked)
	if !isMarked || isLeft || marked == unmarked {
		return change.Verdict{}, nil
	}
	return change.Beyond(wanted, c.Now.Text.ForProgram(), "", ""), nil
}

// lineNumber returns a line of a text by its number, from 1, without its line end; "" if there is none.
func lineNumber(text []byte, number int) string {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; n == number {
			return strings.TrimRight(string(line), "\r\n")
		}
	}
	return ""
}

// countBeginnings returns how many lines of a text start with beginning.
func countBeginnings(text []byte, beginning string) (n int) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(beginning)) {
			n++
		}
	}
	return n
}

// namedTaskLine is the task that a request names, in the text of its note.
type namedTaskLine struct {
	call.Target
	markdown.Task
	note []byte
	at   markdown.Span // its line, without the line end
	head string        // the line before the box: indentation, quote marks and list mark
	gap  string        // the space between the box and the text
	text string        // the text after the gap
}

// namedTask finds the task that a request names.
func namedTask(v *call.Vault, p call.Values) (namedTaskLine, error) {
	t, line, err := taskPlace(v, p)
	if err != nil {
		return namedTaskLine{}, err
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return namedTaskLine{}, answer.ReadError(t.Typed, err)
	}
	scanned, err := taskAt(t, text, line)
	if err != nil {
		return namedTaskLine{}, err
	}
	named := namedTaskLine{Target: t, Task: scanned, note: text}
	start := bytes.LastIndexByte(text[:scanned.MarkAt.Start], '\n') + 1
	named.head = strings.TrimPrefix(string(text[start:scanned.MarkAt.Start-len("[")]), "\ufeff")
	rest, _, _ := strings.Cut(string(text[scanned.MarkAt.End+len("]"):]), "\n")
	rest = strings.TrimSuffix(rest, "\r")
	named.at = markdown.Span{
		Start: scanned.MarkAt.Start - len("[") - len(named.head),
		End:   scanned.MarkAt.End + len("]") + len(rest),
	}
	named.text = strings.TrimLeft(rest, " \t")
	named.gap = rest[:len(rest)-len(named.text)]
	return named, nil
}

// name returns the path and line of the task, for messages.
func (n namedTaskLine) name() answer.Verbatim {
	return answer.Verbatim(n.Path.String() + ":" + strconv.Itoa(n.Line))
}

// lineWith returns the line of the task with another mark and text.
func (n namedTaskLine) lineWith(mark, text string) string {
	return n.head + "[" + mark + "]" + n.gap + text
}

// with returns the note with the line of the task replaced by lines; without lines it is removed.
func (n namedTaskLine) with(lines ...string) []byte {
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

// indentOf returns the width of the indentation of a line, including quote marks. A tab counts as four.
func indentOf(line string) int {
	rest := strings.TrimLeft(line, "> ")
	width := len(line) - len(rest)
	tabs := len(rest) - len(strings.TrimLeft(rest, "\t"))
	return width + 4*tabs
}

// The dates of a task that a request can set.
var (
	dateNames  = []string{"due", "scheduled", "start"}
	dateFields = map[string]task.Field{"due": task.Due, "scheduled": task.Scheduled, "start": task.Start}
)

// add plans to add a task at the end of a note, or below a heading.
func add(v *call.Vault, p call.Values) (change.Proposal, error) {
	text := strings.TrimSpace(p["content"])
	for _, mark := range []string{"- ", "* ", "+ ", "[ ] "} { // content may already be written as a task
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
	// The answer has the line number of the new task. If the line would not be a task there, as in a code block,
	// nothing is changed.
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

// addedTo is the message for an added task, followed by its path and line.
const addedTo = "Task added to: "

// datesOf parses the dates of a request. A week or a month means its last day for due, and its first day otherwise.
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

// reschedule plans to change dates of a task.
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

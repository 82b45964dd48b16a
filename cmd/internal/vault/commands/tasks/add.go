package tasks

import (
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
	"vaultwicket/cmd/internal/vault/task/recurrence"
)

// The dates of a task that a request can give.
var (
	dateNames  = []string{"due", "scheduled", "start"}
	dateFields = map[string]task.Field{"due": task.Due, "scheduled": task.Scheduled, "start": task.Start}
)

// add adds a task at the end of a note, or below a heading.
func add(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	line, err := newLine(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	if p.Has("create-heading") && !p.Has("heading") {
		return command.Proposal{}, answer.Misuse("create-heading makes the heading that heading=<text> names: give it too.")
	}
	proposal, err := notes.EditNamed(v, p, addedTo, func(text []byte) ([]byte, error) {
		switch {
		case p.Has("create-heading"):
			return edit.AppendUnderMade(text, p["heading"], line)
		case p.Has("heading"):
			return edit.AppendUnder(text, p["heading"], line)
		}
		return edit.Append(text, line, false), nil
	})
	if err != nil {
		return proposal, err
	}
	return withPlace(proposal, line)
}

// addedTo begins the answer to a task that was added, with its place behind it.
const addedTo = "Task added to: "

// withPlace returns the proposal with the line of the new task in its answer. Where the text
// is a task no more, as in code, nothing is to be added.
func withPlace(proposal command.Proposal, line string) (command.Proposal, error) {
	tasks := markdown.Scan(proposal.Steps[0].After.Text).Tasks
	for _, t := range slices.Backward(tasks) {
		if t.Text == line {
			proposal.Message += ":" + number(t.Line)
			return proposal, nil
		}
	}
	return command.Proposal{}, answer.Failure("The task cannot be added to %q: at that place the line would not be a task.", answer.Verbatim(proposal.Note.String()))
}

// newLine returns the line of a new task.
func newLine(v *session.Vault, p grammar.Values) (string, error) {
	text := strings.TrimSpace(p["content"])
	for _, mark := range []string{"- ", "* ", "+ ", "[ ] "} { // it may come as a task already
		text = strings.TrimLeft(strings.TrimPrefix(text, mark), " \t")
	}
	if strings.Trim(text, "-*+") == "" || strings.ContainsAny(text, "\r\n") {
		return "", answer.Misuse("Invalid value for content: a task is one line of text.")
	}
	fields, err := datesOf(v, p)
	if err != nil {
		return "", err
	}
	if p.Has("recurs") {
		if _, err := recurrence.Parse(p["recurs"]); err != nil {
			return "", answer.Misuse("Invalid value for recurs: %v. Use a rule such as \"every week on Friday\" or \"every 2 months when done\".", err)
		}
	}
	if level := p["priority"]; level != task.Normal {
		fields[task.Priority] = level
	}
	fields[task.Recurs] = p["recurs"]
	settings, err := pluginSettings(v)
	if err != nil {
		return "", err
	}
	return "- [ ] " + task.New(text, fields, v.Today(), settings), nil
}

// datesOf reads the dates that a request gives. A week or a month is its last day for what is
// due, and its first one otherwise.
func datesOf(v *session.Vault, p grammar.Values) (map[task.Field]string, error) {
	fields := map[task.Field]string{}
	for _, name := range dateNames {
		if !p.Has(name) {
			continue
		}
		days, err := session.DaysAhead(p[name], v.Today())
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
func reschedule(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	fields, err := datesOf(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	if len(fields) == 0 && !p.Has("clear") {
		return command.Proposal{}, answer.Misuse("Missing required parameter: due=<date>, scheduled=<date>, start=<date> or clear=<name>")
	}
	if p.Has("clear") && p.Has(p["clear"]) {
		return command.Proposal{}, answer.Misuse("Use %s=<date> or clear=%s, not both.", p["clear"], p["clear"])
	}
	one, err := namedTask(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return command.Proposal{}, err
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
		return command.Proposal{}, err
	}
	return command.ProposeChange(one.Path, one.note, edited, "Rescheduled: "+one.Path.String()+":"+number(one.Line)+"\n"+after.Text), nil
}

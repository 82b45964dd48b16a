package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/audit"
)

// lineWriter prints lines one by one: a log can be larger than memory.
type lineWriter interface {
	write(audit.Line) error
	end() error
}

// lineTable prints lines as a table.
type lineTable struct {
	screen terminal.Screen
	*terminal.Table
}

func newLineTable(s terminal.Screen) *lineTable {
	return &lineTable{s, s.Table(
		terminal.Column{Title: "no"}, terminal.Column{Title: "when"}, terminal.Column{Title: "decision"},
		terminal.Column{Title: "command", Min: 8}, terminal.Column{Title: "vault", Min: 4}, terminal.Column{Title: "details", Min: 8},
	)}
}

const tableRows = 1000 // aligned with each other

func (t *lineTable) write(l audit.Line) error {
	if t.Len() == tableRows {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	what := whatHappened(l)
	t.Add(terminal.Text(strconv.FormatUint(l.Seq, 10)), terminal.Text(t.screen.Time(l.Time)), terminal.Cell{Text: what, Style: terminal.DecisionStyles[what]},
		terminal.Text(cmp.Or(l.Command, "-")), terminal.Text(cmp.Or(l.Vault, "-")), terminal.Text(auditFacts(l)))
	return nil
}

func (t *lineTable) end() error { return t.Flush() }

// whatHappened returns the decision, or the kind of a line without one.
func whatHappened(l audit.Line) string {
	if l.Decision != "" {
		return clean.Line(l.Decision)
	}
	return clean.Line(l.Kind)
}

// auditFacts are the other values of a line, with their names.
func auditFacts(l audit.Line) string {
	var text []string
	add := func(name, value string) {
		if value != "" {
			text = append(text, name+clean.Line(value))
		}
	}
	add("", l.Code)
	if l.Count > 0 {
		add("", fmt.Sprintf("%d more calls", l.Count))
	}
	if l.Exit != nil && *l.Exit != 0 {
		add("exit=", strconv.Itoa(*l.Exit))
	}
	add("rule=", l.Rule)
	add("by=", l.By)
	add("change=", l.Change)
	add("agent=", l.Agent)
	add("client=", l.Client)
	if l.Repair != nil {
		add("", l.Repair.Why)
	}
	add("session=", l.Session)
	return strings.Join(text, ", ")
}

// lineArray prints lines as an array of JSON.
type lineArray struct {
	out  *bufio.Writer
	some bool
}

func newLineArray(out io.Writer) *lineArray { return &lineArray{out: bufio.NewWriter(out)} }

func (a *lineArray) write(l audit.Line) error {
	text, err := encodeLine(l)
	if err != nil {
		return err
	}
	before := ",\n  "
	if !a.some {
		before = "[\n  "
	}
	a.some = true
	_, err = a.out.WriteString(before + text)
	return err
}

func (a *lineArray) end() error {
	text := "\n]\n"
	if !a.some {
		text = "[]\n"
	}
	if _, err := a.out.WriteString(text); err != nil {
		return err
	}
	return a.out.Flush()
}

// encodeLine writes a line byte for byte as the log does, so that the hash in the next line is
// that of this text.
func encodeLine(l audit.Line) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(l)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// lineSheet prints lines as CSV.
type lineSheet struct {
	*csv.Writer
	begun bool
}

func newLineSheet(out io.Writer) *lineSheet { return &lineSheet{Writer: csv.NewWriter(out)} }

// sheetColumns are the cells of a row. The last ones are names.
var sheetColumns = []string{
	"seq", "time", "exit", "durationMs",
	"kind", "decision", "call", "session", "client", "surface", "vault", "command", "effect",
	"rule", "code", "backend", "note", "before", "after", "change", "params", "agent",
}

func (s *lineSheet) write(l audit.Line) error {
	if err := s.begin(); err != nil {
		return err
	}
	exit := ""
	if l.Exit != nil {
		exit = strconv.Itoa(*l.Exit)
	}
	var params []string
	for _, p := range l.Params {
		params = append(params, p.Name)
	}
	cells := []string{strconv.FormatUint(l.Seq, 10), l.Time.UTC().Format(time.RFC3339Nano), exit, strconv.FormatInt(l.DurationMs, 10)}
	for _, name := range []string{
		l.Kind, l.Decision, l.Call, l.Session, l.Client, l.Surface, l.Vault, l.Command, l.Effect,
		l.Rule, l.Code, l.Backend, l.Note, l.Before, l.After, l.Change, strings.Join(params, " "), l.Agent,
	} {
		cells = append(cells, csvText(name))
	}
	return s.Write(cells)
}

// begin writes the names of the columns above the first row.
func (s *lineSheet) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.Write(sheetColumns)
}

// csvText is a name as a cell that no spreadsheet takes for a formula: clients
// choose their names.
func csvText(name string) string {
	name = clean.Line(name)
	if name != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(name)[0]) {
		return "'" + name
	}
	return name
}

func (s *lineSheet) end() error {
	if err := s.begin(); err != nil {
		return err
	}
	s.Flush()
	return s.Error()
}

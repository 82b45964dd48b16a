package tasks

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/task"
)

// printed returns the text of a list of tasks.
func printed(items []*item, p grammar.Values) string {
	switch {
	case p.Has("format"):
		return tableOf(items, isDetailed(p)).Print(p["format"])
	case isDetailed(p) && !p.Has("verbose"):
		return rows(items, p.Has("group"))
	}
	return lines(items, p.Has("verbose"), p.Has("group"))
}

// columns are the fields of a task in a table, behind those that the app has.
var columns = []struct {
	name string
	text func(*item) string
}{
	{"group", func(i *item) string { return i.group }},
	{"heading", func(i *item) string { return i.heading }},
	{"description", func(i *item) string { return i.line.Description() }},
	{"due", field(task.Due)}, {"scheduled", field(task.Scheduled)}, {"start", field(task.Start)},
	{"created", field(task.Created)}, {"done-on", field(task.Done)}, {"cancelled", field(task.Cancelled)},
	{"priority", field(task.Priority)}, {"recurs", field(task.Recurs)}, {"on-completion", field(task.OnCompletion)},
	{"id", field(task.ID)}, {"depends-on", field(task.DependsOn)},
	{"tags", func(i *item) string { return strings.Join(i.tags, " ") }},
}

func field(f task.Field) func(*item) string {
	return func(i *item) string { return i.line.Get(f) }
}

// tableOf returns tasks as a table. In JSON, what a detailed task does not have is left out.
func tableOf(items []*item, detailed bool) answer.Table {
	table := answer.Table{Columns: []string{"status", "text", "file", "line"}, Sparse: detailed}
	table.Rows = make([][]string, 0, len(items))
	if detailed {
		for _, c := range columns {
			table.Columns = append(table.Columns, c.name)
		}
	}
	for _, i := range items {
		row := []string{string(i.Mark), i.Text, i.file, strconv.Itoa(i.Line)}
		for _, c := range columns[:len(table.Columns)-len(row)] {
			row = append(row, c.text(i))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// rows prints a task a line with the place by which it can be named again, and the groups
// as headings.
func rows(items []*item, grouped bool) string {
	var out strings.Builder
	for n, i := range items {
		if grouped && (n == 0 || i.group != items[n-1].group) {
			out.WriteString("==> " + i.group + " <==\n")
		}
		out.WriteString(i.file + ":" + strconv.Itoa(i.Line) + ": " + i.Text + "\n")
	}
	return out.String()
}

// lines prints the lines alone, or under the name of their file with their numbers. The
// app's own layout of the second form was never recorded.
func lines(items []*item, verbose, grouped bool) string {
	var out strings.Builder
	size, file := 0, ""
	for _, i := range items {
		size += len(i.Text) + len("\n")
	}
	out.Grow(size)
	for n, i := range items {
		if grouped && (n == 0 || i.group != items[n-1].group) {
			out.WriteString("==> " + i.group + " <==\n")
			file = ""
		}
		if verbose && i.file != file {
			file = i.file
			out.WriteString(file + "\n")
		}
		if verbose {
			out.WriteString(strconv.Itoa(i.Line) + ": ")
		}
		out.WriteString(i.Text)
		out.WriteByte('\n')
	}
	return out.String()
}

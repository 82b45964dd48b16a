package tasks

import (
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/task"
)

// printed returns a list of tasks in the form that a request asks for.
func printed(items []*item, p grammar.Values) answer.Reply {
	switch {
	case p.Has("format"):
		return listingOf(items, isDetailed(p)).Reply(p["format"])
	case isDetailed(p) && !p.Has("verbose"):
		return rows(items, p.Has("group"))
	}
	return lines(items, p.Has("verbose"), p.Has("group"))
}

// columns are the fields of a task in a table. The first ones are those of the app, and the
// others are known of detailed tasks only.
var columns = []struct {
	name   string
	append func([]byte, *item) []byte
}{
	{"status", func(b []byte, i *item) []byte { return utf8.AppendRune(b, i.mark) }},
	{"text", func(b []byte, i *item) []byte { return append(b, i.text...) }},
	{"file", func(b []byte, i *item) []byte { return append(b, i.file...) }},
	{"line", func(b []byte, i *item) []byte { return answer.AppendNumber(b, int(i.at)) }},
	{"group", func(b []byte, i *item) []byte { return append(b, i.group...) }},
	{"heading", func(b []byte, i *item) []byte { return append(b, i.heading...) }},
	{"description", func(b []byte, i *item) []byte { return i.line.AppendDescription(b) }},
	{"due", field(task.Due)}, {"scheduled", field(task.Scheduled)}, {"start", field(task.Start)},
	{"created", field(task.Created)}, {"done-on", field(task.Done)}, {"cancelled", field(task.Cancelled)},
	{"priority", field(task.Priority)}, {"recurs", field(task.Recurs)}, {"on-completion", field(task.OnCompletion)},
	{"id", field(task.ID)}, {"depends-on", field(task.DependsOn)},
	{"tags", appendTags},
}

const plainColumns = 4

func field(f task.Field) func([]byte, *item) []byte {
	return func(b []byte, i *item) []byte { return append(b, i.line.Get(f)...) }
}

func appendTags(b []byte, i *item) []byte {
	for n, tag := range i.tags {
		if n > 0 {
			b = append(b, ' ')
		}
		b = append(b, tag...)
	}
	return b
}

// listingOf returns tasks as a table. In JSON, what a detailed task does not have is left
// out.
func listingOf(items []*item, detailed bool) answer.Listing {
	shown := columns[:plainColumns]
	if detailed {
		shown = columns
	}
	listing := answer.Listing{Sparse: detailed, Rows: len(items), Cell: func(b []byte, row, column int) []byte {
		return shown[column].append(b, items[row])
	}}
	for _, c := range shown {
		listing.Columns = append(listing.Columns, c.name)
	}
	return listing
}

// rows lists a task a line with the place by which it can be named again, and the groups
// as headings.
func rows(items []*item, grouped bool) answer.Reply {
	return answer.Rows(len(items), func(b []byte, n int) []byte {
		if grouped && begins(items, n) {
			b = appendGroup(b, items[n])
		}
		return items[n].appendRow(b)
	})
}

func (i *item) appendRow(b []byte) []byte {
	b = append(append(b, i.file...), ':')
	b = append(answer.AppendNumber(b, int(i.at)), ": "...)
	return append(append(b, i.text...), '\n')
}

// begins reports whether the task at a place is the first one of its group.
func begins(items []*item, n int) bool { return n == 0 || items[n].group != items[n-1].group }

func appendGroup(b []byte, i *item) []byte {
	return append(append(append(b, "==> "...), i.group...), " <==\n"...)
}

// lines lists the lines alone, or under the name of their file with their numbers. The
// app's own layout of the second form was never recorded.
func lines(items []*item, verbose, grouped bool) answer.Reply {
	return answer.Rows(len(items), func(b []byte, n int) []byte {
		i, first := items[n], n == 0
		if grouped && begins(items, n) {
			b, first = appendGroup(b, i), true
		}
		if verbose {
			if first || i.file != items[n-1].file {
				b = append(append(b, i.file...), '\n')
			}
			b = append(answer.AppendNumber(b, int(i.at)), ": "...)
		}
		return append(append(b, i.text...), '\n')
	})
}

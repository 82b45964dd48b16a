package tasks

import (
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/task"
)

// item is a task and where it is. The last three are known of a detailed one only.
type item struct {
	markdown.Task
	file    string
	line    task.Line // what its text says
	heading string    // the nearest one above it
	tags    []string
	group   string // in which it is listed
}

// plainItems returns the tasks of files as the app lists them.
func plainItems(files []*index.File) []item { return itemsWith(files, index.Facts.Tasks, nil) }

// detailedItems returns the tasks of files with what their lines say.
func detailedItems(files []*index.File) []item {
	return itemsWith(files, index.Facts.Tasks, func(f index.Facts, items []item) {
		headings, tags := f.Headings(), f.BodyTags()
		for i := range items {
			items[i].detail(headings, tags)
		}
	})
}

// itemsWith collects the tasks of files, and has complete fill in those of each.
func itemsWith(files []*index.File, ask func(index.Facts) []markdown.Task, complete func(index.Facts, []item)) (all []item) {
	each := index.Collect(files, func(f index.Facts) []item {
		tasks := ask(f)
		if len(tasks) == 0 {
			return nil
		}
		items := make([]item, len(tasks))
		for i, t := range tasks {
			items[i].Task = t
		}
		if complete != nil {
			complete(f, items)
		}
		return items
	})
	for i, items := range each {
		for j := range items {
			items[j].file = files[i].Path.String()
		}
		all = append(all, items...)
	}
	return all
}

// detail fills in what is known of a task beside its line.
func (i *item) detail(headings []markdown.Heading, tags []markdown.Tag) {
	_, text := boxed(i.Text)
	i.line = task.Read(text)
	for _, h := range headings {
		if h.Line > i.Line {
			break
		}
		i.heading = h.Text
	}
	at, _ := slices.BinarySearchFunc(tags, i.Line, func(t markdown.Tag, line int) int { return t.Line - line })
	for ; at < len(tags) && tags[at].Line == i.Line; at++ {
		i.tags = append(i.tags, tags[at].Text)
	}
}

// boxed parts the line of a task behind its box: the mark of the list and the box with the
// blanks behind it, and the text.
func boxed(line string) (box, text string) {
	at := strings.IndexByte(line, '[') // no mark of a list has one
	end := at + 1 + strings.IndexByte(line[at+2:], ']') + 2
	end += len(line[end:]) - len(strings.TrimLeft(line[end:], " \t"))
	return line[:end], line[end:]
}

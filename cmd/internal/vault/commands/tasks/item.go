package tasks

import (
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/task"
)

// item is a task and where it is. A vault has very many.
type item struct {
	mark  rune
	at    int32 // its line
	text  string
	file  string
	group string // in which it is listed
	*told        // nil in one that is not detailed
}

// told is what is known of a task beside its line.
type told struct {
	line    task.Line // what its text says
	heading string    // the nearest one above it
	tags    []string
}

// plainItems returns the tasks of files as the app lists them.
func plainItems(files []*index.File) []item {
	return itemsWith(files, func(f index.Facts) []item { return itemsOfTasks(f.Tasks()) })
}

// detailedItems returns the tasks of files with what their lines say.
func detailedItems(files []*index.File) []item {
	return itemsWith(files, func(f index.Facts) []item {
		items := itemsOfTasks(f.Tasks())
		if len(items) == 0 {
			return nil
		}
		headings, tags := f.Headings(), f.BodyTags()
		details := make([]told, len(items))
		for i := range items {
			items[i].told = &details[i]
			items[i].detail(headings, tags)
		}
		return items
	})
}

func itemsOfTasks(tasks []markdown.Task) []item {
	items := make([]item, len(tasks))
	for i, t := range tasks {
		items[i] = item{mark: t.Mark, at: int32(t.Line), text: t.Text}
	}
	return items
}

// itemsWith collects what ask returns for each file, in the order of the files.
func itemsWith(files []*index.File, ask func(index.Facts) []item) []item {
	each, count := index.Collect(files, ask), 0
	for _, items := range each {
		count += len(items)
	}
	all := make([]item, 0, count)
	for i, items := range each {
		for j := range items {
			items[j].file = files[i].Path.String()
		}
		all = append(all, items...)
	}
	pack(all)
	return all
}

// pack puts the texts of tasks into one, in their order: a list of them reads memory from
// its start to its end, which is a fifth faster.
func pack(items []item) {
	size := 0
	for i := range items {
		size += len(items[i].text)
	}
	var all strings.Builder
	all.Grow(size)
	for i := range items {
		all.WriteString(items[i].text)
	}
	rest := all.String()
	for i := range items {
		n := len(items[i].text)
		items[i].text, rest = rest[:n], rest[n:]
	}
}

// detail fills in what is known of a task beside its line.
func (i *item) detail(headings []markdown.Heading, tags []markdown.Tag) {
	line := int(i.at)
	_, text := boxed(i.text)
	i.line = task.Read(text)
	for _, h := range headings {
		if h.Line > line {
			break
		}
		i.heading = h.Text
	}
	at, _ := slices.BinarySearchFunc(tags, line, func(t markdown.Tag, line int) int { return t.Line - line })
	for ; at < len(tags) && tags[at].Line == line; at++ {
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

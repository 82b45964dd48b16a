package commands

import (
	"slices"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/processors"
	"vaultwicket/cmd/internal/vault/task"
)

// taskItem is a task and where it is. A vault has very many.
type taskItem struct {
	mark   rune
	at     int32 // its line
	text   string
	*place // that of all tasks of its file
	*told  // nil in one that is not detailed
}

// place is where tasks are listed.
type place struct{ file, group string }

// told is what is known of a task in addition to its line.
type told struct {
	line    task.Line // what its text says
	due     task.Date // of the line
	rank    int       // of its priority
	heading string    // the nearest one above it
	tags    []string
}

// plainItems returns the tasks of files as the app lists them.
func plainItems(files []*index.File) []taskItem {
	return itemsWith(files, func(f index.Facts) []taskItem { return itemsOfTasks(f.Tasks()) })
}

// detailedItems returns the tasks of files with what their lines say. The lines are read where
// their texts stay: the fields of a task are parts of them.
func detailedItems(files []*index.File) []taskItem {
	all := itemsWith(files, func(f index.Facts) []taskItem {
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
	readLines(all)
	return all
}

// readLines reads what the texts of tasks say, on all processors.
func readLines(items []taskItem) {
	var readers sync.WaitGroup
	for some := range slices.Chunk(items, len(items)/processors.Count()+1) {
		readers.Go(func() {
			for i := range some {
				_, text := boxed(some[i].text)
				line := task.Read(text)
				told := some[i].told
				told.line, told.due, told.rank = line, task.DateOf(line.Get(task.Due)), task.Rank(line.Level())
			}
		})
	}
	readers.Wait()
}

func itemsOfTasks(tasks []markdown.Task) []taskItem {
	items := make([]taskItem, len(tasks))
	for i, t := range tasks {
		items[i] = taskItem{mark: t.Mark, at: int32(t.Line), text: t.Text}
	}
	return items
}

// itemsWith collects what ask returns for each file, in the order of the files.
func itemsWith(files []*index.File, ask func(index.Facts) []taskItem) []taskItem {
	each, count, places := index.Collect(files, ask), 0, 0
	for _, items := range each {
		count += len(items)
		places += min(len(items), 1)
	}
	all, at := make([]taskItem, 0, count), make([]place, 0, places)
	for i, items := range each {
		if len(items) == 0 {
			continue
		}
		at = append(at, place{file: files[i].Path.String()})
		for j := range items {
			items[j].place = &at[len(at)-1]
		}
		all = append(all, items...)
	}
	pack(all)
	return all
}

// pack puts the paths and texts of tasks into one, in their order: a list of them reads memory
// from its start to its end, which is a fifth faster.
func pack(items []taskItem) {
	size := 0
	eachText(items, func(text *string) { size += len(*text) })
	var all strings.Builder
	all.Grow(size)
	eachText(items, func(text *string) { all.WriteString(*text) })
	rest := all.String()
	eachText(items, func(text *string) {
		n := len(*text)
		*text, rest = rest[:n], rest[n:]
	})
}

// eachText calls do with the text of each task, and with the path of its file before that of
// the first one.
func eachText(items []taskItem, do func(text *string)) {
	for i := range items {
		if i == 0 || items[i].place != items[i-1].place {
			do(&items[i].file)
		}
		do(&items[i].text)
	}
}

// detail fills in what is known of a task in addition to its line.
func (i *taskItem) detail(headings []markdown.Heading, tags []markdown.Tag) {
	line := int(i.at)
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

// boxed parts the line of a task after its box: the mark of the list and the box with the
// blanks after it, and the text.
func boxed(line string) (box, text string) {
	at := strings.IndexByte(line, '[') // no mark of a list has one
	end := at + 1 + strings.IndexByte(line[at+2:], ']') + 2
	end += len(line[end:]) - len(strings.TrimLeft(line[end:], " \t"))
	return line[:end], line[end:]
}

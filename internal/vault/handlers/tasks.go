package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
	"github.com/vaultwicket/vaultwicket/internal/vault/task"
)

func init() {
	register(Command{Name: "tasks", OfIndex: true, Run: listTasks})
}

// filters are the parameters that the app does not have. With any of them each row names
// its file and line, and JSON has all fields.
var filters = []string{
	"folder",
	"due",
	"due-before",
	"due-after",
	"overdue",
	"no-due",
	"priority",
	"tag",
	"text",
	"sort",
	"group",
	"details",
}

// listTasks prints the tasks of the vault, or of one note. Whatever is in the box, only a
// blank means open; whether a task is overdue is decided by the statuses of the plugin.
func listTasks(v *call.Vault, p call.Values) (answer.Reply, error) {
	files, err := scope(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	wanted, err := filterOf(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	all := itemsOf(v, p, files)
	found := wanted.of(all)
	if p.Has("total") {
		return answer.Number(len(found)), nil
	}
	if len(found) == 0 {
		// The notice says how many tasks there are that the request leaves out.
		const sentence = "No tasks found."
		where := answer.Place(p["file"] + p["path"] + p["folder"])
		switch {
		case p.Has("daily"):
			where = "today's daily note"
		case p.Has("active"):
			where = "the open note"
		}
		switch {
		case len(all) == 0:
			return answer.Nothing(sentence, "%s has no tasks", where), nil
		case isDetailed(p):
			return answer.Nothing(
				sentence,
				"none of the %s in %s matches all filters",
				answer.Count(len(all), "task"),
				where,
			), nil
		case p.Has("status"):
			return answer.Nothing(
				sentence,
				"no task with the status %q in %s (%s of other status)",
				answer.Verbatim(p["status"]),
				where,
				answer.Count(len(all), "task"),
			), nil
		case p.Has("done"):
			return answer.Nothing(
				sentence,
				"no finished task in %s (%s of another kind)",
				where,
				answer.Count(len(all), "task"),
			), nil
		}
		return answer.Nothing(
			sentence,
			"no open task in %s (%s of another kind)",
			where,
			answer.Count(len(all), "task"),
		), nil
	}
	values := map[string][]string{} // of the property by which the tasks are grouped, by the paths of the files
	if name, ok := strings.CutPrefix(p["group"], byProperty); ok {
		for _, f := range files {
			property, _ := f.Facts().Properties().Lookup(name)
			for _, value := range property.Value.Elements() {
				if text := value.Text(); text != "" {
					values[f.Path.String()] = append(values[f.Path.String()], text)
				}
			}
		}
	}
	return printedTasks(v, arranged(found, p, values), p), nil
}

// isDetailed reports whether a request asks for more than the app knows of tasks.
func isDetailed(p call.Values) bool {
	return slices.ContainsFunc(filters, p.Has)
}

// itemsOf returns the tasks of files, with what the request needs to know of them. Those of
// the whole vault are kept for the next call.
func itemsOf(v *call.Vault, p call.Values, files []*index.File) []taskItem {
	known := &plainTasks
	if isDetailed(p) {
		known = &detailedTasks
	}
	if call.NamesOneFile(p) || p.Has("daily") || p.Has("folder") {
		return known.Compute(files)
	}
	return known.Of(&v.Host.Memo, files)
}

var (
	plainTasks = search.Derived[[]taskItem]{
		Name: "tasks",
		Compute: func(files []*index.File) []taskItem { // as the app lists them
			return itemsWith(files, func(f index.Facts) []taskItem { return itemsOfTasks(f.Tasks()) })
		},
	}
	detailedTasks = search.Derived[[]taskItem]{Name: "tasks in detail", Compute: detailedItems}
)

// scope returns the files that a request is about: those of [call.Vault.ScopedFiles],
// today's note or those of a folder.
func scope(v *call.Vault, p call.Values) ([]*index.File, error) {
	if p.Has("daily") {
		note, err := todaysNote(v)
		if err != nil {
			return nil, err
		}
		x, err := v.Index()
		if err != nil {
			return nil, err
		}
		if place, ok := x.Place(note.Path.String()); ok {
			return x.Files[place : place+1], nil
		}
		return nil, nil
	}
	files, err := v.ScopedFiles(p)
	if err != nil || !p.Has("folder") {
		return files, err
	}
	folder, err := v.FolderOf(strings.Trim(p["folder"], "/"))
	if err != nil {
		return nil, answer.NoSuchFolder(p["folder"], err)
	}
	if err = v.IsThere(folder); disk.IsMissing(err) {
		err = answer.FolderNotFound(p["folder"])
	}
	return slices.DeleteFunc(slices.Clone(files), func(f *index.File) bool { return !f.Path.Below(folder) }), err
}

// printedTasks returns a list of tasks in the form that a request asks for.
func printedTasks(v *call.Vault, items []*taskItem, p call.Values) answer.Reply {
	verbose := p.Has("verbose")
	detailed := isDetailed(p)
	grouped := p.Has("group")
	if p.Has("format") {
		shown := columns
		if !detailed {
			shown = columns[:plainColumns]
		}
		// In JSON, what a detailed task does not have is left out.
		listReply := answer.Listing{Sparse: detailed, Rows: len(items), Cell: func(b []byte, row, column int) []byte {
			return shown[column].append(b, items[row])
		}}
		for _, c := range shown {
			listReply.Columns = append(listReply.Columns, c.name)
		}
		return listReply.Reply(v.Disk, p["format"])
	}
	// A task a line, and the groups as headings: the line alone, under the name of its file with its
	// number, or with the place by which it can be named again. The app's own layout of the second form
	// was never recorded.
	return answer.Rows(v.Disk, len(items), func(b []byte, n int) []byte {
		i := items[n]
		first := n == 0
		if grouped && (first || i.group != items[n-1].group) {
			b = append(append(append(b, "==> "...), i.group...), " <==\n"...)
			first = true
		}
		switch {
		case verbose:
			if first || i.file != items[n-1].file {
				b = append(append(b, i.file...), '\n')
			}
			b = append(answer.AppendNumber(b, int(i.at)), ": "...)
		case detailed:
			return i.appendRow(b)
		}
		return append(append(b, i.text...), '\n')
	})
}

// columns are the fields of a task in a table. The first ones are those of the app, and the
// others are known of detailed tasks only.
var columns = []struct {
	name   string
	append func([]byte, *taskItem) []byte
}{
	{"status", func(b []byte, i *taskItem) []byte { return utf8.AppendRune(b, i.mark) }},
	{"text", func(b []byte, i *taskItem) []byte { return append(b, i.text...) }},
	{"file", func(b []byte, i *taskItem) []byte { return append(b, i.file...) }},
	{"line", func(b []byte, i *taskItem) []byte { return answer.AppendNumber(b, int(i.at)) }},
	{"group", func(b []byte, i *taskItem) []byte { return append(b, i.group...) }},
	{"heading", func(b []byte, i *taskItem) []byte { return append(b, i.heading...) }},
	{"description", func(b []byte, i *taskItem) []byte { return i.line.AppendDescription(b) }},
	{"due", field(task.Due)}, {"scheduled", field(task.Scheduled)}, {"start", field(task.Start)},
	{"created", field(task.Created)}, {"done-on", field(task.Done)}, {"cancelled", field(task.Cancelled)},
	{"priority", field(task.Priority)}, {"recurs", field(task.Recurs)}, {"on-completion", field(task.OnCompletion)},
	{"id", field(task.ID)}, {"depends-on", field(task.DependsOn)},
	{"tags", func(b []byte, i *taskItem) []byte {
		for n, tag := range i.tags {
			if n > 0 {
				b = append(b, ' ')
			}
			b = append(b, tag...)
		}
		return b
	}},
}

const plainColumns = 4

func field(f task.Field) func([]byte, *taskItem) []byte {
	return func(b []byte, i *taskItem) []byte { return append(b, i.line.Get(f)...) }
}

func (i *taskItem) appendRow(b []byte) []byte {
	b = append(append(b, i.file...), ':')
	b = append(answer.AppendNumber(b, int(i.at)), ": "...)
	return append(append(b, i.text...), '\n')
}

// showTask prints what is known of one task. The app's own layout was never
// recorded; this is that of the command file.
func showTask(t call.Target, task markdown.Task) string {
	return fmt.Sprintf("status\t%c\ntext\t%s\nfile\t%s\nline\t%d\n", task.Mark, task.Text, t.Path, task.Line)
}

// taskAt finds the task on a line. Where none is, the nearest ones are named:
// lines go stale between a listing and a change.
func taskAt(t call.Target, text []byte, line int) (markdown.Task, error) {
	where := answer.Verbatim(t.Path.String() + ":" + strconv.Itoa(line))
	if t.Path.Ext() != "md" {
		return markdown.Task{}, answer.NotFoundNearest.Failure(
			"Task %q not found. Only Markdown notes have tasks.",
			where,
		)
	}
	found := markdown.Scan(text)
	for _, task := range found.Tasks {
		if task.Line == line {
			return task, nil
		}
	}
	if len(found.Tasks) == 0 {
		return markdown.Task{}, answer.NotFoundNearest.Failure("Task %q not found. The note has none.", where)
	}
	near := slices.Clone(found.Tasks)
	distance := func(task markdown.Task) int { return max(task.Line-line, line-task.Line) }
	slices.SortStableFunc(near, func(a, b markdown.Task) int { return distance(a) - distance(b) })
	near = near[:min(len(near), maxNearest)]
	slices.SortFunc(near, func(a, b markdown.Task) int { return a.Line - b.Line })
	var lines, refs []string
	for _, task := range near {
		refs = append(refs, t.Path.String()+":"+strconv.Itoa(task.Line))
		lines = append(lines, fmt.Sprintf("line %d %q", task.Line, answer.Verbatim(beginning(task.Text))))
	}
	return markdown.Task{}, answer.NotFoundNearest.DidYouMean(
		refs[:min(len(refs), 3)],
		"Task %q not found. The nearest are %s.",
		where,
		strings.Join(lines, ", "),
	)
}

// maxNearest is how many tasks near a missing one are named: a wrong line is off by little.
const maxNearest = 4

// taskPlace finds out in which file and on which line the task is.
func taskPlace(v *call.Vault, p call.Values) (t call.Target, line int, err error) {
	number := p["line"]
	named := p.Has("file") || p.Has("path")
	isPlaced := named || p.Has("daily") || p.Has("line")
	switch {
	case p.Has("text") && (p.Has("ref") || p.Has("line")):
		return t, 0, answer.Misuse("Use text=<words>, ref=<path:line> or line=<n>, not several.")
	case p.Has("ref") && isPlaced:
		return t, 0, answer.Misuse("ref=<path:line> names the note and the line: leave out file, path, daily and line.")
	case p.Has("daily") && named:
		return t, 0, answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	}

	switch {
	case p.Has("text"):
		// Tasks that are done count if no open one has all words of text=.
		files, err := scope(v, p)
		if err != nil {
			return t, 0, err
		}
		all := itemsOf(v, p, files)
		found := filter{hasWords(p["text"])}.of(all)
		if open := slices.DeleteFunc(slices.Clone(found), func(i *taskItem) bool { return i.mark != ' ' }); len(
			open,
		) > 0 {
			found = open
		}
		switch len(found) {
		case 0:
			return t, 0, answer.NotFoundNearest.Failure(
				"No task with the text %q found.",
				answer.Verbatim(beginning(p["text"])),
			)
		case 1:
			at, err := v.PathOf(found[0].file)
			return call.Target{Path: at, Typed: found[0].file}, int(found[0].at), err
		}
		rows := answer.Map(found[:min(len(found), maxCandidates)], func(i *taskItem) string {
			return fmt.Sprintf("%s:%d %q", i.file, i.at, answer.Verbatim(beginning(i.text)))
		})
		kind := answer.Ambiguous.Advise("name the task with ref=, or give more of its words")
		return t, 0, kind.Failure(
			"Text %q is in %d tasks: %s.",
			answer.Verbatim(beginning(p["text"])),
			len(found),
			strings.Join(rows, ", "),
		)
	case p.Has("ref"):
		colon := strings.LastIndexByte(p["ref"], ':')
		if colon < 0 {
			return t, 0, answer.Misuse("Invalid ref: %s. Use <path>:<line>.", p["ref"])
		}
		number = p["ref"][colon+1:]
		t.Typed = p["ref"][:colon]
		if t.Path, err = v.FindPath(t.Typed); err != nil {
			return t, 0, err
		}
	case p.Has("daily"):
		today, err := todaysNote(v)
		if err != nil {
			return t, 0, err
		}
		t = call.Target{Path: today.Path, Typed: today.Path.String()}
	default:
		if t, err = v.Target(p); err != nil {
			return t, 0, err
		}
	}
	if number == "" {
		return t, 0, answer.Misuse("Missing required parameter: line=<n>")
	}
	if line, err = strconv.Atoi(number); err != nil || line < 1 {
		return t, 0, answer.Misuse("Invalid number: %s", number)
	}
	return t, line, nil
}

// maxCandidates is how many tasks an error names.
const maxCandidates = 10

// openTasks lists the tasks of the vault that are still to be done and pass a test, the earliest
// due first, a row each.
type openTasks struct {
	title  string
	passes func(file string, due task.Date) bool // due is 0 for no due date, or one that does not exist
	rows   []string
	total  int
}

// listOpen goes through the tasks of the vault once for all lists, and fills each with at most limit rows.
func listOpen(v *call.Vault, limit int, lists []openTasks) error {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return err
	}
	first := make([]*filenames.First[key], len(lists))
	for n := range first {
		first[n] = filenames.NewFirst(limit, cmp.Compare[key])
	}
	isOpen := remembered(settings.IsOpen)
	all := detailedTasks.Of(&v.Host.Memo, files)
	for place := range all {
		i := &all[place]
		if !isOpen(i.mark) {
			continue
		}
		due := i.due
		if !due.Exists() {
			due = 0
		}
		for n := range lists {
			if lists[n].passes(i.file, due) {
				first[n].Add(keyByDue(i, place))
				lists[n].total++
			}
		}
	}
	for n := range lists {
		for _, k := range first[n].Sorted() {
			lists[n].rows = append(lists[n].rows, string(all[k.place()].appendRow(nil)))
		}
	}
	return nil
}

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

// detailedItems returns the tasks of files with what their lines say. The lines are read where
// their texts stay: the fields of a task are parts of them.
func detailedItems(files []*index.File) []taskItem {
	all := itemsWith(files, func(f index.Facts) []taskItem {
		items := itemsOfTasks(f.Tasks())
		if len(items) == 0 {
			return nil
		}
		headings := f.Headings()
		tags := f.BodyTags()
		details := make([]told, len(items))
		for n := range items {
			i := &items[n]
			i.told = &details[n]
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
		return items
	})
	var readers conc.WaitGroup
	for some := range slices.Chunk(all, len(all)/budget.Goroutines()+1) {
		readers.Go(func() {
			for i := range some {
				line := some[i].text
				box := strings.IndexByte(line, '[') // no mark of a list has one
				after := box + 1 + strings.IndexByte(line[box+2:], ']') + 2
				told := some[i].told
				read := task.Read(strings.TrimLeft(line[after:], " \t"))
				told.line = read
				told.due = task.DateOf(read.Get(task.Due))
				told.rank = task.Rank(read.Get(task.Priority))
			}
		})
	}
	readers.Wait()
	return all
}

func itemsOfTasks(tasks []markdown.Task) []taskItem {
	return answer.Map(
		tasks,
		func(t markdown.Task) taskItem { return taskItem{mark: t.Mark, at: int32(t.Line), text: t.Text} },
	)
}

// itemsWith collects what ask returns for each file, in the order of the files. The paths and texts
// of all are put into one, in their order: a list of them reads memory from its start to its end,
// which is a fifth faster.
func itemsWith(files []*index.File, ask func(index.Facts) []taskItem) []taskItem {
	each := index.Collect(files, ask)
	count := 0
	places := 0
	for _, items := range each {
		count += len(items)
		places += min(len(items), 1)
	}
	all := make([]taskItem, 0, count)
	at := make([]place, 0, places)
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
	eachText := func(do func(text *string)) { // with the path of a file before its first text
		for i := range all {
			if i == 0 || all[i].place != all[i-1].place {
				do(&all[i].file)
			}
			do(&all[i].text)
		}
	}
	size := 0
	eachText(func(text *string) { size += len(*text) })
	var packed strings.Builder
	packed.Grow(size)
	eachText(func(text *string) { packed.WriteString(*text) })
	rest := packed.String()
	eachText(func(text *string) {
		n := len(*text)
		*text = rest[:n]
		rest = rest[n:]
	})
	return all
}

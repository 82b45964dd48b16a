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

// filters are the parameters that the app does not have. With any of them each row has the path and the line, and JSON
// has all fields.
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

// listTasks lists the tasks of the vault, or of a note. Only a task with a space in its box is open; for overdue, the
// statuses of the Tasks plugin decide which tasks are open.
func listTasks(v *call.Vault, p call.Values) (answer.Reply, error) {
	files, err := scope(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	wanted, err := filterOf(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	items := itemsOf(v, p, files)
	passing := wanted.of(items)
	if p.Has("total") {
		return answer.Number(len(passing)), nil
	}
	if len(passing) == 0 {
		return noTasks(p, len(items)), nil
	}
	values := map[string][]string{} // values of the property to group by, by path
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
	return printTasks(v, arrange(passing, p, values), p), nil
}

// noTasks returns the reply for a listing without tasks. Its notice reports how many tasks the filters exclude.
func noTasks(p call.Values, excluded int) answer.Reply {
	const sentence = "No tasks found."
	where := answer.Place(p["file"] + p["path"] + p["folder"])
	switch {
	case p.Has("daily"):
		where = "today's daily note"
	case p.Has("active"):
		where = "the open note"
	}
	others := answer.Count(excluded, "task")
	switch {
	case excluded == 0:
		return answer.Nothing(sentence, "%s has no tasks", where)
	case isDetailed(p):
		return answer.Nothing(sentence, "none of the %s in %s matches all filters", others, where)
	case p.Has("status"):
		status := answer.Verbatim(p["status"])
		return answer.Nothing(sentence, "no task with the status %q in %s (%s of other status)", status, where, others)
	case p.Has("done"):
		return answer.Nothing(sentence, "no finished task in %s (%s of another kind)", where, others)
	}
	return answer.Nothing(sentence, "no open task in %s (%s of another kind)", where, others)
}

// isDetailed reports whether a request has parameters that the app does not have.
func isDetailed(p call.Values) bool {
	return slices.ContainsFunc(filters, p.Has)
}

// itemsOf returns the tasks of files, with details if the request needs them. The tasks of the whole vault are cached.
func itemsOf(v *call.Vault, p call.Values, files []*index.File) []taskItem {
	cache := &plainTasks
	if isDetailed(p) {
		cache = &detailedTasks
	}
	if call.NamesOneFile(p) || p.Has("daily") || p.Has("folder") {
		return cache.Compute(files)
	}
	return cache.Of(&v.Host.Memo, files)
}

var (
	plainTasks = search.Derived[[]taskItem]{
		Name: "tasks",
		Compute: func(files []*index.File) []taskItem {
			return itemsWith(files, func(f index.Facts) []taskItem { return itemsOfTasks(f.Tasks()) })
		},
	}
	detailedTasks = search.Derived[[]taskItem]{Name: "tasks in detail", Compute: detailedItems}
)

// scope returns the files of a request: today's note, the files of a folder, or those of [call.Vault.ScopedFiles].
func scope(v *call.Vault, p call.Values) ([]*index.File, error) {
	if p.Has("daily") {
		note, err := todaysNote(v)
		if err != nil {
			return nil, err
		}
		idx, err := v.Index()
		if err != nil {
			return nil, err
		}
		if place, ok := idx.Place(note.Path.String()); ok {
			return idx.Files[place : place+1], nil
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
	err = v.IsThere(folder)
	if disk.IsMissing(err) {
		err = answer.FolderNotFound(p["folder"])
	}
	if err != nil {
		return nil, err
	}
	isOutside := func(f *index.File) bool { return !f.Path.Below(folder) }
	return slices.DeleteFunc(slices.Clone(files), isOutside), nil
}

// printTasks returns the reply with a list of tasks in the format of a request.
func printTasks(v *call.Vault, items []*taskItem, p call.Values) answer.Reply {
	verbose := p.Has("verbose")
	detailed := isDetailed(p)
	isGrouped := p.Has("group")
	if p.Has("format") {
		fields := columns
		if !detailed {
			fields = columns[:plainColumns]
		}
		// Empty fields of detailed tasks are left out of JSON.
		listing := answer.Listing{Sparse: detailed, Rows: len(items), Cell: func(b []byte, row, column int) []byte {
			return fields[column].append(b, items[row])
		}}
		for _, c := range fields {
			listing.Columns = append(listing.Columns, c.name)
		}
		return listing.Reply(v.Disk, p["format"])
	}
	// One task per line, and the groups as headings. A line is the text of the task alone; with verbose, its line
	// number and the text, below the path of the file; or with details, the path, the line number and the text. How
	// the app lays out verbose is not known.
	return answer.Rows(v.Disk, len(items), func(b []byte, n int) []byte {
		i := items[n]
		first := n == 0
		if isGrouped && (first || i.group != items[n-1].group) {
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

// columns are the fields of a task in a table. The first plainColumns are those of the app, the others are only known
// for detailed tasks.
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

// showTask returns the text that shows a task. The app's layout is not known; this is the layout of the command file.
func showTask(t call.Target, task markdown.Task) string {
	return fmt.Sprintf("status\t%c\ntext\t%s\nfile\t%s\nline\t%d\n", task.Mark, task.Text, t.Path, task.Line)
}

// taskAt returns the task on a line. If there is none, the error names the nearest tasks: line numbers become outdated
// between a listing and a change.
func taskAt(t call.Target, text []byte, line int) (markdown.Task, error) {
	where := answer.Verbatim(t.Path.String() + ":" + strconv.Itoa(line))
	if t.Path.Ext() != "md" {
		return markdown.Task{}, answer.NotFoundNearest.Failure(
			"Task %q not found. Only Markdown notes have tasks.",
			where,
		)
	}
	note := markdown.Scan(text)
	for _, task := range note.Tasks {
		if task.Line == line {
			return task, nil
		}
	}
	if len(note.Tasks) == 0 {
		return markdown.Task{}, answer.NotFoundNearest.Failure("Task %q not found. The note has none.", where)
	}
	nearest := slices.Clone(note.Tasks)
	distance := func(task markdown.Task) int { return max(task.Line-line, line-task.Line) }
	slices.SortStableFunc(nearest, func(a, b markdown.Task) int { return distance(a) - distance(b) })
	nearest = nearest[:min(len(nearest), maxNearest)]
	slices.SortFunc(nearest, func(a, b markdown.Task) int { return a.Line - b.Line })
	var lines, refs []string
	for _, task := range nearest {
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

// maxNearest is how many tasks near a missing one are named. A wrong line number is usually off by little.
const maxNearest = 4

// taskPlace returns the file and the line of the task that a request means.
func taskPlace(v *call.Vault, p call.Values) (t call.Target, line int, err error) {
	number := p["line"]
	isNamed := p.Has("file") || p.Has("path")
	isPlaced := isNamed || p.Has("daily") || p.Has("line")
	switch {
	case p.Has("text") && (p.Has("ref") || p.Has("line")):
		return t, 0, answer.Misuse("Use text=<words>, ref=<path:line> or line=<n>, not several.")
	case p.Has("ref") && isPlaced:
		return t, 0, answer.Misuse("ref=<path:line> names the note and the line: leave out file, path, daily and line.")
	case p.Has("daily") && isNamed:
		return t, 0, answer.Misuse("Use file=<name>, path=<path> or daily, not several.")
	}

	switch {
	case p.Has("text"):
		return taskWithText(v, p)
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

// taskWithText returns the file and the line of the only task that has all words of text=. Done tasks only count if no
// open task has them.
func taskWithText(v *call.Vault, p call.Values) (call.Target, int, error) {
	files, err := scope(v, p)
	if err != nil {
		return call.Target{}, 0, err
	}
	matches := filter{hasWords(p["text"])}.of(itemsOf(v, p, files))
	isDone := func(i *taskItem) bool { return i.mark != ' ' }
	if open := slices.DeleteFunc(slices.Clone(matches), isDone); len(open) > 0 {
		matches = open
	}
	switch len(matches) {
	case 0:
		return call.Target{}, 0, answer.NotFoundNearest.Failure(
			"No task with the text %q found.",
			answer.Verbatim(beginning(p["text"])),
		)
	case 1:
		at, err := v.PathOf(matches[0].file)
		return call.Target{Path: at, Typed: matches[0].file}, int(matches[0].at), err
	}
	rows := answer.Map(matches[:min(len(matches), maxCandidates)], func(i *taskItem) string {
		return fmt.Sprintf("%s:%d %q", i.file, i.at, answer.Verbatim(beginning(i.text)))
	})
	kind := answer.Ambiguous.Advise("name the task with ref=, or give more of its words")
	return call.Target{}, 0, kind.Failure(
		"Text %q is in %d tasks: %s.",
		answer.Verbatim(beginning(p["text"])),
		len(matches),
		strings.Join(rows, ", "),
	)
}

// maxCandidates is how many tasks an error names.
const maxCandidates = 10

// openTasks is a list of the open tasks of the vault that pass a test, earliest due date first, one row per task.
type openTasks struct {
	title  string
	passes func(file string, due task.Date) bool // due is 0 if there is no due date, or if the date does not exist
	rows   []string
	total  int
}

// listOpen fills all lists in one pass over the tasks of the vault, each with at most limit rows.
func listOpen(v *call.Vault, limit int, lists []openTasks) error {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return err
	}
	settings, err := pluginSettings(v)
	if err != nil {
		return err
	}
	earliest := make([]*filenames.First[key], len(lists))
	for n := range earliest {
		earliest[n] = filenames.NewFirst(limit, cmp.Compare[key])
	}
	isOpen := memoize(settings.IsOpen)
	items := detailedTasks.Of(&v.Host.Memo, files)
	for place := range items {
		i := &items[place]
		if !isOpen(i.mark) {
			continue
		}
		due := i.due
		if !due.Exists() {
			due = 0
		}
		for n := range lists {
			if lists[n].passes(i.file, due) {
				earliest[n].Add(keyByDue(i, place))
				lists[n].total++
			}
		}
	}
	for n := range lists {
		for _, k := range earliest[n].Sorted() {
			lists[n].rows = append(lists[n].rows, string(items[k.place()].appendRow(nil)))
		}
	}
	return nil
}

// taskItem is a task with its location. It is small because a vault has very many.
type taskItem struct {
	mark     rune
	at       int32 // line number
	text     string
	*place   // shared by all tasks of the file
	*details // nil if the task is not detailed
}

// place is the file and the group under which tasks are listed.
type place struct{ file, group string }

// details are the parsed parts of a task.
type details struct {
	line    task.Line // the parsed text
	due     task.Date // the due date of line
	rank    int       // the rank of its priority
	heading string    // the nearest heading above it
	tags    []string
}

// detailedItems returns the tasks of files with their details. The fields of a task are substrings of its text, so
// texts are parsed only after itemsWith has put them into their final place in memory.
func detailedItems(files []*index.File) []taskItem {
	all := itemsWith(files, func(f index.Facts) []taskItem {
		items := itemsOfTasks(f.Tasks())
		if len(items) == 0 {
			return nil
		}
		headings := f.Headings()
		tags := f.BodyTags()
		records := make([]details, len(items))
		for n := range items {
			i := &items[n]
			i.details = &records[n]
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
	for chunk := range slices.Chunk(all, len(all)/budget.Goroutines()+1) {
		readers.Go(func() {
			for i := range chunk {
				line := chunk[i].text
				box := strings.IndexByte(line, '[') // list marks contain no bracket
				after := box + 1 + strings.IndexByte(line[box+2:], ']') + 2
				parts := chunk[i].details
				parsed := task.Read(strings.TrimLeft(line[after:], " \t"))
				parts.line = parsed
				parts.due = task.DateOf(parsed.Get(task.Due))
				parts.rank = task.Rank(parsed.Get(task.Priority))
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

// itemsWith collects the results of ask for each file, in the order of the files. It copies all paths and texts into
// one string in this order, so that listing them reads memory sequentially, which is a fifth faster.
func itemsWith(files []*index.File, ask func(index.Facts) []taskItem) []taskItem {
	perFile := index.Collect(files, ask)
	count := 0
	filesWithTasks := 0
	for _, items := range perFile {
		count += len(items)
		filesWithTasks += min(len(items), 1)
	}
	all := make([]taskItem, 0, count)
	at := make([]place, 0, filesWithTasks)
	for i, items := range perFile {
		if len(items) == 0 {
			continue
		}
		at = append(at, place{file: files[i].Path.String()})
		for j := range items {
			items[j].place = &at[len(at)-1]
		}
		all = append(all, items...)
	}
	eachText := func(do func(text *string)) { // visits the texts, and the path of each file before its first text
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

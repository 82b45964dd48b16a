package handlers

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// The answer of find also depends on settings, such as the names of daily notes, so it is not marked OfIndex.
func init() {
	register(Command{Name: "find", Run: findNotes}, Command{Name: "find:send", Run: sendSections})
}

// sendSections allows find to use the embeddings server on another machine until this process ends. The user approved
// this call, which names the machine, the model and the number of sections.
func sendSections(v *call.Vault, p call.Values) (answer.Reply, error) {
	m := v.Host.Meaning
	if m == nil || !v.Host.Knowledge.Resident {
		return answer.Reply{}, answer.NotConfigured.Failure(
			"No server for vectors is set, or no worker stays that could use it.",
		)
	}
	sections, err := p.Number("sections", 0, 1, math.MaxInt32)
	if err != nil {
		return answer.Reply{}, err
	}
	if err := m.Allow(p["host"], p["model"], sections); err != nil {
		return answer.Reply{}, answer.Misuse("Invalid server: %v.", err)
	}
	return answer.From(v.Disk, "Sections are sent to: "+p["host"]), nil
}

// meaning returns the embeddings of the notes, nil if none are configured. It loads those of earlier processes from a
// file per set of access rules, so that no file contains paths of notes that are hidden from its readers.
func (f *finding) meaning() *ranking.Embeddings {
	if f.Host.Meaning != nil {
		rules := answer.Digest([]byte(f.Host.Env(call.AccessVariable)))
		f.Host.Meaning.Load(cache.NewExtra(ownerfiles.CacheFolder(f.Host.Env, f.Path), f.Path, "."+rules+".vectors"))
	}
	return f.Host.Meaning
}

// finish completes the answer of a call that ranked notes. It adds notices: how many files are not indexed yet, why
// the ranking (by) did not use meaning (without), and how the user can allow sections of notes to be sent to another
// machine. In a worker it also starts to embed changed notes in the background.
func (f *finding) finish(reply answer.Reply, by string, noMeaning error) answer.Reply {
	if files := len(f.idx.Files) + f.idx.Missing; f.missing > 0 {
		reply = reply.Noting(answer.Remark(
			"the words of %d of %s are known so far, the latest first, and the answer is of these alone; ask again in a moment",
			files-f.missing,
			answer.Count(files, "file"),
		))
	}
	m := f.Host.Meaning
	if m == nil {
		return reply
	}
	if noMeaning != nil {
		reply = reply.Noting(answer.Remark("ranked by %s alone, without meaning: %s", by, noMeaning.Error()))
	}
	if !f.Host.Knowledge.Resident {
		return reply
	}
	notes := func() []*index.File { // those that this caller may see and the user does not exclude
		return slices.DeleteFunc(
			slices.Clone(f.idx.Files),
			func(file *index.File) bool { return !file.IsNote() || f.excluded(file.Path.String()) },
		)
	}
	m.Learn(f.idx, func() []ranking.EmbeddedNote {
		return answer.Map(notes(), func(file *index.File) ranking.EmbeddedNote {
			return ranking.EmbeddedNote{Path: file.Path.String(), Stamp: search.StampOf(file)}
		})
	}, f.sectionsToSend)
	if !m.Asks() {
		return reply
	}
	sections := 0
	for _, n := range index.Collect(notes(), func(facts index.Facts) int { return min(1+len(facts.Headings()), ranking.MaxSections) }) {
		sections += n
	}
	host, model := m.Elsewhere()
	return reply.Noting(answer.Remark(
		"to rank by meaning, %s would be sent up to %s of notes: find:send host=%s model=%s sections=%d asks the user",
		host,
		answer.Count(sections, "section"),
		host,
		model,
		sections,
	))
}

const (
	defaultFound    = 10
	maxFound        = 100
	maxContextLines = 10
	// defaultLine and maxLine limit the bytes that are shown of a line of context: by default enough to see
	// what it is about; with context=, as many as of the line with the words.
	defaultLine, maxLine = 80, 240
	maxTokens            = 20_000
	// minTokenBytes is the minimum size of a model's token in ordinary text, in bytes.
	minTokenBytes = 3
	// maxQuestion is the maximum length of a query in bytes: a long paragraph.
	maxQuestion = 4 << 10
	// fileMemory is the memory that a question needs per file of the vault, in bytes.
	fileMemory = 24
)

// finding is a call of find.
type finding struct {
	*call.Vault
	p         call.Values
	idx       *index.Index
	excluded  func(string) bool
	filters   string // the user's settings behind excluded, which identify it in caches
	operators string // the operators of the query, in the query language of search
	question  string
	budget    *budget.Budget

	limit  int // maximum number of results
	around int // lines of context around each result
	width  int // maximum bytes of a line of context
	tokens int // budget for whole sections; 0 for snippets

	missing int // files whose words are not indexed yet
}

// Shares of the time of a call, in fifteenths, after which it stops waiting and answers from what is indexed, see
// [call.Vault.Until]: first for the scan of the vault's files, then for the words of new and changed files. The rest of
// the time is for the answer itself.
const (
	sharesForFiles = 7
	sharesForWords = 10
)

// findNotes prints the notes that match a question, best first.
func findNotes(v *call.Vault, p call.Values) (answer.Reply, error) {
	f := finding{Vault: v, p: p, budget: budget.From(v.Ctx)}
	err := f.readRequest()
	if err != nil {
		return answer.Reply{}, err
	}
	v.Host.Knowledge.Sparse = !v.Host.Knowledge.Resident && !p.Has("tag") && !p.Has("property")
	if !v.Host.Knowledge.Resident {
		var opened conc.WaitGroup
		opened.Go(func() { v.Host.Knowledge.OpenWords(v.View()) })
		defer opened.Wait()
	}
	if f.idx, err = v.IndexInTime(v.Until(sharesForFiles)); err != nil {
		return answer.Reply{}, err
	}
	go f.idx.Place("") // build the table of file names while the words are read
	if f.excluded, f.filters, err = v.Excluded(); err != nil {
		return answer.Reply{}, err
	}
	wanted, err := f.wanted()
	if err != nil {
		return answer.Reply{}, err
	}
	files := int64(len(f.idx.Files))
	if err := f.budget.Hold(fileMemory * files); err != nil {
		return answer.Reply{}, err
	}
	if err := f.budget.Step(files); err != nil {
		return answer.Reply{}, err
	}
	today := v.Today()
	query := ranking.Vault{
		Now:      time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location()),
		Wanted:   wanted,
		Read:     f.read,
		Daily:    f.daily(),
		Modified: f.modified,
	}
	if m := f.meaning(); m != nil {
		query.Near = m.Nearest
	}
	var ranked ranking.Answer
	err = f.words(func(words *ranking.View) (err error) {
		ranked, err = words.Ask(v.Ctx, f.question, query, f.limit)
		return err
	})
	f.budget.Release(fileMemory * files)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := f.text(ranked.Results)
	if err != nil {
		return answer.Reply{}, err
	}
	if err := f.budget.Put(int64(len(text))); err != nil {
		return answer.Reply{}, err
	}
	reply := answer.From(v.Disk, text)
	isComplete := f.missing == 0
	if isComplete || len(ranked.Results) > 0 {
		reply = reply.Noting(triedNotice(ranked))
	}
	if isComplete {
		elsewhere, err := f.elsewhere(ranked)
		if err != nil {
			return answer.Reply{}, err
		}
		reply = reply.Noting(elsewhere)
	}
	return f.finish(reply, "words", ranked.WithoutMeaning), nil
}

// text returns the results in the format of the request.
func (f *finding) text(results []ranking.Result) (string, error) {
	asJSON := f.p["format"] == answer.FormatJSON
	rows := []findRow{}
	if f.tokens > 0 {
		rows = whole(results, f.tokens*minTokenBytes, asJSON)
	} else {
		for _, r := range results {
			row := findRow{Path: r.Path, Heading: r.Heading, Score: r.Score, Why: r.Why}
			row.Snippet, row.Line = r.Snippet(f.around, f.width)
			rows = append(rows, row)
		}
	}
	if asJSON {
		return excerpt.JSON(rows)
	}
	var out strings.Builder
	for _, row := range rows {
		out.WriteString(row.String())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// words calls ask with the index of the words that this caller may see.
func (f *finding) words(ask func(*ranking.View) error) error {
	return f.Host.Knowledge.Words(f.View(), f.idx, search.Question{
		Filters:  f.filters,
		Excluded: f.excluded,
		Until:    f.Until(sharesForWords),
		Use: func(words *ranking.View, missing int) error {
			f.missing = missing + f.idx.Missing
			return ask(words)
		},
	})
}

// readRequest parses the parameters of a request, and splits its query into the words of the question and the
// operators of the query language: -word, tag: and path: and the like, and properties in brackets.
func (f *finding) readRequest() (err error) {
	text := f.p["query"]
	if len(text) > maxQuestion {
		return answer.Misuse(
			"The query has %d bytes. Use at most %d: a few words, or a question.",
			len(text),
			maxQuestion,
		)
	}
	if phrases := strings.Count(text, `"`) / 2; phrases > ranking.MaxPhrases {
		return answer.Misuse("The query has %d phrases in quotes. Use at most %d.", phrases, ranking.MaxPhrases)
	}
	pieces := regexp.MustCompile(`-?(?:[a-z-]+:)?(?:"[^"]*"|\[[^\]]*\])|\S+`)
	operator := regexp.MustCompile(
		`^(?:tag|path|file|content|line|section|block|task|task-todo|task-done|match-case|ignore-case):.`,
	)
	var words, special []string
	for _, piece := range pieces.FindAllString(text, -1) {
		isExclusion := strings.HasPrefix(piece, "-") && len(piece) > 1
		isProperty := strings.HasPrefix(piece, "[")
		if isExclusion || isProperty || operator.MatchString(piece) {
			special = append(special, piece)
		} else {
			words = append(words, piece)
		}
	}
	f.question = strings.Join(words, " ")
	f.operators = strings.Join(special, " ")
	if f.question == "" {
		return answer.MisuseWithHint(
			"The command search lists what operators alone match.",
			"The query has no words that a note could be about.",
		)
	}
	if f.limit, err = f.p.Number("limit", defaultFound, 1, maxFound); err != nil {
		return err
	}
	if f.around, err = f.p.Number("context", 1, 0, maxContextLines); err != nil {
		return err
	}
	if f.width = defaultLine; f.p.Has("context") {
		f.width = maxLine
	}
	f.tokens, err = f.p.Number("budget", 0, 1, maxTokens)
	return err
}

func (f *finding) modified(p string) time.Time {
	if place, ok := f.idx.Place(p); ok {
		return f.changed(f.idx.Files[place])
	}
	return time.Time{}
}

// changed returns when a file was last changed. The index knows this for files that it has read.
func (f *finding) changed(file *index.File) time.Time {
	at := file.Stamp.Modified
	if at == 0 && f.budget.Step(1) == nil {
		if now, err := f.Disk.Stamp(file.Path); err == nil {
			at = now.Modified
		}
	}
	return time.Unix(0, at)
}

// read calls use with the content of a note or a canvas, and charges the budget of the call. A missing file is skipped.
func (f *finding) read(p string, use func(ranking.Content)) error {
	place, ok := f.idx.Place(p)
	if !ok {
		return nil
	}
	file := f.idx.Files[place]
	size := min(max(0, file.Stamp.Size), disk.MaxNote)
	if err := f.budget.Step(1 + size/stepBytes); err != nil {
		return err
	}
	if err := f.budget.Hold(2 * size); err != nil { // once as bytes and once as a string
		return err
	}
	defer f.budget.Release(2 * size)
	text, stamp, err := f.Disk.ReadHere(file.Path)
	if err != nil {
		return f.Ctx.Err() // the file was deleted, or is counted as unread
	}
	if search.KindOf(p) == ranking.Canvas {
		use(ranking.Content{Text: search.CanvasText(text)})
		return nil
	}
	text = text[:min(len(text), ranking.MaxBody)]
	var facts index.Facts
	if file.Settled() && file.Stamp == stamp {
		facts = file.Facts()
	} else {
		facts = index.Read(file.Path, text)
	}
	c := contentOf(text, facts)
	facts.EachLink(func(l *markdown.Link) {
		if l.Path != "" {
			c.Links = append(c.Links, ranking.Link{Text: l.Display, Target: l.Path})
		}
	})
	use(c)
	return nil
}

// contentOf returns the text of a note with its headings, for the ranking.
func contentOf(text []byte, facts index.Facts) ranking.Content {
	c := ranking.Content{Text: string(text), Body: markdown.BodyStart(text)}
	for _, h := range facts.Headings() {
		if h.At < len(text) {
			c.Headings = append(c.Headings, h)
		}
	}
	return c
}

// sectionsToSend returns the sections of a note as the caller may see it now, possibly long after the call.
func (f *finding) sectionsToSend(p string) ([]string, error) {
	now := call.Vault{Ctx: context.Background(), Host: f.Host} // independent of the call, which may have ended
	if err := f.Host.OpenFolder(f.Path, &now); err != nil {
		return nil, err
	}
	at, err := disk.ParsePath(p)
	if err != nil {
		return nil, err
	}
	text, _, err := now.Disk.ReadHere(at)
	if err != nil {
		return nil, err
	}
	text = text[:min(len(text), ranking.MaxBody)]
	return contentOf(text, index.Read(at, text)).Sections(), nil
}

// stepBytes is how many bytes of a text are scanned per step of the budget.
const stepBytes = 64

// wanted returns the filter for the files that match the parameters and the operators of the query, nil if all do.
func (f *finding) wanted() (func(string) bool, error) {
	var filters []fileFilter
	if f.p.Has("folder") {
		under, err := f.FolderThere(f.p["folder"])
		if err != nil {
			return nil, err
		}
		if under != (disk.Path{}) {
			below := under.String() + "/"
			filters = append(filters, func(p string, _ *index.File) bool { return strings.HasPrefix(p, below) })
		}
	}
	if f.p.Has("path-glob") {
		glob, err := parseGlob(f.p["path-glob"])
		if err != nil {
			return nil, err
		}
		filters = append(filters, func(p string, _ *index.File) bool { return glob.MatchString(p) })
	}
	if kind := f.p["type"]; kind != "" {
		filters = append(filters, func(p string, _ *index.File) bool { return search.KindOf(p) == fileKinds[kind] })
	}
	if f.p.Has("since") {
		days, err := call.Days(f.p["since"], f.Today())
		if err != nil {
			return nil, err
		}
		filters = append(filters, func(_ string, file *index.File) bool { return !f.changed(file).Before(days.First) })
	}
	if tag := strings.ToLower(strings.TrimPrefix(f.p["tag"], "#")); tag != "" {
		filters = append(filters, hasTag(tag))
	}
	if name, value, hasValue := strings.Cut(f.p["property"], "="); name != "" {
		filter := hasProperty(strings.TrimSpace(name))
		if hasValue {
			filter = hasPropertyValue(strings.TrimSpace(name), strings.TrimSpace(value))
		}
		filters = append(filters, filter)
	}
	if f.operators != "" {
		matching, err := searchNotes(f.Vault, call.Values{"query": f.operators}, false)
		if err != nil {
			return nil, err
		}
		matches := map[string]bool{}
		for _, h := range matching.hits {
			matches[h.path] = true
		}
		filters = append(filters, func(p string, _ *index.File) bool { return matches[p] })
	}
	if len(filters) == 0 {
		return nil, nil
	}
	passesAll := func(p string) bool {
		place, ok := f.idx.Place(p)
		if !ok {
			return false
		}
		for _, passes := range filters {
			if !passes(p, f.idx.Files[place]) {
				return false
			}
		}
		return true
	}
	return passesAll, nil
}

// fileFilter reports whether a file passes a parameter of find. p is its path.
type fileFilter func(p string, file *index.File) bool

// parseGlob returns the regular expression for a glob pattern of paths, which ignores case.
func parseGlob(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxGlob || !utf8.ValidString(pattern) {
		return nil, answer.Misuse(
			"Invalid pattern %q. Use at most %d bytes of text, such as Work/**/*.md.",
			answer.Verbatim(excerpt.Short(pattern)),
			maxGlob,
		)
	}
	return regexp.MustCompile("(?i)^" + globWildcards.Replace(regexp.QuoteMeta(pattern)) + "$"), nil
}

// hasTag returns the filter for files with a tag, which is in lower case, or with a tag below it.
func hasTag(tag string) fileFilter {
	isWanted := func(t string) bool {
		t = strings.ToLower(strings.TrimPrefix(t, "#"))
		return t == tag || strings.HasPrefix(t, tag+"/")
	}
	return func(_ string, file *index.File) bool { return slices.ContainsFunc(file.Facts().Tags(), isWanted) }
}

// hasProperty returns the filter for files with a property.
func hasProperty(name string) fileFilter {
	return func(_ string, file *index.File) bool {
		_, ok := file.Facts().Properties().Lookup(name)
		return ok
	}
}

// hasPropertyValue returns the filter for files with a property that has a value, or a list that contains it.
func hasPropertyValue(name, value string) fileFilter {
	isWanted := func(v frontmatter.Value) bool { return strings.EqualFold(strings.TrimSpace(v.Text()), value) }
	return func(_ string, file *index.File) bool {
		property, ok := file.Facts().Properties().Lookup(name)
		if !ok {
			return false
		}
		isInList := property.Value.Kind() == frontmatter.List && slices.ContainsFunc(property.Value.List(), isWanted)
		return isInList || isWanted(property.Value)
	}
}

var fileKinds = map[string]ranking.Kind{
	"note":       ranking.Note,
	"canvas":     ranking.Canvas,
	"base":       ranking.Base,
	"attachment": ranking.Attachment,
}

// maxGlob is the maximum length of a glob pattern in bytes.
const maxGlob = 1 << 10

// globWildcards translates the quoted wildcards of a glob to regular expressions: * and ? match within a path
// segment, ** across segments.
var globWildcards = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`)

// daily returns the path of the daily note of the day that the question names, "" if it names none.
func (f *finding) daily() string {
	for _, word := range strings.Fields(f.question) {
		word = strings.Trim(word, `"?!.,;:()`)
		if len(word) < 5 || strings.HasPrefix(word, "-") {
			continue
		}
		days, err := call.Days(word, f.Today())
		if err != nil || days.Last.Sub(days.First) > 36*time.Hour {
			continue
		}
		if note, err := noteOnDay(f.Vault, days.First); err == nil {
			return note.Path.String()
		}
	}
	return ""
}

// findRow is a result of find.
type findRow struct {
	Path    string   `json:"path"`
	Heading string   `json:"heading,omitempty"`
	Line    int      `json:"line,omitempty"`
	Score   float64  `json:"score"`
	Why     []string `json:"why,omitempty"`
	Snippet string   `json:"snippet,omitempty"`
	Text    string   `json:"text,omitempty"`
}

// String returns a line with the path and the line number, and below it the snippet or the text.
func (r findRow) String() string {
	place := r.Path
	if r.Line > 0 {
		place += fmt.Sprintf(":%d", r.Line)
	}
	if r.Text != "" {
		return place + "\n" + r.Text + "\n\n"
	}
	if r.Heading != "" {
		place += "\t# " + r.Heading
	}
	place += fmt.Sprintf("\t%.2f", r.Score)
	if len(r.Why) > 0 {
		place += "\t" + strings.Join(r.Why, ", ")
	}
	for line := range strings.Lines(r.Snippet) {
		place += "\n  " + strings.TrimRight(line, "\r\n")
	}
	return place + "\n"
}

// whole returns rows with the text of whole sections, best first, as many as fit into capacity bytes. The first section
// is shortened if it does not fit.
func whole(results []ranking.Result, capacity int, asJSON bool) []findRow {
	rows := []findRow{}
	for _, r := range results {
		row := findRow{Path: r.Path, Heading: r.Heading, Line: r.Line, Score: r.Score, Text: "…"}
		size := len(row.String())
		if asJSON {
			text, _ := excerpt.JSON([]findRow{row}) // cannot fail for strings and numbers
			size = len(text)
		}
		if row.Text = strings.TrimSpace(r.Section); size+len(row.Text) > capacity {
			if len(rows) > 0 {
				continue
			}
			row.Text = strings.ToValidUTF8(row.Text[:max(0, min(len(row.Text), capacity-size))], "") + "…"
		}
		capacity -= size + len(row.Text)
		rows = append(rows, row)
	}
	return rows
}

// maxTried is how many words a notice mentions.
const maxTried = 8

// triedNotice returns a notice about the words of a query: those that were found only in another spelling, or, if
// there is no result, those that no file contains. Words are lower-case letters and digits.
func triedNotice(a ranking.Answer) answer.Notice {
	var list, missing []string
	for _, t := range a.Tried {
		word := excerpt.Quoted(t.Word)
		files := ": " + answer.Count(t.Files, "file")
		if t.Changed {
			word += fmt.Sprintf(" as %q", t.Found[0])
		}
		switch {
		case len(a.Results) > 0 && t.Changed:
			list = append(list, word)
		case len(a.Results) > 0:
		case len(t.Found) > 0:
			list = append(list, word+files)
		case len(t.Near) > 0:
			list = append(list, "no file contains "+word+"; near words: "+strings.Join(t.Near, ", "))
		default:
			missing = append(missing, word)
		}
	}
	if len(missing) > 0 {
		list = append([]string{"no file contains " + strings.Join(missing[:min(len(missing), maxTried)], " or ")}, list...)
	}
	list = list[:min(len(list), maxTried)]
	switch {
	case len(a.Results) > 0 && len(list) > 0:
		return answer.Remark("found %s", strings.Join(list, ", "))
	case len(a.Results) > 0:
		return answer.Notice{}
	case len(list) == 0:
		return answer.Remark("the query has no words")
	}
	return answer.Remark("no match: %s", strings.Join(list, "; "))
}

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

// An answer depends on more than the index: settings say which note is that of a day.
func init() {
	register(Command{Name: "find", Run: findNotes}, Command{Name: "find:send", Run: sendSections})
}

// sendSections lets find use the server of vectors on another machine until this process ends. The user was asked: the call
// has the machine, the model and the number of sections.
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

// meaning returns what has the vectors of the notes, nil for nothing. It has read those of earlier processes, for each set
// of access rules from another file: none has the paths of notes that are hidden from its callers.
func (f *finding) meaning() *ranking.Embeddings {
	if f.Host.Meaning != nil {
		of := answer.Digest([]byte(f.Host.Env(call.AccessVariable)))
		f.Host.Meaning.Load(cache.NewExtra(ownerfiles.CacheFolder(f.Host.Env, f.Path), f.Path, "."+of+".vectors"))
	}
	return f.Host.Meaning
}

// learned ends a call that ranked by words or by meaning: the answer says how many files it does not know yet. Notes that changed are sent in the background, and the answer says why it
// was made by other things alone, and how another machine can be sent the sections of notes.
func (f *finding) learned(said answer.Reply, by string, without error) answer.Reply {
	if files := len(f.x.Files) + f.x.Missing; f.missing > 0 {
		said = noted(said, fmt.Sprintf(
			"the words of %d of %s are known so far, the latest first, and the answer is of these alone; ask again in a moment",
			files-f.missing,
			answer.Count(files, "file"),
		))
	}
	m := f.Host.Meaning
	if m == nil {
		return said
	}
	if without != nil {
		said = noted(said, "ranked by "+by+" alone, without meaning: "+without.Error())
	}
	if !f.Host.Knowledge.Resident {
		return said
	}
	notes := func() []*index.File { // that this caller may see and that the app does not exclude
		return slices.DeleteFunc(
			slices.Clone(f.x.Files),
			func(file *index.File) bool { return !file.IsNote() || f.excluded(file.Path.String()) },
		)
	}
	m.Learn(f.x, func() []ranking.EmbeddedNote {
		return answer.Map(notes(), func(file *index.File) ranking.EmbeddedNote {
			return ranking.EmbeddedNote{Path: file.Path.String(), Stamp: search.StampOf(file)}
		})
	}, f.sectionsToSend)
	if !m.Asks() {
		return said
	}
	sections := 0
	for _, n := range index.Collect(notes(), func(facts index.Facts) int { return min(1+len(facts.Headings()), ranking.MaxSections) }) {
		sections += n
	}
	host, model := m.Elsewhere()
	return noted(
		said,
		fmt.Sprintf(
			"to rank by meaning, %s would be sent up to %s of notes: find:send host=%s model=%s sections=%d asks the user",
			host,
			answer.Count(sections, "section"),
			host,
			model,
			sections,
		),
	)
}

const (
	fewFound        = 10
	maxFound        = 100
	maxContextLines = 10
	// fewOfContext and maxLine are how many bytes of a line of the context are shown: by default enough to
	// see what it is about, and where lines are asked for, as many as of the line with the words.
	fewOfContext, maxLine = 80, 240
	maxTokens             = 20_000
	// bytesOfToken is how many bytes of ordinary text one token of a model has at least.
	bytesOfToken = 3
	// maxQuestion is the length of a query in bytes: a long paragraph.
	maxQuestion = 4 << 10
	// costOfFile is what a question has in memory for each file of the vault, in bytes.
	costOfFile = 24
)

// finding is one call of find.
type finding struct {
	*call.Vault
	p         call.Values
	x         *index.Index
	excluded  func(string) bool
	filters   string // that exclude
	operators string // of the query, in the language of search
	question  string
	budget    *budget.Budget

	limit, around, width, tokens int // of results; lines around each, bytes of these, and tokens of whole sections or 0

	missing int // files whose words are not known yet
}

// How many fifteenths of its time a question waits for what it is answered from, see [call.Vault.Until]: for the first look
// at the files of a vault, and then for the words of those that were never read, or have changed. It is then answered from
// what there is; the rest of the time is for that.
const (
	sharesForFiles = 7
	sharesForWords = 10
)

// findNotes answers with the notes that a question means, best first.
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
	if f.x, err = v.IndexInTime(v.Until(sharesForFiles)); err != nil {
		return answer.Reply{}, err
	}
	go f.x.Place("") // the names of files are made while the words are read
	if f.excluded, f.filters, err = v.Excluded(); err != nil {
		return answer.Reply{}, err
	}
	wanted, err := f.wanted()
	if err != nil {
		return answer.Reply{}, err
	}
	files := int64(len(f.x.Files))
	if err := f.budget.Hold(costOfFile * files); err != nil {
		return answer.Reply{}, err
	}
	if err := f.budget.Step(files); err != nil {
		return answer.Reply{}, err
	}
	today := v.Today()
	asked := ranking.Vault{
		Now:      time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location()),
		Wanted:   wanted,
		Read:     f.read,
		Daily:    f.daily(),
		Modified: f.modified,
	}
	if m := f.meaning(); m != nil {
		asked.Near = m.Nearest
	}
	var found ranking.Answer
	err = f.words(func(words *ranking.View) (err error) {
		found, err = words.Ask(v.Ctx, f.question, asked, f.limit)
		return err
	})
	f.budget.Release(costOfFile * files)
	if err != nil {
		return answer.Reply{}, err
	}
	asJSON := p["format"] == answer.FormatJSON
	rows := []foundRow{}
	if f.tokens > 0 {
		rows = whole(found.Results, f.tokens*bytesOfToken, asJSON)
	} else {
		for _, r := range found.Results {
			row := foundRow{Path: r.Path, Heading: r.Heading, Score: r.Score, Why: r.Why}
			row.Snippet, row.Line = r.Snippet(f.around, f.width)
			rows = append(rows, row)
		}
	}
	text := ""
	if asJSON {
		if text, err = excerpt.JSON(rows); err != nil {
			return answer.Reply{}, err
		}
	} else {
		for _, row := range rows {
			text += row.String()
		}
		text = strings.TrimRight(text, "\n")
	}
	if err := f.budget.Put(int64(len(text))); err != nil {
		return answer.Reply{}, err
	}
	said := answer.From(v.Disk, text)
	if isComplete := f.missing == 0; isComplete || len(found.Results) > 0 {
		said = noted(said, tried(found))
	}
	if f.missing == 0 {
		elsewhere, err := f.elsewhere(found)
		if err != nil {
			return answer.Reply{}, err
		}
		said = noted(said, elsewhere)
	}
	return f.learned(said, "words", found.WithoutMeaning), nil
}

// words has ask use the index of the words that this caller may see.
func (f *finding) words(ask func(*ranking.View) error) error {
	return f.Host.Knowledge.Words(f.View(), f.x, search.Question{
		Filters:  f.filters,
		Excluded: f.excluded,
		Until:    f.Until(sharesForWords),
		Use: func(words *ranking.View, missing int) error {
			f.missing = missing + f.x.Missing
			return ask(words)
		},
	})
}

// readRequest reads the numbers of a request, and takes what the language of search has beyond words out
// of its query: -word, operators such as tag: and path:, and properties in brackets.
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
	if f.limit, err = f.p.Number("limit", fewFound, 1, maxFound); err != nil {
		return err
	}
	if f.around, err = f.p.Number("context", 1, 0, maxContextLines); err != nil {
		return err
	}
	if f.width = fewOfContext; f.p.Has("context") {
		f.width = maxLine
	}
	f.tokens, err = f.p.Number("budget", 0, 1, maxTokens)
	return err
}

func (f *finding) modified(p string) time.Time {
	if place, there := f.x.Place(p); there {
		return f.changed(f.x.Files[place])
	}
	return time.Time{}
}

// changed returns when a file was changed. The index knows that of files that it has read.
func (f *finding) changed(file *index.File) time.Time {
	at := file.Stamp.Modified
	if at == 0 && f.budget.Step(1) == nil {
		if now, err := f.Disk.Stamp(file.Path); err == nil {
			at = now.Modified
		}
	}
	return time.Unix(0, at)
}

// read has a note or the texts of a canvas used, and charges the call for it.
func (f *finding) read(p string, use func(ranking.Content)) error {
	place, there := f.x.Place(p)
	if !there {
		return nil
	}
	file := f.x.Files[place]
	size := min(max(0, file.Stamp.Size), disk.MaxNote)
	if err := f.budget.Step(1 + size/bytesOfStep); err != nil {
		return err
	}
	if err := f.budget.Hold(2 * size); err != nil { // as bytes and as text
		return err
	}
	defer f.budget.Release(2 * size)
	text, stamp, err := f.Disk.ReadHere(file.Path)
	if err != nil {
		return f.Ctx.Err() // it is gone, or counts as unread
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

// contentOf returns the sections of a note.
func contentOf(text []byte, facts index.Facts) ranking.Content {
	c := ranking.Content{Text: string(text), Body: markdown.BodyStart(text)}
	for _, h := range facts.Headings() {
		if h.At < len(text) {
			c.Headings = append(c.Headings, h)
		}
	}
	return c
}

// sectionsToSend returns the sections of a note as it may be seen now, which may be long after the call.
func (f *finding) sectionsToSend(p string) ([]string, error) {
	now := call.Vault{Ctx: context.Background(), Host: f.Host} // of no call: this one may be over
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

// bytesOfStep is how much of a text is looked through in a step.
const bytesOfStep = 64

// wanted is the part of the vault that the parameters and the operators of the query leave, nil for all of it.
func (f *finding) wanted() (func(string) bool, error) {
	var all []func(p string, file *index.File) bool
	if f.p.Has("folder") {
		under, err := f.FolderThere(f.p["folder"])
		if err != nil {
			return nil, err
		}
		if under != (disk.Path{}) {
			below := under.String() + "/"
			all = append(all, func(p string, _ *index.File) bool { return strings.HasPrefix(p, below) })
		}
	}
	if f.p.Has("path-glob") {
		pattern := f.p["path-glob"]
		if len(pattern) > maxGlob || !utf8.ValidString(pattern) {
			return nil, answer.Misuse(
				"Invalid pattern %q. Use at most %d bytes of text, such as Work/**/*.md.",
				answer.Verbatim(excerpt.Short(pattern)),
				maxGlob,
			)
		}
		glob := regexp.MustCompile("(?i)^" + inGlob.Replace(regexp.QuoteMeta(pattern)) + "$")
		all = append(all, func(p string, _ *index.File) bool { return glob.MatchString(p) })
	}
	if kind := f.p["type"]; kind != "" {
		all = append(all, func(p string, _ *index.File) bool { return search.KindOf(p) == fileKinds[kind] })
	}
	if f.p.Has("since") {
		days, err := call.Days(f.p["since"], f.Today())
		if err != nil {
			return nil, err
		}
		all = append(all, func(_ string, file *index.File) bool { return !f.changed(file).Before(days.First) })
	}
	if tag := strings.ToLower(strings.TrimPrefix(f.p["tag"], "#")); tag != "" {
		all = append(all, func(_ string, file *index.File) bool {
			return slices.ContainsFunc(file.Facts().Tags(), func(t string) bool {
				t = strings.ToLower(strings.TrimPrefix(t, "#"))
				return t == tag || strings.HasPrefix(t, tag+"/")
			})
		})
	}
	if name, value, valued := strings.Cut(f.p["property"], "="); name != "" {
		same := func(v frontmatter.Value) bool {
			return strings.EqualFold(strings.TrimSpace(v.Text()), strings.TrimSpace(value))
		}
		all = append(all, func(_ string, file *index.File) bool {
			property, has := file.Facts().Properties().Lookup(strings.TrimSpace(name))
			if !has {
				return false
			}
			if !valued || same(property.Value) {
				return true
			}
			return property.Value.Kind() == frontmatter.List && slices.ContainsFunc(property.Value.List(), same)
		})
	}
	if f.operators != "" {
		found, err := searchNotes(f.Vault, call.Values{"query": f.operators}, false)
		if err != nil {
			return nil, err
		}
		matches := map[string]bool{}
		for _, h := range found.hits {
			matches[h.path] = true
		}
		all = append(all, func(p string, _ *index.File) bool { return matches[p] })
	}
	if len(all) == 0 {
		return nil, nil
	}
	return func(p string) bool {
		place, there := f.x.Place(p)
		return there &&
			!slices.ContainsFunc(
				all,
				func(wants func(string, *index.File) bool) bool { return !wants(p, f.x.Files[place]) },
			)
	}, nil
}

var fileKinds = map[string]ranking.Kind{
	"note":       ranking.Note,
	"canvas":     ranking.Canvas,
	"base":       ranking.Base,
	"attachment": ranking.Attachment,
}

// maxGlob is the length of a pattern of paths in bytes.
const maxGlob = 1 << 10

// inGlob has the expressions for the signs of a pattern of paths: * and ? within a segment, ** across them.
var inGlob = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`)

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

// foundRow is a result in JSON.
type foundRow struct {
	Path    string   `json:"path"`
	Heading string   `json:"heading,omitempty"`
	Line    int      `json:"line,omitempty"`
	Score   float64  `json:"score"`
	Why     []string `json:"why,omitempty"`
	Snippet string   `json:"snippet,omitempty"`
	Text    string   `json:"text,omitempty"`
}

// String returns a line with the place, and below it the snippet or the text.
func (r foundRow) String() string {
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

// whole returns the best sections whole, as many as fit into a number of bytes; of the first one at least the beginning.
func whole(results []ranking.Result, capacity int, asJSON bool) []foundRow {
	rows := []foundRow{}
	for _, r := range results {
		row := foundRow{Path: r.Path, Heading: r.Heading, Line: r.Line, Score: r.Score, Text: "…"}
		size := len(row.String())
		if asJSON {
			text, _ := excerpt.JSON([]foundRow{row}) // texts and numbers always can be
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

// maxSaid is of how many words a notice tells.
const maxSaid = 8

// tried says which words were found in another spelling only, or where there is no result, what was looked for in vain. Words
// are letters and digits, in lower case.
func tried(a ranking.Answer) string {
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
		list = append([]string{"no file contains " + strings.Join(missing[:min(len(missing), maxSaid)], " or ")}, list...)
	}
	list = list[:min(len(list), maxSaid)]
	switch {
	case len(a.Results) > 0 && len(list) > 0:
		return "found " + strings.Join(list, ", ")
	case len(a.Results) > 0:
		return ""
	case len(list) == 0:
		return "the query has no words"
	}
	return "no match: " + strings.Join(list, "; ")
}

package handlers

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
)

const (
	defaultRows    = 10
	maxRelatedRows = 100
)

// row is a related note.
type row struct {
	Path    string   `json:"path"`
	Score   float64  `json:"score"`
	Reasons []string `json:"reasons"`
}

func related(v *call.Vault, p call.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", defaultRows, 1, maxRelatedRows)
	if err != nil {
		return answer.Reply{}, err
	}
	idx, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	excluded, filters, err := v.Excluded()
	if err != nil {
		return answer.Reply{}, err
	}
	s := &scores{idx: idx, from: place, isNote: make([]bool, len(idx.Files)), evidence: map[int]*evidence{}}
	for i, f := range idx.Files {
		s.isNote[i] = i != place && f.IsNote() && !excluded(f.Path.String())
		if s.isNote[i] {
			s.notes++
		}
	}
	f := &finding{Vault: v, idx: idx, excluded: excluded, filters: filters, budget: budget.From(v.Ctx)}
	s.links()
	s.tags()
	if err := s.words(f); err != nil {
		return answer.Reply{}, err
	}
	var near []ranking.NearNote
	var noMeaning error
	if m := f.meaning(); m != nil {
		near, noMeaning = m.Like(idx.Files[place].Path.String(), func(path string) bool {
			at, ok := idx.Place(path)
			return ok && s.isNote[at]
		}, maxNear)
	}
	rows := s.best(limit, near)
	reply := answer.Text("No related notes found.")
	if p["format"] == answer.FormatJSON {
		text, err := json.Marshal(rows)
		if err != nil {
			return answer.Reply{}, err
		}
		reply = answer.From(v.Disk, string(text))
	} else if len(rows) > 0 {
		table := answer.Table{}
		for _, r := range rows {
			table.Rows = append(table.Rows, []string{r.Path, strings.Join(r.Reasons, "; ")})
		}
		reply = table.Reply(v.Disk, answer.FormatTSV)
	}
	return f.finish(limited(reply, len(rows), len(s.evidence), "note"), "links, tags and words", noMeaning), nil
}

// maxNear is how many notes of similar meaning are considered.
const maxNear = 24

// scores collects the evidence for each file of an index, by its place.
type scores struct {
	idx      *index.Index
	from     int // place of the note whose related notes are wanted
	notes    int // number of notes that can be related
	isNote   []bool
	evidence map[int]*evidence
}

// evidence is why a note is related. Names are collected in the order of listings.
type evidence struct {
	score               float64
	linksTo, linkedFrom bool
	targets, sources    []int // places of files to which both link, and of files that link to both
	tags, words         []string
	near                bool // similar meaning
}

// of returns the evidence for a file, nil if it cannot be related.
func (s *scores) of(place int) *evidence {
	if !s.isNote[place] {
		return nil
	}
	e := s.evidence[place]
	if e == nil {
		e = &evidence{}
		s.evidence[place] = e
	}
	return e
}

// Weights of the kinds of evidence. A link weighs most: a person who saw a relation made it.
const (
	linkWeight = 2.0
	tagWeight  = 0.5
	wordWeight = 0.6
)

// share returns the weight of something that several notes have in common: the more notes, the lower.
func share(common int) float64 { return 1 / math.Log2(2+float64(common)) }

// links adds the evidence of links from the note and to it, of notes that link to the same files, and of notes that are
// linked from the same files.
func (s *scores) links() {
	g := s.idx.Graph()
	for _, out := range g.Out(s.from) {
		if e := s.of(int(out.Place)); e != nil {
			e.linkedFrom = true
			e.score += linkWeight
		}
		s.shared(int(out.Place), g.In(int(out.Place)), func(e *evidence) *[]int { return &e.targets })
	}
	for _, in := range g.In(s.from) {
		if e := s.of(int(in.Place)); e != nil {
			e.linksTo = true
			e.score += linkWeight
		}
		s.shared(int(in.Place), g.Out(int(in.Place)), func(e *evidence) *[]int { return &e.sources })
	}
}

// maxCommon is how many notes may share a link before it is ignored: an index page, or a note that everything links to,
// does not relate notes.
const maxCommon = 500

// shared adds the evidence that others share links with the file at place with.
func (s *scores) shared(with int, others []index.Edge, list func(*evidence) *[]int) {
	if len(others) > maxCommon {
		return
	}
	for _, other := range others {
		if e := s.of(int(other.Place)); e != nil && int(other.Place) != with {
			*list(e) = append(*list(e), with)
			e.score += share(len(others))
		}
	}
}

// tags adds the evidence of common tags.
func (s *scores) tags() {
	own := tagSet(s.idx.Files[s.from])
	if len(own) == 0 {
		return
	}
	with := map[string][]int{}
	for i, f := range s.idx.Files {
		if !s.isNote[i] {
			continue
		}
		for tag := range tagSet(f) {
			if own[tag] {
				with[tag] = append(with[tag], i)
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(with)) { // sorted, because floating-point sums depend on the order
		places := with[tag]
		weight := tagWeight * math.Log2(1+float64(s.notes)/float64(len(places)))
		for _, place := range places {
			e := s.of(place)
			e.tags = append(e.tags, tag)
			e.score += weight
		}
	}
}

// tagSet returns the tags of a file in lower case.
func tagSet(f *index.File) map[string]bool {
	set := map[string]bool{}
	for _, tag := range f.Facts().Tags() {
		set[strings.ToLower(tag)] = true
	}
	return set
}

// best returns the rows with the highest scores, best first, and equal ones in the order of listings. If there are
// notes of similar meaning, the scores are credits for the ranks in both lists.
func (s *scores) best(limit int, near []ranking.NearNote) []row {
	sort := func() []int {
		return slices.SortedFunc(maps.Keys(s.evidence), func(a, b int) int {
			return cmp.Or(cmp.Compare(s.evidence[b].score, s.evidence[a].score), a-b)
		})
	}
	for _, e := range s.evidence {
		e.score = math.Round(e.score*100) / 100
	}
	places := sort()
	if len(near) > 0 {
		for i, place := range places {
			s.evidence[place].score = ranking.CreditOfRank(i)
		}
		for i, n := range near {
			place, _ := s.idx.Place(n.Path)
			e := s.of(place)
			e.near = true
			e.score += ranking.CreditOfRank(i)
		}
		places = sort()
	}
	rows := []row{}
	for _, place := range places[:min(limit, len(places))] {
		e := s.evidence[place]
		var reasons []string
		for _, r := range []struct {
			holds bool
			text  string
		}{
			{e.linksTo, "links here"}, {e.linkedFrom, "linked from here"},
			{len(e.targets) > 0, "both link to " + s.names(e.targets)}, {len(e.sources) > 0, "both linked in " + s.names(e.sources)},
			{len(e.tags) > 0, "tags " + listNames(e.tags)}, {len(e.words) > 0, "words " + listNames(e.words)},
			{e.near, "similar meaning"},
		} {
			if r.holds {
				reasons = append(reasons, r.text)
			}
		}
		rows = append(
			rows,
			row{Path: s.idx.Files[place].Path.String(), Score: math.Round(e.score*100) / 100, Reasons: reasons},
		)
	}
	return rows
}

// maxNames is how many names a reason lists.
const maxNames = 4

// names returns the names of files without folders and without the extension of notes.
func (s *scores) names(places []int) string {
	slices.Sort(places)
	var names []string
	for _, place := range places {
		path := s.idx.Files[place].Path
		name := path.Stem()
		if path.Ext() != "md" {
			name += "." + path.Ext()
		}
		names = append(names, name)
	}
	return listNames(names)
}

func listNames(names []string) string {
	return answer.AndMore(strings.Join(names[:min(len(names), maxNames)], ", "), len(names)-maxNames)
}

// Limits of the words that are compared.
const (
	maxShared = 12   // common words that count for a note, the rarest first
	rareShare = 0.02 // maximum share of notes that contain a rare word
	leastRare = 5    // words in up to this many notes are rare, even in a small vault
)

// words adds the evidence of common rare words.
func (s *scores) words(f *finding) error {
	file := s.idx.Files[s.from]
	text, _, err := f.Disk.ReadHere(file.Path)
	if err != nil || !file.IsNote() {
		return nil // no words to compare
	}
	scan := markdown.Scan(text) // exclude properties and links, which count separately
	var body strings.Builder
	at := scan.Body
	for _, link := range scan.Links {
		if link.Span.Start >= at {
			body.WriteString(string(text[at:link.Span.Start]) + " ")
			at = link.Span.End
		}
	}
	body.Write(text[at:])
	type word struct {
		text  string
		notes int
	}
	var uses map[int][]word
	rare := max(leastRare, int(rareShare*float64(s.notes)))
	err = f.words(func(view *ranking.View) error {
		uses = map[int][]word{}
		return view.EachShared(body.String(), file.Path.String(), func(text string, notes []string) error {
			steps := int64(1 + len(notes)/stepBytes)
			if len(notes) > rare {
				notes = nil
			}
			for _, path := range notes {
				if place, known := s.idx.Place(path); known {
					uses[place] = append(uses[place], word{text, len(notes)})
				}
			}
			return f.budget.Step(steps)
		})
	})
	if err != nil {
		return err
	}
	for place, words := range uses {
		e := s.of(place)
		if e == nil {
			continue
		}
		slices.SortFunc(words, func(a, b word) int { return cmp.Or(a.notes-b.notes, cmp.Compare(a.text, b.text)) })
		for _, w := range words[:min(len(words), maxShared)] {
			e.words = append(e.words, w.text)
			e.score += wordWeight * math.Log2(
				1+float64(s.notes)/float64(w.notes),
			) / math.Log2(
				2+float64(s.notes),
			) * share(
				len(e.words),
			)
		}
	}
	return nil
}

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

// row is one related note.
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
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	excluded, filters, err := v.Excluded()
	if err != nil {
		return answer.Reply{}, err
	}
	s := &scores{x: x, from: place, isNote: make([]bool, len(x.Files)), evidence: map[int]*evidence{}}
	for i, f := range x.Files {
		s.isNote[i] = i != place && f.IsNote() && !excluded(f.Path.String())
		if s.isNote[i] {
			s.notes++
		}
	}
	f := &finding{Vault: v, x: x, excluded: excluded, filters: filters, budget: budget.From(v.Ctx)}
	s.links()
	s.tags()
	if err := s.words(f); err != nil {
		return answer.Reply{}, err
	}
	var near []ranking.NearNote
	var without error
	if m := f.meaning(); m != nil {
		near, without = m.Like(x.Files[place].Path.String(), func(path string) bool {
			at, known := x.Place(path)
			return known && s.isNote[at]
		}, maxNear)
	}
	rows := s.best(limit, near)
	said := answer.Text("No related notes found.")
	if p["format"] == answer.FormatJSON {
		text, err := json.Marshal(rows)
		if err != nil {
			return answer.Reply{}, err
		}
		said = answer.From(v.Disk, string(text))
	} else if len(rows) > 0 {
		table := answer.Table{}
		for _, r := range rows {
			table.Rows = append(table.Rows, []string{r.Path, strings.Join(r.Reasons, "; ")})
		}
		said = table.Reply(v.Disk, answer.FormatTSV)
	}
	return f.finish(limited(said, len(rows), len(s.evidence), "note"), "links, tags and words", without), nil
}

// maxNear is how many notes are related by their meaning.
const maxNear = 24

// scores are what speaks for each file of an index, by its place.
type scores struct {
	x        *index.Index
	from     int
	notes    int // that can be related
	isNote   []bool
	evidence map[int]*evidence
}

// evidence is what speaks for one note. Names are collected in the order of listings.
type evidence struct {
	score               float64
	linksTo, linkedFrom bool
	targets, sources    []int // to which both link, and which link to both
	tags, words         []string
	near                bool // in meaning
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

// What the kinds of evidence weigh. A link was made by a person who saw a relation; one
// that many notes share says little.
const (
	linkWeight = 2.0
	tagWeight  = 0.5
	wordWeight = 0.6
)

// share is the weight of something that several notes have in common.
func share(common int) float64 { return 1 / math.Log2(2+float64(common)) }

// links looks at the links of the note, the links to it, what else links to the same
// notes, and what else is linked from where it is.
func (s *scores) links() {
	g := s.x.Graph()
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

// maxCommon is how many notes may share a link for it to be a reason: an index page, or a
// note that everything links to, relates nothing.
const maxCommon = 500

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

// tags looks at the notes with the same tags.
func (s *scores) tags() {
	own := tagSet(s.x.Files[s.from])
	if len(own) == 0 {
		return
	}
	with := map[string][]int{}
	for i, f := range s.x.Files {
		if !s.isNote[i] {
			continue
		}
		for tag := range tagSet(f) {
			if own[tag] {
				with[tag] = append(with[tag], i)
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(with)) { // in one order, for sums of fractions depend on it
		places := with[tag]
		weight := tagWeight * math.Log2(1+float64(s.notes)/float64(len(places)))
		for _, place := range places {
			e := s.of(place)
			e.tags = append(e.tags, tag)
			e.score += weight
		}
	}
}

// tagSet are the tags of a file in lower case.
func tagSet(f *index.File) map[string]bool {
	set := map[string]bool{}
	for _, tag := range f.Facts().Tags() {
		set[strings.ToLower(tag)] = true
	}
	return set
}

// best returns the rows with the highest scores; of equal ones those first that are
// first in listings. Scores are shares of the best place where notes are near in meaning, best first.
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
			place, _ := s.x.Place(n.Path)
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
			{len(e.tags) > 0, "tags " + listed(e.tags)}, {len(e.words) > 0, "words " + listed(e.words)},
			{e.near, "similar meaning"},
		} {
			if r.holds {
				reasons = append(reasons, r.text)
			}
		}
		rows = append(
			rows,
			row{Path: s.x.Files[place].Path.String(), Score: math.Round(e.score*100) / 100, Reasons: reasons},
		)
	}
	return rows
}

// maxNames is how many names a reason lists.
const maxNames = 4

// names are the names of files without their folders and the extension of notes.
func (s *scores) names(places []int) string {
	slices.Sort(places)
	var names []string
	for _, place := range places {
		path := s.x.Files[place].Path
		name := path.Stem()
		if path.Ext() != "md" {
			name += "." + path.Ext()
		}
		names = append(names, name)
	}
	return listed(names)
}

func listed(names []string) string {
	return answer.AndMore(strings.Join(names[:min(len(names), maxNames)], ", "), len(names)-maxNames)
}

// Limits of the words that are compared.
const (
	maxShared = 12   // words that count for one note, the rarest
	rareShare = 0.02 // of all notes: what more of them contain says nothing
	leastRare = 5    // notes, in a small vault
)

// words looks for the words of the note that few notes contain, and for the notes with the same.
func (s *scores) words(f *finding) error {
	file := s.x.Files[s.from]
	text, _, err := f.Disk.ReadHere(file.Path)
	if err != nil || !file.IsNote() {
		return nil // it has no words to compare
	}
	scan := markdown.Scan(text) // properties and links count by themselves
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
				if place, known := s.x.Place(path); known {
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

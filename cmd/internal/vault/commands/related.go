package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/knowledge/index"
)

func init() {
	register(command.Command{Name: "related", Run: related})
}

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

func related(v *command.Vault, p command.Values) (command.Reply, error) {
	limit, err := p.Number("limit", defaultRows, 1, maxRelatedRows)
	if err != nil {
		return command.Reply{}, err
	}
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return command.Reply{}, err
	}
	excluded, err := v.Excluded()
	if err != nil {
		return command.Reply{}, err
	}
	s := newScores(x, place, excluded)
	s.links()
	s.tags()
	if err := s.words(v, excluded); err != nil {
		return command.Reply{}, err
	}
	rows := s.best(limit)
	if p["format"] == command.FormatJSON {
		text, err := json.Marshal(rows)
		return limited(command.Text(string(text)), len(rows), len(s.evidence), "note"), err
	}
	if len(rows) == 0 {
		return command.Text("No related notes found."), nil
	}
	table := command.Table{}
	for _, r := range rows {
		table.Rows = append(table.Rows, []string{r.Path, strings.Join(r.Reasons, "; ")})
	}
	return limited(table.Reply(command.FormatTSV), len(rows), len(s.evidence), "note"), nil
}

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
}

func newScores(x *index.Index, from int, excluded func(string) bool) *scores {
	s := &scores{x: x, from: from, isNote: make([]bool, len(x.Files)), evidence: map[int]*evidence{}}
	for i, f := range x.Files {
		s.isNote[i] = i != from && f.IsNote() && !excluded(f.Path.String())
		if s.isNote[i] {
			s.notes++
		}
	}
	return s
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
// first in listings.
func (s *scores) best(limit int) []row {
	var places []int
	for place, e := range s.evidence {
		e.score = math.Round(e.score*100) / 100
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b int) int {
		if one, other := s.evidence[a].score, s.evidence[b].score; one != other {
			return int(math.Copysign(1, other-one))
		}
		return a - b
	})
	rows := []row{}
	for _, place := range places[:min(limit, len(places))] {
		e := s.evidence[place]
		rows = append(rows, row{Path: s.x.Files[place].Path.String(), Score: e.score, Reasons: s.reasons(e)})
	}
	return rows
}

// maxNames is how many names a reason lists.
const maxNames = 4

func (s *scores) reasons(e *evidence) (reasons []string) {
	if e.linksTo {
		reasons = append(reasons, "links here")
	}
	if e.linkedFrom {
		reasons = append(reasons, "linked from here")
	}
	if len(e.targets) > 0 {
		reasons = append(reasons, "both link to "+s.names(e.targets))
	}
	if len(e.sources) > 0 {
		reasons = append(reasons, "both linked in "+s.names(e.sources))
	}
	if len(e.tags) > 0 {
		reasons = append(reasons, "tags "+listed(e.tags))
	}
	if len(e.words) > 0 {
		reasons = append(reasons, "words "+listed(e.words))
	}
	return reasons
}

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
	text := strings.Join(names[:min(len(names), maxNames)], ", ")
	if left := len(names) - maxNames; left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

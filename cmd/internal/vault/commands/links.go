package commands

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/find"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/meaning"
	"vaultwicket/cmd/internal/vault/order"
)

func init() {
	register(
		command.Command{Name: "backlinks", Run: backlinks},
		command.Command{Name: "links", Run: links},
		command.Command{Name: "unresolved", OfIndex: true, Run: unresolved},
		command.Command{Name: "orphans", OfIndex: true, Run: orphans},
		command.Command{Name: "deadends", OfIndex: true, Run: deadends},
		command.Command{Name: "related", Run: related},
	)
}

// backlinks counts a link of a note to itself, and links in properties and
// canvases, like the app.
func backlinks(v *command.Vault, p command.Values) (command.Reply, error) {
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return command.Reply{}, err
	}
	table := command.Table{Columns: []string{"file", "count"}}
	for _, source := range x.Graph().In(place) {
		table.Add(p.Has("counts"), x.Files[source.Place].Path.String(), strconv.Itoa(int(source.Count)))
	}
	none := command.Nothing("No backlinks found.", "no file links to %s", command.Place(x.Files[place].Path.String()))
	return tabled(p, table, p["format"], none), nil
}

// links has one line for each target, in the order of listings; those that are
// not there are marked. Only notes have links here: the app says so of canvases
// too, although their links count elsewhere.
func links(v *command.Vault, p command.Values) (command.Reply, error) {
	if p.Has("depth") || p.Has("direction") || p.Has("limit") {
		// The files that can be reached from a file along its links, the links to it, or both, in up to a
		// number of steps: the nearest first, in the order of listings, each once. Each row has the steps
		// and the file before it on the way.
		depth, err := p.Number("depth", 1, 1, maxDepth)
		if err != nil {
			return command.Reply{}, err
		}
		limit, err := p.Number("limit", defaultLinks, 1, maxLinks)
		if err != nil {
			return command.Reply{}, err
		}
		x, place, err := v.IndexedTarget(p)
		if err != nil {
			return command.Reply{}, err
		}
		found := around(x.Graph(), place, depth, p["direction"])
		switch {
		case p.Has("total"):
			return command.Text(strconv.Itoa(len(found))), nil
		case len(found) == 0:
			return command.Text("No links found."), nil
		}
		table := command.Table{}
		for _, f := range found[:min(limit, len(found))] {
			table.Rows = append(table.Rows, []string{x.Files[f.place].Path.String(), strconv.Itoa(f.steps), x.Files[f.via].Path.String()})
		}
		said := limited(table.Reply(command.FormatTSV), len(table.Rows), len(found), "file")
		said.Truncated = said.Notice != ""
		return said, nil
	}
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return command.Reply{}, err
	}
	var targets []string
	if x.Files[place].IsNote() {
		for _, target := range x.Graph().Out(place) {
			targets = append(targets, x.Files[target.Place].Path.String())
		}
		for _, missing := range x.Graph().Unresolved(place) {
			targets = append(targets, missing.Key+" (unresolved)")
		}
	}
	order.Sort(targets)
	return listing(p, targets, command.Nothing("No links found.", "%s links to nothing", command.Place(x.Files[place].Path.String()))), nil
}

func unresolved(v *command.Vault, p command.Values) (command.Reply, error) {
	x, err := v.Index()
	if err != nil {
		return command.Reply{}, err
	}
	counts, sources := map[string]int{}, map[string][]string{}
	graph := x.Graph()
	for place, source := range x.Files {
		for _, missing := range graph.Unresolved(place) {
			counts[missing.Key] += int(missing.Count)
			sources[missing.Key] = append(sources[missing.Key], source.Path.String())
		}
	}
	keys := slices.Collect(maps.Keys(counts))
	order.Sort(keys)
	table := command.Table{Columns: []string{"link"}}
	if p.Has("counts") {
		table.Columns = append(table.Columns, "count")
	}
	if p.Has("verbose") {
		table.Columns = append(table.Columns, "sources")
	}
	for _, key := range keys {
		cells := []string{key}
		if p.Has("counts") {
			cells = append(cells, strconv.Itoa(counts[key]))
		}
		if p.Has("verbose") {
			cells = append(cells, strings.Join(sources[key], ", "))
		}
		table.Rows = append(table.Rows, cells)
	}
	return tabled(p, table, p["format"], command.Text("No unresolved links found.")), nil
}

// orphans and deadends look at files of every kind, and take the index
// literally: a link of a note to itself counts, one that leads nowhere does not.
func orphans(v *command.Vault, p command.Values) (command.Reply, error) {
	return without(v, p, "No orphan files found.", (*index.Graph).In)
}

func deadends(v *command.Vault, p command.Values) (command.Reply, error) {
	return without(v, p, "No dead-end files found.", (*index.Graph).Out)
}

// without lists the files that have no edge of one direction.
func without(v *command.Vault, p command.Values, none string, edges func(g *index.Graph, place int) []index.Edge) (command.Reply, error) {
	x, err := v.Index()
	if err != nil {
		return command.Reply{}, err
	}
	var alone []string
	graph := x.Graph()
	for place, f := range x.Files {
		if len(edges(graph, place)) == 0 {
			alone = append(alone, f.Path.String())
		}
	}
	return listing(p, alone, command.Text(none)), nil
}

// Limits of a walk along links: in a few steps it is at most of a vault.
const (
	maxDepth     = 5
	defaultLinks = 200
	maxLinks     = 1000
)

// reached is a file on a walk along links.
type reached struct{ place, via, steps int }

// around walks along links from a file, which is not among the files that are found.
func around(g *index.Graph, from, depth int, direction string) (found []reached) {
	seen := map[int]bool{from: true}
	layer := []int{from}
	for steps := 1; steps <= depth && len(layer) > 0; steps++ {
		var next []int
		for _, at := range layer {
			var edges []index.Edge
			if direction != "in" {
				edges = g.Out(at)
			}
			if direction == "in" || direction == "both" {
				edges = slices.Concat(edges, g.In(at))
			}
			for _, e := range edges {
				if place := int(e.Place); !seen[place] {
					seen[place] = true
					next = append(next, place)
					found = append(found, reached{place, at, steps})
				}
			}
		}
		slices.Sort(next)
		layer = next
	}
	slices.SortStableFunc(found, func(a, b reached) int { return cmp.Or(a.steps-b.steps, a.place-b.place) })
	return found
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
	s := &scores{x: x, from: place, isNote: make([]bool, len(x.Files)), evidence: map[int]*evidence{}}
	for i, f := range x.Files {
		s.isNote[i] = i != place && f.IsNote() && !excluded(f.Path.String())
		if s.isNote[i] {
			s.notes++
		}
	}
	f := &finding{Vault: v, x: x, excluded: excluded, budget: budget.From(v.Ctx)}
	s.links()
	s.tags()
	if err := s.words(f); err != nil {
		return command.Reply{}, err
	}
	var near []meaning.Near
	var without error
	if m := f.meaning(); m != nil {
		near, without = m.Like(x.Files[place].Path.String(), func(path string) bool {
			at, known := x.Place(path)
			return known && s.isNote[at]
		}, maxNear)
	}
	rows := s.best(limit, near)
	said := command.Text("No related notes found.")
	if p["format"] == command.FormatJSON {
		text, err := json.Marshal(rows)
		if err != nil {
			return command.Reply{}, err
		}
		said = command.Text(string(text))
	} else if len(rows) > 0 {
		table := command.Table{}
		for _, r := range rows {
			table.Rows = append(table.Rows, []string{r.Path, strings.Join(r.Reasons, "; ")})
		}
		said = table.Reply(command.FormatTSV)
	}
	return f.learned(limited(said, len(rows), len(s.evidence), "note"), "links, tags and words", without), nil
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
func (s *scores) best(limit int, near []meaning.Near) []row {
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
			s.evidence[place].score = meaning.Credit(i)
		}
		for i, n := range near {
			place, _ := s.x.Place(n.Path)
			e := s.of(place)
			e.near = true
			e.score += meaning.Credit(i)
		}
		places = sort()
	}
	rows := []row{}
	for _, place := range places[:min(limit, len(places))] {
		e := s.evidence[place]
		rows = append(rows, row{Path: s.x.Files[place].Path.String(), Score: math.Round(e.score*100) / 100, Reasons: s.reasons(e)})
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
	if e.near {
		reasons = append(reasons, "similar meaning")
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
	return command.AndMore(strings.Join(names[:min(len(names), maxNames)], ", "), len(names)-maxNames)
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
	text, err := f.Disk.Read(file.Path)
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
	err = f.words(func(view *find.View) error {
		uses = map[int][]word{}
		return view.EachShared(body.String(), file.Path.String(), func(text string, notes []string) error {
			steps := int64(1 + len(notes)/bytesOfStep)
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
			e.score += wordWeight * math.Log2(1+float64(s.notes)/float64(w.notes)) / math.Log2(2+float64(s.notes)) * share(len(e.words))
		}
	}
	return nil
}

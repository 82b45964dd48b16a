package ranking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// The parameters of the ranking. The weights of BM25 with fields are those that serve collections of
// short texts (k1 and b of Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009);
// the weights of fields and bonuses were chosen beforehand, and testdata/questions.tsv asks for no others.
const (
	k1 = 1.2
	b  = 0.5 // notes of one line and of a thousand are of equal use
	// sectionShare is what the best section of a note adds to the note.
	sectionShare = 0.6
	// nearness is the most that words next to each other add, in shares of their weights.
	nearness = 0.5
	// perLink is what a link from another good result adds, up to maxLinks of them.
	perLink, maxLinks = 0.04, 3
	// anchorShare is the weight of the text of a link for the note that it leads to.
	anchorShare = 1.2
	// recency is what a note adds that was changed today; after half a year it is a third.
	recency    = 0.03
	recencyAge = 180 * 24 * time.Hour
	// dayShare is what the daily note of a day adds that the question names.
	dayShare = 0.5
	// leastCoverage is the share of a question, by weight, that a result has to answer, and leastOfSeveral the share that is
	// enough where at least two of its words decide.
	leastCoverage  = 0.35
	leastOfSeveral = 0.22
	// leastOfTitle is the share that is enough in a question that is a sentence, where a word of the title or of an alias
	// decides: people put much into a sentence that a note says in other words.
	leastOfTitle = 0.25
	// leastOfSentence is how many words of grammar a sentence has at least.
	leastOfSentence = 2
	// maxShort is how many words a question has at most whose words may be beginnings of those of titles.
	maxShort = 4
	// candidates is how many notes are read to find their best sections.
	candidates = 24
	// maxChecked is how many notes are read where the question has a phrase.
	maxChecked = 400
	// MaxSection is how much of a section a result has, in bytes, from its first word that answers.
	MaxSection = 64 << 10
	// MaxBody is how much of a text is indexed and read, in bytes. Longer notes are logs and data.
	MaxBody = 2 << 20
)

// fieldWeights are the weights of fields, in occurrences in a body of average length.
var fieldWeights = [...]struct {
	field  fields
	name   string
	weight float64
}{
	{inTitle, "title", 6},
	{inAlias, "alias", 6},
	{inHeading, "heading", 2.5},
	{inTag, "tag", 3},
	{inProperty, "property", 2},
	{inLink, "link text", 0.5}, // the words are in the body as well
	{inFolder, "folder", 1.5},
}

// weightOf is the weight of each set of fields.
var weightOf = func() (table [256]float32) {
	for set := range table {
		for _, f := range fieldWeights {
			if fields(set)&f.field != 0 {
				table[set] += float32(f.weight)
			}
		}
	}
	return table
}()

// found is a file during the ranking.
type found struct {
	segment, place int
	path           string
	score          float64
	coverage       float64
	written        int  // words of the question that it has, as they were written
	isNamed        bool // its title or an alias has one of them
	ofSentence     bool // the question is one
	result         Result
	section        int    // the best one by its meaning, if no word decides
	has            bool   // it was read, and has the phrases of the question
	links          []Link // whose Text is "" as well where that does not name what the question is about
	err            error
}

func (f *found) before(other *found) int {
	return cmp.Or(cmp.Compare(other.score, f.score), cmp.Compare(f.path, other.path))
}

// isIrrelevant reports whether a file has too little of a question to answer it.
func (f *found) isIrrelevant() bool {
	if f.written >= 2 {
		return f.coverage < leastOfSeveral
	}
	if f.isNamed && f.ofSentence {
		return f.coverage < leastOfTitle
	}
	return f.coverage < leastCoverage
}

// Ask answers a question with at most limit results. Its errors are those of ctx and of [Vault].Read, and [ErrDamaged].
func (w *View) Ask(ctx context.Context, question string, v Vault, limit int) (Answer, error) {
	terms, phrases := parse(question, w.spoken)
	l := w.vocabulary()
	if err := l.answerAll(ctx, terms); err != nil {
		return Answer{}, err
	}
	total := 0.0
	for _, t := range terms {
		total += t.idf
	}
	q := &ranking{
		vocabulary: l,
		v:          v,
		terms:      terms,
		phrases:    phrases,
		total:      max(total, 0.01),
		isSentence: functionWords(question, w.spoken) >= leastOfSentence,
		matches:    map[string][]match{},
		written:    map[string][]match{},
		linked:     map[string][]string{},
	}
	for i, t := range terms {
		for _, a := range t.answers {
			if a.in != 0 {
				continue
			}
			q.matches[a.word] = append(q.matches[a.word], match{i, a.weight})
			q.shapes.add(a.word)
		}
	}
	list, err := q.rank(ctx, max(candidates, limit))
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{}
	if v.Near != nil && len(terms) > 0 && len(phrases) == 0 {
		if list, err = q.fuse(ctx, question, list, &answer); err != nil {
			return Answer{}, err
		}
	}
	list = list[:min(len(list), limit)]
	for _, f := range list {
		f.result.Why = append(q.reasons(f), f.result.Why...)
		answer.Results = append(answer.Results, f.result)
	}
	for _, t := range terms {
		tried := Tried{
			Word:    t.text,
			Near:    t.near,
			Files:   t.files,
			Changed: len(t.answers) > 0 && t.answers[0].how != "",
			Guessed: t.isGuessed(),
		}
		for _, a := range t.answers {
			tried.Found = append(tried.Found, a.word)
		}
		answer.Tried = append(answer.Tried, tried)
	}
	return answer, nil
}

// View is the part of an index that a caller may see: what it may not see counts in nothing.
type View struct {
	x       *Index
	visible [][]bool // by segment and place
	files   int      // that are visible
	average float64  // length of a visible body
	spoken  languageSet
}

// View returns the part of the index whose paths are visible.
func (x *Index) View(visible func(path string) bool) *View {
	w := &View{x: x}
	length := 0
	for i, s := range x.segments {
		seen := make([]bool, len(s.files))
		for j := range s.files {
			if !x.dead[i][j] && visible(s.files[j].path) {
				seen[j] = true
				w.files++
				length += int(s.files[j].length)
				w.spoken |= s.files[j].language
			}
		}
		w.visible = append(w.visible, seen)
	}
	w.spoken = cmp.Or(w.spoken, inEnglish) // a vault of short notes does not say
	w.average = max(1, float64(length)/float64(max(1, w.files)))
	return w
}

// sees reports whether a file is in the view.
func (w *View) sees(path string) bool {
	at, known := w.x.places[path]
	return known && w.visible[at.segment][at.place]
}

// ranking is the work on one question.
type ranking struct {
	*vocabulary
	v          Vault
	terms      []*term
	phrases    [][]string
	total      float64 // weight of all terms
	isSentence bool
	matches    map[string][]match // by the word of the index: which terms it answers
	mu         sync.RWMutex
	written    map[string][]match  // by a written word that is not plain, because making its forms takes long
	shapes     shapes              // of the words that answer
	linked     map[string][]string // which notes that were read link to a file
}

type match struct {
	term   int
	weight float64
}

func (q *ranking) rank(ctx context.Context, candidates int) ([]*found, error) {
	var best []*found // sorted
	keep := candidates
	if len(q.phrases) > 0 {
		keep = max(maxChecked, candidates)
	}
	for i := range q.x.segments {
		q.score(i, func(f found) {
			if len(best) == keep && f.before(best[keep-1]) > 0 {
				return
			}
			kept := new(found) // most are not
			*kept = f
			at, _ := slices.BinarySearchFunc(best, kept, (*found).before)
			best = slices.Insert(best, at, kept)
			best = best[:min(len(best), keep)]
		})
		if err := cmp.Or(ctx.Err(), q.err); err != nil {
			return nil, err
		}
	}
	var list []*found
	for len(best) > 0 && len(list) < candidates {
		next := best[:min(len(best), candidates-len(list))]
		best = best[len(next):]
		budget.InParallel(len(next), 1, func(i, _ int) {
			if next[i].err = ctx.Err(); next[i].err == nil {
				next[i].err = q.look(next[i])
			}
		})
		for _, f := range next {
			if f.err != nil {
				return nil, f.err
			}
			if f.has {
				list = append(list, f)
			}
		}
	}
	list, err := q.follow(list, q.anchors(list))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, (*found).isIrrelevant)
	slices.SortFunc(list, (*found).before)
	for _, f := range list {
		f.result.Score = math.Round(100*f.score/q.total) / 100
	}
	return list, nil
}

// score calls visit with each visible file of a segment that has a word of the question.
func (q *ranking) score(segment int, visit func(found)) {
	s := q.x.segments[segment]
	type sum struct {
		score, coverage, body, elsewhere, strength float32
		written, last                              int32 // words of the question that it has, and the number of the last one
		isNamed                                    bool  // its title or an alias has one of the words
	}
	sums := make([]sum, len(s.files))
	var touched, here []int32
	for _, t := range q.terms {
		here = here[:0]
		for _, a := range t.answers {
			w := float32(a.weight)
			for _, p := range q.postings(segment, a.word) {
				if a.in != 0 {
					p.count = 0
					if p.in &= a.in; p.in == 0 {
						continue
					}
				}
				of := &sums[p.place]
				if of.strength == 0 {
					here = append(here, p.place)
				}
				of.body += w * float32(p.count)
				of.elsewhere = max(of.elsewhere, w*weightOf[p.in])
				of.strength = max(of.strength, w)
				of.isNamed = of.isNamed || p.in&(inTitle|inAlias) != 0
			}
		}
		for _, place := range here {
			of := &sums[place]
			if of.coverage == 0 {
				touched = append(touched, place)
			}
			long := float32(1 - b + b*float64(s.files[place].length)/q.average)
			tf := of.body/long + of.elsewhere
			certainty := (1 + of.strength) / 2 // another word in a title does not outdo the word itself in a text
			of.score += float32(t.idf) * certainty * tf * (k1 + 1) / (k1 + tf)
			of.coverage += float32(t.idf) * of.strength
			if of.last != int32(t.group) {
				of.written++
				of.last = int32(t.group)
			}
			of.body = 0
			of.elsewhere = 0
			of.strength = 0
		}
	}
	for _, place := range touched {
		f := &s.files[place]
		if q.v.Wanted != nil && !q.v.Wanted(f.path) {
			continue
		}
		visit(
			found{
				segment:    segment,
				place:      int(place),
				path:       f.path,
				score:      float64(sums[place].score),
				coverage:   float64(sums[place].coverage) / q.total,
				written:    int(sums[place].written),
				isNamed:    sums[place].isNamed,
				ofSentence: q.isSentence,
			},
		)
	}
}

// look reads a file, finds its best section, and adds what that and its age are worth. It says whether the file
// has the phrases of the question. The error is that of [Vault].Read.
func (q *ranking) look(f *found) (err error) {
	kind := q.x.segments[f.segment].files[f.place].kind
	f.result = Result{Path: f.path, Kind: kind}
	_, title := splitPath(f.path, kind)
	missing := slices.DeleteFunc(slices.Clone(q.phrases), func(p []string) bool { return hasPhrase(title, p) })
	if kind > Canvas {
		f.has = len(missing) == 0
	} else {
		err = q.v.Read(f.path, func(c Content) {
			missing = slices.DeleteFunc(missing, func(p []string) bool { return hasPhrase(c.Text, p) })
			if f.has = len(missing) == 0; !f.has {
				return
			}
			f.score += sectionShare * q.bestSection(c, f.section, &f.result)
			if kind == Canvas {
				f.result.Line = 0 // its texts are lines of no file
			}
			for _, link := range c.Links {
				if link.Text != "" && q.coverageOf(link.Text) < 0.6 {
					link.Text = ""
				}
				f.links = append(f.links, Link{strings.Clone(link.Text), strings.Clone(link.Target)})
			}
		})
	}
	age := max(0, q.v.Now.Sub(q.v.Modified(f.path)))
	f.score += recency * q.total * math.Exp(-float64(age)/float64(recencyAge))
	return err
}

// reasons says why a file was found: the fields with words of the question, and the words that are not the ones
// of the question.
func (q *ranking) reasons(f *found) (why []string) {
	in := fields(0)
	for _, t := range q.terms {
		exact := false
		because := ""
		for _, a := range t.answers {
			list := q.postings(f.segment, a.word)
			if at, has := slices.BinarySearchFunc(list, f.place, func(p posting, place int) int { return int(p.place) - place }); has {
				in |= list[at].in
				if a.how == "" {
					exact = true
				} else if because == "" {
					because = fmt.Sprintf("%q, %s %q", a.word, a.how, t.text)
				}
			}
		}
		if !exact && because != "" {
			why = append(why, because)
		}
	}
	var where []string
	for _, w := range fieldWeights {
		if in&w.field != 0 && w.field != inLink {
			where = append(where, w.name)
		}
	}
	return append(where, why...)
}

// fuse merges the ranks by words with those by meaning (reciprocal rank fusion).
func (q *ranking) fuse(ctx context.Context, question string, list []*found, a *Answer) ([]*found, error) {
	wanted := func(path string) bool { return q.sees(path) && (q.v.Wanted == nil || q.v.Wanted(path)) }
	near, err := q.v.Near(ctx, question, wanted, candidates)
	if a.WithoutMeaning = err; len(near) == 0 {
		return list, ctx.Err()
	}
	byPath := map[string]*found{}
	fused := map[string]float64{}
	for i, f := range list {
		byPath[f.path], fused[f.path] = f, CreditOfRank(i)
	}
	for i, n := range near {
		f := byPath[n.Path]
		if f == nil {
			at := q.x.places[n.Path]
			f = &found{segment: int(at.segment), place: int(at.place), path: n.Path, section: n.Section}
			if err := q.look(f); err != nil {
				return nil, err
			}
			if !f.has {
				continue
			}
			list = append(list, f)
		}
		fused[n.Path] += CreditOfRank(i)
		f.result.Why = append(f.result.Why, "similar meaning")
	}
	for _, f := range list {
		f.score = fused[f.path]
		f.result.Score = math.Round(100*f.score) / 100
	}
	slices.SortFunc(list, (*found).before)
	return list, nil
}

// hasPhrase reports whether a text has the words of a phrase one after the other.
func hasPhrase(text string, phrase []string) (has bool) {
	var begun []int // how many words each beginning of the phrase has so far
	eachWritten(text, nil, func(written string, _, _ int) {
		if has {
			return
		}
		words, _ := parts(written)
		for _, w := range words {
			longer := begun[:0]
			for _, n := range append(begun, 0) {
				if phrase[n] != w {
					continue
				}
				if n+1 == len(phrase) {
					has = true
					return
				}
				longer = append(longer, n+1)
			}
			begun = longer
		}
	})
	return has
}

// matchesOf returns which terms a written word answers.
func (q *ranking) matchesOf(written string) []match {
	if isPlain(written) {
		return q.matches[strings.ToLower(written)]
	}
	q.mu.RLock()
	list, known := q.written[written]
	q.mu.RUnlock()
	if known {
		return list
	}
	for _, w := range forms(written) {
		list = append(list, q.matches[w]...)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.written) < maxForms {
		q.written[strings.Clone(written)] = list
	}
	return list
}

// anchors notes where files link to, and returns the texts of links that have most of the question, by the file
// that they lead to: they name it.
func (q *ranking) anchors(list []*found) map[string]string {
	wanted := map[lookup.Key]bool{} // most links are told by the names alone to lead elsewhere
	add := func(path string) {
		for _, key := range lookup.Keys(path) {
			wanted[key] = true
		}
	}
	add(q.v.Daily)
	for _, f := range list {
		add(f.path)
		for _, link := range f.links {
			if link.Text != "" {
				wanted[lookup.KeyOf(link.Target, f.path)] = true
			}
		}
	}
	names := lookup.New(q.x.named(wanted))
	named := map[string]string{}
	for _, f := range list {
		for _, link := range f.links {
			if !wanted[lookup.KeyOf(link.Target, f.path)] {
				continue
			}
			place, known := names.Resolve(link.Target, f.path)
			if !known || names.Path(place) == f.path || !q.sees(names.Path(place)) {
				continue
			}
			to := names.Path(place)
			if !slices.Contains(q.linked[to], f.path) {
				q.linked[to] = append(q.linked[to], f.path)
			}
			if link.Text != "" && named[to] == "" {
				named[to] = link.Text
			}
		}
	}
	return named
}

func (q *ranking) coverageOf(text string) (share float64) {
	var strength []float64 // nil while no word answers, as of most texts
	eachWritten(text, &q.shapes, func(written string, _, _ int) {
		for _, m := range q.matchesOf(written) {
			if strength == nil {
				strength = make([]float64, len(q.terms))
			}
			strength[m.term] = max(strength[m.term], m.weight)
		}
	})
	for i := range strength {
		share += q.terms[i].idf * strength[i] / q.total
	}
	return share
}

// follow adds what links between results are worth, the targets of links whose texts answer the
// question, and the daily note of a day that it names.
func (q *ranking) follow(list []*found, anchors map[string]string) ([]*found, error) {
	byPath := map[string]*found{}
	for _, f := range list {
		byPath[f.path] = f
	}
	add := func(path string, share, coverage float64, why string) error {
		f := byPath[path]
		if f == nil {
			at, known := q.x.places[path]
			if !known || !q.sees(path) {
				return nil
			}
			if q.v.Wanted != nil && !q.v.Wanted(path) {
				return nil
			}
			f = &found{segment: int(at.segment), place: int(at.place), path: path}
			if err := q.look(f); err != nil || !f.has {
				return err
			}
			byPath[path] = f
			list = append(list, f)
		}
		f.score += share * q.total
		f.coverage = max(f.coverage, coverage)
		f.result.Why = append(f.result.Why, why)
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(anchors)) {
		if err := add(path, anchorShare, q.coverageOf(anchors[path]), "link text "+strconv.Quote(anchors[path])); err != nil {
			return nil, err
		}
	}
	if q.v.Daily != "" {
		if err := add(q.v.Daily, dayShare, 1, "daily note of that day"); err != nil {
			return nil, err
		}
	}
	good := slices.SortedFunc(slices.Values(list), (*found).before)
	good = good[:min(len(good), candidates/2)]
	isGood := map[string]bool{}
	for _, f := range good {
		isGood[f.path] = true
	}
	for _, f := range list {
		n := 0
		for _, from := range q.linked[f.path] {
			if isGood[from] {
				n++
			}
		}
		if n > 0 {
			f.score += perLink * q.total * float64(min(n, maxLinks))
			results := "results"
			if n == 1 {
				results = "result"
			}
			f.result.Why = append(f.result.Why, fmt.Sprintf("linked from %d %s", n, results))
		}
	}
	return list, nil
}

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

// The parameters of the ranking. k1 and b of BM25 with fields have values that suit collections of short texts
// (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). The weights of fields and the
// bonuses were chosen in advance, and testdata/questions.tsv gave no reason to change them.
const (
	k1 = 1.2
	b  = 0.5 // a note of one line is as useful as one of a thousand lines
	// sectionShare is the part of the weight of its best section that a note gets.
	sectionShare = 0.6
	// nearness is the maximum bonus for words that are next to each other, relative to their weights.
	nearness = 0.5
	// perLink is the bonus for a link from another good result, for up to maxLinks links.
	perLink  = 0.04
	maxLinks = 3
	// anchorShare is the weight of the display text of a link for the note to which it leads.
	anchorShare = 1.2
	// recency is the bonus for a note that was changed today. After half a year it is a third of that.
	recency    = 0.03
	recencyAge = 180 * 24 * time.Hour
	// dayShare is the bonus for the daily note of a day that the question mentions.
	dayShare = 0.5
	// minCoverage is the share of a question, by weight, that a result has to match. minOfSeveral is enough for a
	// result with at least two words of the question.
	minCoverage  = 0.35
	minOfSeveral = 0.22
	// minOfTitle is enough for a result with a word of the question in its title or an alias, if the question is a
	// sentence: much of a sentence is expressed in other words in a note.
	minOfTitle = 0.25
	// minFunctionWords is the minimum number of stop words and fillers in a question that counts as a sentence.
	minFunctionWords = 2
	// maxShort is the maximum number of terms of a question whose terms may match beginnings of words in titles.
	maxShort = 4
	// candidates is how many notes are read to find their best sections.
	candidates = 24
	// maxChecked is how many notes are read if the question has a phrase.
	maxChecked = 400
	// MaxSection is the maximum length in bytes of the section in a result. A longer section is cut, before the line
	// of its first matching word.
	MaxSection = 64 << 10
	// MaxBody is how many bytes of a text are indexed and read. Longer notes are logs and data.
	MaxBody = 2 << 20
)

// fieldWeights are the weights of fields, measured in occurrences in a body of average length.
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

// weightOf maps each set of fields to the sum of their weights.
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

// candidate is a file during the ranking.
type candidate struct {
	segment, place int
	path           string
	score          float64
	coverage       float64
	matchedWords   int  // number of written words of the question that it matches
	isNamed        bool // its title or an alias has one of them
	inSentence     bool // the question is a sentence
	result         Result
	section        int    // the best section by meaning, which counts if no section has a matching word
	hasPhrases     bool   // it has been read, and has the phrases of the question
	links          []Link // without Text if that has too little of the question
	err            error
}

// compare orders candidates, best first.
func (f *candidate) compare(other *candidate) int {
	return cmp.Or(cmp.Compare(other.score, f.score), cmp.Compare(f.path, other.path))
}

// isIrrelevant reports whether a file matches too little of the question.
func (f *candidate) isIrrelevant() bool {
	if f.matchedWords >= 2 {
		return f.coverage < minOfSeveral
	}
	if f.isNamed && f.inSentence {
		return f.coverage < minOfTitle
	}
	return f.coverage < minCoverage
}

// Ask answers a question with up to limit results. The errors are those of ctx and of [Vault].Read, and [ErrDamaged].
func (w *View) Ask(ctx context.Context, question string, v Vault, limit int) (Answer, error) {
	terms, phrases := parse(question, w.spoken)
	l := w.vocabulary()
	if err := l.answerAll(ctx, terms); err != nil {
		return Answer{}, err
	}
	q := newRanking(l, v, terms, phrases)
	q.isSentence = functionWords(question, w.spoken) >= minFunctionWords
	list, err := q.rank(ctx, max(candidates, limit))
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{}
	hasMeaning := len(terms) > 0 && len(phrases) == 0
	if v.Near != nil && hasMeaning {
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
		answer.Tried = append(answer.Tried, t.tried())
	}
	return answer, nil
}

// tried reports what was searched for.
func (t *term) tried() Tried {
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
	return tried
}

// View is the part of an index that a caller may see. Hidden files do not affect any result or number.
type View struct {
	x       *Index
	visible [][]bool    // by segment and place
	files   int         // number of visible files
	average float64     // length of the visible bodies, in words
	spoken  languageSet // languages of the visible files
}

// View returns the part of the index with the files whose paths are visible.
func (x *Index) View(visible func(path string) bool) *View {
	w := &View{x: x}
	length := 0
	for i, s := range x.segments {
		isVisible := make([]bool, len(s.files))
		for j := range s.files {
			if !x.dead[i][j] && visible(s.files[j].path) {
				isVisible[j] = true
				w.files++
				length += int(s.files[j].length)
				w.spoken |= s.files[j].language
			}
		}
		w.visible = append(w.visible, isVisible)
	}
	w.spoken = cmp.Or(w.spoken, inEnglish) // the language of short notes is not known
	w.average = max(1, float64(length)/float64(max(1, w.files)))
	return w
}

// sees reports whether a file is in the view.
func (w *View) sees(path string) bool {
	at, known := w.x.places[path]
	return known && w.visible[at.segment][at.place]
}

// ranking is the state of answering one question.
type ranking struct {
	*vocabulary
	vault      Vault
	terms      []*term
	phrases    [][]string
	total      float64 // weight of all terms
	isSentence bool
	matches    map[string][]match // the terms that a word of the index matches
	mu         sync.RWMutex
	written    map[string][]match  // cache for written words that are not plain, because computing their forms is slow
	shapes     shapes              // of the words in matches
	linked     map[string][]string // the notes, among those that were read, that link to a file
}

// newRanking returns the state for a question with terms and phrases.
func newRanking(l *vocabulary, v Vault, terms []*term, phrases [][]string) *ranking {
	total := 0.0
	for _, t := range terms {
		total += t.idf
	}
	q := &ranking{
		vocabulary: l,
		vault:      v,
		terms:      terms,
		phrases:    phrases,
		total:      max(total, 0.01),
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
	return q
}

// match is a term that a word matches.
type match struct {
	term   int
	weight float64
}

// rank returns up to limit relevant files, best first.
func (q *ranking) rank(ctx context.Context, limit int) ([]*candidate, error) {
	var best []*candidate // sorted
	keep := limit
	if len(q.phrases) > 0 {
		keep = max(maxChecked, limit)
	}
	for i := range q.x.segments {
		q.score(i, func(f candidate) {
			if len(best) == keep && f.compare(best[keep-1]) > 0 {
				return
			}
			next := new(candidate) // allocated only here, because most files are not kept
			*next = f
			at, _ := slices.BinarySearchFunc(best, next, (*candidate).compare)
			best = slices.Insert(best, at, next)
			best = best[:min(len(best), keep)]
		})
		if err := cmp.Or(ctx.Err(), q.err); err != nil {
			return nil, err
		}
	}
	var list []*candidate
	for len(best) > 0 && len(list) < limit {
		next := best[:min(len(best), limit-len(list))]
		best = best[len(next):]
		budget.InParallel(len(next), 1, func(i, _ int) {
			next[i].err = ctx.Err()
			if next[i].err == nil {
				next[i].err = q.read(next[i])
			}
		})
		for _, f := range next {
			if f.err != nil {
				return nil, f.err
			}
			if f.hasPhrases {
				list = append(list, f)
			}
		}
	}
	list, err := q.followLinks(list, q.anchors(list))
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, (*candidate).isIrrelevant)
	slices.SortFunc(list, (*candidate).compare)
	for _, f := range list {
		f.result.Score = math.Round(100*f.score/q.total) / 100
	}
	return list, nil
}

// score calls visit with each visible and wanted file of a segment that matches a word of the question.
func (q *ranking) score(segment int, visit func(candidate)) {
	s := q.x.segments[segment]
	sums := make([]fileSum, len(s.files))
	var touched, here []int32 // files that match a term, and the current term
	for _, t := range q.terms {
		here = q.addTerm(t, segment, sums, here[:0])
		for _, place := range here {
			file := &sums[place]
			if file.coverage == 0 {
				touched = append(touched, place)
			}
			relativeLength := float32(1 - b + b*float64(s.files[place].length)/q.average)
			file.finishTerm(t, relativeLength)
		}
	}
	for _, place := range touched {
		f := &s.files[place]
		if q.vault.Wanted != nil && !q.vault.Wanted(f.path) {
			continue
		}
		visit(candidate{
			segment:      segment,
			place:        int(place),
			path:         f.path,
			score:        float64(sums[place].score),
			coverage:     float64(sums[place].coverage) / q.total,
			matchedWords: int(sums[place].matchedWords),
			isNamed:      sums[place].isNamed,
			inSentence:   q.isSentence,
		})
	}
}

// fileSum collects what the terms of a question add to a file.
type fileSum struct {
	score, coverage float32
	matchedWords    int32 // number of matching words of the question
	lastGroup       int32 // the group of the last one
	isNamed         bool  // its title or an alias has one of them

	// The current term: weighted occurrences in the body, the weight of the best fields, and the best weight of an
	// answer.
	body, elsewhere, strength float32
}

// addTerm adds the occurrences of the answers of a term to the sums, and appends the places of the files to places.
func (q *ranking) addTerm(t *term, segment int, sums []fileSum, places []int32) []int32 {
	for _, a := range t.answers {
		w := float32(a.weight)
		for _, p := range q.postings(segment, a.word) {
			if a.in != 0 {
				p.count = 0
				p.in &= a.in
				if p.in == 0 {
					continue
				}
			}
			file := &sums[p.place]
			if file.strength == 0 {
				places = append(places, p.place)
			}
			file.body += w * float32(p.count)
			file.elsewhere = max(file.elsewhere, w*weightOf[p.in])
			file.strength = max(file.strength, w)
			file.isNamed = file.isNamed || p.in&(inTitle|inAlias) != 0
		}
	}
	return places
}

// finishTerm adds the current term to the score, by BM25.
func (f *fileSum) finishTerm(t *term, relativeLength float32) {
	tf := f.body/relativeLength + f.elsewhere
	certainty := (1 + f.strength) / 2 // so that a related word in a title counts less than the word itself in a text
	f.score += float32(t.idf) * certainty * tf * (k1 + 1) / (k1 + tf)
	f.coverage += float32(t.idf) * f.strength
	if f.lastGroup != int32(t.group) {
		f.matchedWords++
		f.lastGroup = int32(t.group)
	}
	f.body = 0
	f.elsewhere = 0
	f.strength = 0
}

// read reads a file and checks whether it has the phrases of the question. It adds the weight of its best section and
// of its age to the score. The error is that of [Vault].Read.
func (q *ranking) read(f *candidate) (err error) {
	kind := q.x.segments[f.segment].files[f.place].kind
	f.result = Result{Path: f.path, Kind: kind}
	_, title := splitPath(f.path, kind)
	missing := slices.DeleteFunc(slices.Clone(q.phrases), func(p []string) bool { return hasPhrase(title, p) })
	if kind > Canvas {
		f.hasPhrases = len(missing) == 0
	} else {
		err = q.vault.Read(f.path, func(c Content) {
			missing = slices.DeleteFunc(missing, func(p []string) bool { return hasPhrase(c.Text, p) })
			f.hasPhrases = len(missing) == 0
			if !f.hasPhrases {
				return
			}
			f.score += sectionShare * q.bestSection(c, f.section, &f.result)
			if kind == Canvas {
				f.result.Line = 0 // texts of a canvas have no line in the file
			}
			for _, link := range c.Links {
				if link.Text != "" && q.coverageOf(link.Text) < 0.6 {
					link.Text = ""
				}
				f.links = append(f.links, Link{strings.Clone(link.Text), strings.Clone(link.Target)})
			}
		})
	}
	age := max(0, q.vault.Now.Sub(q.vault.Modified(f.path)))
	f.score += recency * q.total * math.Exp(-float64(age)/float64(recencyAge))
	return err
}

// reasons explains why a file was found: by the fields with words of the question, and by related words that it has
// instead of words of the question.
func (q *ranking) reasons(f *candidate) (why []string) {
	in := fields(0)
	for _, t := range q.terms {
		isExact := false
		reason := ""
		for _, a := range t.answers {
			list := q.postings(f.segment, a.word)
			byPlace := func(p posting, place int) int { return int(p.place) - place }
			at, hasWord := slices.BinarySearchFunc(list, f.place, byPlace)
			if !hasWord {
				continue
			}
			in |= list[at].in
			if a.how == "" {
				isExact = true
			} else if reason == "" {
				reason = fmt.Sprintf("%q, %s %q", a.word, a.how, t.text)
			}
		}
		if !isExact && reason != "" {
			why = append(why, reason)
		}
	}
	var names []string
	for _, w := range fieldWeights {
		if in&w.field != 0 && w.field != inLink {
			names = append(names, w.name)
		}
	}
	return append(names, why...)
}

// fuse merges the ranking by words with the ranking by meaning, by reciprocal rank fusion.
func (q *ranking) fuse(ctx context.Context, question string, list []*candidate, a *Answer) ([]*candidate, error) {
	wanted := func(path string) bool { return q.sees(path) && (q.vault.Wanted == nil || q.vault.Wanted(path)) }
	near, err := q.vault.Near(ctx, question, wanted, candidates)
	a.WithoutMeaning = err
	if len(near) == 0 {
		return list, ctx.Err()
	}
	byPath := map[string]*candidate{}
	fused := map[string]float64{}
	for i, f := range list {
		byPath[f.path] = f
		fused[f.path] = CreditOfRank(i)
	}
	for i, n := range near {
		f := byPath[n.Path]
		if f == nil {
			at := q.x.places[n.Path]
			f = &candidate{segment: int(at.segment), place: int(at.place), path: n.Path, section: n.Section}
			if err := q.read(f); err != nil {
				return nil, err
			}
			if !f.hasPhrases {
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
	slices.SortFunc(list, (*candidate).compare)
	return list, nil
}

// hasPhrase reports whether a text contains the words of a phrase in succession.
func hasPhrase(text string, phrase []string) (has bool) {
	var begun []int // for each possible beginning of the phrase, the number of words so far
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

// matchesOf returns the terms that a written word matches.
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

// anchors records to which files the candidates link. It returns, by target, the display texts of links that have
// most of the question.
func (q *ranking) anchors(list []*candidate) map[string]string {
	wanted := map[lookup.Key]bool{} // rules out most links by the name of their target
	add := func(path string) {
		for _, key := range lookup.Keys(path) {
			wanted[key] = true
		}
	}
	add(q.vault.Daily)
	for _, f := range list {
		add(f.path)
		for _, link := range f.links {
			if link.Text != "" {
				wanted[lookup.KeyOf(link.Target, f.path)] = true
			}
		}
	}
	names := lookup.New(q.x.linkTargets(wanted))
	anchors := map[string]string{}
	for _, f := range list {
		for _, link := range f.links {
			if !wanted[lookup.KeyOf(link.Target, f.path)] {
				continue
			}
			place, known := names.Resolve(link.Target, f.path)
			if !known || names.Path(place) == f.path || !q.sees(names.Path(place)) {
				continue
			}
			target := names.Path(place)
			if !slices.Contains(q.linked[target], f.path) {
				q.linked[target] = append(q.linked[target], f.path)
			}
			if link.Text != "" && anchors[target] == "" {
				anchors[target] = link.Text
			}
		}
	}
	return anchors
}

// coverageOf returns the share of the question, by weight, that a text matches.
func (q *ranking) coverageOf(text string) (share float64) {
	var strength []float64 // by term; nil while no word matches, because few texts have a match
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

// followLinks adds the targets of links whose texts match the question, and the daily note of a day that the question
// mentions. Then it adds the bonuses for links between good results.
func (q *ranking) followLinks(list []*candidate, anchors map[string]string) ([]*candidate, error) {
	byPath := map[string]*candidate{}
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
			if q.vault.Wanted != nil && !q.vault.Wanted(path) {
				return nil
			}
			f = &candidate{segment: int(at.segment), place: int(at.place), path: path}
			if err := q.read(f); err != nil || !f.hasPhrases {
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
		text := anchors[path]
		if err := add(path, anchorShare, q.coverageOf(text), "link text "+strconv.Quote(text)); err != nil {
			return nil, err
		}
	}
	if q.vault.Daily != "" {
		if err := add(q.vault.Daily, dayShare, 1, "daily note of that day"); err != nil {
			return nil, err
		}
	}
	q.addLinkBonuses(list)
	return list, nil
}

// addLinkBonuses adds the bonuses for links from good results.
func (q *ranking) addLinkBonuses(list []*candidate) {
	good := slices.SortedFunc(slices.Values(list), (*candidate).compare)
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
}

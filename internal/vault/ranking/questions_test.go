package ranking

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// question is a row of testdata/questions.tsv.
type question struct {
	class, vault, half, text string
	grades                   map[string]int // by path
}

func questions(t testing.TB, file string) (list []question) {
	t.Helper()
	for line := range strings.Lines(string(require.Value(os.ReadFile("testdata/" + file))(t))) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		q := question{cells[0], cells[1], cells[2], cells[3], map[string]int{}}
		for grade := range strings.SplitSeq(cells[4], ";") {
			if file, points, found := strings.Cut(grade, "="); found {
				q.grades[file], _ = strconv.Atoi(points)
			}
		}
		list = append(list, q)
	}
	return list
}

// vaultOf reads a vault of testdata.
func vaultOf(t testing.TB, name string) notes {
	t.Helper()
	archive := require.Value(txtar.ParseFile("testdata/" + name + ".txtar"))(t)
	n := notes{}
	for _, f := range archive.Files {
		n[f.Name] = string(f.Data)
	}
	return n
}

// ndcg is the normalised discounted cumulative gain of the first ten paths of an answer.
func ndcg(got []string, grades map[string]int) float64 {
	gain := func(grade, at int) float64 { return (math.Exp2(float64(grade)) - 1) / math.Log2(float64(at)+2) }
	sum, best := 0.0, 0.0
	for i, p := range got[:min(len(got), 10)] {
		sum += gain(grades[p], i)
	}
	ideal := []int{}
	for _, g := range grades {
		ideal = append(ideal, g)
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	for i, g := range ideal[:min(len(ideal), 10)] {
		best += gain(g, i)
	}
	return sum / best
}

// measure is what a way of finding reaches in a class of questions.
type measure struct {
	n                 int
	ndcg, recall, mrr float64 // sums; of questions without an answer ndcg counts those that got none
}

func (m *measure) add(q question, got []string) {
	m.n++
	if len(q.grades) == 0 {
		if len(got) == 0 {
			m.ndcg++
		}
		return
	}
	m.ndcg += ndcg(got, q.grades)
	found, first := 0, 0
	for i, p := range got[:min(len(got), 10)] {
		if q.grades[p] > 0 {
			found++
			if first == 0 {
				first = i + 1
			}
		}
	}
	m.recall += float64(found) / float64(len(q.grades))
	if first > 0 {
		m.mrr += 1 / float64(first)
	}
}

func (m *measure) String() string {
	n := float64(m.n)
	return fmt.Sprintf("%3d  nDCG@10 %.3f  recall@10 %.3f  MRR %.3f", m.n, m.ndcg/n, m.recall/n, m.mrr/n)
}

// ways are what find is compared with: each answers a question with paths.
func ways(t testing.TB, n notes) map[string]func(string) []string {
	x, v := n.vault()
	paths := slices.Sorted(keys(n))
	byScore := func(score func(string) float64) []string {
		scores := map[string]float64{}
		for _, p := range paths {
			if s := score(p); s > 0 {
				scores[p] = s
			}
		}
		return slices.SortedFunc(keysOf(scores), func(a, b string) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	}
	lower := func(p string) string { return strings.ToLower(path.Base(p) + "\n" + n[p]) }
	counts := map[string]map[string]int{}
	frequency, length := map[string]int{}, 0
	for _, p := range paths {
		counts[p] = map[string]int{}
		for _, w := range strings.FieldsFunc(lower(p), notWord) {
			counts[p][w]++
			length++
		}
		for w := range counts[p] {
			frequency[w]++
		}
	}
	return map[string]func(string) []string{
		"find": func(text string) (got []string) {
			a := require.Value(x.View(everything).Ask(context.Background(), text, v, 10))(t)
			for _, r := range a.Results {
				got = append(got, r.Path)
			}
			return got
		},
		"plain BM25": func(text string) []string {
			return byScore(func(p string) (sum float64) {
				size := 0.0
				for _, c := range counts[p] {
					size += float64(c)
				}
				for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
					tf, df := float64(counts[p][w]), float64(frequency[w])
					idf := math.Log(1 + (float64(len(paths))-df+0.5)/(df+0.5))
					sum += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*size*float64(len(paths))/float64(length)))
				}
				return sum
			})
		},
		"search (every word)": func(text string) (got []string) {
			for _, p := range paths {
				if !slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), notWord), func(w string) bool { return !strings.Contains(lower(p), w) }) {
					got = append(got, p)
				}
			}
			return got
		},
		"counts of any word": func(text string) []string {
			return byScore(func(p string) (sum float64) {
				for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
					sum += float64(strings.Count(lower(p), w))
				}
				return sum
			})
		},
	}
}

func keysOf(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func notWord(r rune) bool { return !isWordRune(r) }

// The ranking reaches what it is documented to reach, in each class and in each half. Run it with -v for the table.
func TestTheRanking(t *testing.T) {
	for _, file := range []string{"questions.tsv", "hard.tsv"} {
		t.Run(file, func(t *testing.T) { testRanking(t, file) })
	}
}

func testRanking(t *testing.T, file string) {
	table := map[string]map[string]*measure{} // by way, then by half and class
	answer := map[string]map[string]func(string) []string{}
	for _, name := range []string{"english", "mixed", "house", "office", "deutsch", "asia"} {
		answer[name] = ways(t, vaultOf(t, name))
	}
	for _, q := range questions(t, file) {
		for way, find := range answer[q.vault] {
			got := find(q.text)
			classes := []string{q.half + " " + q.class, q.half + " all", "all"}
			if q.class == "nothing" { // of which there are few in each half
				classes = []string{"nothing"}
			}
			for _, class := range classes {
				if table[way] == nil {
					table[way] = map[string]*measure{}
				}
				if table[way][class] == nil {
					table[way][class] = &measure{}
				}
				table[way][class].add(q, got)
			}
			if way == "find" && (q.half == "tune" || q.half == "late") && (len(q.grades) > 0 && ndcg(got, q.grades) < 1 || len(q.grades) == 0 && len(got) > 0) {
				t.Logf("%s: %s: %.3v, want %v", q.class, q.text, got, q.grades)
			}
		}
	}
	for _, way := range slices.Sorted(func(yield func(string) bool) {
		for w := range table {
			yield(w)
		}
	}) {
		for _, class := range slices.Sorted(func(yield func(string) bool) {
			for c := range table[way] {
				yield(c)
			}
		}) {
			t.Logf("%-20s %-14s %v", way, class, table[way][class])
		}
	}
	for class, m := range table["find"] {
		least := leastOf[file][class[strings.LastIndex(class, " ")+1:]]
		if least == 0 {
			least = leastOf[file]["each"]
		}
		if got := m.ndcg / float64(m.n); got < least {
			t.Errorf("%s: %.3f, want %.2f", class, got, least)
		}
	}
}

// leastOf is what find reaches at least in a file of questions, by class.
var leastOf = map[string]map[string]float64{
	"questions.tsv": {"all": 0.95, "nothing": 0.9, "each": 0.75},
	"hard.tsv":      {"all": 0.78, "nothing": 0.9, "each": 0.8, "synonym": 0.75},
}

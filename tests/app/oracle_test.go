package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestTheOracle compares every answer about links, tags, tasks and headings of
// some generated vaults with the reference, which reads them by the rules of
// the app and slowly.
func TestTheOracle(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3}[:testenv.Count(2, 3)] {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "vault")
			require.NoError(t, fake.WriteVault(folder, 300, seed))
			excluded := func(name string) bool {
				return strings.HasPrefix(name, "Archive/") || strings.HasPrefix(name, "Drafts/")
			}
			ref := readReference(t, folder, excluded)
			embedded := startWorker(t, folder)
			answers := ref.answers(int(seed))
			for _, words := range slices.Sorted(maps.Keys(answers)) {
				want := answers[words]
				got := embedded.ask(words)
				assert.That(t, got == want, "%s\n%s", words, harness.Difference(got, want))
			}
		})
	}
}

// sampled is how many files share one that is asked about: the program reads
// the whole vault for each question. Every seed has a sample of its own.
const sampled = 4

// answers are command lines that the reference can answer, and the answers.
func (ref *reference) answers(seed int) map[string]string {
	all := map[string]string{
		"files":    lines(ref.files, ""),
		"orphans":  lines(ref.without(func(file string) bool { return len(ref.into(file)) > 0 }), "No orphan files found."),
		"deadends": lines(ref.without(func(file string) bool { return len(ref.out[file]) > 0 }), "No dead-end files found."),

		"unresolved counts verbose format=json": ref.unresolved(), "tags counts": ref.tags(), "tasks format=json": ref.tasks(),
	}
	for i, file := range ref.files {
		if path.Ext(file) == ".md" {
			all["outline\tpath="+file+"\tformat=json"] = ref.outline(file)
		}
		if i%sampled != seed%sampled {
			continue
		}
		var sources, targets []string
		counts := ref.into(file)
		for _, source := range sorted(counts) {
			sources = append(sources, source+"\t"+strconv.Itoa(counts[source]))
		}
		if path.Ext(file) == ".md" {
			targets = sorted(ref.out[file])
			for _, key := range sorted(ref.lost[file]) {
				targets = append(targets, key+" (unresolved)")
			}
			listed(targets)
		}
		all["backlinks\tpath="+file+"\tcounts"] = lines(sources, "No backlinks found.")
		all["links\tpath="+file] = lines(targets, "No links found.")
	}
	return all
}

func sorted[V any](m map[string]V) []string {
	keys := slices.Collect(maps.Keys(m))
	listed(keys)
	return keys
}

// lines is the answer of several lines, or the sentence for none.
func lines(all []string, none string) string {
	if len(all) == 0 {
		return none + "\n"
	}
	return strings.Join(all, "\n") + "\n"
}

// into counts the links that lead to a file, by where they are.
func (ref *reference) into(file string) map[string]int {
	counts := map[string]int{}
	for source, targets := range ref.out {
		if targets[file] > 0 {
			counts[source] = targets[file]
		}
	}
	return counts
}

func (ref *reference) without(linked func(string) bool) (alone []string) {
	for _, file := range ref.files {
		if !linked(file) {
			alone = append(alone, file)
		}
	}
	return alone
}

func (ref *reference) unresolved() string {
	type row struct {
		Link    string `json:"link"`
		Count   string `json:"count"`
		Sources string `json:"sources"`
	}
	counts, sources := map[string]int{}, map[string][]string{}
	for _, file := range ref.files {
		for key, n := range ref.lost[file] {
			counts[key] += n
			sources[key] = append(sources[key], file)
		}
	}
	var rows []row
	for _, key := range sorted(counts) {
		rows = append(rows, row{key, strconv.Itoa(counts[key]), strings.Join(sources[key], ", ")})
	}
	return asJSON(rows)
}

// tags counts those that differ in case alone as one, under the casing that is
// used most.
func (ref *reference) tags() string {
	uses := map[string]map[string]int{}
	for _, file := range ref.files {
		if ref.excluded(file) {
			continue
		}
		for _, tag := range ref.pages[file].tags {
			key := strings.ToLower(tag)
			if uses[key] == nil {
				uses[key] = map[string]int{}
			}
			uses[key][tag]++
		}
	}
	rows := map[string]int{}
	for _, casings := range uses {
		best, total := "", 0
		for _, tag := range sorted(casings) {
			total += casings[tag]
			if casings[tag] > casings[best] {
				best = tag
			}
		}
		rows[best] = total
	}
	var out []string
	for _, tag := range sorted(rows) {
		out = append(out, tag+"\t"+strconv.Itoa(rows[tag]))
	}
	return lines(out, "No tags found.")
}

func (ref *reference) tasks() string {
	type row struct {
		Status string `json:"status"`
		Text   string `json:"text"`
		File   string `json:"file"`
		Line   string `json:"line"`
	}
	var rows []row
	for _, file := range ref.files {
		if ref.excluded(file) {
			continue
		}
		for _, task := range ref.pages[file].tasks {
			rows = append(rows, row{task.mark, task.text, file, strconv.Itoa(task.line)})
		}
	}
	return asJSON(rows)
}

func (ref *reference) outline(file string) string {
	type row struct {
		Level   int    `json:"level"`
		Heading string `json:"heading"`
		Line    int    `json:"line"`
		Hash    string `json:"hash"`
	}
	var rows []row
	page := ref.pages[file]
	lines := strings.SplitAfter(page.text, "\n")
	for i, h := range page.headings {
		end := len(lines)
		for _, next := range page.headings[i+1:] {
			if next.level <= h.level {
				end = next.line - 1
				break
			}
		}
		sum := sha256.Sum256([]byte(strings.Join(lines[h.line-1:end], "")))
		rows = append(rows, row{h.level, h.text, h.line, hex.EncodeToString(sum[:8])})
	}
	if len(rows) == 0 {
		return "No headings found.\n"
	}
	return asJSON(rows)
}

func asJSON(rows any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(rows); err != nil {
		panic(err)
	}
	return out.String()
}

// resident is a worker of the embedded program: hundreds of questions need no
// hundreds of processes.
type resident struct{ *harness.Worker }

func startWorker(t *testing.T, folder string) resident {
	t.Helper()
	return resident{harness.StartWorker(t, harness.Binary, folder, "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00", "HOME="+t.TempDir())}
}

// ask returns what is printed for one command line, whose words are separated
// by tabs, or by blanks if there is no tab.
func (r resident) ask(line string) string {
	r.T.Helper()
	words := strings.Split(line, "\t")
	if len(words) == 1 {
		words = strings.Fields(line)
	}
	return r.Said(words...)
}

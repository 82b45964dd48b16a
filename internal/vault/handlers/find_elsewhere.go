package handlers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
)

// The index of words has notes, canvases and the names of files. A word that is nowhere in it, or that was only taken for a
// typing error or another word, is looked for in text files, and the answer says of which files the text was not searched.

// textFiles are the extensions of the files that are searched as they are.
var textFiles = []string{"txt", "text", "csv", "tsv", "log"}

const (
	maxTextFile  = 1 << 20 // bytes of a text file that is searched; a larger one is not
	maxTextFiles = 8 << 20 // bytes of all of them in one call
	maxElsewhere = 5       // files that are named
)

// elsewhere says in which text files the words are that no note has as they are written, and of which files the text was not searched; "" where
// each word is in a note, or there are no such files.
func (f *finding) elsewhere(found ranking.Answer) (string, error) {
	var words []string
	isMissing := false
	for _, t := range found.Tried {
		if len(t.Found) == 0 || t.Guessed {
			words = append(words, strings.ToLower(t.Word))
		}
		isMissing = isMissing || len(t.Found) == 0
	}
	if len(words) == 0 {
		return "", nil
	}
	in := map[string][]string{} // files by the word
	unsearched := map[string]int{}
	left := int64(maxTextFiles)
	for _, file := range f.x.Files {
		path := file.Path
		if kind := allowlist.FileKind(path.Ext()); kind != "pdf" && kind != other || f.excluded(path.String()) {
			continue
		}
		text, searched := f.textOf(path, &left)
		if !searched {
			unsearched[path.Ext()]++
			continue
		}
		for _, word := range words {
			if strings.Contains(text, word) {
				in[word] = append(in[word], path.String())
			}
		}
		if err := f.budget.Step(1); err != nil {
			return "", err
		}
	}
	var said []string
	for _, word := range words {
		if files := in[word]; len(files) > 0 {
			named := answer.AndMore(answer.List(files, maxElsewhere), len(files)-maxElsewhere)
			said = append(said, fmt.Sprintf("%s is in %s", excerpt.Quoted(word), named))
		}
	}
	if len(unsearched) > 0 && isMissing {
		said = append(said, "not searched: the text of "+countedKinds(unsearched)+"; attachment:text reads one")
	}
	return strings.Join(said, "; "), nil
}

// textOf returns the text of a file in lower case, as the caller may read it. left is how many bytes may be read yet.
func (f *finding) textOf(path disk.Path, left *int64) (text string, searched bool) {
	if !slices.Contains(textFiles, strings.ToLower(path.Ext())) {
		return "", false
	}
	info, err := f.Disk.Stat(path)
	if err != nil || info.Size() > min(maxTextFile, *left) {
		return "", false
	}
	read, err := f.Disk.Read(path)
	*left -= int64(len(read))
	return strings.ToLower(string(read)), err == nil
}

// countedKinds returns numbers of files by their extensions, the most frequent first.
func countedKinds(kinds map[string]int) string {
	var names []string
	total := 0
	for name, count := range kinds {
		names = append(names, name)
		total += count
	}
	slices.SortFunc(names, func(a, b string) int {
		if kinds[a] != kinds[b] {
			return kinds[b] - kinds[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, name := range names[:min(len(names), maxElsewhere)] {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ToUpper(name), kinds[name]))
	}
	return answer.Count(total, "file") + " (" + answer.AndMore(strings.Join(parts, ", "), len(names)-maxElsewhere) + ")"
}

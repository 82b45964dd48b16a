package handlers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// The index of words covers notes, canvases and file names. A word that it does not contain, or that it only matched as
// a typing error or a related word, is also searched for in text files. The answer names the kinds of files that were
// not searched.

// textFiles are the extensions of the text files that are searched.
var textFiles = []string{"txt", "text", "csv", "tsv", "log"}

const (
	maxTextFile  = 1 << 20 // bytes; larger text files are not searched
	maxTextFiles = 8 << 20 // total bytes of text files searched in one call
	maxElsewhere = 5       // files or kinds of files that are named
)

// elsewhere returns a notice that names the text files with words that no note contains as they are written, and counts
// the files that were not searched. There is no remark if every word is in a note, or if there are no such files.
func (f *finding) elsewhere(found ranking.Answer) (notice answer.Notice, err error) {
	var words []string
	isMissing := false
	for _, t := range found.Tried {
		if len(t.Found) == 0 || t.Guessed {
			words = append(words, strings.ToLower(t.Word))
		}
		isMissing = isMissing || len(t.Found) == 0
	}
	if len(words) == 0 {
		return notice, nil
	}
	paths := map[string][]string{} // files by the word
	unsearched := map[string]int{}
	left := int64(maxTextFiles)
	for _, path := range filesWithoutWords.Of(&f.Host.Memo, f.idx.Files) {
		if f.excluded(path.String()) {
			continue
		}
		text, searched := f.textOf(path, &left)
		if !searched {
			unsearched[path.Ext()]++
			continue
		}
		for _, word := range words {
			if strings.Contains(text, word) {
				paths[word] = append(paths[word], path.String())
			}
		}
		if err := f.budget.Step(1); err != nil {
			return notice, err
		}
	}
	for _, word := range words {
		if files := paths[word]; len(files) > 0 {
			named := answer.AndMore(answer.List(files, maxElsewhere), len(files)-maxElsewhere)
			notice = notice.And(answer.Remark("%s is in %s", excerpt.Quoted(word), named))
		}
	}
	if len(unsearched) > 0 && isMissing {
		notice = notice.And(answer.Remark("not searched: the text of %s; attachment:text reads one", countKinds(unsearched)))
	}
	return notice, nil
}

// filesWithoutWords are the files that may have a text that the index of words does not contain.
var filesWithoutWords = search.Derived[[]disk.Path]{
	Name: "files without words",
	Compute: func(files []*index.File) (paths []disk.Path) {
		for _, file := range files {
			if kind := allowlist.FileKind(file.Path.Ext()); kind == "pdf" || kind == other {
				paths = append(paths, file.Path)
			}
		}
		return paths
	},
}

// textOf returns the text of a text file in lower case, as the caller may read it. It subtracts its size from left, the
// number of bytes that may still be read.
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

// countKinds formats numbers of files by extension, the most frequent first, such as "7 files (PDF 4, CSV 3)".
func countKinds(kinds map[string]int) string {
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

package vault_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// listedFiles are the files and folders of the vault of TestListingsNameTheirFiles, at all their paths.
var listedFiles = []string{"Work", "Work/a.md", "Work/b.md", "lone.md", "Work/pic.png", "All.base", "Work/c, d.md", "Old.md"}

// listingWords are the words that commands cannot do without, for a listing of that vault.
var listingWords = map[string][]string{
	"search": {"query=word"}, "search:context": {"query=word"}, "find": {"query=word"}, "tag": {"name=work"},
	"backlinks": {"path=Work/a.md"}, "related": {"path=Work/a.md"},
}

// listingValues are values of parameters with which listings of that vault have rows.
var listingValues = map[string][]string{
	"file": {"a"}, "path": {"Work/a.md"}, "folder": {"Work"}, "ext": {"md"}, "note": {"a"}, "type": {"image", "note"}, "tag": {"work"},
	"path-glob": {"Work/**"}, "property": {"rating"}, "since": {"2020-01-01"}, "budget": {"500"}, "limit": {"5"}, "context": {"2"},
	"where": {"rating==5"}, "select": {"rating", "path:rating"}, "sort": {"file.name", "due", "count"}, "group": {"rating", "note", "due"},
	"this": {"Work/a.md"}, "status": {"x"}, "due": {"2026-11-20"}, "due-before": {"2026-11-30"}, "due-after": {"2026-11-01"}, "text": {"it"},
	"priority": {"normal"},
}

// TestListingsNameTheirFiles: of every command whose row says so, every row of the answer names a file or
// folder of the vault, in each of its formats, and with each of its parameters alone. The gateway relies on
// it for what counts as read.
func TestListingsNameTheirFiles(t *testing.T) {
	t.Parallel()
	h := embedded.New(t, map[string]string{
		"Work/a.md":    "---\nrating: 5\n---\n# Head\nword [[b]] #work\n- [ ] do it 📅 2026-11-20\n![[pic.png]]\n",
		"Work/b.md":    "word #work/deep\n- [x] done it\n[[nowhere]]\n",
		"Old.md":       "word #alone [[a]]\n",
		"lone.md":      "nothing",
		"Work/pic.png": "x", "All.base": "views:\n  - type: table\n    name: All\n",
	})
	h.Does("append", "path=Work/a.md", "content=more word")
	h.Does("move", "path=Old.md", "to=Work/c, d.md")
	for c := range allowlist.Commands() {
		formats := []string{""}
		for _, p := range c.Params {
			if p.Name == "format" {
				formats = append(formats, p.Choices...)
			}
		}
		for _, format := range formats {
			words := slices.Clone(listingWords[c.Name])
			if format != "" {
				words = append(words, "format="+format)
			}
			if !claims(t, c, words) {
				continue
			}
			assert.That(t, !c.NeedsApp, "%s says which files its answer names, and only the app prints it", c.Name)
			assert.That(t, namesFiles(h, c.Name, words) > 0, "%s %v has no row", c.Name, words)
			for _, p := range c.Params {
				for _, word := range wordsFor(p) {
					if more := append(slices.Clone(words), word); p.Name != "format" && claims(t, c, more) {
						namesFiles(h, c.Name, more)
					}
				}
			}
		}
	}
}

// claims reports whether the row of a command says that every row of the answer to a call names its files. It is
// false for words that are no call.
func claims(t *testing.T, c allowlist.Command, words []string) bool {
	t.Helper()
	call, err := allowlist.ParseWords(c.Name, words)
	return err == nil && (call.Naming() == allowlist.NamesFiles || call.Naming() == allowlist.NamesFilesInRows)
}

// wordsFor are the words that give a parameter, one for each value that is tried.
func wordsFor(p allowlist.Param) (words []string) {
	if p.Kind == "flag" {
		return []string{p.Name}
	}
	values := slices.Concat(listingValues[p.Name], p.Choices)
	if len(values) == 0 {
		values = []string{map[string]string{"number": "1", "date": "2026-11-20", "name": "work", "text": "work"}[p.Kind]}
	}
	for _, value := range values {
		words = append(words, p.Name+"="+value)
	}
	return words
}

// namesFiles makes a call, checks that every row of the answer names a file, and returns the number of rows. A
// call that is refused has none.
func namesFiles(h *embedded.Vault, name string, words []string) int {
	h.T.Helper()
	status, out, _ := h.Run(append([]string{name}, words...)...)
	if status != answer.ExitDone {
		return 0
	}
	call := require.Value(allowlist.ParseWords(name, words))(h.T)
	if out == call.Reply().Empty+"\n" {
		return 0
	}
	rows := rowsOf(h.T, words, out)
	for _, row := range rows {
		named := slices.ContainsFunc(listedFiles, func(file string) bool { return strings.Contains(row, file) })
		// Before the notes with a tag comes how often it is used in them.
		named = named || slices.Contains(words, "verbose") && strings.HasPrefix(row, "#work\t")
		assert.That(h.T, named, "%s %v: the row %q names no file", name, words, row)
	}
	return len(rows)
}

// rowsOf splits an answer: JSON is a list of rows. Whole sections have an empty line between them, and other texts of
// notes below the line that names one are indented.
func rowsOf(t testing.TB, words []string, out string) (rows []string) {
	t.Helper()
	if strings.HasPrefix(out, "[") || strings.HasPrefix(out, "{") {
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		for _, row := range list {
			rows = append(rows, string(row))
		}
		return rows
	}
	between := "\n"
	if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "budget=") }) {
		between = "\n\n"
	}
	for row := range strings.SplitSeq(strings.TrimRight(out, "\n"), between) {
		switch {
		case row == "":
		case strings.HasPrefix(row, "  ") && len(rows) > 0:
			rows[len(rows)-1] += "\n" + row
		default:
			rows = append(rows, row)
		}
	}
	return rows
}

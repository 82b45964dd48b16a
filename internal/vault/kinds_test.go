package vault_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Every command on every kind of file: it is done, or there is a typed error; no file that the
// command does not serve has other bytes, and nothing of one that is no text is lost.
func TestEveryCommandOnEveryKindOfFile(t *testing.T) {
	const board, base,
		doc = `{"nodes":[{"id":"x","type":"text","text":"x","x":0,"y":0,"width":9,"height":9}],"edges":[]}`,
		"views:\n  - type: table\n    name: V\n", "%PDF-1.4\n\x00"
	files := map[string]string{
		"a.md": "# H\n- [ ] x\n", "C.canvas": board, "B.base": base, "p.png": embedded.OnePixel, "d.pdf": doc,
		"t.txt": "plain\n", "F/in.md": "in\n", ".hidden.md": "hidden\n", ".obsidian/app.json": "{}",
		"T.md": "t", "ro.md": "# H\nread only\n", "linked.md": "# H\nlinked\n", "no extension": "bytes\x00",
	}
	kinds := []string{"a.md", "C.canvas", "B.base", "p.png", "d.pdf", "t.txt", "F", "none.md", "none.png", ".hidden.md",
		".obsidian/app.json", "ro.md", "link.md", "no extension", "big.bin"}
	// What a command may do to the bytes of a file that it names.
	serves := map[string]string{
		"canvas:": "canvas", "base:": "base", "create": "md", "note:": "md", "append": "md", "prepend": "md",
		"property:": "md", "task": "md", "template:insert": "md", "heading:rename": "md", "history:restore": "md",
		"daily": "md",
	}
	bytesOfBig := strings.Repeat("\x00\x01large", 17<<20/7) // more than any command reads or writes of a file that is no note
	reading := map[string]string{"base:eval": "expr=1", "property:read": "name=p", "note:section": "heading=H", "canvas:connect": "from=x to=x"}
	tried, done := 0, 0
	type site struct { // a vault in which nothing was touched yet
		*embedded.Vault
		files map[string]fs.FileInfo
	}
	kept := map[bool]site{} // with the large file, and without
	for _, row := range vault.Table() {
		syntax, _ := row.Syntax()
		if p, ok := syntax.Param("path"); !ok || p.Hint != "path" || row.Name == "folder" {
			continue
		}
		var words []string
		for word := range strings.FieldsSeq(writingSamples[row.Name] + " " + reading[row.Name]) {
			if !strings.HasPrefix(word, "path=") && !strings.HasPrefix(word, "ref=") && !strings.HasPrefix(word, "name=n") {
				words = append(words, word)
			}
		}
		for _, kind := range kinds {
			if kind == "big.bin" && testing.Short() {
				continue
			}
			before, large := maps.Clone(files), kind == "big.bin"
			before["link.md"] = files["linked.md"]
			if large {
				before["big.bin"] = bytesOfBig
			}
			at, there := kept[large]
			if !there {
				at.Vault = embedded.New(t, files)
				if err := errors.Join(os.Link(at.File("linked.md"), at.File("link.md")), os.Chmod(at.File("ro.md"), 0o444)); err != nil {
					t.Skip(err)
				}
				if large {
					at.Put("big.bin", bytesOfBig)
				}
				at.files = tree(t, at.Dir)
			}
			h := at.Vault
			status, out, stderr := h.Run(slices.Concat([]string{"--facts", row.Name}, words, []string{"path=" + kind})...)
			_, _, failure := embedded.CutReport(stderr)
			assert.That(t, status == answer.ExitDone || failure.Code != "", "%s of %s: status %d, %.100q without a code", row.Name, kind, status, out)
			if tried++; status == answer.ExitDone {
				done++
			}
			all := tree(t, h.Dir)
			if maps.EqualFunc(all, at.files, func(a, b fs.FileInfo) bool {
				return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
			}) {
				kept[large] = at
				continue
			}
			delete(kept, large)
			now := map[string]bool{} // the bytes that are anywhere
			for path := range all {
				now[h.Get(path)] = true
			}
			for path, text := range before {
				served := ""
				for prefix, extension := range serves {
					if strings.HasPrefix(row.Name, prefix) {
						served = extension
					}
				}
				switch got := h.Get(path); {
				case got == text || now[text]: // as it was, or moved as it was
				case path == kind && served != "" && strings.HasSuffix(path, "."+served):
				case path == "T.md" || path == "a.md" && (row.Name == "note:merge" || row.Name == "base:set"):
				default:
					t.Errorf("%s of %s: %s became %.80q (%s)", row.Name, kind, path, got, out)
				}
			}
		}
	}
	t.Logf("%d calls, %d done", tried, done)
	assert.That(t, tried >= 500, "%d calls, of which %d are done", tried, done)
	assert.That(t, done >= 100, "%d calls, of which %d are done", tried, done)
}

// tree returns what is known of all files below a folder, by their paths.
func tree(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	all := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			all[filepath.ToSlash(rel)], err = d.Info()
		}
		return err
	})
	require.NoError(t, err)
	return all
}

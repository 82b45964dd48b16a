package vault

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// Text is added to notes alone, and a new canvas or base is one that the app can open.
func TestFilesThatAreNoNotes(t *testing.T) {
	files := map[string]string{"p.png": onePixel, "d.pdf": "%PDF-1.7", "b.canvas": "{}", "q.base": "views: []\n- [ ] x\n", "t.txt": "x", "T/Tpl.md": "text", ".obsidian/templates.json": `{"folder": "T"}`}
	for path, text := range files {
		if path == "T/Tpl.md" || path == ".obsidian/templates.json" {
			continue
		}
		h := build(t, files)
		serves := map[string]string{"png": "attachment:read", "pdf": "attachment:text", "canvas": "canvas:read", "base": "base:query", "txt": "attachment:text"}[path[strings.IndexByte(path, '.')+1:]]
		for _, call := range [][]string{
			{"append", "content=x"}, {"append", "content=x", "heading=y"}, {"prepend", "content=x"}, {"append", "content=x", "inline"}, {"template:insert", "name=Tpl"},
			{"note:replace", "old=x", "new=y"}, {"property:set", "name=x", "value=y"},
		} {
			h.expect(command.ExitFailed, "Error: File is not a markdown file.\n", append(call, "path="+path)...)
			if got := h.failure(append(call, "path="+path)...); got.Code != frame.CodeBadValue || !strings.HasPrefix(got.Hint, serves+" ") {
				t.Errorf("%s of %s: %+v", call[0], path, got)
			}
		}
		assert.Equal(t, h.get(path), text, "%s became", path)
	}
	h := build(t, map[string]string{"T/Tpl.md": "text", ".obsidian/templates.json": `{"folder": "T"}`})
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{command.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", "content=notjson"}},
		{command.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", `content={"nodes":[1]}`}},
		{command.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", "template=Tpl"}},
		{command.ExitFailed, "Error: The content of \"a.base\" is not a base: Query is an invalid format. It should be a YAML object.\n", []string{"create", "path=a.base", "content=text"}},
		{command.ExitFailed, "Error: File \"a.PNG\" is not a note: no text is written into it.\n", []string{"create", "path=a.PNG", "content=x"}},
		{command.ExitFailed, "Error: File \"a.pdf\" is not a note: no text is written into it.\n", []string{"create", "name=a.pdf"}},
		{command.ExitDone, "Created: v1.2 notes.md\n", []string{"create", "name=v1.2 notes"}},
		{command.ExitDone, "Created: a.canvas\n", []string{"create", "path=a.canvas", `content={"nodes":[],"more":1}`}},
		{command.ExitDone, "Created: b.canvas\n", []string{"create", "path=b.canvas"}},
		{command.ExitDone, "Created: a.base\n", []string{"create", "path=a.base", "content=views:\\n  - type: table\\n    name: T"}},
		{command.ExitFailed, "Error: The content of \"b.canvas\" is not a canvas in JSON.\n", []string{"create", "path=b.canvas", "content=[]", "overwrite"}},
	} {
		h.expect(c.status, c.want, c.args...)
	}
}

// Every command on every kind of file: it is done, or there is a typed error; no file that the
// command does not serve has other bytes, and nothing of one that is no text is lost.
func TestEveryCommandOnEveryKindOfFile(t *testing.T) {
	const board, base, doc = `{"nodes":[{"id":"x","type":"text","text":"x","x":0,"y":0,"width":9,"height":9}],"edges":[]}`, "views:\n  - type: table\n    name: V\n", "%PDF-1.4\n\x00"
	files := map[string]string{
		"a.md": "# H\n- [ ] x\n", "C.canvas": board, "B.base": base, "p.png": onePixel, "d.pdf": doc, "t.txt": "plain\n", "F/in.md": "in\n", ".hidden.md": "hidden\n", ".obsidian/app.json": "{}",
		"T.md": "t", "ro.md": "# H\nread only\n", "linked.md": "# H\nlinked\n", "no extension": "bytes\x00",
	}
	kinds := []string{"a.md", "C.canvas", "B.base", "p.png", "d.pdf", "t.txt", "F", "none.md", "none.png", ".hidden.md", ".obsidian/app.json", "ro.md", "link.md", "no extension", "big.bin"}
	// What a command may do to the bytes of a file that it names.
	serves := map[string]string{
		"canvas:": "canvas", "base:": "base", "create": "md", "note:": "md", "append": "md", "prepend": "md", "property:": "md", "task": "md", "template:insert": "md", "heading:rename": "md", "history:restore": "md", "daily": "md",
	}
	bytesOfBig := strings.Repeat("\x00\x01large", 30<<20/7)
	reading := map[string]string{"base:eval": "expr=1", "property:read": "name=p", "note:section": "heading=H", "canvas:connect": "from=x to=x"}
	tried, done := 0, 0
	type site struct { // a vault in which nothing was touched yet
		*testVault
		files map[string]fs.FileInfo
	}
	kept := map[bool]site{} // with the large file, and without
	for _, row := range table() {
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
				at.testVault = build(t, files)
				if err := errors.Join(os.Link(at.file("linked.md"), at.file("link.md")), os.Chmod(at.file("ro.md"), 0o444)); err != nil {
					t.Skip(err)
				}
				if large {
					at.put("big.bin", bytesOfBig)
				}
				at.files = tree(t, at.dir)
			}
			h := at.testVault
			status, out, stderr := h.run(slices.Concat([]string{"--facts", row.Name}, words, []string{"path=" + kind})...)
			_, _, failure := frame.CutReport(stderr)
			assert.That(t, status == command.ExitDone || failure.Code != "", "%s of %s: status %d, %.100q without a code", row.Name, kind, status, out)
			if tried++; status == command.ExitDone {
				done++
			}
			all := tree(t, h.dir)
			if maps.EqualFunc(all, at.files, func(a, b fs.FileInfo) bool {
				return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
			}) {
				kept[large] = at
				continue
			}
			delete(kept, large)
			now := map[string]bool{} // the bytes that are anywhere
			for path := range all {
				now[h.get(path)] = true
			}
			for path, text := range before {
				served := ""
				for prefix, extension := range serves {
					if strings.HasPrefix(row.Name, prefix) {
						served = extension
					}
				}
				switch got := h.get(path); {
				case got == text || now[text]: // as it was, or moved as it was
				case path == kind && served != "" && strings.HasSuffix(path, "."+served):
				case path == "T.md" || path == "a.md" && (row.Name == "note:merge" || row.Name == "base:set"):
				default:
					t.Errorf("%s of %s: %s became %.80q (%s)", row.Name, kind, path, got, out)
				}
			}
		}
	}
	if t.Logf("%d calls, %d done", tried, done); tried < 500 || done < 100 {
		t.Errorf("%d calls, of which %d are done", tried, done)
	}
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

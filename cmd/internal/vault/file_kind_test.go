package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
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
		if h.get(path) != text {
			t.Errorf("%s became %q", path, h.get(path))
		}
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

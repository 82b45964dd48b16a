package handlers_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestRead(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"plain.md": "text", "ends.md": "text\n", "two.md": "text\n\n", "empty.md": "",
		"odd.md": "\ufeffa\r\nb\xff\x00", "error.md": "Error: File \"x\" not found.\n",
		"board.canvas": "{}", ".obsidian/app.json": "{}", "sub/.trash/gone.md": "", "sub/a.md": "a",
	})
	h.Steps([]embedded.Turn{
		{"a line break is added where one is missing", "read path=plain.md", answer.ExitDone, "text\n"},
		{"none is added where one is", "read path=ends.md", answer.ExitDone, "text\n"},
		{"all of them stay", "read path=two.md", answer.ExitDone, "text\n\n"},
		{"an empty note is nothing", "read path=empty.md", answer.ExitDone, ""},
		{"bytes are left alone", "read path=odd.md", answer.ExitDone, "\ufeffa\r\nb\xff\x00\n"},
		{"a note may look like an error", "read path=error.md", answer.ExitDone, "Error: File \"x\" not found.\n"},
		{"other files can be read", "read path=board.canvas", answer.ExitDone, "{}\n"},
		{"by name", "read file=plain", answer.ExitDone, "text\n"},
		{"a path is exact", "read path=plain", answer.ExitFailed, "Error: File \"plain\" not found.\n"},
		{"a missing name is shown as typed", "read file=none", answer.ExitFailed, "Error: File \"none\" not found.\n"},
		{"a hidden folder", "read path=.obsidian/app.json", answer.ExitFailed, "Error: File \".obsidian/app.json\" not found.\n"},
		{"a hidden folder by name", "read file=app.json", answer.ExitFailed, "Error: File \"app.json\" not found.\n"},
		{"a hidden folder further down", "read path=sub/.trash/gone.md", answer.ExitFailed, "Error: File \"sub/.trash/gone.md\" not found.\n"},
		{"outside", "read path=../Home/plain.md", answer.ExitFailed, "Error: File \"../Home/plain.md\" not found.\n"},
		{"outside by name", "read file=../plain", answer.ExitFailed, "Error: File \"../plain\" not found.\n"},
		{"absolute", "read path=/plain.md", answer.ExitFailed, "Error: File \"/plain.md\" not found.\n"},
		{"a folder", "read path=sub", answer.ExitFailed, "Error: File \"sub\" not found.\n"},
		{"nothing named and nothing open", "read", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
	})
	if runtime.GOOS != "windows" { // where it does
		h.Expect(answer.ExitFailed, "Error: File \"Plain.MD\" not found.\n", "read", "path=Plain.MD") // a path knows no other case
	}
	h.Expect(answer.ExitFailed, "Error: File \"sub\\\\a.md\" not found.\n", "read", `path=sub\a.md`)
	h.Expect(answer.ExitFailed, "Error: File \"a\\nb\" not found.\n", "read", "path=a\nb")
}

func TestReadPassesLongNotesThrough(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<18) // 4 MiB
	embedded.New(t, map[string]string{"long.md": text}).Expect(answer.ExitDone, text, "read", "path=long.md")
}

func TestNotesBeyondTheLimitAreRefused(t *testing.T) {
	h := embedded.New(t, map[string]string{"big.md": "", "2026-11-21.md": ""})
	for _, path := range []string{"big.md", "2026-11-21.md"} {
		if err := os.Truncate(h.File(path), disk.MaxNote+1); err != nil {
			t.Skip("no sparse files here")
		}
	}
	h.Expect(answer.ExitFailed, "Error: \"big.md\" has 134217729 bytes: at most 134217728\n", "read", "path=big.md")
	h.Expect(answer.ExitFailed, "Error: \"2026-11-21.md\" has 134217729 bytes: at most 134217728\n", "daily:append", "content=x")
}

func TestFile(t *testing.T) {
	h := embedded.New(t, map[string]string{"sub/v1.2 notes.md": "12345"})
	modified := time.UnixMilli(1_700_000_000_123)
	require.NoError(t, os.Chtimes(h.File("sub/v1.2 notes.md"), modified, modified))
	status, got, _ := h.Run("file", "path=sub/v1.2 notes.md")
	lines := strings.Split(got, "\n")
	require.Equal(t, status, answer.ExitDone, "status %d, %q", status, got)
	require.Equal(t, len(lines), 7, "status %d, %q", status, got)
	require.Equal(t, lines[6], "", "status %d, %q", status, got)
	want := []string{"path\tsub/v1.2 notes.md", "name\tv1.2 notes", "extension\tmd", "size\t5", "", "modified\t1700000000123"}
	for i, line := range want {
		if line != "" && lines[i] != line {
			t.Errorf("line %d is %q, want %q", i, lines[i], line)
		}
	}
	created, found := strings.CutPrefix(lines[4], "created\t")
	if millis, err := strconv.ParseInt(created, 10, 64); !found || err != nil || millis < 1_600_000_000_000 {
		t.Errorf("created: %q", lines[4])
	}
	h.Expect(answer.ExitFailed, "Error: File \"x.md\" not found.\n", "file", "path=x.md")
}

func TestListings(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"b10.md": "", "b9.md": "", "_x.md": "", "Ä.md": "", "a.MD": "", "sub/z.md": "", "sub/deep/y.canvas": "", "sub2/x.md": "",
		".obsidian/app.json": "", "sub/.hidden.md": "", "LICENSE": "",
	})
	h.Steps([]embedded.Turn{
		{"files in the order of a reader", "files", answer.ExitDone, "_x.md\na.MD\nÄ.md\nb9.md\nb10.md\nLICENSE\nsub/deep/y.canvas\nsub/z.md\nsub2/x.md\n"},
		{"how many", "files total", answer.ExitDone, "9\n"},
		{"below a folder", "files folder=sub", answer.ExitDone, "sub/deep/y.canvas\nsub/z.md\n"},
		{"a slash at its end", "files folder=sub/", answer.ExitDone, "sub/deep/y.canvas\nsub/z.md\n"},
		{"the root", "files folder=/ total", answer.ExitDone, "9\n"},
		{"by extension", "files ext=canvas", answer.ExitDone, "sub/deep/y.canvas\n"},
		{"with a dot", "files ext=.md folder=sub", answer.ExitDone, "sub/z.md\n"},
		{"an extension knows its case", "files ext=MD", answer.ExitDone, "a.MD\n"},
		{"an unknown extension", "files ext=png", answer.ExitDone, ""},
		{"a missing folder", "files folder=none", answer.ExitFailed, "Error: Folder \"none\" not found.\n"},
		{"cannot be counted", "files folder=none total", answer.ExitFailed, "Error: Folder \"none\" not found.\n"},
		{"a file is no folder", "files folder=b9.md", answer.ExitFailed, "Error: Folder \"b9.md\" not found.\n"},
		{"a hidden folder is a missing one", "files folder=.obsidian", answer.ExitFailed, "Error: Folder \".obsidian\" not found.\n"},
		{"so is one outside", "files folder=..", answer.ExitFailed, "Error: Folder \"..\" not found.\n"},
		{"folders", "folders", answer.ExitDone, "sub\nsub/deep\nsub2\n"},
		{"folders below a folder", "folders folder=sub", answer.ExitDone, "sub/deep\n"},
		{"how many folders", "folders total", answer.ExitDone, "3\n"},
		{"folders below nothing", "folders folder=none", answer.ExitFailed, "Error: Folder \"none\" not found.\n"},
	})
}

func TestCounts(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "123", "sub/b.md": "45", "sub/deep/c.png": "6", ".obsidian/app.json": "{}"})
	h.Steps([]embedded.Turn{
		{"the vault's name", "vault info=name", answer.ExitDone, "Home\n"},
		{"the vault's files", "vault info=files", answer.ExitDone, "3\n"},
		{"the vault's folders", "vault info=folders", answer.ExitDone, "2\n"},
		{"the vault's size", "vault info=size", answer.ExitDone, "6\n"},
		{"a folder", "folder path=sub", answer.ExitDone, "path\tsub\nfiles\t2\nfolders\t1\nsize\t3\n"},
		{"the root", "folder path=/", answer.ExitDone, "path\t/\nfiles\t3\nfolders\t2\nsize\t6\n"},
		{"a folder's files", "folder path=sub/ info=files", answer.ExitDone, "2\n"},
		{"a folder's folders", "folder path=sub info=folders", answer.ExitDone, "1\n"},
		{"a folder's size", "folder path=sub/deep info=size", answer.ExitDone, "1\n"},
		{"a missing folder", "folder path=none", answer.ExitFailed, "Error: Folder \"none\" not found.\n"},
		{"a file", "folder path=a.md", answer.ExitFailed, "Error: Folder \"a.md\" not found.\n"},
		{"outside", "folder path=..", answer.ExitFailed, "Error: Folder \"..\" not found.\n"},
		{"no folder named", "folder", answer.ExitMisuse,
			"Error: Missing required parameter: path=<path>\nUsage: folder path=<path> [info=files|folders|size]\n"},
		{"an empty name", "folder path=", answer.ExitMisuse, "Error: Missing required parameter: path\n"},
	})
	h.Expect(answer.ExitDone, "name\tHome\npath\t"+h.Dir+"\nfiles\t3\nfolders\t2\nsize\t6\n", "vault")
	h.Expect(answer.ExitDone, h.Dir+"\n", "vault", "info=path")
}

func TestRandom(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "A", "sub/b.md": "B\n", "sub/c.png": "", "sub2/d.md": "", "empty/x.canvas": ""})
	seen := map[string]bool{}
	for range 100 {
		_, path, _ := h.Run("random")
		seen[path] = true
	}
	require.Equal(t, len(seen), 3, "random named %v", seen)
	require.That(t, seen["a.md\n"], "random named %v", seen)
	require.That(t, seen["sub/b.md\n"], "random named %v", seen)
	assert.That(t, seen["sub2/d.md\n"], "random named %v", seen)
	h.Steps([]embedded.Turn{
		{"below a folder", "random folder=sub newtab", answer.ExitDone, "sub/b.md\n"},
		{"path and text", "random:read folder=sub/", answer.ExitDone, "sub/b.md\nB\n"},
		{"an empty note", "random:read folder=sub2", answer.ExitDone, "sub2/d.md\n"},
		{"no notes", "random folder=empty", answer.ExitDone, "No markdown files found.\n"},
		{"no folder", "random:read folder=none", answer.ExitFailed, "Error: Folder \"none\" not found.\n"},
		{"no window", "random:read newtab", answer.ExitMisuse,
			"Error: Unknown parameter: newtab\nUsage: random:read [folder=<path>] [count=<n>] [min-age=<days>] [seed=<n>]\n"},
	})
}

func TestRandomAsksItsSource(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "", "b.md": "", "c.md": ""})
	v := require.Value(call.NewHost(func(string) string { return "" }, nil).Open(context.Background(), h.Dir, protocol.Request{}))(t)
	defer v.Disk.Close()
	asked := 0
	v.RandomIndex = func(n int) int { asked = n; return n - 1 }
	said := vault.Respond(v, protocol.Request{Command: "random"}, nil)
	assert.That(t, said.Text() != "", "asked for one of %d, said %q", asked, said.Text())
	assert.Equal(t, asked, 3, "asked for one of %d, said %q", asked, said.Text())
}

// Text is added to notes alone, and a new canvas or base is one that the app can open.
func TestFilesThatAreNoNotes(t *testing.T) {
	files := map[string]string{"p.png": embedded.OnePixel, "d.pdf": "%PDF-1.7", "b.canvas": "{}",
		"q.base": "views: []\n- [ ] x\n", "t.txt": "x", "T/Tpl.md": "text",
		".obsidian/templates.json": `{"folder": "T"}`}
	for path, text := range files {
		if path == "T/Tpl.md" || path == ".obsidian/templates.json" {
			continue
		}
		h := embedded.New(t, files)
		serves := map[string]string{"png": "attachment:read", "pdf": "attachment:text", "canvas": "canvas:read",
			"base": "base:query", "txt": "attachment:text"}[path[strings.IndexByte(path, '.')+1:]]
		for _, call := range [][]string{
			{"append", "content=x"}, {"append", "content=x", "heading=y"}, {"prepend", "content=x"},
			{"append", "content=x", "inline"}, {"template:insert", "name=Tpl"},
			{"note:replace", "old=x", "new=y"}, {"property:set", "name=x", "value=y"},
		} {
			h.Expect(answer.ExitFailed, "Error: File is not a markdown file.\n", append(call, "path="+path)...)
			if got := h.Failure(append(call, "path="+path)...); got.Code != protocol.CodeBadValue || !strings.HasPrefix(got.Hint, serves+" ") {
				t.Errorf("%s of %s: %+v", call[0], path, got)
			}
		}
		assert.Equal(t, h.Get(path), text, "%s became", path)
	}
	h := embedded.New(t, map[string]string{"T/Tpl.md": "text", ".obsidian/templates.json": `{"folder": "T"}`})
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{answer.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", "content=notjson"}},
		{answer.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", `content={"nodes":[1]}`}},
		{answer.ExitFailed, "Error: The content of \"a.canvas\" is not a canvas in JSON.\n", []string{"create", "path=a.canvas", "template=Tpl"}},
		{answer.ExitFailed,
			"Error: The content of \"a.base\" is not a base: Query is an invalid format. It should be a YAML object.\n",
			[]string{"create", "path=a.base", "content=text"}},
		{answer.ExitFailed, "Error: File \"a.PNG\" is not a note: no text is written into it.\n", []string{"create", "path=a.PNG", "content=x"}},
		{answer.ExitFailed, "Error: File \"a.pdf\" is not a note: no text is written into it.\n", []string{"create", "name=a.pdf"}},
		{answer.ExitDone, "Created: v1.2 notes.md\n", []string{"create", "name=v1.2 notes"}},
		{answer.ExitDone, "Created: a.canvas\n", []string{"create", "path=a.canvas", `content={"nodes":[],"more":1}`}},
		{answer.ExitDone, "Created: b.canvas\n", []string{"create", "path=b.canvas"}},
		{answer.ExitDone, "Created: a.base\n", []string{"create", "path=a.base", "content=views:\\n  - type: table\\n    name: T"}},
		{answer.ExitFailed, "Error: The content of \"b.canvas\" is not a canvas in JSON.\n", []string{"create", "path=b.canvas", "content=[]", "overwrite"}},
	} {
		h.Expect(c.status, c.want, c.args...)
	}
}

package vault

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/folding"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const composed, decomposed = "W\u00f6rk", "Wo\u0308rk" // one name in two normal forms

// buildFolding is build on a file system that takes spellings for one another.
func buildFolding(t testing.TB, kind folding.Kind, files map[string]string) *testVault {
	t.Helper()
	h := build(t, nil)
	h.dir = filepath.Join(folding.Dir(t, kind), "Home")
	require.NoError(t, os.Mkdir(h.dir, 0o755))
	for path, text := range files {
		h.put(path, text)
	}
	return h
}

// leads reports whether this file system takes a path for that of a file.
func (h *testVault) leads(path string) bool {
	_, err := os.Stat(h.file(path))
	return err == nil
}

// names returns what a folder of the vault lists.
func (h *testVault) names(folder string) (names []string) {
	h.t.Helper()
	for _, e := range require.Value(os.ReadDir(h.file(folder)))(h.t) {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// A short name leads to nothing that rules, the ignore file or the ban on hidden
// folders keep.
func TestShortNamesPassNothing(t *testing.T) {
	for what, hide := range map[string]func(h *testVault){
		"rules":       func(h *testVault) { h.env[call.AccessVariable] = `[{"/":"rwd","My private":"none"}]` },
		"ignore file": func(h *testVault) { h.put(".vaultwicketignore", "My private/\n") },
	} {
		t.Run(what, func(t *testing.T) {
			h := buildFolding(t, folding.NTFS, map[string]string{"My private/Secret note.md": "secret", "Public folder/A note.md": "public"})
			hide(h)
			private := folding.Short(t, h.dir, "My private")
			secret := folding.Short(t, h.file("My private"), "Secret note.md")
			for _, path := range []string{private + "/" + secret, private + "/new.md", strings.ToLower(private) + "/Secret note.md", "MY PRIVATE/new.md"} {
				h.passesNothing(t, path)
				folder, _, _ := strings.Cut(path, "/")
				h.expect(answer.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "files", "folder="+folder)
				h.expect(answer.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "search", "query=secret", "path="+folder)
			}
			if got := h.names("My private"); !slices.Equal(got, []string{"Secret note.md"}) || h.get("My private/Secret note.md") != "secret" {
				t.Errorf("the hidden folder has %q, and the note %q", got, h.get("My private/Secret note.md"))
			}
		})
	}
}

func (h *testVault) passesNothing(t *testing.T, path string) {
	t.Helper()
	for _, args := range [][]string{
		{"read", "path=" + path}, {"file", "path=" + path}, {"outline", "path=" + path}, {"append", "path=" + path, "content=x"},
		{"prepend", "path=" + path, "content=x"}, {"property:set", "path=" + path, "name=a", "value=b"},
		{"create", "path=" + path, "content=x", "overwrite"}, {"delete", "path=" + path, "permanent"}, {"delete", "path=" + path},
		{"move", "path=" + path, "to=Stolen.md"}, {"rename", "path=" + path, "name=Stolen"}, {"move", "path=Public folder/A note.md", "to=" + path},
		{"note:replace", "path=" + path, "old=secret", "new=x"}, {"history", "path=" + path}, {"bookmark", "file=" + path},
	} {
		status, out, stderr := h.run(args...)
		assert.That(t, status != answer.ExitDone && !strings.Contains(strings.ReplaceAll(out+stderr, path, ""), "ecret"), "%q: status %d, %q, %q", args, status, out, stderr)
	}
}

// Neither does that of a folder that begins with a dot.
func TestShortNamesOfHiddenFolders(t *testing.T) {
	h := buildFolding(t, folding.NTFS, map[string]string{".obsidian/app.json": `{"secret":1}`, "A note.md": "text"})
	hidden := folding.Short(t, h.dir, ".obsidian")
	for _, note := range []string{"app.json", "new.md"} {
		h.passesNothing(t, hidden+"/"+note)
	}
	assert.EqualSlices(t, h.names(".obsidian"), []string{"app.json"}, "the settings of the app are")
}

// Whatever a call writes, the note keeps its name, and the answer gives it.
func TestACallInAnotherSpelling(t *testing.T) {
	for kind, listed := range map[folding.Kind]string{folding.APFS: composed, folding.HFS: decomposed} {
		t.Run(string(kind), func(t *testing.T) {
			h := buildFolding(t, kind, map[string]string{"Pub/" + composed + ".md": "- [ ] task\n", "Daily/x.md": "", ".obsidian/daily-notes.json": `{"folder":"DAILY"}`})
			name := h.names("Pub")[0]
			if name != listed+".md" {
				t.Skipf("this file system lists %+q", name)
			}
			stored := "Pub/" + name
			for _, asked := range []string{"PUB/" + composed + ".md", "pub/" + strings.ToUpper(decomposed) + ".MD", "Pub/" + decomposed + ".md"} {
				if !h.leads(asked) {
					continue // Windows tells normal forms apart
				}
				for _, args := range [][]string{
					{"read", "path=" + asked}, {"read", "file=" + strings.TrimSuffix(strings.TrimSuffix(asked, ".md"), ".MD")}, {"append", "path=" + asked, "content=x"},
					{"prepend", "path=" + asked, "content=y"}, {"property:set", "path=" + asked, "name=a", "value=b" + asked[:1]}, {"task", "path=" + asked, "line=-1", "done"},
					{"note:replace", "path=" + asked, "old=- [ ] task", "new=- [ ] tasks"}, {"create", "path=" + asked, "content=- [ ] task\n", "overwrite"},
					{"file", "path=" + asked}, {"history:restore", "path=" + asked, "version=1"},
				} {
					if slices.Contains(args, "line=-1") {
						args = []string{"tasks", "path=" + asked}
					}
					status, out, facts := h.run(append([]string{"--facts"}, args...)...)
					if status != answer.ExitDone || args[0] != "tasks" && !strings.Contains(facts, `"path":"`+stored+`"`) {
						t.Errorf("%q: status %d, %q, %q", args, status, out, facts)
					}
					got := h.names("Pub")
					require.That(t, slices.Equal(got, []string{name}), "%q: the folder has %+q", args, got)
				}
			}
			h.expect(answer.ExitDone, stored+"\n", "history:list")
			h.expect(answer.ExitDone, stored+"\n", "files", "folder=PUB")
			h.expect(answer.ExitDone, stored+"\n", "search", "query=task", "path=PUB")
			h.expect(answer.ExitDone, stored+"\n", "search", "query=path:"+strings.ToLower(decomposed))
			h.expect(answer.ExitDone, "Daily/2026-11-21.md\n", "daily:path")
			h.expect(answer.ExitDone, "Added to: Daily/2026-11-21.md\n", "daily:append", "content=x")
			assert.EqualSlices(t, h.names("Daily"), []string{"2026-11-21.md", "x.md"}, "the daily notes are")
			h.expect(answer.ExitDone, "Created: Pub/New.md\n", "create", "path=pUB/New.md", "content=x")
			h.expect(answer.ExitFailed, "Error: File \"Pub/New.md\" already exists.\n", "create", "path=pub/new.md", "content=x")
		})
	}
}

func TestAMoveInAnotherSpelling(t *testing.T) {
	h := buildFolding(t, folding.APFS, map[string]string{
		"Pub/A.md": "a", "Pub/Links.md": "[[Pub/A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`, "Sub/x.md": "", "Sub/y.md": "",
	})
	h.expect(answer.ExitDone, "Moved: Pub/A.md -> Sub/moved.md\n", "move", "path=PUB/a.md", "to=SUB/moved.md")
	assert.Equal(t, h.get("Pub/Links.md"), "[[moved]]", "the link became")
	status, out, _ := h.run("undo")
	if status != answer.ExitDone || !strings.HasSuffix(out, "move Pub/A.md and 1 more\n") || !slices.Equal(h.names("Pub"), []string{"A.md", "Links.md"}) {
		t.Errorf("undo: %d, %q, %q", status, out, h.names("Pub"))
	}
	h.expect(answer.ExitDone, "Renamed: Pub/A.md -> Pub/B.md\n", "rename", "path=pub/A.MD", "name=B")
	h.expect(answer.ExitFailed, "Error: Destination file already exists!\n", "move", "path=pub/b.md", "to=PUB/links.md")
	h.expect(answer.ExitFailed, "Error: File \"PUB/B.md\" already exists. This system takes it for \"Pub/B.md\", and a move does not rename folders.\n", "move", "path=Pub/B.md", "to=PUB/B.md")
	assert.EqualSlices(t, h.names("."), []string{".obsidian", "Pub", "Sub"}, "the folders are")
	h.expect(answer.ExitDone, "Moved to trash: Sub/x.md\n", "delete", "path=sub/X.md")
	assert.EqualSlices(t, h.names(".trash"), []string{"x.md"}, "the trash has")
	if status, out, _ = h.run("undo"); status != answer.ExitDone || !slices.Equal(h.names("Sub"), []string{"x.md", "y.md"}) {
		t.Errorf("undo of a deletion: %d, %q, %q", status, out, h.names("Sub"))
	}
}

func TestAnotherSpellingIsANewName(t *testing.T) {
	h := buildFolding(t, folding.APFS, map[string]string{"Pub/A.md": "a", "Pub/Links.md": "[[A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`})
	if err := os.Rename(h.file("Pub/A.md"), h.file("Pub/a.md")); err != nil || !slices.Contains(h.names("Pub"), "a.md") {
		t.Skipf("the case of a name does not change here by rename (%v): %q", err, h.names("Pub"))
	}
	h.expect(answer.ExitDone, "Renamed: Pub/a.md -> Pub/A.md\n", "rename", "path=PUB/A.md", "name=A")
	assert.EqualSlices(t, h.names("Pub"), []string{"A.md", "Links.md"}, "renamed")
	if status, out, _ := h.run("undo"); status != answer.ExitDone || !slices.Equal(h.names("Pub"), []string{"Links.md", "a.md"}) {
		t.Errorf("undo: %d, %q, %q", status, out, h.names("Pub"))
	}
}

// A file system may report success and keep the name: then the rename has failed.
func TestASpellingThatIsKeptIsNoSuccess(t *testing.T) {
	h := buildFolding(t, folding.APFS, map[string]string{"Pub/A.md": "a", "Pub/Links.md": "[[A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`})
	if err := os.Rename(h.file("Pub/A.md"), h.file("Pub/a.md")); err != nil || !slices.Contains(h.names("Pub"), "A.md") {
		t.Skipf("the case of a name changes here (%v): %q", err, h.names("Pub"))
	}
	h.expect(answer.ExitFailed, "Error: File \"Pub/a.md\" cannot be written: \"A.md\" is not renamed: the file system has kept the name and takes \"a.md\" for the same.\n", "rename", "path=Pub/A.md", "name=a")
	got, links := h.names("Pub"), h.get("Pub/Links.md")
	assert.That(t, slices.Equal(got, []string{"A.md", "Links.md"}) && links == "[[A]]", "the folder has %q, and the link is %q", got, links)
	status, out, _ := h.run("undo")
	assert.That(t, status != answer.ExitDone, "undo: %q", out)
}

// A grant counts for the folder that it means, in whichever form it is written.
func TestAGrantInAnotherSpelling(t *testing.T) {
	h := buildFolding(t, folding.HFS, map[string]string{composed + "/a.md": "a"})
	stored := h.names(".")[0]
	for _, rule := range []string{composed, decomposed, strings.ToUpper(composed), "w\u00f6RK"} {
		if !h.leads(rule) || !h.leads(decomposed) {
			continue // Windows tells normal forms apart
		}
		h.env[call.AccessVariable] = `[{"` + rule + `":"rw"}]`
		h.expect(answer.ExitDone, "Appended to: "+stored+"/a.md\n", "append", "path="+composed+"/a.md", "content=x")
		h.expect(answer.ExitFailed, "Error: Access denied: \""+stored+"/a.md\" may not be deleted.\n", "delete", "path="+decomposed+"/a.md")
	}
}

// Every way to write the vault's folder leads to one journal.
func TestOneJournalForEverySpellingOfTheVault(t *testing.T) {
	h := buildFolding(t, folding.APFS, map[string]string{"A.md": "one"})
	h.expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "content=two")
	h.dir = filepath.Join(filepath.Dir(h.dir), "HOME")
	h.expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "content=three")
	h.dir = filepath.Join(filepath.Dir(h.dir), "home")
	for _, want := range []string{"one\ntwo", "one"} {
		status, out, _ := h.run("undo")
		assert.That(t, status == answer.ExitDone && h.get("A.md") == want, "undo: %d, %q, the note is %q, want %q", status, out, h.get("A.md"), want)
	}
}

// A search by path finds a name in either normal form, on every file system.
func TestSearchByPathInEveryForm(t *testing.T) {
	for _, stored := range []string{composed, decomposed} {
		h := build(t, map[string]string{stored + ".md": "x"})
		for _, asked := range []string{composed, decomposed} {
			for _, query := range []string{"path:" + asked, "file:" + asked, `path:"` + asked + `"`} {
				h.expect(answer.ExitDone, stored+".md\n", "search", "query="+query)
			}
		}
	}
}

func TestATaskIsFoundByItsWords(t *testing.T) {
	h := build(t, map[string]string{
		"A.md": "---\narea: home\n---\n- [ ] buy milk\n- [x] call Ann\n- [ ] call Bob\n", "Work/B.md": "---\narea: [work, home]\n---\n- [ ] call Ann about milk\n", "Work/C.md": "- [x] old milk\n",
	})
	for _, test := range []struct {
		call, want string
		status     int
	}{
		{"task text=BOB", "status\t \ntext\t- [ ] call Bob\nfile\tA.md\nline\t6\n", answer.ExitDone},
		{"task|text=ann call|done", "status\tx\ntext\t- [x] call Ann about milk\nfile\tWork/B.md\nline\t4\n", answer.ExitDone}, // an open one goes before
		{"task|text=call ann|path=A.md", "status\tx\ntext\t- [x] call Ann\nfile\tA.md\nline\t5\n", answer.ExitDone},
		{"task text=call", "status\t \ntext\t- [ ] call Bob\nfile\tA.md\nline\t6\n", answer.ExitDone},
		{"task text=milk|path=Work/C.md|todo", "status\t \ntext\t- [ ] old milk\nfile\tWork/C.md\nline\t1\n", answer.ExitDone},
		{"task text=milk", "Error: Text \"milk\" is in 2 tasks: A.md:4 \"- [ ] buy milk\", Work/C.md:1 \"- [ ] old milk\".\n", answer.ExitFailed},
		{"task text=nothing", "Error: No task with the text \"nothing\" found.\n", answer.ExitFailed},
		{"task text=x|ref=A.md:4", "Error: Use text=<words>, ref=<path:line> or line=<n>, not several.\n", answer.ExitMisuse},
		{"task:reschedule|text=buy|due=2026-12-01", "Rescheduled: A.md:4\n- [ ] buy milk 📅 2026-12-01\n", answer.ExitDone},
		{"tasks text=ann", "A.md:5: - [x] call Ann\nWork/B.md:4: - [x] call Ann about milk\n", answer.ExitDone},
		{"tasks|text=call|group=folder", "==> / <==\nA.md:5: - [x] call Ann\nA.md:6: - [ ] call Bob\n==> Work <==\nWork/B.md:4: - [x] call Ann about milk\n", answer.ExitDone},
		{"tasks|text=milk|group=property:area", "==> home <==\nA.md:4: - [ ] buy milk 📅 2026-12-01\nWork/B.md:4: - [x] call Ann about milk\n==> work <==\nWork/B.md:4: - [x] call Ann about milk\n==> (no value) <==\nWork/C.md:1: - [ ] old milk\n", answer.ExitDone},
		{"tasks|text=bob|group=file", "==> A.md <==\nA.md:6: - [ ] call Bob\n", answer.ExitDone},
	} {
		call := strings.Split(test.call, "|")
		h.expect(test.status, test.want, append(strings.SplitN(call[0], " ", 2), call[1:]...)...)
	}
}

func TestItemsOfAList(t *testing.T) {
	h := build(t, map[string]string{
		"A.md": "---\nwho: [Ann, 7] # c\ntags: one\nstatus: open\n---\ntext\n", "F/B.md": "text", "F/C.md": "---\nwho:\n  - Bob\n---\n",
	})
	for _, test := range []struct {
		call, said string
		status     int
		note, want string
	}{
		{`property:add|path=A.md|name=who|value=Bob, "Smith, Joe", Ann`, "Added to who: Bob, \"Smith, Joe\", Ann\n", answer.ExitDone, "A.md", "---\nwho: # c\n  - Ann\n  - 7\n  - Bob\n  - Smith, Joe\ntags: one\nstatus: open\n---\ntext\n"},
		{`property:remove-item|path=A.md|name=who|value="Smith, Joe",7`, "Removed from who: \"Smith, Joe\",7\n", answer.ExitDone, "A.md", "---\nwho: # c\n  - Ann\n  - Bob\ntags: one\nstatus: open\n---\ntext\n"},
		{`property:add|path=A.md|name=tags|value=two`, "Added to tags: two\n", answer.ExitDone, "A.md", "---\nwho: # c\n  - Ann\n  - Bob\ntags:\n  - one\n  - two\nstatus: open\n---\ntext\n"},
		{`property:add|path=A.md|name=status|value=two`, "Error: The property \"status\" of \"A.md\" is not a list.\n", answer.ExitFailed, "A.md", ""},
		{`property:add|folder=F|name=who|value=Eve`, "Added to who: Eve in 2 notes\n", answer.ExitDone, "F/B.md", "---\nwho:\n  - Eve\n---\ntext"},
		{`property:remove-item|folder=F|name=who|value=Eve`, "Removed from who: Eve in 2 notes\n", answer.ExitDone, "F/C.md", "---\nwho:\n  - Bob\n---\n"},
		{`property:set|path=A.md|name=who|value="A, B", C`, "Set who: \"A, B\", C\n", answer.ExitDone, "A.md", "---\nwho: # c\n  - A, B\n  - C\ntags:\n  - one\n  - two\nstatus: open\n---\ntext\n"},
		{`property:set|path=A.md|name=who|value=A|type=text`, "Set who: A\n", answer.ExitDone, "A.md", "---\nwho: A # c\ntags:\n  - one\n  - two\nstatus: open\n---\ntext\n"},
		{`read|path=A.md|frontmatter=false`, "text\n", answer.ExitDone, "A.md", ""},
		{`read|path=F/C.md|frontmatter=true`, "---\nwho:\n  - Bob\n---\n", answer.ExitDone, "A.md", ""},
	} {
		h.expect(test.status, test.said, strings.Split(test.call, "|")...)
		got := h.get(test.note)
		assert.That(t, test.want == "" || got == test.want, "%s: %s is %q, want %q", test.call, test.note, got, test.want)
	}
}

package call_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const composed, decomposed = "W\u00f6rk", "Wo\u0308rk" // one name in two normal forms

// buildFolding is build on a file system that takes spellings for one another.
func buildFolding(t testing.TB, kind testenv.FileSystem, files map[string]string) *embedded.Vault {
	t.Helper()
	h := embedded.New(t, nil)
	h.Dir = filepath.Join(testenv.FoldingDir(t, kind), "Home")
	require.NoError(t, os.Mkdir(h.Dir, 0o755))
	for path, text := range files {
		h.Put(path, text)
	}
	return h
}

// leads reports whether this file system takes a path for that of a file.
func leads(h *embedded.Vault, path string) bool {
	_, err := os.Stat(h.File(path))
	return err == nil
}

// names returns what a folder of the vault lists.
func names(h *embedded.Vault, folder string) (names []string) {
	h.T.Helper()
	for _, e := range require.Value(os.ReadDir(h.File(folder)))(h.T) {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// A short name leads to nothing that rules, the ignore file or the ban on hidden
// folders keep.
func TestShortNamesPassNothing(t *testing.T) {
	for what, hide := range map[string]func(h *embedded.Vault){
		"rules":       func(h *embedded.Vault) { h.Env[call.AccessVariable] = `[{"/":"rwd","My private":"none"}]` },
		"ignore file": func(h *embedded.Vault) { h.Put(".vaultwicketignore", "My private/\n") },
	} {
		t.Run(what, func(t *testing.T) {
			h := buildFolding(t, testenv.NTFS, map[string]string{"My private/Secret note.md": "secret", "Public folder/A note.md": "public"})
			hide(h)
			private := testenv.ShortNameOf(t, h.Dir, "My private")
			secret := testenv.ShortNameOf(t, h.File("My private"), "Secret note.md")
			for _, path := range []string{private + "/" + secret, private + "/new.md", strings.ToLower(private) + "/Secret note.md", "MY PRIVATE/new.md"} {
				passesNothing(h, t, path)
				folder, _, _ := strings.Cut(path, "/")
				h.Expect(answer.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "files", "folder="+folder)
				h.Expect(answer.ExitFailed, "Error: Folder \""+folder+"\" not found.\n", "search", "query=secret", "path="+folder)
			}
			if got := names(h, "My private"); !slices.Equal(got, []string{"Secret note.md"}) || h.Get("My private/Secret note.md") != "secret" {
				t.Errorf("the hidden folder has %q, and the note %q", got, h.Get("My private/Secret note.md"))
			}
		})
	}
}

func passesNothing(h *embedded.Vault, t *testing.T, path string) {
	t.Helper()
	for _, args := range [][]string{
		{"read", "path=" + path}, {"file", "path=" + path}, {"outline", "path=" + path}, {"append", "path=" + path, "content=x"},
		{"prepend", "path=" + path, "content=x"}, {"property:set", "path=" + path, "name=a", "value=b"},
		{"create", "path=" + path, "content=x", "overwrite"}, {"delete", "path=" + path, "permanent"}, {"delete", "path=" + path},
		{"move", "path=" + path, "to=Stolen.md"}, {"rename", "path=" + path, "name=Stolen"}, {"move", "path=Public folder/A note.md", "to=" + path},
		{"note:replace", "path=" + path, "old=secret", "new=x"}, {"history", "path=" + path}, {"bookmark", "file=" + path},
	} {
		status, out, stderr := h.Run(args...)
		assert.That(t, status != answer.ExitDone, "%q: status %d, %q, %q", args, status, out, stderr)
		assert.That(t, !strings.Contains(strings.ReplaceAll(out+stderr, path, ""), "ecret"), "%q: status %d, %q, %q", args, status, out, stderr)
	}
}

// Neither does that of a folder that begins with a dot.
func TestShortNamesOfHiddenFolders(t *testing.T) {
	h := buildFolding(t, testenv.NTFS, map[string]string{".obsidian/app.json": `{"secret":1}`, "A note.md": "text"})
	hidden := testenv.ShortNameOf(t, h.Dir, ".obsidian")
	for _, note := range []string{"app.json", "new.md"} {
		passesNothing(h, t, hidden+"/"+note)
	}
	assert.EqualSlices(t, names(h, ".obsidian"), []string{"app.json"}, "the settings of the app are")
}

// Whatever a call writes, the note keeps its name, and the answer gives it.
func TestACallInAnotherSpelling(t *testing.T) {
	for kind, listed := range map[testenv.FileSystem]string{testenv.APFS: composed, testenv.HFS: decomposed} {
		t.Run(string(kind), func(t *testing.T) {
			h := buildFolding(t, kind, map[string]string{"Pub/" + composed + ".md": "- [ ] task\n", "Daily/x.md": "",
				".obsidian/daily-notes.json": `{"folder":"DAILY"}`})
			name := names(h, "Pub")[0]
			if name != listed+".md" {
				t.Skipf("this file system lists %+q", name)
			}
			stored := "Pub/" + name
			for _, asked := range []string{"PUB/" + composed + ".md", "pub/" + strings.ToUpper(decomposed) + ".MD", "Pub/" + decomposed + ".md"} {
				if !leads(h, asked) {
					continue // Windows tells normal forms apart
				}
				for _, args := range [][]string{
					{"read", "path=" + asked}, {"read",
						"file=" + strings.TrimSuffix(strings.TrimSuffix(asked, ".md"), ".MD")},
					{"append", "path=" + asked, "content=x"},
					{"prepend", "path=" + asked, "content=y"},
					{"property:set", "path=" + asked, "name=a", "value=b" + asked[:1]},
					{"task", "path=" + asked, "line=-1", "done"},
					{"note:replace", "path=" + asked, "old=- [ ] task", "new=- [ ] tasks"}, {"create", "path=" + asked, "content=- [ ] task\n", "overwrite"},
					{"file", "path=" + asked}, {"history:restore", "path=" + asked, "version=1"},
				} {
					if slices.Contains(args, "line=-1") {
						args = []string{"tasks", "path=" + asked}
					}
					status, out, facts := h.Run(append([]string{"--facts"}, args...)...)
					if status != answer.ExitDone || args[0] != "tasks" && !strings.Contains(facts, `"path":"`+stored+`"`) {
						t.Errorf("%q: status %d, %q, %q", args, status, out, facts)
					}
					got := names(h, "Pub")
					require.That(t, slices.Equal(got, []string{name}), "%q: the folder has %+q", args, got)
				}
			}
			h.Expect(answer.ExitDone, stored+"\n", "history:list")
			h.Expect(answer.ExitDone, stored+"\n", "files", "folder=PUB")
			h.Expect(answer.ExitDone, stored+"\n", "search", "query=task", "path=PUB")
			h.Expect(answer.ExitDone, stored+"\n", "search", "query=path:"+strings.ToLower(decomposed))
			h.Expect(answer.ExitDone, "Daily/2026-11-21.md\n", "daily:path")
			h.Expect(answer.ExitDone, "Added to: Daily/2026-11-21.md\n", "daily:append", "content=x")
			assert.EqualSlices(t, names(h, "Daily"), []string{"2026-11-21.md", "x.md"}, "the daily notes are")
			h.Expect(answer.ExitDone, "Created: Pub/New.md\n", "create", "path=pUB/New.md", "content=x")
			h.Expect(answer.ExitFailed, "Error: File \"Pub/New.md\" already exists.\n", "create", "path=pub/new.md", "content=x")
		})
	}
}

func TestAMoveInAnotherSpelling(t *testing.T) {
	h := buildFolding(t, testenv.APFS, map[string]string{
		"Pub/A.md": "a", "Pub/Links.md": "[[Pub/A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`, "Sub/x.md": "", "Sub/y.md": "",
	})
	h.Expect(answer.ExitDone, "Moved: Pub/A.md -> Sub/moved.md\n", "move", "path=PUB/a.md", "to=SUB/moved.md")
	assert.Equal(t, h.Get("Pub/Links.md"), "[[moved]]", "the link became")
	status, out, _ := h.Run("undo")
	if status != answer.ExitDone || !strings.HasSuffix(out, "move Pub/A.md and 1 more\n") || !slices.Equal(names(h, "Pub"), []string{"A.md", "Links.md"}) {
		t.Errorf("undo: %d, %q, %q", status, out, names(h, "Pub"))
	}
	h.Expect(answer.ExitDone, "Renamed: Pub/A.md -> Pub/B.md\n", "rename", "path=pub/A.MD", "name=B")
	h.Expect(answer.ExitFailed, "Error: Destination file already exists!\n", "move", "path=pub/b.md", "to=PUB/links.md")
	h.Expect(answer.ExitFailed,
		"Error: File \"PUB/B.md\" already exists. This system takes it for \"Pub/B.md\", and a move does not rename folders.\n",
		"move", "path=Pub/B.md", "to=PUB/B.md")
	assert.EqualSlices(t, names(h, "."), []string{".obsidian", "Pub", "Sub"}, "the folders are")
	h.Expect(answer.ExitDone, "Moved to trash: Sub/x.md\n", "delete", "path=sub/X.md")
	assert.EqualSlices(t, names(h, ".trash"), []string{"x.md"}, "the trash has")
	if status, out, _ = h.Run("undo"); status != answer.ExitDone || !slices.Equal(names(h, "Sub"), []string{"x.md", "y.md"}) {
		t.Errorf("undo of a deletion: %d, %q, %q", status, out, names(h, "Sub"))
	}
}

func TestAnotherSpellingIsANewName(t *testing.T) {
	h := buildFolding(t, testenv.APFS, map[string]string{"Pub/A.md": "a", "Pub/Links.md": "[[A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`})
	if err := os.Rename(h.File("Pub/A.md"), h.File("Pub/a.md")); err != nil || !slices.Contains(names(h, "Pub"), "a.md") {
		t.Skipf("the case of a name does not change here by rename (%v): %q", err, names(h, "Pub"))
	}
	h.Expect(answer.ExitDone, "Renamed: Pub/a.md -> Pub/A.md\n", "rename", "path=PUB/A.md", "name=A")
	assert.EqualSlices(t, names(h, "Pub"), []string{"A.md", "Links.md"}, "renamed")
	if status, out, _ := h.Run("undo"); status != answer.ExitDone || !slices.Equal(names(h, "Pub"), []string{"Links.md", "a.md"}) {
		t.Errorf("undo: %d, %q, %q", status, out, names(h, "Pub"))
	}
}

// A file system may report success and keep the name: then the rename has failed.
func TestASpellingThatIsKeptIsNoSuccess(t *testing.T) {
	h := buildFolding(t, testenv.APFS, map[string]string{"Pub/A.md": "a", "Pub/Links.md": "[[A]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`})
	if err := os.Rename(h.File("Pub/A.md"), h.File("Pub/a.md")); err != nil || !slices.Contains(names(h, "Pub"), "A.md") {
		t.Skipf("the case of a name changes here (%v): %q", err, names(h, "Pub"))
	}
	h.Expect(answer.ExitFailed,
		"Error: File \"Pub/a.md\" cannot be written: \"A.md\" is not renamed: the file system has kept the name and takes \"a.md\" for the same.\n",
		"rename", "path=Pub/A.md", "name=a")
	got, links := names(h, "Pub"), h.Get("Pub/Links.md")
	assert.EqualSlices(t, got, []string{"A.md", "Links.md"}, "the folder has %q, and the link is %q", got, links)
	assert.Equal(t, links, "[[A]]", "the folder has %q, and the link is %q", got, links)
	status, out, _ := h.Run("undo")
	assert.That(t, status != answer.ExitDone, "undo: %q", out)
}

// A grant counts for the folder that it means, in whichever form it is written.
func TestAGrantInAnotherSpelling(t *testing.T) {
	h := buildFolding(t, testenv.HFS, map[string]string{composed + "/a.md": "a"})
	stored := names(h, ".")[0]
	for _, rule := range []string{composed, decomposed, strings.ToUpper(composed), "w\u00f6RK"} {
		if !leads(h, rule) || !leads(h, decomposed) {
			continue // Windows tells normal forms apart
		}
		h.Env[call.AccessVariable] = `[{"` + rule + `":"rw"}]`
		h.Expect(answer.ExitDone, "Appended to: "+stored+"/a.md\n", "append", "path="+composed+"/a.md", "content=x")
		h.Expect(answer.ExitFailed, "Error: Access denied: \""+stored+"/a.md\" may not be deleted.\n", "delete", "path="+decomposed+"/a.md")
	}
}

// Every way to write the vault's folder leads to one journal.
func TestOneJournalForEverySpellingOfTheVault(t *testing.T) {
	h := buildFolding(t, testenv.APFS, map[string]string{"A.md": "one"})
	h.Expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "content=two")
	h.Dir = filepath.Join(filepath.Dir(h.Dir), "HOME")
	h.Expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "content=three")
	h.Dir = filepath.Join(filepath.Dir(h.Dir), "home")
	for _, want := range []string{"one\ntwo", "one"} {
		status, out, _ := h.Run("undo")
		assert.Equal(t, status, answer.ExitDone, "undo: %q, the note is %q, want %q", out, h.Get("A.md"), want)
		assert.Equal(t, h.Get("A.md"), want, "undo: %q, the note is %q", out, h.Get("A.md"))
	}
}

// A search by path finds a name in either normal form, on every file system.
func TestSearchByPathInEveryForm(t *testing.T) {
	for _, stored := range []string{composed, decomposed} {
		h := embedded.New(t, map[string]string{stored + ".md": "x"})
		for _, asked := range []string{composed, decomposed} {
			for _, query := range []string{"path:" + asked, "file:" + asked, `path:"` + asked + `"`} {
				h.Expect(answer.ExitDone, stored+".md\n", "search", "query="+query)
			}
		}
	}
}

package handlers_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestMoveAndRename(t *testing.T) {
	for _, test := range []struct {
		name, args string
		status     int
		want, at   string // at is where a.md goes
	}{
		{"to a path", "move path=a.md to=b.md", answer.ExitDone, "Moved: a.md -> b.md", "b.md"},
		{"into a folder that is there", "move file=a to=sub/", answer.ExitDone, "Moved: a.md -> sub/a.md", "sub/a.md"},
		{"into folders that are made", "move file=a to=x/y/", answer.ExitDone, "Moved: a.md -> x/y/a.md", "x/y/a.md"},
		{"into the vault's folder, where it is", "move file=a to=/", answer.ExitDone, `Nothing was changed: the file is at "a.md" already.`, "a.md"},
		{"the extension is kept when it is left out", "move file=a to=x/b", answer.ExitDone, "Moved: a.md -> x/b.md", "x/b.md"},
		{"a word is the name of a file, although a folder has it", "move file=a to=sub", answer.ExitDone, "Moved: a.md -> sub.md", "sub.md"},
		{"a new name", "rename path=a.md name=b", answer.ExitDone, "Renamed: a.md -> b.md", "b.md"},
		{"a dot in a name", "rename path=a.md name=v1.2", answer.ExitDone, "Renamed: a.md -> v1.2.md", "v1.2.md"},
		{"another extension that the app knows", "rename path=a.md name=a.canvas", answer.ExitDone, "Renamed: a.md -> a.canvas", "a.canvas"},
		{"the same name", "rename path=a.md name=a", answer.ExitDone, `Nothing was changed: the file is at "a.md" already.`, "a.md"},
		{"only the case changes", "rename path=a.md name=A", answer.ExitDone, "Renamed: a.md -> A.md", "A.md"},
		{"a name that is taken", "rename path=a.md name=taken", answer.ExitFailed, "Error: Destination file already exists!", ""},
		{"a path that is taken", "move path=a.md to=sub/c.md", answer.ExitFailed, "Error: Destination file already exists!", ""},
		{"a folder of that name", "move path=a.md to=dir.md", answer.ExitFailed, "Error: Destination file already exists!", ""},
		{"the source is looked at first", "move path=none.md to=taken.md", answer.ExitFailed, "Error: File \"none.md\" not found.", ""},
		{"a name with a folder", "rename path=a.md name=x/b", answer.ExitMisuse,
			"Error: Invalid value for name: \"x/b\". Use move to=<path> for another folder.", ""},
		{"out of the vault", "move path=a.md to=../b.md", answer.ExitFailed,
			"Error: File \"../b.md\" cannot be created: path \"../b.md\": has a hidden segment.", ""},
		{"into the trash", "move path=a.md to=.trash/", answer.ExitFailed,
			"Error: File \".trash/a.md\" cannot be created: path \".trash/a.md\": has a hidden segment.", ""},
		{"a name that does not travel", "rename path=a.md name=a?", answer.ExitFailed,
			"Error: File \"a?.md\" cannot be written: \"a?.md\" contains '?', which not every system and link can carry.",
			""},
		{"through a file", "move path=a.md to=taken.md/", answer.ExitFailed,
			"Error: File \"taken.md/a.md\" cannot be written: \"taken.md\" is not a folder.", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"a.md": "text", "taken.md": "", "sub/c.md": "", "dir.md/x.md": "", "r.md": "[[a]]"}
			if test.status == answer.ExitDone {
				want := map[string]string{"a.md": "(missing)"}
				want[test.at] = "text"
				changed(t, files, test.want, want, strings.Fields(test.args)...)
				return
			}
			h := embedded.New(t, files)
			h.Expect(test.status, test.want+"\n", strings.Fields(test.args)...)
			assert.That(t, maps.Equal(h.Texts(true), files), "it made %q", h.Texts(true))
		})
	}
}

func TestMoveOfOtherFiles(t *testing.T) {
	h := embedded.New(t, map[string]string{"pic.png": "\x89", "LICENSE": "x", "data.json": "{}"})
	h.Steps([]embedded.Turn{
		{"an image keeps its extension", "rename path=pic.png name=photo", answer.ExitDone, "Renamed: pic.png -> photo.png\n"},
		{"a kind that the app does not know", "rename path=data.json name=other", answer.ExitDone, "Renamed: data.json -> other.json\n"},
		{"a file without an extension", "rename path=LICENSE name=COPYING", answer.ExitDone, "Renamed: LICENSE -> COPYING\n"},
	})
}

func TestLinksFollowAMove(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": embedded.FollowLinks,
		"a.md":               "[[b]] [x](c/d.md) [[./b]]",
		"b.md":               "[[a]] ![[a#h|a]] [t](a.md) `[[a]]`",
		"c/d.md":             "---\nup: \"[[a]]\"\n---\n",
		"c/e.md":             "nothing",
		"board.canvas":       "{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"a.md\"},{\"type\":\"text\",\"text\":\"[[a]]\"}\n\t]}",
		"other.canvas":       `{"nodes":[{"type":"file","file":"b.md"}]}`,
		"notes/sub/b2.md":    "[[Z]] [[A]]",
	}
	want := map[string]string{
		"a.md":            "(missing)",
		"c/Z.md":          "[[b]] [x](c/d.md) [[../b]]",
		"b.md":            "[[Z]] ![[Z#h|a]] [t](Z.md) `[[a]]`",
		"c/d.md":          "---\nup: \"[[Z]]\"\n---\n",
		"board.canvas":    "{\n\t\"nodes\":[\n\t\t{\"type\":\"file\",\"file\":\"c/Z.md\"},{\"type\":\"text\",\"text\":\"[[Z]]\"}\n\t]}",
		"notes/sub/b2.md": "[[Z]] [[Z]]",
	}
	h := embedded.New(t, files)
	listed := h.Plan("move", "path=a.md", "to=c/Z.md").Paths()
	if got, want := listed, []string{"c/Z.md", "b.md", "board.canvas", "c/d.md", "notes/sub/b2.md"}; !slices.Equal(got, want) {
		t.Errorf("the plan lists %q, want %q", got, want)
	}
	assert.That(t, maps.Equal(h.Texts(true), files), "planning made %q", h.Texts(true))
	changed(t, files, "Moved: a.md -> c/Z.md", want, "move", "path=a.md", "to=c/Z.md")
}

func TestHowLinksAreWritten(t *testing.T) {
	for _, test := range []struct{ format, want string }{
		{"shortest", "[[z]] [t](z.md)"}, {"relative", "[[../x/z]] [t](../x/z.md)"}, {"absolute", "[[x/z]] [t](x/z.md)"},
	} {
		h := embedded.New(t, map[string]string{
			".obsidian/app.json": `{"alwaysUpdateLinks":true,"newLinkFormat":"` + test.format + `"}`, "a.md": "", "n/b.md": "[[a]] [t](a.md)",
		})
		h.Expect(answer.ExitDone, "Moved: a.md -> x/z.md\n", "move", "path=a.md", "to=x/z.md")
		assert.Equal(t, h.Get("n/b.md"), test.want, "%s", test.format)
	}
}

func TestALinkThatCannotBeWrittenIsNamed(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/app.json": embedded.FollowLinks, "a.md": "", "b.md": "\n$c [[a]] [[d]]", "d.md": ""})
	h.Expect(answer.ExitDone,
		"Renamed: a.md -> x$y.md\nLink \"a\" in b.md, line 2, is left as it is: with the new path other links would be read differently\n",
		"rename", "path=a.md", "name=x$y")
}

func TestAMoveThatCannotChangeALinkMovesNothing(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/app.json": embedded.FollowLinks, "a.md": "A", "b.md": "[[a]]", "c.md": "[[a]]"})
	require.NoError(t, os.Chmod(h.File("c.md"), 0o444))
	before := h.Snapshot()
	h.Expect(answer.ExitFailed, "Error: File \"c.md\" cannot be written: \"c.md\" is read-only.\n", "rename", "path=a.md", "name=z")
	after := h.Snapshot()
	assert.That(t, after == before, "the vault is\n%s, was\n%s", after, before)
	h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", "undo")
}

func TestBrokenSettingsStopAMove(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/app.json": "[]", "a.md": "A"})
	for _, args := range []string{"rename path=a.md name=z", "delete path=a.md"} {
		status, out, _ := h.Run(strings.Fields(args)...)
		if status != answer.ExitFailed || !strings.HasPrefix(out, "Error: Cannot use the settings in .obsidian/app.json: ") || h.Get("a.md") != "A" {
			t.Errorf("status %d, %q", status, out)
		}
	}
}

// The texts are those that were recorded from the app, but for what it does not have.
func TestAMoveWithoutADestination(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "A"})
	h.Expect(answer.ExitMisuse,
		"Error: Missing required parameter: to=<path>\nUsage: move [file=<name>] [path=<path>] to=<path> [files=<text>] [query=<text>] [links=update|keep|hold]\n",
		"move", "path=a.md")
}

func TestAWorkerSeesWhatItMoved(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/app.json": embedded.FollowLinks, "a.md": "[[b]]", "b.md": "[[a]]"})
	w := h.Worker()
	for _, call := range []struct{ args, want, b string }{
		{"move path=a.md to=x/c.md", "Moved: a.md -> x/c.md\n", "[[c]]"},
		{"rename path=x/c.md name=d", "Renamed: x/c.md -> x/d.md\n", "[[d]]"},
		{"append path=b.md content=[[d]] inline", "Appended to: b.md\n", "[[d]][[d]]"},
		{"move path=x/d.md to=a.md", "Moved: x/d.md -> a.md\n", "[[a]][[a]]"},
		{"undo", "", "[[d]][[d]]"},
		{"rename path=x/d.md name=e", "Renamed: x/d.md -> x/e.md\n", "[[e]][[e]]"},
	} {
		got := w.Ask(nil, strings.Fields(call.args)...)
		if call.want != "" && got.Stdout != call.want || got.End.Status != answer.ExitDone || h.Get("b.md") != call.b {
			t.Errorf("%s: %+v, b.md is %q, want %q", call.args, got, h.Get("b.md"), call.b)
		}
	}
	w.In.Close()
	w.Ends(answer.ExitDone)
}

// A vault whose links do not follow a move is told which ones it breaks, and so is who
// deletes a note.
func TestBrokenLinksAreCounted(t *testing.T) {
	files := map[string]string{"f/Old.md": "[[Old]] is this", "a.md": "[[Old]] and ![[Old#x]]", "b.md": "[text](f/Old.md)", "c.md": "[[Other]]"}
	for args, want := range map[string]string{
		"rename|path=f/Old.md|name=New|links=keep": `the change breaks 4 links in 3 notes: "a.md", "b.md", "f/Old.md"`,
		"move|path=f/Old.md|to=sub/|links=keep":    `the change breaks 1 link in 1 note: "b.md"`,
		"delete|path=f/Old.md":                     `the change breaks 3 links in 2 notes: "a.md", "b.md"`,
		"rename|path=c.md|name=New":                "",
	} {
		status, _, stderr := embedded.New(t, files).Run(append([]string{"--facts"}, strings.Split(args, "|")...)...)
		_, facts, _ := embedded.CutReport(stderr)
		assert.Equal(t, status, answer.ExitDone, "%s: status %d, notice %q", args, status, facts.Notice)
		assert.Equal(t, facts.Notice, want, "%s: status %d, notice %q", args, status, facts.Notice)
	}
	h := embedded.New(t, map[string]string{"Old.md": "", "a.md": "[[Old]]", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`})
	_, _, stderr := h.Run("--facts", "rename", "path=Old.md", "name=New")
	assert.That(t, !strings.Contains(stderr, "breaks"), "links that follow: %s", stderr)
}

func TestDelete(t *testing.T) {
	for _, test := range []struct{ name, settings, args, want, trashed string }{
		{"into the trash of the vault, which is flat", `{}`, "path=sub/a.md", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"by its name", `{"trashOption":"local"}`, "file=a", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"the system's trash is out of reach", `{"trashOption":"system"}`, "path=sub/a.md", "Moved to trash: sub/a.md", ".trash/a.md"},
		{"a vault without a trash", `{"trashOption":"none"}`, "path=sub/a.md", "Deleted permanently: sub/a.md", ""},
		{"for good", `{}`, "path=sub/a.md permanent", "Deleted permanently: sub/a.md", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{"sub/a.md": "text", ".obsidian/app.json": test.settings})
			h.Expect(answer.ExitDone, test.want+"\n", append([]string{"delete"}, strings.Fields(test.args)...)...)
			assert.That(t, h.Get("sub/a.md") == "(missing)", "it is still there")
			assert.That(t, test.trashed == "" || h.Get(test.trashed) == "text", "the trash has %q", h.Get(test.trashed))
			assert.That(t, test.trashed != "" || h.Get(".trash/a.md") == "(missing)", "it is in the trash")
			_, _, _ = h.Run("undo")
			assert.Equal(t, h.Get("sub/a.md"), "text",
				"undone, it is %q, and in the trash %q", h.Get("sub/a.md"), h.Get(".trash/a.md"))
			assert.Equal(t, h.Get(".trash/a.md"), "(missing)",
				"undone, it is %q, and in the trash %q", h.Get("sub/a.md"), h.Get(".trash/a.md"))
		})
	}
	h := embedded.New(t, map[string]string{"a.md": "2", ".trash/a.md": "1", "f/x.md": ""})
	h.Steps([]embedded.Turn{
		{"what is not there", "delete path=b.md", answer.ExitFailed, "Error: File \"b.md\" not found.\n"},
		{"a folder", "delete path=f", answer.ExitFailed, "Error: File \"f\" not found.\n"},
		{"what lies in the trash", "delete path=.trash/a.md", answer.ExitFailed, "Error: File \".trash/a.md\" not found.\n"},
		{"a name that is taken in the trash gets a number", "delete path=a.md", answer.ExitDone, "Moved to trash: a.md\n"},
	})
	assert.Equal(t, h.Get(".trash/a.md"), "1", "the trash has %q and %q", h.Get(".trash/a.md"), h.Get(".trash/a 1.md"))
	assert.Equal(t, h.Get(".trash/a 1.md"), "2",
		"the trash has %q and %q", h.Get(".trash/a.md"), h.Get(".trash/a 1.md"))
	h.Run("undo")
	assert.Equal(t, h.Get("a.md"), "2", "undone, the wrong one was taken from the trash")
	assert.Equal(t, h.Get(".trash/a.md"), "1", "undone, the wrong one was taken from the trash")
	assert.Equal(t, h.Get(".trash/a 1.md"), "(missing)", "undone, the wrong one was taken from the trash")
}

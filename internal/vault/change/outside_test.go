package change_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What the gateway is told of a change that the app made.
const (
	isApplied   = "applied"
	isUntouched = "untouched"
	isOtherwise = "otherwise"
)

// ended is what end says of a change.
type ended struct {
	State, Before, After string
	Notices              []string
}

// byTheAppIn begins a call, has the app do something, and returns what end says.
func byTheAppIn(h *embedded.Vault, app func(), args ...string) (id string, said ended) {
	h.T.Helper()
	id = journal.NewID(time.Now())
	how := []string{"--begin", call.ChangeSwitch, id}
	if status, out, _ := h.Run(append(how, args...)...); status != answer.ExitDone {
		h.T.Fatalf("begin of %q: %d, %s", args, status, out)
	}
	app()
	how[0] = "--end"
	status, out, _ := h.Run(append(how, args...)...)
	require.Equal(h.T, status, answer.ExitDone, "end of %q: %s", args, out)
	require.Equal(h.T, json.Unmarshal([]byte(out), &said), nil, "end of %q: %s", args, out)
	return id, said
}

const appNote = "---\n# a comment\ntitle: 'One'\ntags: [a, b]\nn: 012 # twelve\n---\nbody\n"

// rewrittenNote is what the app makes of the properties of appNote when it sets one.
const rewrittenNote = "---\ntitle: One\ntags:\n  - a\n  - b\nn: 12\n"

// What the app made is judged by what it says, not by its bytes. Every case that
// counts as done has others next to it in which the app did something else.
func TestTheWorkOfTheAppIsJudgedByItsMeaning(t *testing.T) {
	const old = "# A\nfirst"
	for _, test := range []struct {
		name, call   string
		before, made string // of A.md; "" is none
		state        string
		style        bool // whether a notice tells of another style
	}{
		{"a property, written anew", "property:set path=A.md name=due value=2026-11-22", appNote,
			rewrittenNote + "due: 2026-11-22\n---\nbody\n", isApplied, true},
		{"a property in another order", "property:set path=A.md name=due value=2026-11-22", appNote,
			"---\ndue: 2026-11-22\n" + strings.TrimPrefix(rewrittenNote, "---\n") + "---\nbody\n", isApplied, true},
		{"a property with another quoting", "property:set path=A.md name=x value=7 type=text", appNote, rewrittenNote + "x: '7'\n---\nbody\n", isApplied, true},
		{"a list in block form", "property:set path=A.md name=x value=a,b type=list", appNote,
			rewrittenNote + "x:\n  - a\n  - b\n---\nbody\n", isApplied, true},
		{"the first property of a note with other line ends", "property:set path=A.md name=x value=y", "a\r\nb\r\n",
			"---\nx: y\n---\na\r\nb\r\n", isApplied, true},
		{"properties of lines with other ends", "property:set path=A.md name=x value=y",
			"---\r\na: b\r\n---\r\nbody\r\n", "---\na: b\nx: y\n---\nbody\r\n", isApplied, true},
		{"without type= the app goes by the look", "property:set path=A.md name=aliases value=a", appNote,
			rewrittenNote + "aliases: a\n---\nbody\n", isApplied, true},
		{"a removed property", "property:remove path=A.md name=n", appNote, "---\ntitle: One\ntags:\n  - a\n  - b\n---\nbody\n", isApplied, true},
		{"the last property, and an empty block stays", "property:remove path=A.md name=x", "---\nx: 1\n---\nbody", "---\n---\nbody", isApplied, true},
		{"an appended text", "append path=A.md content=new", old, old + "\nnew", isApplied, false},
		{"and a line break behind it", "append path=A.md content=new", old, old + "\nnew\n", isApplied, true},
		{"and an empty line before it", "append path=A.md content=new", old + "\n", old + "\n\nnew", isApplied, true},
		{"inline with a line break at the end", "append path=A.md content=new inline", old, old + "new\n", isApplied, true},
		{"a prepended text with an empty line", "prepend path=A.md content=new", appNote, strings.Replace(appNote, "body", "new\n\nbody", 1), isApplied, true},
		{"today's note that is there", "daily:append content=new", "", "new\n", isApplied, true},
		{"a new note with a line break", "create path=A.md content=text", "", "text\n", isApplied, true},
		{"a note that was replaced", "create path=A.md content=text overwrite", old, "text\n", isApplied, true},
		{"an empty new note", "create path=A.md", "", "", isApplied, false},
		{"a task, and a line break at the end", "task path=A.md line=2 done", "x\n- [ ] t", "x\n- [x] t\n", isApplied, true},

		{"nothing", "append path=A.md content=new", old, old, isUntouched, false},
		{"another value", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-23\n---\nbody\n", isOtherwise, false},
		{"a value of another type", "property:set path=A.md name=x value=7 type=text", appNote, rewrittenNote + "x: 7\n---\nbody\n", isOtherwise, false},
		{"a text in place of a list", "property:set path=A.md name=x value=a,b type=list", appNote, rewrittenNote + "x: a,b\n---\nbody\n", isOtherwise, false},
		{"another property changed", "property:set path=A.md name=due value=2026-11-22", appNote,
			strings.Replace(rewrittenNote, "One", "Two", 1) + "due: 2026-11-22\n---\nbody\n", isApplied, true},
		{"the type of another property changed", "property:set path=A.md name=due value=2026-11-22", appNote,
			strings.Replace(rewrittenNote, "n: 12", "n: \"12\"", 1) + "due: 2026-11-22\n---\nbody\n", isApplied, true},
		{"another property is missing", "property:set path=A.md name=due value=2026-11-22", appNote,
			"---\ntitle: One\nn: 12\ndue: 2026-11-22\n---\nbody\n", isApplied, true},
		{"one more property", "property:set path=A.md name=due value=2026-11-22", appNote,
			rewrittenNote + "due: 2026-11-22\nmore: 1\n---\nbody\n", isApplied, true},
		{"the body changed", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\n---\nBody\n", isOtherwise, false},
		{"the body is missing", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\n---\n", isOtherwise, false},
		{"properties that cannot be read", "property:set path=A.md name=due value=2026-11-22", appNote,
			"---\ntitle: [One\ndue: 2026-11-22\n---\nbody\n", isOtherwise, false},
		{"the properties are rewritten and the value is not set", "property:set path=A.md name=due value=2026-11-22",
			appNote, rewrittenNote + "---\nbody\n", isOtherwise, false},
		{"the wrong property removed", "property:remove path=A.md name=n", appNote, "---\ntags:\n  - a\n  - b\nn: 12\n---\nbody\n", isOtherwise, false},
		{"half of the text", "append path=A.md content=new", old, old + "\nne", isOtherwise, false},
		{"the text twice", "append path=A.md content=new", old, old + "\nnew\nnew", isOtherwise, false},
		{"the text and more", "append path=A.md content=new", old, old + "\nnew!", isOtherwise, false},
		{"the text in front", "append path=A.md content=new", old, "new\n" + old, isOtherwise, false},
		{"the old text cut", "append path=A.md content=new", old, "# A\nfirs\nnew", isOtherwise, false},
		{"the old text gone", "append path=A.md content=new", old, "new", isOtherwise, false},
		{"the text in the last line", "append path=A.md content=new", old, old + "new", isOtherwise, false},
		{"inline on a line of its own", "append path=A.md content=new inline", old, old + "\nnew", isOtherwise, false},
		{"many empty lines", "append path=A.md content=new", old, old + "\n\n\n\n\nnew", isApplied, true},
		{"the text before the properties", "prepend path=A.md content=new", appNote, "new\n" + appNote, isOtherwise, false},
		{"the escapes of a text are spoiled", "append path=A.md content=C:tmp", old, old + "\nC:\tmp", isOtherwise, false},
		{"a new note with other text", "create path=A.md content=text", "", "other", isOtherwise, false},
		{"a new note without its text", "create path=A.md content=text", "", "\n", isOtherwise, false},
		{"a replaced note with the old text behind", "create path=A.md content=text overwrite", old, "text\n" + old, isOtherwise, false},
		{"another task", "task path=A.md line=2 done", "- [ ] s\n- [ ] t\n", "- [x] s\n- [ ] t\n", isOtherwise, false},
		{"a task and another", "task path=A.md line=2 done", "- [ ] s\n- [ ] t\n", "- [x] s\n- [x] t\n", isOtherwise, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, nil)
			args := strings.Fields(test.call)
			path := "A.md"
			if strings.HasPrefix(test.call, "daily") {
				path = "2026-11-21.md"
			}
			if test.before != "" {
				h.Put(path, test.before)
			}
			id, said := byTheAppIn(h, func() { h.Put(path, test.made) }, args...)
			require.Equal(t, said.State, test.state, "told %+v, another style %v", said, test.style)
			require.Equal(t, len(said.Notices) > 0, test.style,
				"told %+v, want %s, another style %v", said, test.state, test.style)
			e := require.Value(h.Journal().Entry(h.T.Context(), id))(t)
			if said.State == isUntouched {
				return
			}
			// The journal knows what the app wrote, and undo takes exactly that back.
			if made := journal.ImageOf([]byte(test.made)); e.State != journal.Done || e.Steps[0].After != made {
				t.Errorf("the journal has %v, %+v, want %+v", e.State, e.Steps[0].After, made)
			}
			h.Does("undo", id)
			want := test.before
			if want == "" {
				want = "(missing)"
			}
			assert.Equal(t, h.Get(path), want, "undo left")
		})
	}
}

func TestADailyNoteThatTheAppMakesFromItsTemplate(t *testing.T) {
	for made, want := range map[string]string{
		"# 2026-11-21 10:42\n\nnew":  isApplied,
		"# 2026-11-21 10:42\nnew\n":  isApplied,
		"# 2026-11-21 10:42\n":       isOtherwise,
		"# 10:42\nnew\nnew\n":        isOtherwise,
		"# 2026-11-21 10:42\n\nne\n": isOtherwise,
	} {
		h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"template":"T/Daily"}`, "T/Daily.md": "# {{date}} {{time}}\n"})
		_, said := byTheAppIn(h, func() { h.Put("2026-11-21.md", made) }, "daily:append", "content=new")
		assert.That(t, said.State == want, "%q: told %+v, want %s", made, said, want)
	}
}

func TestTheBookmarksOfTheAppAreJudgedByTheirEntries(t *testing.T) {
	const before = `{"items":[{"type":"file","ctime":1,"path":"B.md","title":"b"}]}`
	for made, want := range map[string]string{
		`{ "items": [ {"path":"B.md","type":"file","ctime":1,"title":"b"}, {"type":"file","ctime":1795000000000,"path":"A.md"} ] }`: isApplied,
		before: isUntouched,
		`{"items":[{"type":"file","ctime":1,"path":"B.md","title":"b"},{"type":"file","ctime":5,"path":"C.md"}]}`: isOtherwise,
		`{"items":[{"type":"file","ctime":5,"path":"A.md"}]}`:                                                     isOtherwise,
		`{"items":[{"type":"file","ctime":1,"path":"B.md","title":"c"},{"type":"file","ctime":5,"path":"A.md"}]}`: isOtherwise,
	} {
		h := embedded.New(t, map[string]string{"A.md": "a", "B.md": "b", ".obsidian/bookmarks.json": before})
		_, said := byTheAppIn(h, func() { h.Put(".obsidian/bookmarks.json", made) }, "bookmark", "file=A.md")
		assert.That(t, said.State == want, "%s: told %+v, want %s", made, said, want)
	}
}

func TestARemovedNoteIsGone(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "a"})
	_, said := byTheAppIn(h, func() { h.Put("A.md", "b") }, "delete", "path=A.md")
	assert.Equal(t, said.State, isOtherwise, "a note that was changed in place of removed: %+v", said)
	_, said = byTheAppIn(h, func() {}, "delete", "path=A.md")
	assert.Equal(t, said.State, isUntouched, "a note that is still there: %+v", said)
	_, said = byTheAppIn(h, func() { _ = os.Remove(h.File("A.md")) }, "delete", "path=A.md")
	assert.Equal(t, said.State, isApplied, "a removed note: %+v", said)
}

// A note that the app is writing may be empty, or half there, for a moment.
func TestANoteIsLookedAtUntilItStaysTheSame(t *testing.T) {
	const old, wanted = "old\n", "old\n\nnew\n"
	for _, test := range []struct {
		name  string
		looks []string // what the note contains at each look after the first
		state string
	}{
		{"it is empty and then right", []string{"", "", wanted}, isApplied},
		{"it grows", []string{"ol", "old\n\nn", wanted}, isApplied},
		{"it stays wrong", []string{"x"}, isOtherwise},
		{"it is as it was in the end", []string{"", old}, isUntouched},
	} {
		h := embedded.New(t, map[string]string{"A.md": old})
		hosted := h.Host()
		run := func(args ...string) (said ended) {
			status, out, _ := embedded.Called(hosted, append([]string{h.Dir, call.WriteSwitch}, args...)...)
			require.That(t, status == answer.ExitDone, "%s: %q: %d, %s", test.name, args, status, out)
			_ = json.Unmarshal([]byte(out), &said)
			return said
		}
		id, pauses := journal.NewID(time.Now()), 0
		run("--begin", call.ChangeSwitch, id, "append", "path=A.md", "content=new")
		h.Put("A.md", "half")
		hosted.Pause = func(context.Context, time.Duration) {
			if pauses < len(test.looks) {
				h.Put("A.md", test.looks[pauses])
			}
			pauses++
		}
		said := run("--end", call.ChangeSwitch, id, "append", "path=A.md", "content=new")
		assert.Equal(t, said.State, test.state, "%s: %+v after %d pauses", test.name, said, pauses)
		assert.That(t, pauses <= 20, "%s: %+v after %d pauses, want %s", test.name, said, pauses, test.state)
	}
}

// What became of a change of this program, or of one that has ended, is in the journal: its notes, which may have been
// changed since, are looked at once.
func TestWhatTheJournalKnowsIsNotWaitedFor(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "old\n"})
	hosted := h.Host()
	run := func(args ...string) (said ended) {
		status, out, _ := embedded.Called(hosted, append([]string{h.Dir, call.WriteSwitch}, args...)...)
		require.That(t, status == answer.ExitDone, "%q: %d, %s", args, status, out)
		_ = json.Unmarshal([]byte(out), &said)
		return said
	}
	ours, apps := journal.NewID(time.Now()), journal.NewID(time.Now())
	run(call.ChangeSwitch, ours, "append", "path=A.md", "content=new")
	run("--begin", call.ChangeSwitch, apps, "append", "path=A.md", "content=more")
	h.Put("A.md", "old\nnew\nmore\n")
	require.Equal(t, run("--end", call.ChangeSwitch, apps, "append", "path=A.md", "content=more").State, isApplied)
	h.Put("A.md", "of another program\n")
	pauses := 0
	hosted.Pause = func(context.Context, time.Duration) { pauses++ }
	assert.Equal(t, run("--end", call.ChangeSwitch, ours, "append", "path=A.md", "content=new").State, isApplied)
	assert.Equal(t, run("--end", call.ChangeSwitch, apps, "append", "path=A.md", "content=more").State, isOtherwise)
	assert.Equal(t, pauses, 0, "pauses")
}

// The app would make a text of a list, and a number of a text, so it does not carry out the change.
func TestTheAppChangesNoType(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": appNote, "B.md": "---\ncode: x\n---\n"})
	call := []string{"--begin", call.ChangeSwitch, journal.NewID(time.Now()), "property:set"}
	h.Expect(answer.ExitFailed,
		"Error: The app would change the type of the property \"code\". With type= it does not.\n",
		append(call, "path=B.md", "name=code", "value=12")...)
	begin := append(call, "path=A.md", "name=tags", "value=a, b, c")
	h.Expect(answer.ExitFailed, "Error: The app would change the type of the property \"tags\". With type= it does not.\n", begin...)
	status, _, stderr := h.Run(append(begin, "type=list")...)
	assert.That(t, status == answer.ExitDone, "with type=list: status %d, %s", status, stderr)
}

// A unique note is named after the minute in which the app makes it. The names that were free before tell which note that
// is, and not the times of files: on some file systems they are two seconds behind.
func TestANewNoteUnderTheNameOfALaterMinute(t *testing.T) {
	const later = "202611210906.md"
	for _, test := range []struct {
		name, before string // of the note of the later minute, "" for none
		made         string // what it is afterwards
		state        string
	}{
		{"it is new", "", "text", isApplied},
		{"it is new, with another text", "", "other", isUntouched},
		{"it was there, and is written again with the same text", "text", "text", isUntouched},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			if test.before != "" {
				files[later] = test.before
			}
			h := embedded.New(t, files)
			app := func() {
				h.Put(later, test.made)
				old := time.Now().Add(-3 * time.Second)
				require.NoError(t, os.Chtimes(h.File(later), old, old))
			}
			_, said := byTheAppIn(h, app, "unique", "content=text")
			assert.Equal(t, said.State, test.state, "%+v", said)
		})
	}
}

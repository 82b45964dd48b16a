package vault

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
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
func (h *testVault) byTheAppIn(app func(), args ...string) (id string, said ended) {
	h.t.Helper()
	id = journal.NewID(time.Now())
	how := []string{"--begin", call.ChangeSwitch, id}
	if status, out, _ := h.run(append(how, args...)...); status != answer.ExitDone {
		h.t.Fatalf("begin of %q: %d, %s", args, status, out)
	}
	app()
	how[0] = "--end"
	status, out, _ := h.run(append(how, args...)...)
	require.That(h.t, status == answer.ExitDone && json.Unmarshal([]byte(out), &said) == nil, "end of %q: %d, %s", args, status, out)
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
		{"a property, written anew", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\n---\nbody\n", isApplied, true},
		{"a property in another order", "property:set path=A.md name=due value=2026-11-22", appNote, "---\ndue: 2026-11-22\n" + strings.TrimPrefix(rewrittenNote, "---\n") + "---\nbody\n", isApplied, true},
		{"a property with another quoting", "property:set path=A.md name=x value=7 type=text", appNote, rewrittenNote + "x: '7'\n---\nbody\n", isApplied, true},
		{"a list in block form", "property:set path=A.md name=x value=a,b type=list", appNote, rewrittenNote + "x:\n  - a\n  - b\n---\nbody\n", isApplied, true},
		{"the first property of a note with other line ends", "property:set path=A.md name=x value=y", "a\r\nb\r\n", "---\nx: y\n---\na\r\nb\r\n", isApplied, true},
		{"properties of lines with other ends", "property:set path=A.md name=x value=y", "---\r\na: b\r\n---\r\nbody\r\n", "---\na: b\nx: y\n---\nbody\r\n", isApplied, true},
		{"without type= the app goes by the look", "property:set path=A.md name=aliases value=a", appNote, rewrittenNote + "aliases: a\n---\nbody\n", isApplied, true},
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
		{"another property changed", "property:set path=A.md name=due value=2026-11-22", appNote, strings.Replace(rewrittenNote, "One", "Two", 1) + "due: 2026-11-22\n---\nbody\n", isOtherwise, false},
		{"the type of another property changed", "property:set path=A.md name=due value=2026-11-22", appNote, strings.Replace(rewrittenNote, "n: 12", "n: \"12\"", 1) + "due: 2026-11-22\n---\nbody\n", isOtherwise, false},
		{"another property is missing", "property:set path=A.md name=due value=2026-11-22", appNote, "---\ntitle: One\nn: 12\ndue: 2026-11-22\n---\nbody\n", isOtherwise, false},
		{"one more property", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\nmore: 1\n---\nbody\n", isOtherwise, false},
		{"the body changed", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\n---\nBody\n", isOtherwise, false},
		{"the body is missing", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "due: 2026-11-22\n---\n", isOtherwise, false},
		{"properties that cannot be read", "property:set path=A.md name=due value=2026-11-22", appNote, "---\ntitle: [One\ndue: 2026-11-22\n---\nbody\n", isOtherwise, false},
		{"the properties are rewritten and the value is not set", "property:set path=A.md name=due value=2026-11-22", appNote, rewrittenNote + "---\nbody\n", isOtherwise, false},
		{"the wrong property removed", "property:remove path=A.md name=n", appNote, "---\ntags:\n  - a\n  - b\nn: 12\n---\nbody\n", isOtherwise, false},
		{"half of the text", "append path=A.md content=new", old, old + "\nne", isOtherwise, false},
		{"the text twice", "append path=A.md content=new", old, old + "\nnew\nnew", isOtherwise, false},
		{"the text and more", "append path=A.md content=new", old, old + "\nnew!", isOtherwise, false},
		{"the text in front", "append path=A.md content=new", old, "new\n" + old, isOtherwise, false},
		{"the old text cut", "append path=A.md content=new", old, "# A\nfirs\nnew", isOtherwise, false},
		{"the old text gone", "append path=A.md content=new", old, "new", isOtherwise, false},
		{"the text in the last line", "append path=A.md content=new", old, old + "new", isOtherwise, false},
		{"inline on a line of its own", "append path=A.md content=new inline", old, old + "\nnew", isOtherwise, false},
		{"many empty lines", "append path=A.md content=new", old, old + "\n\n\n\n\nnew", isOtherwise, false},
		{"the text before the properties", "prepend path=A.md content=new", appNote, "new\n" + appNote, isOtherwise, false},
		{"the escapes of a text are spoiled", "append path=A.md content=C:tmp", old, old + "\nC:\tmp", isOtherwise, false},
		{"a new note with other text", "create path=A.md content=text", "", "other", isOtherwise, false},
		{"a new note without its text", "create path=A.md content=text", "", "\n", isOtherwise, false},
		{"a replaced note with the old text behind", "create path=A.md content=text overwrite", old, "text\n" + old, isOtherwise, false},
		{"another task", "task path=A.md line=2 done", "- [ ] s\n- [ ] t\n", "- [x] s\n- [ ] t\n", isOtherwise, false},
		{"a task and another", "task path=A.md line=2 done", "- [ ] s\n- [ ] t\n", "- [x] s\n- [x] t\n", isOtherwise, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, nil)
			args := strings.Fields(test.call)
			path := "A.md"
			if strings.HasPrefix(test.call, "daily") {
				path = "2026-11-21.md"
			}
			if test.before != "" {
				h.put(path, test.before)
			}
			id, said := h.byTheAppIn(func() { h.put(path, test.made) }, args...)
			require.That(t, said.State == test.state && (len(said.Notices) > 0) == test.style, "told %+v, want %s, another style %v", said, test.state, test.style)
			e := require.Value(h.journal().Entry(id))(t)
			if said.State == isUntouched {
				return
			}
			// The journal knows what the app wrote, and undo takes exactly that back.
			if made := journal.ImageOf([]byte(test.made)); e.State != journal.Done || e.Steps[0].After != made {
				t.Errorf("the journal has %v, %+v, want %+v", e.State, e.Steps[0].After, made)
			}
			h.does("undo", id)
			want := test.before
			if want == "" {
				want = "(missing)"
			}
			assert.Equal(t, h.get(path), want, "undo left")
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
		h := build(t, map[string]string{".obsidian/daily-notes.json": `{"template":"T/Daily"}`, "T/Daily.md": "# {{date}} {{time}}\n"})
		_, said := h.byTheAppIn(func() { h.put("2026-11-21.md", made) }, "daily:append", "content=new")
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
		h := build(t, map[string]string{"A.md": "a", "B.md": "b", ".obsidian/bookmarks.json": before})
		_, said := h.byTheAppIn(func() { h.put(".obsidian/bookmarks.json", made) }, "bookmark", "file=A.md")
		assert.That(t, said.State == want, "%s: told %+v, want %s", made, said, want)
	}
}

func TestARemovedNoteIsGone(t *testing.T) {
	h := build(t, map[string]string{"A.md": "a"})
	_, said := h.byTheAppIn(func() { h.put("A.md", "b") }, "delete", "path=A.md")
	assert.Equal(t, said.State, isOtherwise, "a note that was changed in place of removed: %+v", said)
	_, said = h.byTheAppIn(func() {}, "delete", "path=A.md")
	assert.Equal(t, said.State, isUntouched, "a note that is still there: %+v", said)
	_, said = h.byTheAppIn(func() { _ = os.Remove(h.file("A.md")) }, "delete", "path=A.md")
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
		h := build(t, map[string]string{"A.md": old})
		hosted := h.host()
		run := func(args ...string) (said ended) {
			status, out, _ := called(hosted, append([]string{h.dir, call.WriteSwitch}, args...)...)
			require.That(t, status == answer.ExitDone, "%s: %q: %d, %s", test.name, args, status, out)
			_ = json.Unmarshal([]byte(out), &said)
			return said
		}
		id, pauses := journal.NewID(time.Now()), 0
		run("--begin", call.ChangeSwitch, id, "append", "path=A.md", "content=new")
		h.put("A.md", "half")
		hosted.Pause = func(context.Context, time.Duration) {
			if pauses < len(test.looks) {
				h.put("A.md", test.looks[pauses])
			}
			pauses++
		}
		said := run("--end", call.ChangeSwitch, id, "append", "path=A.md", "content=new")
		assert.That(t, said.State == test.state && pauses <= 20, "%s: %+v after %d pauses, want %s", test.name, said, pauses, test.state)
	}
}

// The app would make a text of a list, and a number of a text, so it does not carry out the change.
func TestTheAppChangesNoType(t *testing.T) {
	h := build(t, map[string]string{"A.md": appNote, "B.md": "---\ncode: x\n---\n"})
	call := []string{"--begin", call.ChangeSwitch, journal.NewID(time.Now()), "property:set"}
	h.expect(answer.ExitFailed, "Error: The app would change the type of the property \"code\". With type= it does not.\n", append(call, "path=B.md", "name=code", "value=12")...)
	begin := append(call, "path=A.md", "name=tags", "value=a, b, c")
	h.expect(answer.ExitFailed, "Error: The app would change the type of the property \"tags\". With type= it does not.\n", begin...)
	status, _, stderr := h.run(append(begin, "type=list")...)
	assert.That(t, status == answer.ExitDone, "with type=list: status %d, %s", status, stderr)
}

// A note with a second name in a hidden folder, or outside the vault, is in no
// answer of any command while the rules or the ignore file hide something, and no
// command changes it.
func TestNoCommandReachesAHardLinkWhereSomethingIsHidden(t *testing.T) {
	hiders := map[string]func(h *testVault){
		"rules": func(h *testVault) {
			h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
		},
		"the ignore file": func(h *testVault) { h.put(".vaultwicketignore", "Private/\n") },
	}
	for name, hide := range hiders {
		t.Run(name, func(t *testing.T) {
			for i, row := range table() {
				if byRules := name == "rules"; testing.Short() && (i%2 == 0) != byRules {
					continue // each command meets one of them
				}
				h, paths := hardLinked3(t)
				hide(h)
				before := h.texts(true)
				for _, path := range paths {
					for _, call := range callsOn(row, path) {
						status, stdout, stderr := h.run(call...)
						assert.That(t, !strings.Contains(stdout+stderr, canary), "%q shows what is hidden: %d, %q %q", call, status, stdout, stderr)
					}
				}
				after := h.texts(true)
				for path, text := range before {
					assert.That(t, !strings.Contains(text, canary) || after[path] == text, "%s: %s became %q", row.Name, path, after[path])
				}
			}
		})
	}
}

// hardLinked3 returns a vault with two notes that have further names.
func hardLinked3(t *testing.T) (h *testVault, paths []string) {
	t.Helper()
	h = build(t, map[string]string{
		"A/plain.md": "See [[inside]] and #tag.\n", "T/t.md": "text\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		"Private/secret.md": "---\n" + canary + "1: " + canary + "2\n---\n# " + canary + "3\n#" + canary + "4 [[" + canary + "5]]\n- [ ] " + canary + "6\n",
	})
	outside := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(outside, []byte("# "+canary+"7\n- [ ] "+canary+"8\n"), 0o600))
	for path, from := range map[string]string{"A/inside.md": h.file("Private/secret.md"), "A/outside.md": outside} {
		if err := os.Link(from, h.file(path)); err != nil {
			t.Skip("no hard links here: ", err)
		}
		paths = append(paths, path)
	}
	return h, paths
}

// callsOn are the calls of a command that concern the note at path: by its path,
// by its name, and on the whole vault. What else is required gets a value that
// suits most parameters.
func callsOn(row handlers.Command, path string) (calls [][]string) {
	values := map[string]string{
		"content": "added", "query": "zq", "name": "made", "to": "B/moved.md", "template": "t", "property": "x", "value": "1", "old": "zq", "new": "n",
		"section": "x", "heading": "x", "line": "1", "limit": "9", "task": "1", "status": "x", "ref": path + ":1", "tag": "tag", "type": "text",
	}
	takes := map[string]bool{}
	base := []string{row.Name}
	for _, p := range paramsOf(row) {
		takes[p.Name] = true
		if p.Required && p.Name != "path" && p.Name != "file" {
			value, ok := values[p.Name]
			if !ok && len(p.Choices) > 0 {
				value = p.Choices[0]
			}
			base = append(base, p.Name+"="+value)
		}
	}
	with := func(more ...string) { calls = append(calls, append(append([]string(nil), base...), more...)) }
	with()
	if takes["path"] {
		with("path=" + path)
		if row.Plan != nil {
			calls = append(calls, append([]string{call.PlanSwitch}, append(append([]string(nil), base...), "path="+path)...))
		}
		if takes["overwrite"] {
			with("path="+path, "overwrite")
		}
		if takes["permanent"] {
			with("path="+path, "permanent")
		}
		if takes["template"] {
			with("path=B/new.md", "template="+strings.TrimSuffix(path, ".md"))
		}
	}
	if takes["file"] {
		with("file=" + path)
		with("file=" + strings.TrimSuffix(filepath.Base(path), ".md"))
	}
	if takes["folder"] {
		with("folder=A")
	}
	return calls
}

// What is said of such a note by its path is why, and what is done where nothing
// is hidden is what is done with every note.
func TestWhatIsSaidOfAHardLink(t *testing.T) {
	const denied = "Error: Access denied: \"A/inside.md\" has more than one hard link, and a part of this vault is hidden.\n"
	h, _ := hardLinked3(t)
	h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
	for _, args := range []string{
		"read path=A/inside.md", "append path=A/inside.md content=x", "delete path=A/inside.md", "move path=A/inside.md to=B/x.md", "rename path=A/inside.md name=x",
		"wordcount path=A/inside.md", "file path=A/inside.md", "outline path=A/inside.md", "create path=A/inside.md content=x overwrite",
	} {
		h.expect(answer.ExitFailed, denied, strings.Fields(args)...)
	}
	h.expect(answer.ExitFailed, "Error: File \"Private/secret.md\" not found.\n", "read", "path=Private/secret.md")
	h.expect(answer.ExitDone, "A/plain.md\nT/t.md\n", "files")
	h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": access.Read.String(), "A": "rw"}).String()
	status, stdout, _ := h.run("read", "path=A/inside.md")
	assert.That(t, status == answer.ExitDone && strings.Contains(stdout, canary), "where nothing is hidden: %d, %q", status, stdout)
}

// Whatever a command does with a note, a folder that is exchanged for a link at
// any moment leads it neither to a hidden note nor to one that may only be read.
func TestNoCommandFollowsAFolderThatBecameALink(t *testing.T) {
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Skip(err)
	}
	files := map[string]string{
		"A/sub/n.md": "same", "A/other.md": "same", "A/sub/gone.md": "same",
		"Private/n.md": "same", "Private/gone.md": "same", "Kept/n.md": "same", "Kept/gone.md": "same",
	}
	for name, words := range map[string]string{
		"move out": "move path=A/sub/n.md to=moved.md", "move in": "move path=A/other.md to=A/sub/moved.md", "rename": "rename path=A/sub/n.md name=m",
		"rename, the case": "rename path=A/sub/n.md name=N", "delete": "delete path=A/sub/n.md", "delete permanent": "delete path=A/sub/n.md permanent",
		"undo from the trash": "undo", "append": "append path=A/sub/n.md content=x", "create": "create path=A/sub/new.md content=x",
		"overwrite": "create path=A/sub/n.md content=x overwrite", "property": "property:set path=A/sub/n.md name=k value=v",
	} {
		for _, target := range []string{"Private", "Kept"} {
			moments := 0
			for n := 1; n <= moments+1; n++ {
				h := build(t, files)
				h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none", "Kept": "r"}).String()
				if words == "undo" {
					h.expect(answer.ExitDone, "Moved to trash: A/sub/gone.md\n", "delete", "path=A/sub/gone.md")
				}
				said, calls := h.exchanging(n, target, strings.Fields(words))
				moments = max(moments, calls)
				for _, folder := range []string{"Private", "Kept"} {
					want := map[string]string{"n.md": "same", "gone.md": "same"}
					got := textsIn(t, h.file(folder), true)
					assert.That(t, maps.Equal(got, want), "%s, exchanged before call %d: %q, and %s contains %q", name, n, said.Text, folder, got)
				}
			}
			assert.That(t, moments != 0, "%s changed nothing", name)
		}
	}
}

// exchanging carries out a command and puts a link to target in the place of the
// folder A/sub before the n-th call that changes the disk. It returns how many
// such calls were made.
func (h *testVault) exchanging(n int, target string, words []string) (said answer.Reply, calls int) {
	h.t.Helper()
	at := h.host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.dir, protocol.Request{}))(h.t)
	v.Disk.Interpose(func() error {
		if calls++; calls == n {
			if err := os.Rename(h.file("A/sub"), h.file("A/away")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join("..", target), h.file("A/sub"))
		}
		return nil
	})
	return respond(v, protocol.Request{Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true}}, nil), calls
}

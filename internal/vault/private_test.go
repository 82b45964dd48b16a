package vault_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// privateRules are the rules of the default settings.
func privateRules(t testing.TB) string {
	t.Helper()
	private := require.Value(access.NewPrivate([]string{"private", "agent"}, []string{"#private"}))(t)
	return access.Rules{}.WithPrivate(private).String()
}

// world is a vault with a worker that lives through all changes.
type world struct {
	t      testing.TB
	dir    string
	env    map[string]string
	worker *call.Host
}

func newWorld(t testing.TB, rules string) *world {
	root := t.TempDir()
	w := &world{t: t, dir: filepath.Join(root, "Home"), env: map[string]string{
		date.NowVariable: embedded.Saturday, "XDG_STATE_HOME": filepath.Join(root, "state"),
		"XDG_CACHE_HOME": filepath.Join(root, "state"), call.AccessVariable: rules, change.SessionVariable: "agent",
	}}
	for _, folder := range append([]string{".obsidian", "../state/vaultwicket"}, yardFolders[:8]...) {
		require.NoError(t, os.MkdirAll(filepath.Join(w.dir, folder), 0o700))
	}
	w.worker = embedded.HostOf(w.env)
	w.worker.Knowledge.Resident = true
	t.Cleanup(w.worker.Close)
	return w
}

// put writes a file, or removes it where the text is "".
func (w *world) put(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, filepath.FromSlash(path))
	err := os.Remove(full)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if text != "" {
		err = errors.Join(err, os.WriteFile(full, []byte(text), 0o644), os.Chtimes(full, youth, youth))
	}
	require.NoError(w.t, err)
}

// on runs a call in the worker, or in a process of its own where h is nil.
func (w *world) on(h *call.Host, args ...string) string {
	w.t.Helper()
	if h == nil {
		h = embedded.HostOf(w.env)
		defer h.Close()
	}
	status, stdout, stderr := embedded.Called(h, append([]string{w.dir, call.WriteSwitch}, args...)...)
	said := closedFact.ReplaceAllString(withoutState(stderr), "") // which the gateway does not pass on
	return fmt.Sprintf("%d\n%s\n%s", status, stdout, strings.Replace(said, "vaultwicket-facts: {\"path\":\"\",\"hash\":\"\"}\n", "", 1))
}

var closedFact = regexp.MustCompile(`,"closed":"[0-9a-f]+"(,"rows":\d+)?`)

// marksOf are the ways to say that a note is private, each followed by the words of the note.
var marksOf = []string{
	"---\nprivate: true\n---\n", "---\nPrivate: yes\nother: 1\n---\n", "---\n'private': \"true\"\n---\n",
	"---\n{private: true}\n---\n", "---\r\nprivate: 1\r\n---\r\n", "\ufeff---\nprivate: true\n---\n",
	"---\n? private\n: true\n---\n", "---\n\"pr\\x69vate\": true\n---\n", "---\nprivate: [false, true]\n---\n",
	"---\nprivate: {a: b}\n---\n", "---\nprivate: |\n  sometimes\n---\n", "---\nprivate: &a true\nb: *a\n---\n",
	"---\nagent: none\n---\n", "---\nagent: false\n---\n", "---\nagent: Bond\n---\n", "---\nagent: no\n---\n",
	"---\ntags: private\n---\n", "---\ntags: [a, private/deep]\n---\n", "---\nTags:\n  - '#Private'\n---\n",
	"---\ntags: a, private\n---\n", "---\ntag: private\n---\n",
	"---\nprivate: true\nprivate: false\n---\n", "---\nx: [\nprivate: true\n---\n",
	"---\nprivate: true\n\ttab: x\n---\n", "---\nprivate: true\n", "\n---\nprivate: true\n---\n",
	"--- \nprivate: true\n---\n",
	"#private ", "text #PRIVATE/x ", "- [ ] task #private\n", "> quote #private\n", "| a | #private |\n",
	"# Heading #private\n", "a\n\n    \n#private\n", "%% #private %%\n",
}

// openOf are texts that look similar and say nothing.
var openOf = []string{
	"---\nprivate: false\n---\n", "---\nprivate:\n---\n", "---\nprivate: \"\"\n---\n", "---\nprivate: no\n---\n",
	"---\nprivate: 0\n---\n", "---\nprivate: []\n---\n", "---\nprivate: rwd\nagent: rwd\n---\n",
	"---\nagent:\n---\n",
	"---\nprivately: true\nmeta:\n  private: true\n---\n", "---\ntags: [privacy, not/private]\n---\n",
	"---\ntitle: private\nx: '#private'\n---\n", "---\n# private: true\n---\n",
	"```\n#private\n```\n", "`#private` ", "~~~yaml\nprivate: true\n#private\n~~~\n", "private: true\n", "#privates ",
	"x#private ", "\\#private ", "[[Note#private]] ", "https://example.org/#private ", "<!-- #private -->\n",
	"# private\n",
	"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n", "----\nprivate: true\n", "--- of an agent\nprivate: true\n", "---x\nagent: none\n---\n",
	"text\n---\nprivate: true\n---\n", "---\nx: [\nbroken\n---\n", "$#private$ ", "    #private\n",
}

// TestWhatNarrowsAccess compares every spelling with a list by hand, and drawn notes of several
// parts with the parts.
func TestWhatNarrowsAccess(t *testing.T) {
	rules := require.Value(access.Parse(privateRules(t)))(t)
	level := func(text string) access.Level { return call.LevelIn(rules.Private(), []byte(text)) }
	for _, text := range marksOf {
		assert.Equal(t, level(text+"words\n"), access.None, "%q has the level", text)
	}
	for _, text := range openOf {
		assert.Equal(t, level(text+"words\n"), access.Delete, "%q has the level", text)
	}
	for text, want := range map[string]access.Level{
		"---\nagent: r\n---\n": access.Read, "---\nAgent: RW\n---\n": access.Write,
		"---\nprivate: r\n---\n": access.Read, "---\nagent: [rw, r]\n---\n": access.Read,
		"---\nagent: rw\nprivate: r\n---\n": access.Read, "---\nagent: r\n---\n#private": access.None,
		"---\nagent: r\nprivate: false\n---\n": access.Read,
	} {
		assert.Equal(t, level(text), want, "%q has the level", text)
	}
	var without access.Private
	assert.Equal(t, call.LevelIn(without, []byte(marksOf[0])), access.Delete, "without names the level")
	r := rand.New(rand.NewPCG(29, 7))
	body := func(all []string) (some []string) {
		for _, text := range all {
			if !strings.Contains(text, "---") && !strings.HasPrefix(text, "    ") {
				some = append(some, text)
			}
		}
		return some
	}
	front := func(all []string) (some []string) {
		for _, text := range all {
			if strings.HasPrefix(text, "---\n") && strings.HasSuffix(text, "\n---\n") {
				some = append(some, text)
			}
		}
		return some
	}
	for range 3000 {
		private := false
		var b strings.Builder
		part := func(marked, open []string, one int) {
			if r.IntN(one) == 0 {
				private = true
				b.WriteString(marked[r.IntN(len(marked))])
			} else {
				b.WriteString(open[r.IntN(len(open))])
			}
		}
		part(front(marksOf), front(openOf), 6)
		for range r.IntN(4) {
			b.WriteString("some words\n\n")
			part(body(marksOf), body(openOf), 8)
			b.WriteString("\n\n")
		}
		got := level(b.String())
		require.Equal(t, (got == access.None), private, "%q has the level %v, and is private", b.String(), got)
	}
}

// notesOf draws notes that are seen, and private ones at other paths. Those of the second kind have
// words that no answer may have.
func notesOf(r *rand.Rand) (seen, private map[string]string) {
	seen, private = map[string]string{}, map[string]string{}
	lines := func(all []string) string {
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(all[r.IntN(len(all))] + "\n")
		}
		return b.String()
	}
	for _, path := range universe {
		switch ext := filepath.Ext(path); {
		case strings.Contains(path, "zqxdir"): // a folder is seen
		case ext == ".canvas":
			seen[path] = `{"nodes":[{"id":"1","type":"file","file":"Hid/Note.md"},{"id":"2","type":"text","text":"plain"}]}`
		case ext == ".base":
			seen[path] = "views:\n  - type: table\n    name: One\n    order: [file.path, file.backlinks, note.prop]\n"
		case ext != ".md":
		case strings.Contains(path, "zq") || r.IntN(4) == 0:
			private[path] = marksOf[r.IntN(len(marksOf))] + "\n\n" + lines(hiddenLines) + "zqxword\n"
		case r.IntN(3) > 0:
			seen[path] = seenBlocks[r.IntN(4)] + lines(seenLines)
		}
	}
	return seen, private
}

// sameAnswers compares the answers in two worlds, in which times and hashes of settings may differ.
func sameAnswers(a, b string) bool {
	return a == b || volatile.ReplaceAllString(a, "#") == volatile.ReplaceAllString(b, "#")
}

var volatile = regexp.MustCompile(`[/\\]\d{3}[/\\]+Home|\b1[0-9]{12}\b|"hash":"[0-9a-f]+"|\d{8}T\d{6}\.\d+Z-[0-9a-f]+|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?`)

// inner is what a plan has for the gateway alone.
var inner = regexp.MustCompile(`"digest":"[0-9a-f]+"|"raw":\["[0-9a-f]*","[0-9a-f]*"\]`)

// TestPrivateNotesDoNotExist asks everything in a vault with private notes, and in one without
// them: alone and in a worker that lives on while notes become private in the one and are removed
// from the other, become open again, or have another private text.
func TestPrivateNotesDoNotExist(t *testing.T) {
	rounds, each, seeds := 4, 4, uint64(testenv.Count(1, 6))
	if testing.Short() {
		rounds, each = 2, 2
	}
	asked := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(29, seed))
		with, without := newWorld(t, privateRules(t)), newWorld(t, privateRules(t))
		seen, private := notesOf(r)
		seen["Keep.md"] = "kept\n"
		marks := `{"items":[{"type":"file","path":"Keep.md","title":"seen"}`
		for _, w := range []*world{with, without} {
			for name, text := range map[string]string{"daily-notes.json": `{"folder":"D"}`,
				"templates.json": `{"folder":"A"}`, "app.json": `{"alwaysUpdateLinks":true}`,
				"types.json": `{"types":{"prop":"text"}}`} {
				w.put(".obsidian/"+name, text)
			}
			more, recent, active := "", `"Keep.md"`, ""
			if w == with {
				active = "A/zqx1.md"
				for _, path := range slices.Sorted(maps.Keys(private)) {
					if !strings.Contains(path, canary) {
						continue // it may be open later
					}
					more += `,{"type":"file","path":"` + path + `","title":"zqxtitle"}`
					recent += `,"` + path + `"`
				}
			}
			w.put(".obsidian/bookmarks.json", marks+more+"]}")
			w.put(".obsidian/workspace.json", `{"active":"1","main":{"id":"1","state":{"state":{"file":"`+active+`"}}},"lastOpenFiles":[`+recent+`]}`)
			for path, text := range seen {
				w.put(path, text)
			}
		}
		for path, text := range private {
			with.put(path, text)
		}
		ids := fixedIDs(3)
		for i, path := range slices.Sorted(maps.Keys(seen)) { // so that the journal has something
			if filepath.Ext(path) == ".md" && i < len(ids) {
				for _, w := range []*world{with, without} {
					w.on(nil, "--change", ids[i], "append", "path="+path, "content=again")
					file := filepath.Join(w.dir, filepath.FromSlash(path))
					require.NoError(t, os.Chtimes(file, youth, youth)) // or it is that of another second
				}
			}
		}
		for round := range rounds {
			for i, args := range callsFor(r, each, ids, func(handlers.Command) bool { return true }) {
				args = shown(args)
				if isByChance(args[1:]) || args[1] == "status" {
					continue
				}
				asked++
				a, b := with.on(with.worker, args...), without.on(without.worker, args...)
				if i%7 == round {
					a, b = with.on(nil, args...), without.on(nil, args...)
				}
				if slices.Contains(args, "bookmark") { // the file is another one
					a, b = inner.ReplaceAllString(a, ""), inner.ReplaceAllString(b, "")
				}
				require.That(t, !strings.Contains(a, canary), "seed %d, round %d: %q tells\n%s", seed, round, args, a)
				require.That(t, sameAnswers(a, b) || makesAt(a, b, private), "seed %d, round %d: %q\n%s\nwithout private notes:\n%s", seed, round, args, a, b)
			}
			for _, path := range slices.Sorted(maps.Keys(seen)) { // some become private
				if filepath.Ext(path) == ".md" && path != "Keep.md" && r.IntN(5) == 0 {
					private[path] = marksOf[r.IntN(len(marksOf))] + "\n\n" + seen[path] + "zqxword\n"
					with.put(path, private[path])
					without.put(path, "")
					delete(seen, path)
				}
			}
			for _, path := range slices.Sorted(maps.Keys(private)) { // some become open, or are changed
				switch r.IntN(8) {
				case 0:
					if !strings.Contains(path, canary) {
						seen[path] = "now open [[Plan]] #tag\n"
						with.put(path, seen[path])
						without.put(path, seen[path])
						delete(private, path)
					}
				case 1:
					with.put(path, private[path]+"more zqxword\n")
				}
			}
		}
	}
	assert.That(t, asked >= 400, "%d calls", asked)
}

// makesAt reports whether the answer in the vault with private notes refuses to make a file or folder
// in the place of one, or to take a folder with one away, as access rules do.
func makesAt(with, without string, private map[string]string) bool {
	if strings.Contains(with, "may not be changed as a whole") {
		return true
	}
	for path := range private {
		refused := fmt.Sprintf("Access denied: %q may not be ", path)
		if strings.Contains(with, refused+"made") || strings.Contains(with, refused+"changed.") {
			return !strings.Contains(without, "Access denied")
		}
	}
	return false
}

// TestANoteIsPrivateFromTheCallOnAfterItWasWritten: what was written before a call decides, however
// short before.
func TestANoteIsPrivateFromTheCallOnAfterItWasWritten(t *testing.T) {
	w := newWorld(t, privateRules(t))
	for i := range 40 {
		w.put(fmt.Sprintf("A/n%d.md", i), "[[Plan]] #tag words\n")
	}
	w.put("Plan.md", "plan\n")
	calls := [][]string{{"files"}, {"backlinks", "path=Plan.md"}, {"tags", "counts"}, {"search", "query=words"},
		{"read", "path=A/n%.md"}, {"find", "query=words"}, {"file", "path=A/n%.md"}, {"links", "path=A/n%.md"},
		{"recent"}, {"search:context", "query=words"}}
	for _, call := range calls {
		w.on(w.worker, call...)
	}
	for i := range 40 {
		at, call := fmt.Sprintf("A/n%d.md", i), slices.Clone(calls[i%len(calls)])
		for k := range call {
			call[k] = strings.ReplaceAll(call[k], "n%", fmt.Sprintf("n%d", i))
		}
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, at), []byte("#private [[Plan]] #tag words\n"), 0o644))
		said := w.on(w.worker, call...)
		if call[0] == "tags" {
			want := fmt.Sprintf("#tag\t%d", 39-i)
			require.That(t, strings.Contains(said, want), "%q: %s, want %s", call, said, want)
			continue
		}
		if strings.Contains(said, at) && !strings.Contains(said, "not found.") || strings.Contains(said, "#private") {
			t.Fatalf("%q tells of %s, which was made private before:\n%s", call, at, said)
		}
	}
}

// TestNoCommandChangesWhatNarrowsAccess tries to loosen, to set and to take away what narrows access by
// every command that writes, on notes of every level, and compares what is left with the rule: the level
// of a note never changes, a new note is not closed, and each note has only what its level allows.
func TestNoCommandChangesWhatNarrowsAccess(t *testing.T) {
	rules := require.Value(access.Parse(privateRules(t)))(t)
	level := func(path, text string) access.Level {
		if filepath.Ext(path) != ".md" {
			return access.Delete
		}
		return call.LevelIn(rules.Private(), []byte(text))
	}
	notes := map[string]string{
		"None.md": "---\nprivate: true\nother: 1\n---\n# None\nsecret zqxword\n", "Tag.md": "# Tag\ntext\n#private\nzqxword\n",
		"R.md":       "---\nagent: r\nother: [a, b]\n---\n# R\n## Part\nread only\n- [ ] task\n",
		"Rw.md":      "---\nagent: rw\nother: [a, b]\n---\n# Rw\n## Part\nwritable\n- [ ] task\n",
		"Open.md":    "---\nother: [a, b]\ntags: [work]\n---\n# Open\n## Part\nopen [[R]] [[Rw]] #work\n- [ ] task\n",
		"In/Open.md": "in a folder [[Rw]]\n", "In/R.md": "---\nprivate: r\n---\nin\n",
		"Templates/Closed.md": "---\nprivate: true\n---\nform\n", "Templates/Closing.md": "form #privatX\n", "Templates/R.md": "---\nagent: r\n---\nform\n",
		".obsidian/templates.json": `{"folder":"Templates"}`, ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		".obsidian/daily-notes.json": `{"template":"Templates/Closed"}`,
	}
	var calls [][]string
	for _, path := range []string{"None.md", "Tag.md", "R.md", "Rw.md", "Open.md", "In/Open.md", "In/R.md"} {
		for _, name := range []string{"private", "agent", "Private", "tags", "other"} {
			for _, value := range []string{"false", "true", "rwd", "none", "r", "private", "x", "[]"} {
				calls = append(calls, []string{"property:set", "path=" + path, "name=" + name, "value=" + value})
			}
			calls = append(calls, []string{"property:remove", "path=" + path, "name=" + name},
				[]string{"property:add", "path=" + path, "name=" + name, "value=private"},
				[]string{"property:remove-item", "path=" + path, "name=" + name, "value=a"})
		}
		for _, text := range []string{"plain", "#private", `---\nprivate: true\n---\n`, `---\nagent: rwd\n---\nx`,
			`---\nagent: rw\nother: 2\n---\nx`, `---\nprivate: [\n---\n`} {
			calls = append(calls, []string{"create", "path=" + path, "content=" + text, "overwrite"},
				[]string{"create", "path=New.md", "content=" + text},
				[]string{"append", "path=" + path, "content=" + text},
				[]string{"prepend", "path=" + path, "content=" + text},
				[]string{"note:set-section", "path=" + path, "heading=Part", "content=" + text},
				[]string{"note:insert", "path=" + path, "lines=1", "position=before", "content=" + text},
				[]string{"task:add", "path=" + path, "content=" + text})
		}
		for _, swap := range [][2]string{{"agent: rw", "agent: rwd"}, {"agent: r", "agent: rw"},
			{"private: true", "private: false"}, {"#private", ""}, {"private", "x"}, {"rw", "r"}, {"---", "--"},
			{"work", "private"}, {"open", "#private"}} {
			calls = append(calls, []string{"note:replace", "path=" + path, "old=" + swap[0], "new=" + swap[1]},
				[]string{"vault:replace", "old=" + swap[0], "new=" + swap[1]})
		}
		for _, to := range []string{"In/", "Moved.md", "Moved.txt", "None.md", "In/None.md", "Open.md"} {
			calls = append(calls, []string{"move", "path=" + path, "to=" + to},
				[]string{"copy", "path=" + path, "to=" + to}, []string{"note:merge", "path=" + path, "into=" + to},
				[]string{"note:extract", "path=" + path, "heading=Part", "to=" + to})
		}
		calls = append(calls, []string{"rename", "path=" + path, "name=None"},
			[]string{"rename", "path=" + path, "name=Other"}, []string{"delete", "path=" + path},
			[]string{"delete", "path=" + path, "permanent"}, []string{"note:split", "path=" + path, "level=2"},
			[]string{"history:restore", "path=" + path, "version=1"},
			[]string{"template:insert", "path=" + path, "name=Closed"},
			[]string{"template:insert", "path=" + path, "name=R"},
			[]string{"create", "path=New.md", "template=Closed"}, []string{"create", "path=New.md", "template=R"},
			[]string{"task", "ref=" + path + ":8", "done"},
			[]string{"heading:rename", "path=" + path, "heading=Part", "to=#private"})
	}
	calls = append(calls, []string{"tag:rename", "name=work", "to=private"},
		[]string{"tag:rename", "name=private", "to=work"}, []string{"property:rename", "name=agent", "to=was"},
		[]string{"property:rename", "name=other", "to=private"}, []string{"property:rename", "name=private", "to=was"},
		[]string{"folder:rename", "path=In", "name=Out"}, []string{"folder:move", "path=In", "to=Out"},
		[]string{"folder:copy", "path=In", "to=Out"}, []string{"folder:delete", "path=In"},
		[]string{"daily:append", "content=x"}, []string{"daily:ensure"}, []string{"unique"}, []string{"undo"})
	rand.New(rand.NewPCG(29, 11)).Shuffle(len(calls), func(i, k int) { calls[i], calls[k] = calls[k], calls[i] })
	if testing.Short() {
		calls = calls[:300]
	}
	h := embedded.New(t, notes)
	h.Env[call.AccessVariable] = privateRules(t)
	allowed, before := 0, h.Texts(false)
	for _, args := range calls {
		if allowed%20 == 19 { // back to the beginning
			for path := range before {
				h.Remove(path)
			}
			for path, text := range notes {
				h.Put(path, text)
			}
			before, allowed = h.Texts(false), allowed+1
		}
		status, out, _ := h.Run(args...)
		require.That(t, !strings.Contains(out, canary), "%q tells %s", args, out)
		after := h.Texts(false)
		require.That(t, status == answer.ExitDone || maps.Equal(before, after), "%q: %q, and changed", args, out)
		if status == answer.ExitDone {
			allowed++
		}
		moved := map[access.Level]int{} // how many notes of a level came and went
		for path, text := range after {
			was, there := before[path]
			now := level(path, text)
			switch {
			case there && was == text:
			case there && (level(path, was) != now || now < access.Write):
				t.Fatalf("%q: %s of the level %v is %q now:\n%s", args, path, level(path, was), text, out)
			case !there && now == access.None:
				t.Fatalf("%q makes %s, which is closed: %q", args, path, text)
			case !there:
				moved[now]++
			}
		}
		for path, text := range before {
			if _, there := after[path]; !there && level(path, text) < access.Delete {
				if moved[level(path, text)]--; moved[level(path, text)] < 0 || level(path, text) < access.Write {
					t.Fatalf("%q takes %s of the level %v away", args, path, level(path, text))
				}
			}
		}
		before = after
	}
	assert.That(t, allowed >= 20, "%d calls are allowed", allowed)
}

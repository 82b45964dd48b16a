package handlers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What was once wrong without a word, one case after the other.

// Texts of bases follow a move, whatever quotes and escapes they are written with.
func TestBasesFollowNamesWithAnApostrophe(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/app.json":       `{"alwaysUpdateLinks":true}`,
		"Aunt's things/Rosa's.md":  "tea\n",
		"visit.md":                 "---\nwith: \"[[Rosa's]]\"\n---\n",
		"Trips/Köln.md":            "",
		"double.base":              "filters:\n  or:\n    - with == link(\"Rosa's\")\n    - file.folder == \"Aunt's things\"\nviews:\n  - type: table\n    name: All\n",
		"single.base":              "filters: 'file.inFolder(''Aunt\\''s things'') && file.ext == \"md\"'\nviews:\n  - type: table\n    name: All\n",
		"escaped.base":             "filters: \"file.name == \\\"K\\u00f6ln\\\" || file.inFolder(\\\"Tri\\x70s\\\")\"\nviews:\n  - type: table\n    name: All\n",
		"Aunt's things/notes.base": "views:\n  - type: table\n    name: All\n    filters: file.inFolder(\"Aunt's things\") && file.ext == \"md\"\n",
	})
	rows := func(base string) string { return strings.TrimSpace(h.Does("base:query", "path="+base, "format=paths")) }
	assert.Equal(t, rows("double.base"), "Aunt's things/notes.base\nAunt's things/Rosa's.md\nvisit.md", "before")
	assert.Equal(t, rows("escaped.base"), "Trips/Köln.md", "before, with escapes")
	h.Does("rename", "path=Aunt's things/Rosa's.md", "name=Rosa O'Neil")
	h.Does("folder:rename", "path=Aunt's things", "name=Rosa's (box)")
	h.Does("folder:rename", "path=Trips", "name=Way's")
	assert.Equal(t, rows("double.base"), "Rosa's (box)/notes.base\nRosa's (box)/Rosa O'Neil.md\nvisit.md", "%s", h.Get("double.base"))
	assert.Equal(t, rows("single.base"), "Rosa's (box)/Rosa O'Neil.md", "%s", h.Get("single.base"))
	assert.Equal(t, rows("escaped.base"), "Way's/Köln.md", "%s", h.Get("escaped.base"))
	assert.Equal(t, rows("Rosa's (box)/notes.base"), "Rosa's (box)/Rosa O'Neil.md", "a base that moved itself")
}

// Footnotes and definitions lead where they led after two notes became one, and go along with a section that uses them.
func TestFootnotesKeepTheirSources(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"bees.md": "Bees dance.[^1] More [here][src].\n\n[^1]: A book on bees\n[src]: https://bees.example\n",
		"ants.md": "Ants farm.[^1] More [there][src].\n\n[^1]: A paper on ants\n[src]: https://ants.example\n",
		"long.md": "## First\nSee [x][w].[^a]\n\n## Second\nAnd.[^b]\n\n[^a]: of the first\n[^b]: of the second\n[w]: https://w.example\n",
		"open.md": "```sh\nls\n",
	})
	h.Does("note:merge", "path=ants.md", "into=bees.md")
	merged := h.Get("bees.md")
	assert.Contains(t, merged, "Bees dance.[^1] More [here][src].")
	assert.Contains(t, merged, "Ants farm.[^2] More [there][src-2].")
	assert.Contains(t, merged, "[^2]: A paper on ants")
	assert.Contains(t, merged, "[src-2]: https://ants.example")
	h.Does("note:split", "path=long.md")
	assert.Contains(t, h.Get("First.md"), "[^a]: of the first")
	assert.Contains(t, h.Get("First.md"), "[w]: https://w.example")
	assert.Contains(t, h.Get("Second.md"), "[^b]: of the second")
	h.Does("note:merge", "path=Second.md", "into=open.md")
	assert.Contains(t, h.Get("open.md"), "ls\n```\n")
}

// What is not in a list is not told as removed, nor what is in it as added, and the other items keep their bytes.
func TestListsSayWhatHappened(t *testing.T) {
	const listed = "---\npeople: [\"[[Ann B]]\", \"[[Cy|c]]\"]\nnums: [1, 007, 2.50, null] # odd\nnames:\n  - 'Al D'   # short\n  # formal\n  - plain\n---\n"
	h := embedded.New(t, map[string]string{"l.md": listed})
	out := h.Does("property:remove-item", "path=l.md", "name=people", "value=[[Cy]]")
	assert.Contains(t, out, "Nothing was changed")
	out = h.Does("property:add", "path=l.md", "name=names", "value=plain")
	assert.Contains(t, out, "Nothing was changed")
	assert.Equal(t, h.Get("l.md"), listed, "the note")
	h.Does("property:add", "path=l.md", "name=nums", "value=3")
	h.Does("property:add", "path=l.md", "name=names", "value=new")
	want := strings.NewReplacer("null]", "null, 3]", "  - plain\n", "  - plain\n  - new\n").Replace(listed)
	assert.Equal(t, h.Get("l.md"), want, "the note with two items more")
}

// Undo takes back the folders that a change made.
func TestUndoTakesBackNewFolders(t *testing.T) {
	for _, words := range [][]string{
		{"move", "path=a.md", "to=New/Deep/a.md"},
		{"copy", "path=a.md", "to=New/Deep/b.md"},
		{"create", "path=New/Deep/c.md", "content=x"},
		{"folder:move", "path=Sub", "to=New/Deep/Sub"},
		{"folder:copy", "path=Sub", "to=New/Deep/Sub"},
		{"note:extract", "path=a.md", "heading=H", "to=New/Deep/H.md"},
	} {
		h := embedded.New(t, map[string]string{"a.md": "# H\ntext\n", "Sub/b.md": "b\n"})
		h.Does(words...)
		h.Does("undo")
		entries := require.Value(os.ReadDir(h.Dir))(t)
		var names []string
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				names = append(names, e.Name())
			}
		}
		assert.Equal(t, strings.Join(names, " "), "Sub a.md", "after undo of %v", words)
		assert.That(t, embedded.Exists(filepath.Join(h.Dir, "Sub", "b.md")), "after undo of %v: the note in the folder is gone", words)
	}
}

// Blocks that the library of the app reads are read, and those that it refuses are refused.
func TestOddYAMLIsThatOfTheApp(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"anchor.md": "---\n&x: name: &x bee\nagain:\n  *x:\n---\n", "tab.md": "---\nsay: \"one\n\ttwo\"\n---\n",
		"blanks.md": "---\nempty: >\n \n  \n   \n # remark\n---\n",
	})
	h.Expect(answer.ExitDone, "{\n  \"name\": \"bee\",\n  \"again\": \"name\"\n}\n", "properties", "path=anchor.md", "format=json")
	for _, path := range []string{"tab.md", "blanks.md"} {
		out := h.Does("properties", "path="+path, "format=json")
		assert.That(t, !strings.Contains(out, "two"), "%s: %s", path, out)
		assert.That(t, !strings.Contains(out, "empty"), "%s: %s", path, out)
	}
}

// A long reason is not cut, and is none of the client.
func TestALongReasonOfABase(t *testing.T) {
	long := strings.Repeat("y", 200)
	h := embedded.New(t, map[string]string{"b.base": "formulas:\n  a: \"1\"\n  b: formula.a + \"" + long + "\"\nviews:\n  - type: table\n    name: All\n"})
	got := h.Failure("base:set-formula", "path=b.base", "name=a", "remove")
	assert.Contains(t, got.Reason, "The change would break the base")
	assert.Contains(t, got.Reason, `no formula is called "a"`)
	assert.That(t, !strings.Contains(got.Reason, "client"), "%s", got.Reason)
}

// {{date}} in the template of daily notes is the date in the format of the templates, or of daily notes as the app has it.
func TestTheDateInADailyTemplate(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/daily-notes.json": `{"format":"dddd, D. MMMM YYYY","folder":"Days","template":"Forms/day"}`, "Forms/day.md": "{{date}} / {{title}}\n",
	})
	h.Does("daily:append", "content=x")
	assert.Contains(t, h.Get("Days/Saturday, 21. November 2026.md"), "Saturday, 21. November 2026 / Saturday, 21. November 2026")
}

// A line outside the global filter of the Tasks plugin is none of its tasks: it gets a mark, and none that follows it.
func TestATaskOutsideTheGlobalFilter(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/community-plugins.json":                  `["obsidian-tasks-plugin"]`,
		".obsidian/plugins/obsidian-tasks-plugin/data.json": `{"globalFilter":"#todo"}`,
		"a.md": "- [ ] sweep 🔁 every day 📅 2026-11-20\n- [ ] #todo mop 🔁 every day 📅 2026-11-20\n",
	})
	h.Does("task", "ref=a.md:1", "done", "date=2026-11-21")
	assert.Contains(t, h.Get("a.md"), "- [x] sweep 🔁 every day 📅 2026-11-20")
	assert.Equal(t, strings.Count(h.Get("a.md"), "sweep"), 1, "lines of a task that the plugin does not know")
	h.Does("task", "ref=a.md:2", "done", "date=2026-11-21")
	assert.Equal(t, strings.Count(h.Get("a.md"), "mop"), 2, "lines of a task that recurs")
}

// What names a moved file and does not follow it is told: a path in a property, and a link to a heading with a link in it.
func TestWhatDoesNotFollowAMoveIsTold(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		"A/Old.md":           "# Mine\n", "A/pic.png": embedded.OnePixel,
		"plan.md":  "# On [[Old]]\ntext [[#On Old]]\n# Other\n",
		"other.md": "[[plan#On Old]] [[plan#Other]] [[plan]]\n",
		"card.md":  "---\ncover: A/pic.png\nlist:\n  - A/pic.png\n  - \"[[pic.png]]\"\nnote: A/Old.md\n---\n",
		"deck.md":  "---\ncover: A/pic.png\n---\n",
	}
	for _, test := range []struct{ call, told string }{
		{"move|path=A/pic.png|to=B/", "Left: 3 paths such as \"A/pic.png\" in properties of 2 notes\n"},
		{"move|path=A/Old.md|to=B/", "Left: the path \"A/Old.md\" in a property of 1 note\n"},
		{"rename|path=A/Old.md|name=New", "; the path \"A/Old.md\" in a property of 1 note; 2 links in 2 notes to headings whose text changes\n"},
		{"rename|path=other.md|name=Third", ""},
	} {
		h := embedded.New(t, files)
		_, out, _ := h.Run(append(append([]string{"--facts"}, strings.Split(test.call, "|")...), "links=update")...)
		if test.told == "" {
			assert.That(t, !strings.Contains(out, "Left:"), "%s: %s", test.call, out)
			continue
		}
		assert.Contains(t, out, test.told, "%s", test.call)
	}
}

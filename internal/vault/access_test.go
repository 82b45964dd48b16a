package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// A file of patterns that cannot be used hides everything.
func TestPatternsThatCannotBeUsed(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"a link":            func(file string) error { return os.Symlink(filepath.Join(filepath.Dir(file), "a.md"), file) },
		"a link to nowhere": func(file string) error { return os.Symlink("nowhere", file) },
		"a folder":          func(file string) error { return os.Mkdir(file, 0o755) },
		"a large file": func(file string) error {
			return os.WriteFile(file, bytes.Repeat([]byte("secret.md\n"), 10000), 0o644)
		},
		"one long line": func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("x"), 64<<10), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{"a.md": "x", "secret.md": "y"})
			require.NoError(t, make(h.File(".vaultwicketignore")))
			for _, row := range vault.Table() {
				args := []string{row.Name}
				for _, p := range paramsOf(row) {
					if p.Required {
						args = append(args, p.Name+"=a.md")
					}
				}
				status, stdout, _ := h.Run(args...)
				assert.That(t, status != answer.ExitDone, "%s answers %d, %q", row.Name, status, stdout)
				assert.Contains(t, stdout, "so nothing is answered", "%s answers %d", row.Name, status)
			}
		})
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "x"})
	for _, rules := range []string{"{", "[]", "null", `[{"a":"none"}] `[:8], `[{"a":"x"}]`, `[{"/a":"r"}]`} {
		h.Env[call.AccessVariable] = rules
		status, stdout, _ := h.Run("read", "path=a.md")
		assert.That(t, status != answer.ExitDone, "with the rules %q: %d, %q", rules, status, stdout)
		assert.Contains(t, stdout, "nothing is answered", "with the rules %q", rules)
	}
}

// In the tests below a vault has a part that may be seen and a part that may
// not. What is hidden contains two kinds of words: those that calls ask for begin
// with zqa, and those that no call names, and so no answer may hold, with zqx.
const canary = "zqx"

// yard is what a vault contains that calls may see, with what hides the rest.
type yard struct {
	rules    map[string]string // level by path
	patterns string
	folders  []string          // that are seen
	files    map[string]string // that are seen, text by path
	settings map[string]string // text by name; some are completed by a cellar
	active   string            // the focused note, if it is one that is seen
	recent   []string
	marked   []string // bookmarks
	moved    bool     // a note came from a hidden folder, and another went there
	changed  bool     // the one that came was changed since
	sight    *call.Sight
}

// cellar is what is hidden.
type cellar struct {
	files          map[string]string
	active         string
	recent, marked []string
	busy           int // changes in the journal
}

var yardFolders = []string{"A", "A/B", "A/B/C", "D", "D/E", "Hid", "Hid/Open", "Hid/Open/Shut", "Hid/zqxdir", "zqxdir"}

var yardNames = []string{"Plan.md", "Note.md", "Idea.md", "x.draft.md", "2026-11-21.md", "Board.canvas", "Books.base",
	"pic.png", "zqa.md", "zqx1.md", "zqx2.md"}

// universe is every path that something may be at.
var universe = func() (paths []string) {
	for _, folder := range append([]string{""}, yardFolders...) {
		for _, name := range yardNames {
			paths = append(paths, strings.TrimPrefix(folder+"/"+name, "/"))
		}
	}
	return paths
}()

var seenLines = []string{
	"# Plan", "## Part", "text of a note ^blk", "[[Plan]] and [[Note|x]]", "[[A/Plan]] [[Hid/Note]] [[nowhere]]", "![[pic.png]]", "[m](Idea.md)",
	"- [ ] do it #tag", "- [x] done #tag/sub #Tag", "- [/] half", "- [ ] late 📅 2026-11-01 ⏫ #tag",
	"- [ ] again 🔁 every day 📅 2026-11-21", "- [ ] soon [due:: 2026-12-01]", "plain words here", "%% aside %%",
	"`code`",
}

var hiddenLines = append([]string{
	"# zqxhead", "## zqahead", "text zqaword zqxword ^zqxblk", "end ^zqablk", "[[zqxlink]] [[nowhere]] [[Nowhere]]",
	"- [ ] zqxtask #zqxtag", "- [ ] zqxdue 📅 2026-11-02 #zqatag", "- [ ] zqxlow 🔁 every day 📅 2026-11-21 ⏬",
	"- [ ] do #TAG #tag #tag", "#zqatag #zqxtag [[A/Plan#zqxpart|zqxalias]]",
}, seenLines...)

var seenBlocks = []string{"", "", "---\ntags: [tag, other]\nprop: 1\n---\n", "---\naliases: [Second]\nprop: text\n---\n", "---\ntags: x\n"}

var hiddenBlocks = append([]string{"---\ntags: [zqxtag, tag]\nPROP: zqxvalue\nzqaprop: 2\nzqxprop: 1\naliases: [zqxalias, Plan]\n---\n"}, seenBlocks...)

func noteText(t *rapid.T, path string, blocks, lines []string) string {
	switch filepath.Ext(path) {
	case ".canvas":
		return `{"nodes":[{"id":"1","type":"file","file":"` +
			rapid.SampledFrom([]string{"A/Plan.md", "Hid/Note.md", "Plan.md"}).Draw(t,
				"node") + `"},{"id":"2","type":"text","text":` +
			answer.QuoteJSON(rapid.SampledFrom(lines).Draw(t, "text")) + `}]}`
	case ".base":
		pry := func(label string) string { return answer.QuoteJSON(rapid.SampledFrom(prying).Draw(t, label)) }
		return "filters: " + rapid.SampledFrom([]string{"'true'", pry("filter")}).Draw(t,
			"filters") + "\nformulas: {look: " + pry("formula") + "}\nviews:\n  - type: table\n    name: " +
			rapid.SampledFrom([]string{"One", "Two"}).Draw(t,
				"view") +
			"\n    order: [file.path, formula.look, note.prop]\n    summaries: {formula.look: Unique, file.size: Sum, note.prop: Filled}\n"
	}
	return rapid.SampledFrom(blocks).Draw(t, "block") + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 5).Draw(t, "lines"), "\n")
}

var someLevel = rapid.SampledFrom([]string{"none", "none", "r", "rw", "rwd"})

// someYard draws a yard in which something can be hidden.
var someYard = rapid.Custom(func(t *rapid.T) *yard {
	y := &yard{files: map[string]string{}}
	y.rules = rapid.MapOfN(rapid.OneOf(rapid.SampledFrom(append(yardFolders, "/")), rapid.SampledFrom(universe)), someLevel, 0, 6).Draw(t, "rules")
	y.rules["Hid"] = "none"
	if rapid.Bool().Draw(t, "open in it") {
		y.rules["Hid/Open"] = rapid.SampledFrom([]string{"r", "rw", "rwd"}).Draw(t, "open")
	}
	if rapid.Bool().Draw(t, "patterns") {
		y.patterns = strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"*.draft.md", "D/", "/Idea.md",
			"A/**/Note.md", "!A/B/C/Note.md", "*.canvas", "[Pp]lan.md", "!/Plan.md", "b/"}), 1, 3).Draw(t, "lines"),
			"\n") + "\n"
	}
	y.patterns += "*zqx*\n" // what no answer may contain is hidden wherever it is
	y.sight = call.NewSight(embedded.Rules(t, y.rules), y.patterns)
	for _, folder := range yardFolders {
		if y.sight.SeesFolder(folder) && rapid.IntRange(0, 3).Draw(t, folder) > 0 {
			y.folders = append(y.folders, folder)
		}
	}
	seen := []string{"nowhere.md"}
	for _, path := range universe {
		if y.sight.SeesFile(path) {
			seen = append(seen, path)
			if rapid.IntRange(0, 2).Draw(t, path) > 0 {
				y.files[path] = noteText(t, path, seenBlocks, seenLines)
			}
		}
	}
	some := rapid.SampledFrom(seen)
	y.active = rapid.OneOf(rapid.Just(""), some).Draw(t, "active")
	y.recent, y.marked = rapid.SliceOfN(some, 0, 4).Draw(t, "recent"), rapid.SliceOfN(some, 0, 3).Draw(t, "marked")
	y.moved = y.sight.SeesFile("A/Moved.md") && y.sight.SeesFile("A/Left.md")
	y.changed = rapid.Bool().Draw(t, "changed")
	folder := rapid.SampledFrom([]string{"", "A", "D", "Hid", "Hid/Open"})
	y.settings = map[string]string{
		"daily-notes.json": `{"folder":"` + folder.Draw(t,
			"daily") + `","template":"` + rapid.SampledFrom([]string{"", "Hid/Plan", "A/Plan", "Plan"}).Draw(t,
			"daily template") + `"}`,
		"templates.json": `{"folder":"` + folder.Draw(t, "templates") + `"}`,
		"zk-prefixer.json": `{"folder":"` + folder.Draw(t,
			"unique") + `","template":"` + rapid.SampledFrom([]string{"", "Note", "Hid/Note"}).Draw(t,
			"unique template") + `"}`,
		"app.json": `{"alwaysUpdateLinks":` + rapid.SampledFrom([]string{"true", "false"}).Draw(t,
			"update") + `,"newFileLocation":"` + rapid.SampledFrom([]string{"root", "folder", "current"}).Draw(t,
			"location") +
			`","newFileFolderPath":"` + folder.Draw(t,
			"new") + `","userIgnoreFilters":["` + rapid.SampledFrom([]string{"none/", "D/", "/Pla.*/"}).Draw(t,
			"excluded") + `"]}`,
		"types.json": `{"types":{"prop":"text"}}`,
		"plugins/periodic-notes/data.json": `{"weekly":{"enabled":true,"folder":"` + folder.Draw(t,
			"weekly") + `","format":"[Plan]","template":"Hid/Plan"},"monthly":{"enabled":true,"folder":"` +
			folder.Draw(t, "monthly") + `","format":"YYYY-MM-DD"}}`,
	}
	return y
})

// someCellar draws what a yard hides.
func someCellar(y *yard) *rapid.Generator[*cellar] {
	return rapid.Custom(func(t *rapid.T) *cellar {
		c := &cellar{files: map[string]string{}, busy: rapid.IntRange(0, 3).Draw(t, "busy")}
		hidden := []string{"Hid/gone.md"}
		for _, path := range universe {
			if y.sight.SeesFile(path) {
				continue
			}
			hidden = append(hidden, path)
			// A folder that is seen is there or not, whatever is hidden in it.
			if at := filepath.Dir(path); at != "." && y.sight.SeesFolder(at) && !y.has(at) {
				continue
			}
			if rapid.IntRange(0, 2).Draw(t, path) > 0 {
				c.files[path] = noteText(t, path, hiddenBlocks, hiddenLines)
			}
		}
		some := rapid.SampledFrom(hidden)
		c.active = some.Draw(t, "active")
		c.recent, c.marked = rapid.SliceOfN(some, 0, 4).Draw(t, "recent"), rapid.SliceOfN(some, 0, 3).Draw(t, "marked")
		return c
	})
}

// has reports whether a folder that is seen is there.
func (y *yard) has(folder string) bool {
	for path := range y.files {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return slices.ContainsFunc(y.folders, func(f string) bool { return f == folder || strings.HasPrefix(f, folder+"/") })
}

// site is a yard with a cellar on the disk.
type site struct {
	t          *rapid.T
	dir, state string
	y          *yard
	env        map[string]string
	calls      int
}

func newSite(t *rapid.T, root string, y *yard) *site {
	s := &site{t: t, dir: filepath.Join(root, "Home"), state: filepath.Join(root, "state"), y: y}
	s.env = map[string]string{date.NowVariable: embedded.Saturday, "XDG_STATE_HOME": s.state, "XDG_CACHE_HOME": s.state,
		call.AccessVariable: embedded.Rules(t, y.rules).String(), change.SessionVariable: "agent"}
	return s
}

func (s *site) must(errs ...error) { require.NoError(s.t, errors.Join(errs...)) }

func (s *site) write(path, text string) {
	full := filepath.Join(s.dir, filepath.FromSlash(path))
	s.must(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644), os.Chtimes(full, youth, youth))
}

var youth = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// build makes the site anew, with what the journal knows.
func (s *site) build(c *cellar, ids []string) {
	s.must(os.RemoveAll(s.dir), os.RemoveAll(s.state), os.MkdirAll(s.dir, 0o755), os.MkdirAll(s.state, 0o755))
	for _, folder := range s.y.folders {
		s.must(os.MkdirAll(filepath.Join(s.dir, folder), 0o755))
	}
	for path, text := range s.y.files {
		s.write(path, text)
	}
	for name, text := range s.y.settings {
		s.write(".obsidian/"+name, text)
	}
	s.work(c, ids)
	s.fill(c)
	s.write(".vaultwicketignore", s.y.patterns)
}

// work makes entries of the journal: a person's, who sees everything. Those about
// what is seen are the same whatever the cellar is.
func (s *site) work(c *cellar, ids []string) {
	open := map[string]string{}
	maps.Copy(open, s.env)
	open[call.AccessVariable], open[change.SessionVariable] = "", "person"
	n := 0
	run := func(seen bool, args ...string) {
		at := embedded.HostOf(open)
		defer at.Close()
		id := journal.NewID(time.Now())
		if seen {
			id = ids[n]
			n++
		}
		at.Now = func() time.Time { return youth.Add(time.Duration(n) * time.Minute) }
		status, out, _ := embedded.Called(at, append([]string{s.dir, call.WriteSwitch, "--change", id}, args...)...)
		if status != answer.ExitDone && seen {
			s.t.Logf("%q: %s", args, out)
		}
	}
	hide := func() {
		for range c.busy {
			run(false, "append", "path=Hid/zqxm.md", "content=zqxmore")
		}
	}
	run(false, "create", "path=Hid/zqxm.md", "content=fixed")
	hide()
	for _, path := range slices.Sorted(maps.Keys(s.y.files)) {
		if n < len(ids)-8 && filepath.Ext(path) == ".md" {
			run(true, "append", "path="+path, "content=again")
			hide()
		}
	}
	if s.y.moved && ids != nil {
		if c.busy > 0 { // what it was before is hidden, and so is that there is such a thing
			run(false, "create", "path=Hid/zqxm.md", "content=fixed", "overwrite")
		}
		run(true, "move", "path=Hid/zqxm.md", "to=A/Moved.md")
		if s.y.changed {
			run(true, "append", "path=A/Moved.md", "content=seen")
		}
		run(true, "create", "path=A/Left.md", "content=seen")
		run(true, "append", "path=A/Left.md", "content=again")
		run(true, "move", "path=A/Left.md", "to=Hid/zqxl.md")
	}
	for range c.busy {
		run(false, "create", "path=Hid/zqxn.md", "content=zqxsecond")
		run(false, "bookmark", "file=Hid/zqxn.md", "title=zqxtitle")
		run(false, "rename", "path=Hid/zqxn.md", "name=zqxo")
		run(false, "delete", "path=Hid/zqxo.md")
	}
}

// fill puts a cellar in the place of the one there is.
func (s *site) fill(c *cellar) {
	s.must(filepath.WalkDir(s.dir, func(full string, d fs.DirEntry, err error) error {
		rest, relErr := filepath.Rel(s.dir, full)
		if err != nil || relErr != nil || rest == "." {
			return errors.Join(err, relErr)
		}
		switch path := filepath.ToSlash(rest); {
		case strings.HasPrefix(path, ".") && d.IsDir():
			return filepath.SkipDir
		case strings.HasPrefix(path, "."):
			return nil
		case !d.IsDir() && !s.y.sight.SeesFile(path):
			return os.Remove(full)
		case d.IsDir() && !s.y.sight.SeesFolder(path) && !s.y.sight.Enters(path):
			s.must(os.RemoveAll(full))
			return fs.SkipDir
		}
		return nil
	}))
	for _, folder := range yardFolders {
		if !s.y.sight.SeesFolder(folder) && !s.y.has(folder) {
			_ = os.Remove(filepath.Join(s.dir, folder)) // it may not be there, or hold something
		}
	}
	for path, text := range c.files {
		s.write(path, text)
	}
	recent := append(append(slices.Clone(c.recent), s.y.recent...), c.recent...)
	active := s.y.active
	if active == "" {
		active = c.active
	}
	s.write(".obsidian/workspace.json",
		`{"active":"1","main":{"id":"1","state":{"state":{"file":`+answer.QuoteJSON(active)+`}}},"lastOpenFiles":["`+
			strings.Join(recent, `","`)+`"]}`)
	var marks []string
	for _, path := range c.marked {
		marks = append(marks, `{"type":"file","path":`+answer.QuoteJSON(path)+`,"title":"zqxtitle"}`,
			`{"type":"group","title":"zqxgroup","items":[{"type":"folder","path":"Hid"}]}`)
	}
	for _, path := range s.y.marked {
		marks = append(marks, `{"type":"file","path":`+answer.QuoteJSON(path)+`,"title":"seen"}`)
	}
	s.write(".obsidian/bookmarks.json", `{"items":[`+strings.Join(marks, ",")+`]}`)
}

// newHost is what a process keeps. For it every file was left alone for a while,
// so that it is kept in mind and in the cache.
func (s *site) newHost() *call.Host {
	at := embedded.HostOf(s.env)
	at.Now = func() time.Time { return time.Now().Add(time.Minute) }
	return at
}

func (s *site) on(at *call.Host, args ...string) string {
	s.calls++
	status, stdout, stderr := embedded.Called(at, append([]string{s.dir, call.WriteSwitch}, args...)...)
	said := fmt.Sprintf("%d\n%s\n%s", status, stdout, withoutState(stderr))
	assert.That(s.t, !strings.Contains(strings.ToLower(said), canary), "%q tells what is hidden:\n%s", args, said)
	return said
}

// alone runs a call as a process of its own.
func (s *site) alone(args ...string) string {
	at := s.newHost()
	defer at.Close()
	return s.on(at, args...)
}

// prying are expressions of bases that try to see more than the rows: what links to
// a note and from it, files by their path, and what a name means.
var prying = []string{
	`file("Hid/Plan.md")`, `file("Hid/Note").properties.zqaprop`, `file("zqa").tags.length`, `file("Hid/Open/Plan.md").path`, `file("Plan").backlinks.length`,
	`link("Hid/Plan.md").asFile()`, `link("zqa").asFile().name`, `link("Hid/Note", "x")`,
	`link("Hid/Plan").linksTo(this)`, `file.hasLink("Hid/Plan.md")`, `file.hasLink(link("zqa"))`,
	`file.hasLink(this)`, `file.backlinks`, `file.backlinks.length > 1`,
	`file.backlinks.map(value.asFile().properties)`, `file.links.map(value.asFile())`,
	`file.links.map(value.asFile().backlinks.length)`,
	`file.embeds.length`, `file.hasTag("zqatag")`, `file.hasTag("tag")`, `file.tags.length`, `file.inFolder("Hid")`,
	`file.hasProperty("zqaprop")`, `file.properties`, `this.file.backlinks`, `this.prop`,
	`this.file.path`, `prop`, `zqaprop`, `formula.look`, `file.folder`, `file.name != "Plan"`, `[[Hid/Plan]]`, `file.path.contains("Hid")`, `file.aliases`,
}

func paramsOf(row handlers.Command) []allowlist.Param {
	syntax, _ := row.Syntax()
	return syntax.Params
}

// valuesOf are what the parameters of commands may be given, the first that names the parameter, or
// the end of the command, a slash and the parameter.
var valuesOf = []struct {
	params string
	values []string
}{
	{"search/path search:context/path folder/path",
		[]string{"A", "A/B", "Hid", "Hid/Open", "D/E", "missing", "/", "A/", "Plan.md", "Hid/Plan.md", "Hidd",
			"zqadir"}},
	{"diff/to", []string{"1", "2"}},
	{"diff/from version count limit min-age", []string{"1", "2", "3"}},
	{"daily:range/to periodic:read/to", []string{"2026-11-22"}},
	{":rename/to", []string{"fresh", "tag/new", "other", "Prop", "zqatag", "Part"}},
	{"to", []string{"A/", "Hid/", "Hid/Open/", "D/E/new.md", "Hid/Plan.md", "Hid/new.md", "Plan.md", "A/Plan", "D/"}},
	{"from", []string{"2026-11-19"}},
	{"file", []string{"Plan", "Note", "A/Plan", "Hid/Note", "zqa", "plan.md", "Board.canvas", "Books", "missing",
		"pic.png", "A/Moved", "A/Left", "x.draft", "../Plan", "Hid/Open/Plan", "PLAN", "Paln", "zqaa", "Hid/Noet",
		"drafts x"}},
	{"path", append(slices.DeleteFunc(slices.Clone(universe),
		func(path string) bool { return strings.Contains(path, canary) }), "A/Moved.md", "A/Moved.md", "A/Left.md",
		"missing.md", "Hid/missing.md", "Hid", "Hid/Plan.md/x.md", "hid/Plan.md", "A", "Hid/New/x.md", "Hid/Paln.md",
		"A/zqaa.md", "Idee.md", "Hid/Plan", "zqadir/Idea.md")},
	{"folder", []string{"A", "A/B", "Hid", "Hid/Open", "D", "missing", "hid", "Hidd", "zqadir", "A/Plan.md"}},
	{"date since due due-before due-after scheduled start", []string{"2026-11-21", "2026-01-01", "2026-04-01", "yesterday", "-1y"}},
	{"offset", []string{"0", "-1"}},
	{"name", []string{"Plan", "Note", "zqa", "zqatag", "tag", "Tag", "prop", "tags", "zqaprop", "missing", "fresh",
		"Open/Plan", "2026-11-21", "x.draft", "zqatags", "zqapropp", "tga", "Paln", "zqaa"}},
	{"query", []string{
		"zqaword", "do", "path:A", "path:Hid", "file:Plan", "tag:#tag", "tag:#zqatag", "[prop]", "[prop:1]",
		"[zqaprop:2]", "line:(text note)", "section:(Plan text)", "task:do", "task-todo:do",
		"task-done:done", "/d./", "-path:Hid", "-zqaword", "block:(text)", "content:words", "match-case:Plan", `"of a note"`, "do OR done", "-do", "a",
	}},
	{"content value text new", []string{"text", `two\nlines`}},
	{"old", []string{"text", "do it", "zqaword", "z[q]a.", "(t)ext"}},
	{"heading", []string{"Plan", "Part", "zqahead", "zqaheads", "Patr"}},
	{"block", []string{"blk", "zqablk", "zqablok", "bkl"}},
	{"tag", []string{"tag", "#tag/sub", "zqatag"}},
	{"recurs", []string{"every day", "every week on Friday", "weekly"}},
	{"lines line", []string{"1", "2", "3-4"}},
	{"ref", []string{"Plan.md:1", "A/Plan.md:2", "Hid/Plan.md:1", "Note.md:x"}},
	{"seed", []string{"7", "8"}},
	{"ext", []string{"md", "canvas"}},
	{"url", []string{"https://example.org/"}},
	{"command", []string{"daily"}},
	{"where expr", prying},
	{"select", append([]string{"file.name, file.backlinks, file.links", "file.path, zqaprop, prop",
		"n: file.backlinks.length, file.tags, formula.look"}, prying...)},
	{"sort group", append([]string{"file.name desc", "prop, file.path", "zqaprop desc"}, prying...)},
	{"this", []string{"Plan.md", "A/Plan.md", "Hid/Plan.md", "Hid/missing.md", "missing.md", "Books.base"}},
	{"base", []string{"Books.base", "A/Books.base", "Hid/Books.base", "missing.base"}},
	{"view", []string{"One", "Two", "1", "missing", "Oen"}},
}

// values are what a parameter of a command may be given.
func values(c handlers.Command, p allowlist.Param, ids []string) []string {
	switch {
	case p.Kind == "flag":
		return []string{""}
	case len(p.Choices) > 0:
		return p.Choices
	case p.Name == "id":
		return ids
	}
	for _, known := range valuesOf {
		for param := range strings.FieldsSeq(known.params) {
			if strings.HasSuffix(c.Name+"/"+p.Name, param) && (strings.Contains(param, "/") || param == p.Name) {
				return known.values
			}
		}
	}
	return []string{"x", "Plan"}
}

// callsFor returns calls of every command, with parameters drawn by chance.
func callsFor(random *rand.Rand, each int, ids []string, which func(handlers.Command) bool) (calls [][]string) {
	for _, row := range vault.Table() {
		if !which(row) {
			continue
		}
		for range each {
			args := []string{row.Name}
			likely := random.IntN(3)
			for _, p := range paramsOf(row) {
				if !p.Required && random.IntN(4) > likely {
					continue
				}
				all := values(row, p, ids)
				if p.Kind == "flag" {
					args = append(args, p.Name)
					continue
				}
				args = append(args, p.Name+"="+all[random.IntN(len(all))])
			}
			// Two targets would only be refused.
			if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "file=") }); i > 0 &&
				slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "path=") }) {
				args = slices.Delete(args, i, i+1)
			}
			calls = append(calls, args)
		}
	}
	return calls
}

// The tests below mean something for a command only if they ask it everything it takes.
func TestCallsAreDrawnOfEveryCommandAndParameter(t *testing.T) {
	drawn := map[string]bool{}
	for _, args := range callsFor(rand.New(rand.NewPCG(1, 2)), 200, fixedIDs(2), func(handlers.Command) bool { return true }) {
		for _, arg := range args[1:] {
			name, _, _ := strings.Cut(arg, "=")
			drawn[args[0]+" "+name] = true
		}
		drawn[args[0]] = true
	}
	for _, row := range vault.Table() {
		assert.That(t, drawn[row.Name], "no call of %s is drawn", row.Name)
		for _, p := range paramsOf(row) {
			assert.That(t, drawn[row.Name+" "+p.Name], "no call of %s with %s is drawn", row.Name, p.Name)
		}
	}
}

// isByChance reports whether two answers to a call may differ.
func isByChance(args []string) bool {
	return strings.HasPrefix(args[0], "random") && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "seed=") })
}

// forEachCase runs try on some vaults; LONG_TESTS=1 and -rapid.checks=300 on as many.
func forEachCase(t *testing.T, few int, try func(*rapid.T)) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rapid.Check(t, testenv.Cases(few, try))
}

func fixedIDs(n int) (ids []string) {
	for i := range n {
		ids = append(ids, journal.NewID(youth.Add(time.Duration(i)*time.Second)))
	}
	return ids
}

// TestAnswersDoNotDependOnWhatIsHidden asks everything, changes the hidden part
// of the vault, and asks again: alone, and a worker that lives through the
// change. What writes says what it would do.
func TestAnswersDoNotDependOnWhatIsHidden(t *testing.T) {
	root := t.TempDir()
	cases, asked := 0, 0
	forEachCase(t, 2, func(t *rapid.T) {
		y := someYard.Draw(t, "yard")
		s := newSite(t, root, y)
		cellars := someCellar(y)
		ids := fixedIDs(20)
		s.build(cellars.Draw(t, "cellar"), ids)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "calls"), 0))
		calls := callsFor(random, testenv.Count(3, 5), append(slices.Clone(ids[:8]), journal.NewID(youth)), func(handlers.Command) bool { return true })
		worker := s.newHost()
		worker.Knowledge.Resident = true
		defer worker.Close()
		s.overlook()
		first := make([]string, len(calls))
		for i, args := range calls {
			first[i] = s.alone(shown(args)...)
		}
		for round := range 3 {
			for i, args := range calls {
				said := first[i]
				if round != 1 || i%3 == 0 {
					said = s.on(worker, shown(args)...)
				}
				if round == 1 && i%3 != 0 {
					said = s.alone(shown(args)...)
				}
				require.That(t, said == first[i] || isByChance(args), "%q, round %d: \n%s\nbefore:\n%s", args, round, said, first[i])
			}
			next := cellars.Draw(t, "next cellar")
			s.work(next, nil)
			s.fill(next)
			if round == 1 {
				s.overlook()
			}
		}
		cases, asked = cases+1, asked+s.calls
	})
	t.Logf("%d vaults, %d commands, %d answers", cases, len(vault.Table()), asked)
}

// overlook has a person, who sees everything, fill the cache.
func (s *site) overlook() {
	open := map[string]string{}
	maps.Copy(open, s.env)
	open[call.AccessVariable] = ""
	s.must(os.Remove(filepath.Join(s.dir, ".vaultwicketignore")))
	for _, args := range [][]string{{"search", "query=a"}, {"tags"}} {
		at := embedded.HostOf(open)
		at.Now = func() time.Time { return time.Now().Add(time.Minute) }
		embedded.Called(at, append([]string{s.dir, call.WriteSwitch}, args...)...)
		at.Close()
	}
	s.write(".vaultwicketignore", s.y.patterns)
}

// shown returns the arguments that show what a call would do, with the facts.
func shown(args []string) []string {
	if row, err := vault.LookUp(args[0]); err == nil && row.Writes() {
		return append([]string{"--facts", "--plan"}, args...)
	}
	return append([]string{"--facts"}, args...)
}

// TestWritesDoNotDependOnWhatIsHidden carries out the same calls in two vaults
// that differ in what is hidden: they say the same and leave the same. What they
// change is within the rights of the note, and nothing hidden is touched.
func TestWritesDoNotDependOnWhatIsHidden(t *testing.T) {
	root := t.TempDir()
	cases, asked := 0, 0
	forEachCase(t, 2, func(t *rapid.T) {
		y := someYard.Draw(t, "yard")
		s := newSite(t, root, y)
		cellars := someCellar(y)
		ids := fixedIDs(20)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "calls"), 0))
		given := fixedIDs(200)
		known := append(slices.Clone(ids[:8]), given[20:60]...)
		calls := callsFor(random, 3, known, func(c handlers.Command) bool {
			return c.Writes() || strings.HasPrefix(c.Name, "history") || c.Name == "diff" || c.Name == "changes"
		})
		random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		var said, left [2][]string
		for world := range 2 {
			s.build(cellars.Draw(t, "cellar"), ids)
			worker := s.newHost()
			worker.Now = func() time.Time { return youth.Add(time.Hour) }
			worker.Knowledge.Resident = world == 0
			before := embedded.TextsIn(t, s.dir, false)
			for i, args := range calls {
				words := append([]string{"--facts"}, args...)
				if row, err := vault.LookUp(args[0]); err == nil && row.Writes() {
					words = append([]string{"--facts", "--change", given[20+i]}, args...)
				}
				said[world] = append(said[world], s.on(worker, words...))
				after := embedded.TextsIn(t, s.dir, false)
				s.judge(args, before, after)
				before = after
			}
			worker.Close()
			left[world] = s.open()
		}
		for i, args := range calls {
			require.That(t, said[0][i] == said[1][i], "%q: \n%s\nwith something else hidden:\n%s", args, said[0][i], said[1][i])
		}
		require.That(t, slices.Equal(left[0], left[1]), "left %q, and with something else hidden %q", left[0], left[1])
		cases, asked = cases+1, asked+s.calls
	})
	t.Logf("%d pairs of vaults, %d answers", cases, asked)
}

// open is what may be seen of the site.
func (s *site) open() (seen []string) {
	for path, text := range embedded.TextsIn(s.t, s.dir, false) {
		if s.y.sight.SeesFile(path) {
			seen = append(seen, path+" "+text)
		}
	}
	slices.Sort(seen)
	return seen
}

// judge checks what a call did to notes against their levels.
func (s *site) judge(args []string, before, after map[string]string) {
	rules := embedded.Rules(s.t, s.y.rules)
	for path, text := range after {
		was, there := before[path]
		if there && was == text {
			continue
		}
		if level := s.y.sight.Level(path, rules); level < access.Write {
			s.t.Errorf("%q changed or made %s, which is %v:\n%q\nbefore:\n%q", args, path, level, text, was)
		} else if there && slices.Contains(args, "overwrite") && level < access.Delete {
			s.t.Errorf("%q replaced %s, which is %v", args, path, level)
		}
	}
	for path := range before {
		if _, there := after[path]; there {
			continue
		}
		level, stays := s.y.sight.Level(path, rules), false
		for other := range after { // a note may get another name in its folder
			_, old := before[other]
			stays = stays || !old && filepath.Dir(other) == filepath.Dir(path)
		}
		// What this session made it may take away, and nothing it may not change.
		if level < access.Delete && !stays && (args[0] != "undo" || level < access.Write) {
			s.t.Errorf("%q took %s away, which is %v", args, path, level)
		}
	}
}

// A note that came from where it was hidden has no versions from then, and one
// that went there has none any more.
func TestVersionsOfANoteThatWasHidden(t *testing.T) {
	h := embedded.New(t, map[string]string{"x.md": ""})
	for _, call := range []string{
		"create path=none/s.md content=zqxone", "append path=none/s.md content=zqxtwo",
		"create path=none/s.md content=three overwrite", "move path=none/s.md to=r/s.md",
		"create path=r/l.md content=four", "append path=r/l.md content=five", "move path=r/l.md to=none/l.md", "bookmark file=none/l.md title=zqxtitle",
	} {
		h.Does(strings.Fields(call)...)
	}
	h.Put(".obsidian/bookmarks.json",
		`{"items":[{"type":"file","path":"/none/zqx.md"},{"type":"file","path":"./none/zqx.md"},{"type":"folder","path":"none/zqx/"},{"type":"file","path":"x.md"},{"type":"folder","path":"/"}]}`)
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "none": "none"}).String()
	calls := []string{"changes since=-7d", "recent", "history:list", "history path=r/s.md", "history:read path=r/s.md",
		"diff path=r/s.md from=1", "history:restore path=r/s.md version=1", "history path=r/l.md",
		"history path=none/l.md", "undo", "bookmarks", "bookmarks verbose"}
	for _, id := range h.Changes() {
		calls = append(calls, "undo "+id, "--plan undo "+id)
	}
	for _, call := range calls {
		status, stdout, _ := h.Run(strings.Fields(call)...)
		if strings.Contains(stdout, canary) || call == "history:list" && stdout != "r/l.md\n" && stdout != "" ||
			strings.HasPrefix(call, "history:read") && status == answer.ExitDone {
			t.Errorf("%s answers %d, %q", call, status, stdout)
		}
		assert.That(t, call != "bookmarks" || stdout == "x.md\n/\n", "the bookmarks are %q", stdout)
	}
}

package bases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// newVault makes a vault of files and returns it at a moment of its own, so that
// nothing depends on the clock or the zone of the machine.
func newVault(t testing.TB, files map[string]string, this string) *Vault {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	folder := require.Value(disk.Open(dir))(t)
	t.Cleanup(func() { folder.Close() })
	x := require.Value(index.Build(folder, nil, index.Memory{}, time.Now(), nil))(t)
	now := time.Date(2025, 3, 10, 8, 0, 0, 0, time.FixedZone("", -3*3600))
	return new(Memory).New(Config{Folder: folder, Index: x, Now: now, This: this})
}

// examples is the vault of the worked examples.
var examples = map[string]string{
	"pic.png": "png", "Proj/Ann.md": "", "Q.base": "views: []\n",
	"Proj/Plan.md": `---
n: 7
half: 2.5
title: Big Plan
code: "0042"
start: 2025-03-01
meet: 2025-03-01T09:30:00
done: false
empty:
tags: [area/home, idea]
nums: [4, 9, 2]
owner: "[[Ann|A.]]"
---
See [[Ann]] #todo ![[pic.png]]
`,
}

// null is the cell of nothing.
const null = "∅"

// formulas are the worked examples of one formula. Each has the text of the cell.
var formulas = []struct {
	number        int
	formula, cell string
}{
	{1, `n + 2 * half`, "12"},
	{2, `(n - 1) % 4`, "2"},
	{3, `8 - 3 - 2`, "3"},
	{4, `-n + 1`, "-6"},
	{5, `n / 0`, "Infinity"},
	{6, `0.1 + 0.2`, "0.30000000000000004"},
	{7, `!done && n > 5`, "true"},
	{8, `nothing`, null},
	{9, `nothing == empty`, "true"},
	{10, `nothing.deep.field`, null},
	{11, `nothing > 0`, "false"},
	{12, `nothing == false`, "false"},
	{13, `nothing != true`, "true"},
	{14, `nothing + 5`, null},
	{15, `nothing.isEmpty()`, "true"},
	{16, `title + " / " + n`, "Big Plan / 7"},
	{17, `code`, "0042"},
	{18, `code + 1`, "00421"},
	{19, `n == "7"`, "true"},
	{20, `title == "big plan"`, "false"},
	{21, `title * 2`, "Error: Invalid operator between String and Number"},
	{22, `title.contains("PLAN")`, "true"},
	{23, `title.lower().split(" ")[1]`, "plan"},
	{24, `title.slice(-4)`, "Plan"},
	{25, `title.replace("g", "t")`, "Bit Plan"},
	{26, `"x1y2".replace(/\d/, "#")`, "x#y2"},
	{27, `"x1y2".replace(/\d/g, "#")`, "x#y#"},
	{28, `"2025-03".replace(/(\d+)-(\d+)/, "$2/$1")`, "03/2025"},
	{29, `"war AND peace".title()`, "War And Peace"},
	{30, `"p-q-r-s".split("-", 3).join("+")`, "p+q+r"},
	{31, `(3.5).round()`, "4"},
	{31, `(-3.5).round()`, "-3"},
	{32, `half.toFixed(3)`, "2.500"},
	{33, `2.toFixed(1)`, "Error: Unable to parse formula. (position 1)"},
	{34, `start`, "2025-03-01"},
	{34, `meet`, "2025-03-01T09:30:00"},
	{35, `start + "90m"`, "2025-03-01T01:30:00"},
	{36, `start + "1M" - "1d"`, "2025-03-31"},
	{37, `date("2024-01-31") + "1M"`, "2024-02-29"},
	{38, `date("2025-03-05") - start`, "4 days"},
	{39, `(date("2025-03-05") - start).hours`, "96"},
	{40, `(now() - start).days.floor()`, "9"},
	{41, `start < "2025-03-02"`, "true"},
	{42, `start == meet`, "true"},
	{43, `meet.format("ddd HH:mm")`, "Sat 09:30"},
	{44, `meet.date() == start`, "true"},
	{45, `start.relative()`, "9 days ago"},
	{46, `duration("90s")`, "2 minutes"},
	{47, `duration("1w")`, "7 days"},
	{48, `3 * duration("1d")`, "Error: Invalid operator between Number and Duration"},
	{49, `title > now()`, "false"},
	{50, `nums.sort()`, "2, 4, 9"},
	{51, `nums.map(value * 10)[1]`, "90"},
	{52, `nums.filter(value > 3 && index < 1)`, "4"},
	{53, `nums.reduce(if(acc > value, acc, value), 0)`, "9"},
	{54, `nums[7]`, null},
	{55, `nums.contains("9")`, "true"},
	{56, `(nums + [1, 1]).unique().length`, "4"},
	{57, `if(nums.slice(5), "some", "none")`, "none"},
	{58, `title.map(value)`, `Error: Cannot find function "map" on type String`},
	{59, `owner`, "[[Ann|A.]]"},
	{60, `owner.asFile().path`, "Proj/Ann.md"},
	{61, `owner == link("Proj/Ann")`, "true"},
	{62, `owner == file("Ann")`, "true"},
	{63, `link("Nobody").asFile().size`, null},
	{64, `file.tags`, "#area/home, #idea, #todo"},
	{65, `file.hasTag("AREA")`, "true"},
	{65, `file.hasTag("home")`, "false"},
	{66, `file.links`, "[[Ann|A.]], [[Ann|Ann]], [[pic.png|pic.png]]"},
	{67, `file.hasLink("Proj/Ann.md#x")`, "true"},
	{68, `file.inFolder("Pro")`, "false"},
	{69, `file("pic.png").name`, "pic.png"},
	{70, `this.file.name + this.n`, "Q.base"},
	{71, `/^big/i.matches(title)`, "true"},
	{72, `number("12px")`, `Error: Unable to parse "12px" as a number.`},
	{73, `note["start"].day + start.month`, "4"},
	{74, `title.nope`, `Error: Cannot find "nope" on type String`},
}

func TestWorkedFormulas(t *testing.T) {
	v := newVault(t, examples, "Q.base")
	row := formula.NewSession(t.Context(), v.Source().Environment).Row(v.Entry("Proj/Plan.md"))
	for _, test := range formulas {
		t.Run(fmt.Sprint(test.number), func(t *testing.T) {
			got := row.Eval(formula.Compile(test.formula))
			text := got.Text()
			if got.IsNull() {
				text = null
			}
			assert.Equal(t, text, test.cell, "%s", test.formula)
		})
	}
}

func TestWorkedViews(t *testing.T) {
	v := newVault(t, examples, "Q.base")
	tests := []struct {
		number             int
		base, format, want string
	}{
		{75, "", Paths, "Proj/Ann.md\npic.png\nProj/Plan.md\nQ.base"},
		{76, "filters: {not: ['file.ext == \"md\"', n > 5]}", Paths, "pic.png\nQ.base"},
		{77, "filters: {or: []}", JSON, "[]"},
		{78, "filters: nope()", JSON, "[]"},
		{79, "filters: file.ext == \"md\"\nviews: [{type: table, name: A, sort: [{property: n, direction: DESC}]}]", Paths, "Proj/Plan.md\nProj/Ann.md"},
		{79, "filters: file.ext == \"md\"\nviews: [{type: table, name: A, sort: [{property: n, direction: ASC}]}]", Paths, "Proj/Plan.md\nProj/Ann.md"},
		{
			80, "filters: n\nformulas: {f: n * 2}\nviews: [{type: table, name: A, order: [file.name, note.start, formula.f]}]", JSON,
			"[\n  {\n    \"path\": \"Proj/Plan.md\",\n    \"file name\": \"Plan\",\n    \"start\": \"2025-03-01\",\n    \"f\": \"14\"\n  }\n]",
		},
		{81,
			"filters: n\nformulas: {f: n * 2}\nviews: [{type: table, name: A, order: [file.name, note.start, formula.f]}]",
			CSV, "file name,start,f\nPlan,2025-03-01,14"},
		{82, "filters: n\nviews: [{type: table, name: A, order: [tags]}]", CSV, "tags\n\"#area/home, #idea\""},
		{83, "filters: n\nformulas: {a: formula.b, b: formula.a}\nviews: [{order: [formula.a, formula.b]}]", CSV,
			"a,b\nError: Infinite loop detected in formula,Error: Infinite loop detected in formula"},
		{84, "filters: file.ext == this.file.ext", Paths, "Q.base"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.number), func(t *testing.T) {
			b := require.Value(Read([]byte(test.base)))(t)
			table := require.Value(b.Run(context.Background(), v.Source(), Query{}))(t)
			got := table.Print(test.format)
			assert.That(t, got == test.want, "%s\nprints\n%s\nwant\n%s", test.base, got, test.want)
		})
	}
}

// Every idiom of real bases gives a value, not an error, for a note that has the
// properties and for one that has none.
func TestIdioms(t *testing.T) {
	v := newVault(t, map[string]string{
		"Full.md": `---
categories: ["[[X]]", "[[Y]]"]
p: 7
q: "[[Full]]"
a: 3
b: 2
start: 2025-01-02
date: 2025-01-02
last: 2025-01-03
due: 2025-01-04
status: done
priority: 3
title: A <title>
cover: pic.png
tags: [journal, "ab"]
---
[[X]] ![[pic.png]]
`,
		"Bare.md": "", "X.md": "---\nicon: star\n---\n", "pic.png": "", "Q.base": "",
	}, "Q.base")
	tests := []struct{ formula, full, bare string }{
		{`note.categories.contains(link("X"))`, "true", "false"},
		{`list(q).contains(this)`, "false", "false"},
		{`list(p).containsAny(this.q)`, "false", "false"},
		{`file.hasLink(this)`, "false", "false"},
		{`this.file.hasLink(file)`, "false", "false"},
		{`file.links.contains(this.file)`, "false", "false"},
		{`file.name != this.file.name`, "true", "true"},
		{`file.name.contains(this.file.name)`, "false", "false"},
		{`start.toString().contains(this.file.name)`, "false", "false"},
		{`!tags.containsAny("a", "b")`, "true", "true"},
		{`tags.contains("journal")`, "true", "false"},
		{`p`, "7", null},
		{`p.isEmpty()`, "false", "true"},
		{`!p.isEmpty()`, "true", "false"},
		{`p > 6`, "true", "false"},
		{`start < now() - "60d"`, "true", "false"},
		{`((now() - start).months).round()`, "2", null},
		{`(now() - start).years.floor()`, "0", null},
		{`(a / b).toFixed(2)`, "1.50", null},
		{`a * b.round()`, "6", null},
		{`if(a, a, if(b, b))`, "3", null},
		{`file.embeds[0].containsAny("jpg", "png")`, "true", "false"},
		{`list(categories)[0].asFile().properties.icon`, "star", null},
		{`list(this.file.links).filter(list(file.links).containsAny(value)).unique()`, "", ""},
		{`list(this.file.links).filter(list(file.links).containsAny(value)).unique().length`, "0", "0"},
		{`file.backlinks.length`, "1", "0"},
		{`!file.ext.containsAny("md", "canvas")`, "false", "false"},
		{`last != null && last < today()`, "true", "false"},
		{`due && due < today()`, "true", "false"},
		{`link(file.path, title)`, "[[Full.md|A <title>]]", "[[Bare.md]]"},
		{`file.asLink(title)`, "[[Full.md|A <title>]]", "[[Bare.md]]"},
		{`html("<b>" + escapeHTML(title) + "</b>")`, "<b>A &lt;title&gt;</b>", "<b></b>"},
		{`image(cover)`, "![](pic.png)", null},
		{`icon("star")`, "star", "star"},
		{`date.format("YYYY-MM-DD dddd")`, "2025-01-02 Thursday", null},
		{`date(start).relative()`, "2 months ago", null},
		{`tags.map(value.replace(/^#/, ""))`, "journal, ab", null},
		{`file.tags.filter(value.startsWith("#a")).length`, "1", "0"},
		{`if(status == "done", "✓", if(priority > 2, "!", ""))`, "✓", ""},
	}
	session := formula.NewSession(t.Context(), v.Source().Environment)
	for _, test := range tests {
		for path, want := range map[string]string{"Full.md": test.full, "Bare.md": test.bare} {
			got := session.Row(v.Entry(path)).Eval(formula.Compile(test.formula))
			text := got.Text()
			if got.IsNull() {
				text = null
			}
			assert.Equal(t, text, want, "%s of %s", test.formula, path)
		}
	}
	got := session.Row(v.Entry("Bare.md")).Eval(formula.Compile("not(empty(p))"))
	assert.That(t, strings.HasPrefix(got.Message(), "Cannot find function"), "a function of an old version is %q", got.Text())
}

// leastCorpus is how many bases the corpus has at least, so that files that are
// not found are no success.
const leastCorpus = 60

// The corpus has bases as people write them, over one vault. What a base prints is
// in the files named after it: "name.csv" of its first view, "name.View.csv" of another.
func TestCorpus(t *testing.T) {
	vaultText := require.Value(txtar.ParseFile(filepath.Join("testdata", "corpus.txtar")))(t)
	files := map[string]string{}
	for _, f := range vaultText.Files {
		files[f.Name] = string(f.Data)
	}
	v := newVault(t, files, "Bases/Q.base")
	themes := require.Value(filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar")))(t)
	bases := 0
	for _, theme := range themes {
		archive := require.Value(txtar.ParseFile(theme))(t)
		t.Run(strings.TrimSuffix(filepath.Base(theme), ".txtar"), func(t *testing.T) { bases += checkBases(t, v, archive) })
	}
	assert.That(t, bases >= leastCorpus, "the corpus has %d bases, want at least %d", bases, leastCorpus)
}

// checkBases answers the bases of an archive and returns how many there are.
func checkBases(t *testing.T, v *Vault, archive *txtar.Archive) (bases int) {
	t.Helper()
	var name string
	var base *Base
	answers := 0
	for _, f := range archive.Files {
		if own, ok := strings.CutSuffix(f.Name, ".base"); ok {
			var err error
			base, err = Read(f.Data)
			require.That(t, err == nil, "%s: %v", own, err)
			assert.That(t, bases <= 0 || answers != 0, "%s: nothing says what it prints", name)
			name, answers = own, 0
			bases++
			continue
		}
		shown, format := "", strings.TrimPrefix(f.Name, name+".")
		if i := strings.LastIndexByte(format, '.'); i >= 0 {
			shown, format = format[:i], format[i+1:]
		}
		table, err := base.Run(context.Background(), v.Source(), Query{View: shown})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		got, want := table.Print(format), strings.TrimSuffix(string(f.Data), "\n")
		assert.Equal(t, got, want, "%s prints", f.Name)
		answers++
	}
	return bases
}

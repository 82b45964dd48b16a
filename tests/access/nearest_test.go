package access

import (
	"maps"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

// shownNotes are what a caller of the tests below may see. Their names are like those
// of what is hidden.
var shownNotes = map[string]string{
	".obsidian/templates.json": `{"folder":"Templates"}`,
	"Ideas/Bread.md":           "---\nstatus: draft\n---\n# Bread\n## Method\nflour ^dough\n- [ ] knead #baking\n",
	"Projects/Kitchen.md":      "tiles\n",
	"Templates/Meeting.md":     "# {{title}}\n",
	"Books.base":               "views:\n  - type: table\n    name: Unread\n",
}

// hiddenNotes are two sets of what is hidden, which no answer may tell apart. Nothing
// at all is the third.
var hiddenNotes = []map[string]string{
	{},
	{
		"Private/Broad plan.md": "---\nstate: x\n---\n# Methods\nflour ^doughs\n#bakery\n", "Private/Secret.md": "secret\n", "Ideas/Breads.secret.md": "x\n",
		"Ideas/Breat.secret.md": "x\n", "Templates/Meetings.secret.md": "x\n", "Private/Bookes.base": "views: []\n",
	},
	{"Private/Kitchens/Plan.md": "#bakin\n", "Private/Braed.md": "x\n", "Projects/Kitchens.secret.md": "x\n"},
}

// nearCalls name what does not exist, or is hidden, next to what does.
var nearCalls = []harness.Call{
	harness.Calling("read", "path=Ideas/Braed.md"),
	harness.Calling("read", "path=Private/Broad plan.md"),
	harness.Calling("read", "path=Private/Broad plan"),
	harness.Calling("read", "path=Private/Secret"),
	harness.Calling("read", "path=Private/Secrets.md"),
	harness.Calling("read", "path=Private"),
	harness.Calling("read", "path=Ideas/Breads.secret"),
	harness.Calling("read", "path=Ideas/Breads.md"),
	harness.Calling("read", "file=Braed"),
	harness.Calling("read", "file=Secret"),
	harness.Calling("outline", "file=Broad plan"),
	harness.Calling("backlinks", "path=Private/Secret.md"),
	harness.Calling("files", "folder=Private"),
	harness.Calling("files", "folder=Privat"),
	harness.Calling("files", "folder=Project"),
	harness.Calling("folder", "path=Private"),
	harness.Calling("random:read", "folder=Private"),
	harness.Calling("random:read", "folder=Ideas", "min-age=-30y"),
	harness.Calling("search", "query=zebra"),
	harness.Calling("search", "query=x", "path=Private"),
	harness.Calling("search", "query=x", "path=Private/Kitchens"),
	harness.Calling("search:context", "query=path:Private"),
	harness.Calling("note:section", "path=Ideas/Bread.md", "heading=Metod"),
	harness.Calling("note:section", "path=Private/Broad plan.md", "heading=Method"),
	harness.Calling("note:section", "path=Ideas/Bread.md", "block=doug"),
	harness.Calling("tag", "name=bakery"),
	harness.Calling("tag", "name=bakin"),
	harness.Calling("property:read", "path=Ideas/Bread.md", "name=state"),
	harness.Calling("template:read", "name=Meetings"),
	harness.Calling("template:read", "name=Meetings.secret"),
	harness.Calling("base:query", "file=Bookes"),
	harness.Calling("base:query", "file=Books", "view=Unraed"),
	harness.Calling("task", "ref=Private/Secret.md:1"),
	harness.Calling("tasks", "path=Private/Secret.md"),
	harness.Calling("tasks", "done"),
	harness.Calling("recent", "since=9000-01-01"),
	harness.Calling("append", "path=Private/Secret", "content=x"),
	harness.Calling("append", "path=Private/Secret.md", "content=x"),
	harness.Calling("move", "path=Private/Secret", "to=Ideas/"),
	harness.Calling("property:set", "path=Ideas/Breads.secret", "name=a", "value=b"),
}

// TestSuggestionsDoNotDependOnWhatIsHidden asks the same calls over MCP of vaults that
// differ in what is hidden alone, by the rules and by the ignore file.
func TestSuggestionsDoNotDependOnWhatIsHidden(t *testing.T) {
	for name, hide := range map[string]func(r *harness.Program){
		"rules": func(r *harness.Program) {
			r.Tables = "[vaults.access]\n\"/\" = \"rwd\"\nPrivate = \"none\"\n"
			for _, path := range []string{"Ideas/Breads.secret.md", "Ideas/Breat.secret.md", "Templates/Meetings.secret.md", "Projects/Kitchens.secret.md"} {
				r.Tables += "\"" + path + "\" = \"none\"\n"
			}
		},
		"ignore file": func(r *harness.Program) { r.Write(".vaultwicketignore", "Private/\n*.secret.md\n") },
	} {
		t.Run(name, func(t *testing.T) {
			first := answersBeside(t, hiddenNotes[0], hide)
			for _, hidden := range hiddenNotes[1:] {
				for i, said := range answersBeside(t, hidden, hide) {
					if said != first[i] {
						t.Errorf("%v: %s\nwith something hidden: %s", nearCalls[i], first[i], said)
					}
				}
			}
		})
	}
}

// answersBeside returns the answers of a server to the calls, as JSON.
func answersBeside(t *testing.T, hidden map[string]string, hide func(*harness.Program)) (all []string) {
	t.Helper()
	notes := maps.Clone(shownNotes)
	maps.Copy(notes, hidden)
	r := harness.New(t, notes)
	hide(r)
	client := r.Stdio(false, "")
	for _, call := range nearCalls {
		result := client.Do(call)
		result.DurationMs = 0
		said := harness.JSON(t, result)
		for path := range hidden {
			assert.That(t, !strings.Contains(said, path) || strings.Contains(harness.JSON(t, call), path), "%v: %s", call, said)
		}
		all = append(all, said)
	}
	return all
}

// TestANoteWithoutItsExtension is found, also by what changes it, and a hidden one is
// not.
func TestANoteWithoutItsExtension(t *testing.T) {
	r := harness.New(t, map[string]string{"Ideas/Bread.md": "bread\n- [ ] knead\n", "Ideas/Tea": "no extension\n",
		"Ideas/Tea.md": "tea\n", "Ideas/Rye.md": "rye\n", "Ideas/Rye/x.md": "x\n", "Private/Secret.md": "secret\n"})
	r.Write(".vaultwicketignore", "Private/\n")
	client := r.Stdio(false, "")
	for _, tt := range []struct {
		call       harness.Call
		path, code string
	}{
		{harness.Calling("read", "path=Ideas/Bread"), "Ideas/Bread.md", ""},
		{harness.Calling("append", "path=Ideas/Bread", "content=x"), "Ideas/Bread.md", ""},
		{harness.Calling("task", "ref=Ideas/Bread:2", "done"), "Ideas/Bread.md", ""},
		{harness.Calling("read", "path=Ideas/Rye"), "Ideas/Rye.md", ""},
		{harness.Calling("read", "path=Ideas/Tea"), "Ideas/Tea", ""},
		{harness.Calling("read", "path=Ideas/Braed"), "", "not_found"},
		{harness.Calling("read", "path=Ideas"), "", "not_found"},
		{harness.Calling("read", "path=Private/Secret"), "", "not_found"},
		{harness.Calling("append", "path=Private/Secret", "content=x"), "", "not_found"},
	} {
		result := client.Do(tt.call)
		assert.Equal(t, result.Path, tt.path, "%v: %q", tt.call, tt.code)
		assert.Equal(t, harness.CodeOf(result), tt.code, "%v: want %q", tt.call, tt.path)
		assert.That(t, !strings.Contains(harness.JSON(t, result), "Secret.md"), "%v: %s", tt.call, harness.JSON(t, result))
	}
	assert.Equal(t, r.Read("Private/Secret.md"), "secret\n", "the hidden note")
}

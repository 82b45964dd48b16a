package allowlist

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestOtherNames: each leads to a command of the table that can be enabled, is written
// with its words in order, and stands for one command alone.
func TestOtherNames(t *testing.T) {
	seen := map[string]string{}
	for _, row := range otherNamesOf {
		assert.That(t, find(row.command) != nil, "%s is no command", row.command)
		for other := range strings.SplitSeq(row.others, "; ") {
			words := strings.Fields(other)
			if !slices.IsSorted(words) || seen[other] != "" || strings.Join(words, " ") != other {
				t.Errorf("%s: %q is not sorted, or stands for %q already", row.command, other, seen[other])
			}
			seen[other] = row.command
			assert.That(t, find(other) != nil || Meant(strings.ReplaceAll(other, " ", "_")) != "", "%s: %q is not found", row.command, other)
		}
	}
	for _, name := range Names() {
		assert.Equal(t, Meant(name), name, "%s was meant as", name)
	}
}

func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"note:read": "read", "read_note": "read", "readNote": "read", "Notes.Read": "read",
		"obsidian-read-note": "read", "DAILY:READ": "daily:read", "daily_read": "daily:read",
		"raed": "read", "dailyread": "daily:read", "list": "files", "": "", "xyzzy": "",
		strings.Repeat("x", excerpt.Limit+1): "", "mcp__obsidian__search_notes": "search",
	} {
		assert.Equal(t, Meant(name), want, "%.40q", name)
	}
}

func TestOtherParams(t *testing.T) {
	known := map[string]bool{}
	eachRow(func(r *row) {
		for i := range r.params {
			known[r.params[i].name] = true
		}
	})
	seen := map[string]bool{}
	for _, row := range otherParamsOf {
		for name := range strings.FieldsSeq(row.ours) {
			assert.That(t, known[name], "%s: no command has %q", row.names, name)
		}
		for other := range strings.FieldsSeq(row.names) {
			assert.That(t, !seen[other], "%q is in two rows", other)
			seen[other] = true
		}
	}
}

// A word too many is no new value of a parameter that is given.
func TestABareWordReplacesNoParameter(t *testing.T) {
	eachRow(func(r *row) {
		if r.tier == tiers.Restricted {
			return
		}
		given := Params{"frobnicated": Flag(true)}
		for i := range r.params {
			if p := &r.params[i]; p.required && p.kind != kindFlag {
				given[p.name] = Text("x")
			}
		}
		if len(given) < 2 {
			return
		}
		_, err := Parse(r.name, given)
		var refused *ParseError
		if errors.As(err, &refused) {
			assert.That(t, !strings.Contains(refused.Hint(), "=frobnicated"), "%s: hint %q", r.name, refused.Hint())
		}
	})
}

func TestParametersForManyNotes(t *testing.T) {
	for call, want := range map[string]string{
		"property:set|files":     "path= is one note: send a call for each, or all of them as one batch",
		"append|paths":           "path= is one note: send a call for each, or all of them as one batch",
		"property:rename|path":   "a property gets its new name in all notes, or in those of folder=; property:set and property:remove change one note",
		"property:rename|folder": "",
	} {
		command, param, _ := strings.Cut(call, "|")
		_, err := Parse(command, Params{param: Text("A.md"), "name": Text("n"), "value": Text("v"), "to": Text("m"), "content": Text("c")})
		var refused *ParseError
		if !errors.As(err, &refused) {
			assert.Equal(t, want, "", "%s is right", call)
			continue
		}
		assert.Contains(t, refused.Hint(), want, "%s", call)
	}
}

func TestACommandLineAsAName(t *testing.T) {
	for line, want := range map[string]string{
		"daily:read date=yesterday":              `{"command":"daily:read","params":{"date":"yesterday"}}`,
		`read path="Ideas/My bread.md"`:          `{"command":"read","params":{"path":"Ideas/My bread.md"}}`,
		"vaultwicket run read Ideas/My bread.md": `{"command":"read","params":{"path":"Ideas/My bread.md"}}`,
		"tasks --todo":                           `{"command":"tasks","params":{"todo":true}}`,
		"search 'low <water>'":                   `{"command":"search","params":{"query":"low <water>"}}`,
		"read()":                                 `did you mean "read"?`,
		"obsidian read":                          `did you mean "read"?`,
		"frobnicate x=y":                         "",
		"eval code=1":                            "", // permanently disabled: no way to it is shown
		"read " + strings.Repeat("x", maxLine):   "",
	} {
		_, err := Parse(line, nil)
		refused, ok := err.(*ParseError)
		if !ok || refused.Code() != CodeUnknownCommand || strings.TrimPrefix(refused.Hint(), "put the parameters into params: ") != want {
			t.Errorf("%.60q: %v, hint %q, want %q", line, err, refused.Hint(), want)
		}
	}
}

func FuzzMeant(f *testing.F) {
	for _, name := range []string{"note:read", "list files", "a=b", "read path='", "\xff", "daily:append buy milk"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		meant := Meant(name)
		assert.That(t, meant == "" || find(meant) != nil, "%q: %q is no command", name, meant)
		hintForLine(name)
	})
}

// Whatever names a note can name it by its path instead, and stays the same
// call otherwise.
func TestANameGivesWayToAPath(t *testing.T) {
	named := 0
	eachRow(func(r *row) {
		p := r.param("file")
		if p == nil || p.kind != kindLink {
			return
		}
		params := r.fewest("file")
		params["file"] = Text("Plan")
		call, err := Parse(r.name, params)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			return
		}
		call, err = call.In("Work")
		if name, ok := call.Named(); err != nil || name != "Plan" || !ok {
			t.Errorf("%s: named %q, %v, %v", r.name, name, ok, err)
		}
		at, err := call.At("Deep/Plan.md")
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			return
		}
		want := call.Params()
		delete(want, "file")
		want["path"] = Text("Deep/Plan.md")
		if !reflect.DeepEqual(at.Params(), want) || at.Vault() != "Work" || at.Effect() != call.Effect() || at.Shows() != call.Shows() {
			t.Errorf("%s: became %v, want %v", call, at, want)
		}
		_, ok := at.Named()
		assert.That(t, !ok, "%s still names its note", at)
		named++
	})
	assert.That(t, named >= 10, "only %d commands name a note", named)
}

func TestOnlyANoteThatIsNamedGetsAPath(t *testing.T) {
	for _, call := range []Call{{}, mustParse(t, "read", Params{"path": Text("A.md")}), mustParse(t, "base:query", Params{"file": Text("Books.base")})} {
		name, ok := call.Named()
		assert.That(t, !ok, "%v names %q", call, name)
		var wrong *ParseError
		_, err := call.At("B.md")
		assert.That(t, errors.As(err, &wrong), "%v: %v", call, err)
	}
	for _, path := range []string{"", "../B.md", ".obsidian/B.md", "a\x00b"} {
		at, err := mustParse(t, "read", Params{"file": Text("A")}).At(path)
		assert.That(t, err != nil, "%q became %v", path, at)
	}
}

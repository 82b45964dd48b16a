package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func mustRules(t testing.TB, pairs ...string) Rules {
	t.Helper()
	levels := map[string]Level{}
	for i := 0; i < len(pairs); i += 2 {
		level := require.Value(ParseLevel(pairs[i+1]))(t)
		levels[pairs[i]] = level
	}
	return require.Value(New(levels))(t)
}

func TestLevelOfThePath(t *testing.T) {
	rules := mustRules(t, "Work", "rwd", "Private", "none", "Private/Shared/", "rw", "Work/Plan.md", "r", "Straße", "none", "Caf\u00e9", "none")
	for _, c := range []struct {
		path string
		want Level
	}{
		{"Work/a.md", Delete},
		{"Work", Delete},
		{"Work/Plan.md", Read},
		{"Work/Plan.md.md", Delete},
		{"Workshop/a.md", Read}, // no prefix of a name
		{"a.md", Read},          // nothing matched
		{"", Read},
		{"Private/a.md", None},
		{"Private", None},
		{"Private/Shared/x/y.md", Write},
		{"Private/Sharedx/y.md", None},
		// Another spelling takes away and never gives.
		{"PRIVATE/a.md", None},
		{"work/a.md", Read},
		{"work/plan.md", Read},
		{"private/shared/x.md", Read}, // another folder, or Private/Shared: both may be read
		{"Private/shared/x.md", None},
		{"STRASSE/x.md", None},
		{"Cafe\u0301/x.md", None},
		{"CAFÉ/x.md", None},
		{"\uff30rivate/x.md", None}, // full width
		{"\u212aelvin.md", Read},
		{"Pri\u200bvate/a.md", None},
		{"Private\ufe0f/a.md", None},
	} {
		assert.Equal(t, rules.Level(c.path), c.want, "Level(%q) =", c.path)
	}
}

func TestNoRulesRestrictNothing(t *testing.T) {
	var none Rules
	assert.Equal(t, none.Level("a.md"), Delete, "the zero Rules restrict something")
	assert.That(t, !none.Hide(), "the zero Rules restrict something: %q", none)
	assert.That(t, !none.Restrict(), "the zero Rules restrict something: %q", none)
	assert.Equal(t, none.String(), "", "the zero Rules restrict something")
	made, err := New(nil)
	require.Equal(t, err, nil, "New(nil) = %v", made)
	assert.That(t, !made.Restrict(), "New(nil) = %v, %v", made, err)
}

func TestOpensAFolderWithSomethingOpenInIt(t *testing.T) {
	rules := mustRules(t, "/", "none", "A/B/C", "r")
	for folder, want := range map[string]bool{"": true, "A": true, "A/B": true, "A/B/C": true, "A/B/C/D": true, "A/X": false, "B": false, "a": false} {
		assert.Equal(t, rules.Opens(folder), want, "Opens(%q) =", folder)
	}
	assert.That(t, rules.Hide(), "Hide does not tell whether there is a none")
	assert.That(t, !mustRules(t, "A", "rw").Hide(), "Hide does not tell whether there is a none")
}

func TestLowest(t *testing.T) {
	rules := mustRules(t, "/", "rw", "A/B", "none", "C", "r", "C/D", "rwd")
	for folder, want := range map[string]Level{"": None, "A": None, "a": None, "A/X": Write, "C": Read, "C/D": Delete, "E": Write} {
		assert.Equal(t, rules.Lowest(folder), want, "Lowest(%q) =", folder)
	}
}

// The lowest of what is written for one path applies, in whichever order.
func TestOnePathWrittenTwice(t *testing.T) {
	for _, test := range []struct {
		pairs []string
		path  string
		want  Level
	}{
		{[]string{"B/", "rw", "B", "r"}, "B/x", Read},
		{[]string{"B/", "r", "B", "rw"}, "B/x", Read},
		{[]string{"A", "none", "a", "rwd"}, "A/x", None},
		{[]string{"A", "none", "a", "rwd"}, "a/x", None},
		{[]string{"A", "rwd", "a", "none"}, "A/x", None},
		{[]string{"A", "rwd", "a", "none"}, "a/x", None},
		{[]string{"Ä", "rw", "ä", "r", "A\u0308", "rwd"}, "Ä/x", Read},
	} {
		for range 20 { // a table has no order
			require.Equal(t, mustRules(t, test.pairs...).Level(test.path), test.want, "%q: Level(%q) =", test.pairs, test.path)
		}
	}
}

// Rules are shared, so what is made of them leaves them and each other as they
// are.
func TestMeetChangesNoRules(t *testing.T) {
	met := mustMeet(t, mustRules(t, "A", "r"), mustRules(t, "B", "r"), mustRules(t, "C", "r"))
	one := met.Meet(mustRules(t, "D", "none"))
	other := met.Meet(mustRules(t, "E", "none"))
	if one.Level("D/x") != None || one.Level("E/x") != Read || other.Level("D/x") != Read || other.Level("E/x") != None || met.Hide() {
		t.Errorf("%v and %v of %v", one, other, met)
	}
}

// Nothing opens where all that is named in the folder is none, too.
func TestOpensLooksAtTheLevel(t *testing.T) {
	rules := mustRules(t, "/", "none", "A/B", "none", "C/D", "r", "C/D/E", "none")
	for folder, want := range map[string]bool{"": true, "A": false, "A/B": false, "C": true, "C/D": true, "C/D/E": false} {
		assert.Equal(t, rules.Opens(folder), want, "Opens(%q) =", folder)
	}
	spelled := mustRules(t, "Ä", "none", "Ä/Straße", "r")
	assert.That(t, spelled.Opens("ä"), "%v does not open another spelling of a folder", spelled)
	assert.That(t, spelled.Opens("Ä"), "%v does not open another spelling of a folder", spelled)
	assert.That(t, !mustRules(t, "/", "none", "Ä", "none").Opens("ä"), "%v does not open another spelling of a folder", spelled)
	met := rules.Meet(mustRules(t, "C", "none"))
	assert.That(t, !met.Opens("C"), "%v opens what one of its tables closes", met)
	assert.That(t, !met.Opens(""), "%v opens what one of its tables closes", met)
}

func TestIsBelow(t *testing.T) {
	for _, test := range []struct {
		path, folder string
		want         bool
	}{
		{"A", "", true}, {"A/B", "", true}, {"", "", false}, {"", "A", false}, {"A", "A", false}, {"A/B", "A", true}, {"A/B/C", "A", true},
		{"A/B/C", "A/B", true}, {"AB", "A", false}, {"AB/C", "A", false}, {"B/A/C", "A", false}, {"B/C", "A", false}, {"A", "A/B", false}, {"/A", "A", false},
	} {
		assert.Equal(t, isBelow(test.path, test.folder), test.want, "isBelow(%q, %q) =", test.path, test.folder)
	}
}

func TestPathsOfRules(t *testing.T) {
	for _, path := range []string{"", "//", "/A", "A//B", "A/../B", ".", "A/.", `A\B`, "A\x00", "A*", "[A]", "\xff",
		"A\nB", " A", "A ", "A/ B", strings.Repeat("a", maxPath+1)} {
		rules, err := New(map[string]Level{path: None})
		assert.That(t, err != nil, "New takes %q: %v", path, rules)
	}
}

var segments = rapid.SampledFrom([]string{"A", "a", "B", "Ä", "ä", "A\u0308", "Straße", "STRASSE", "x.md", "C"})

var paths = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(segments, 1, 4).Draw(t, "segments"), "/")
})

var someRules = rapid.Custom(func(t *rapid.T) Rules {
	levels := rapid.MapOfN(rapid.OneOf(paths, rapid.Just("/")), rapid.Map(rapid.IntRange(0, 3), func(n int) Level { return Level(n) }), 0, 5).Draw(t, "levels")
	return require.Value(New(levels))(t)
})

func TestRulesKeepTheirMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someRules.Draw(t, "a"), someRules.Draw(t, "b")
		path := paths.Draw(t, "path")
		met := a.Meet(b)
		got, want := met.Level(path), min(a.Level(path), b.Level(path))
		assert.Equal(t, got, want, "Meet")
		again, err := Parse(met.String())
		require.Equal(t, err, nil, "Parse(%s) = %s", met, again)
		assert.Equal(t, again.Level(path), met.Level(path), "Parse(%s) = %s", met, again)
		assert.Equal(t, again.String(), met.String(), "Parse(%s) = %s", met, again)
		assert.That(t, met.Level(path) != None || met.Hide(), "%v hides %q and says it hides nothing", met, path)
		for folder := path; strings.Contains(folder, "/"); {
			folder = folder[:strings.LastIndexByte(folder, '/')]
			assert.That(t, met.Level(path) <= None || met.Opens(folder), "%q is open in %q, which is not", path, folder)
			assert.That(t, met.Lowest(folder) <= met.Level(path), "Lowest(%q) = %v, and %q is %v", folder, met.Lowest(folder), path, met.Level(path))
		}
	})
}

func TestLevelsHaveNames(t *testing.T) {
	for level, name := range map[Level]string{None: "none", Read: "r", Write: "rw", Delete: "rwd", 4: "level(4)", 255: "level(255)"} {
		assert.Equal(t, level.String(), name, "%d is called", level)
		got, err := ParseLevel(name)
		if level > Delete {
			assert.That(t, err != nil, "%q is read as %v", name, got)
			continue
		}
		assert.NoError(t, err, "%q", name)
		assert.Equal(t, got, level, "%q", name)
	}
	for _, bad := range []string{"", "R", "wr", "rwdx", " r", "none "} {
		got, err := ParseLevel(bad)
		assert.That(t, err != nil, "%q is read as %v, %v", bad, got, err)
		assert.Equal(t, got, None, "%q is read as %v", bad, got)
	}
	_, err := ParseLevel("w")
	require.That(t, err != nil, "got %v", err)
	assert.Equal(t, err.Error(), `invalid access "w": want none, r, rw or rwd`)
}

// A rule applies to the name that the disk has for its path as for the written one.
func TestNamedRules(t *testing.T) {
	rules := mustRules(t, "/", "r", "w\u00f6rk", "rw", "PROJEC~1", "none", "Same", "rwd")
	named := rules.Named(func(path string) string {
		if other, ok := map[string]string{"w\u00f6rk": "Wo\u0308rk", "PROJEC~1": "Projects"}[path]; ok {
			return other
		}
		return path
	})
	for path, want := range map[string]Level{
		"Wo\u0308rk/a.md": Write, "w\u00f6rk/a.md": Write, "W\u00d6RK/a.md": Read, "Projects/a.md": None,
		"projects": None, "PROJEC~1/a.md": None, "Same/a.md": Delete, "x.md": Read,
	} {
		assert.Equal(t, named.Level(path), want, "Level(%+q) =", path)
	}
	assert.Equal(t, named.String(), rules.String(), "the named rules are %s, which hide: %v", named, named.Hide())
	assert.That(t, named.Hide(), "the named rules are %s, which hide: %v", named, named.Hide())
	assert.That(t, rules.Level("Wo\u0308rk/a.md") == Read, "the rules themselves are others now")
	twice := named.Meet(mustRules(t, "Wo\u0308rk", "r"))
	assert.That(t, twice.Level("Wo\u0308rk/a.md") == Read, "a further table takes nothing away")
	same := rules.Named(func(path string) string { return path })
	assert.Equal(t, same.Level("Wo\u0308rk/a.md"), Read, "rules without other names are others")
	assert.Equal(t, same.String(), rules.String(), "rules without other names are others")
}

func TestNamedRulesForOneFolder(t *testing.T) {
	named := mustRules(t, "WORK", "rwd", "work", "r", "Work", "rw").Named(func(string) string { return "Work" })
	assert.Equal(t, named.Level("Work/a.md"), Read)
}

func TestTheRuleOfAPath(t *testing.T) {
	rules := mustRules(t, "/", "r", "Work", "rwd", "Work/Secret", "none", "Diary.md", "none")
	for path, want := range map[string]string{
		"":                 "/",
		"a.md":             "/",
		"Work/a.md":        "Work",
		"Work/Secret":      "Work/Secret",
		"Work/Secret/a.md": "Work/Secret",
		"Diary.md":         "Diary.md",
		"DIARY.md":         "Diary.md", // another spelling, which the rule covers too
		"WORK/a.md":        "/",        // and one for which it opens nothing
		"Workshop/a.md":    "/",
	} {
		assert.Equal(t, rules.Rule(path), want, "%q: the rule", path)
	}
	assert.Equal(t, mustRules(t, "Work", "rw").Rule("a.md"), "", "no rule")
	assert.Equal(t, (Rules{}).Rule("a.md"), "", "no rules")
	met := mustRules(t, "/", "rw").Meet(mustRules(t, "Work", "none"))
	for path, want := range map[string]string{"Work/a.md": "Work", "a.md": ""} {
		got := met.Rule(path)
		assert.That(t, got == want, "%q: the rule %q of two tables, want %q", path, got, want)
	}
}

func mustMeet(t *testing.T, tables ...Rules) (met Rules) {
	t.Helper()
	for _, r := range tables {
		met = met.Meet(r)
	}
	return met
}

func TestTextOfRules(t *testing.T) {
	one, other := mustRules(t, "/", "r", "Work/", "rwd", `Say "x"`, "none"), mustRules(t, "Work", "rw")
	for _, test := range []struct {
		name  string
		rules Rules
		want  string
	}{
		{"none", Rules{}, ""},
		{"none twice", mustMeet(t, Rules{}, Rules{}), ""},
		{"one table", one, `[{"/":"r","Say \"x\"":"none","Work":"rwd"}]`},
		{"none and one", mustMeet(t, Rules{}, other), `[{"Work":"rw"}]`},
		{"one and none", mustMeet(t, other, Rules{}), `[{"Work":"rw"}]`},
		{"two", mustMeet(t, one, other), `[{"/":"r","Say \"x\"":"none","Work":"rwd"},{"Work":"rw"}]`},
		{"two the other way", mustMeet(t, other, one), `[{"/":"r","Say \"x\"":"none","Work":"rwd"},{"Work":"rw"}]`},
		{"one twice", mustMeet(t, other, other, one, other), `[{"/":"r","Say \"x\"":"none","Work":"rwd"},{"Work":"rw"}]`},
	} {
		assert.Equal(t, test.rules.String(), test.want, "%s", test.name)
		again, err := Parse(test.want)
		if err != nil || again.String() != test.want || again.Restrict() != (test.want != "") || again.Hide() != test.rules.Hide() {
			t.Errorf("%s: %s is read as %s, %v", test.name, test.want, again, err)
		}
		for _, path := range []string{"", "a.md", "Work", "Work/a.md", `Say "x"/a.md`} {
			assert.Equal(t, again.Level(path), test.rules.Level(path), "%s: %q is %v, and read back", test.name, path, test.rules.Level(path))
		}
	}
}

// An error comes without rules: rules that restrict nothing are
// all there is to go on with, and the error says not to.
func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no JSON", "{", "access rules are no array of tables: unexpected end of JSON input"},
		{"no table", "[]", `access rules "[]" hold no table`},
		{"nothing in its place", "null", `access rules "null" hold no table`},
		{"an empty table", "[{}]", `access rules "[{}]" hold an empty table`},
		{"an empty table behind another", `[{"A":"r"},{}]`, `access rules "[{\"A\":\"r\"},{}]" hold an empty table`},
		{"no level", `[{"A":"x"}]`, `access of "A": invalid access "x": want none, r, rw or rwd`},
		{"no path", `[{"/A":"r"}]`, `path "/A" begins with a slash; paths are relative to the vault`},
		{"the first path of two", `[{"//":"r","/A":"r"}]`, `path "//" begins with a slash; paths are relative to the vault`},
		{"the first level of two", `[{"B":"y","A":"x"}]`, `access of "A": invalid access "x": want none, r, rw or rwd`},
	} {
		for range 8 { // in whichever order a table is read
			rules, err := Parse(test.text)
			require.That(t, err != nil, "%s: %s, %v, want %s", test.name, rules, err, test.want)
			require.Equal(t, err.Error(), test.want, "%s", test.name)
			require.That(t, !rules.Restrict(), "%s: %s, %v, want %s", test.name, rules, err, test.want)
		}
	}
}

// Rules by the paths of a folder of the vault, or of one around it, say what those of the vault say,
// whatever the rules are and however names are spelled; nothing is widened.
func TestRulesOfAnotherRoot(t *testing.T) {
	segment := rapid.SampledFrom([]string{"a", "A", "b", "\u00e9", "e\u0301"})
	path := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "segments"), "/") })
	level := rapid.SampledFrom([]Level{None, Read, Write, Delete})
	rapid.Check(t, func(t *rapid.T) {
		var rules Rules
		for range rapid.IntRange(1, 2).Draw(t, "layers") {
			one := require.Value(New(rapid.MapOfN(rapid.OneOf(path, rapid.Just("/")), level, 1, 5).Draw(t, "levels")))(t)
			rules = rules.Meet(one)
		}
		folder := path.Draw(t, "folder")
		below, above := rules.Below(folder), rules.Above(folder)
		for _, note := range append(rapid.SliceOfN(path, 4, 4).Draw(t, "notes"), "") {
			whole := strings.TrimSuffix(folder+"/"+note, "/")
			got, want := below.Level(note), rules.Level(whole)
			assert.That(t, got <= want, "%s below %q: %q is %s, want %s", rules, folder, note, got, want)
			isFolded := Fold(whole) == whole
			assert.That(t, got == want || !isFolded, "%s below %q: %q is %s, want %s", rules, folder, note, got, want)
			got, want = above.Level(whole), rules.Level(note)
			assert.Equal(t, got, want, "%s above %q: %q", rules, folder, note)
		}
		parsed, err := Parse(below.Meet(above).String())
		require.NoError(t, err)
		assert.Equal(t, parsed.String(), below.Meet(above).String())
	})
	one := require.Value(New(map[string]Level{"a": None}))(t)
	outside := one.Above("Notes")
	assert.Equal(t, outside.Level("Other/a"), Delete)
	assert.Equal(t, outside.Level("Notes/a"), None)
	assert.Equal(t, outside.Level("Notes/b"), Read)
	assert.Equal(t, one.Above("No [rule]").Level("x"), None, "a folder that no rule can name")
}

package access

import "testing"

func mustMeet(t *testing.T, tables ...Rules) (met Rules) {
	t.Helper()
	for _, r := range tables {
		met = met.Meet(r)
	}
	return met
}

// The text is the same for the same rules, in whichever order they met, and is
// read back as these rules.
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
		if got := test.rules.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		again, err := Parse(test.want)
		if err != nil || again.String() != test.want || again.Restrict() != (test.want != "") || again.Hide() != test.rules.Hide() {
			t.Errorf("%s: %s is read as %s, %v", test.name, test.want, again, err)
		}
		for _, path := range []string{"", "a.md", "Work", "Work/a.md", `Say "x"/a.md`} {
			if again.Level(path) != test.rules.Level(path) {
				t.Errorf("%s: %q is %v, and read back %v", test.name, path, test.rules.Level(path), again.Level(path))
			}
		}
	}
}

// Whoever gets an error gets no rules with it: rules that restrict nothing are
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
			if err == nil || err.Error() != test.want || rules.Restrict() {
				t.Fatalf("%s: %s, %v, want %s", test.name, rules, err, test.want)
			}
		}
	}
}

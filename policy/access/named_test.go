package access

import "testing"

// A rule holds for the name that the disk has for its path as for the written one.
func TestNamedRules(t *testing.T) {
	rules := mustRules(t, "/", "r", "w\u00f6rk", "rw", "PROJEC~1", "none", "Same", "rwd")
	named := rules.Named(func(path string) string {
		if other, ok := map[string]string{"w\u00f6rk": "Wo\u0308rk", "PROJEC~1": "Projects"}[path]; ok {
			return other
		}
		return path
	})
	for path, want := range map[string]Level{
		"Wo\u0308rk/a.md": Write, "w\u00f6rk/a.md": Write, "W\u00d6RK/a.md": Read, "Projects/a.md": None, "projects": None, "PROJEC~1/a.md": None, "Same/a.md": Delete, "x.md": Read,
	} {
		if got := named.Level(path); got != want {
			t.Errorf("Level(%+q) = %v, want %v", path, got, want)
		}
	}
	if named.String() != rules.String() || !named.Hide() {
		t.Errorf("the named rules are %s, which hide: %v", named, named.Hide())
	}
	if rules.Level("Wo\u0308rk/a.md") != Read {
		t.Error("the rules themselves are others now")
	}
	if twice := named.Meet(mustRules(t, "Wo\u0308rk", "r")); twice.Level("Wo\u0308rk/a.md") != Read {
		t.Error("a further table takes nothing away")
	}
	if same := rules.Named(func(path string) string { return path }); same.Level("Wo\u0308rk/a.md") != Read || same.String() != rules.String() {
		t.Error("rules without other names are others")
	}
}

// Of two rules for what is one folder the lower holds.
func TestNamedRulesForOneFolder(t *testing.T) {
	named := mustRules(t, "WORK", "rwd", "work", "r", "Work", "rw").Named(func(string) string { return "Work" })
	if got := named.Level("Work/a.md"); got != Read {
		t.Errorf("got %v", got)
	}
}

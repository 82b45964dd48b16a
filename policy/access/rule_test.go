package access

import "testing"

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
		if got := rules.Rule(path); got != want {
			t.Errorf("%q: the rule %q, want %q", path, got, want)
		}
	}
	if got := mustRules(t, "Work", "rw").Rule("a.md"); got != "" {
		t.Errorf("no rule: %q", got)
	}
	if got := (Rules{}).Rule("a.md"); got != "" {
		t.Errorf("no rules: %q", got)
	}
	met := mustRules(t, "/", "rw").Meet(mustRules(t, "Work", "none"))
	for path, want := range map[string]string{"Work/a.md": "Work", "a.md": ""} {
		if got := met.Rule(path); got != want {
			t.Errorf("%q: the rule %q of two tables, want %q", path, got, want)
		}
	}
}

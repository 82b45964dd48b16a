package allowlist

import (
	"errors"
	"reflect"
	"testing"
)

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
		if _, ok := at.Named(); ok {
			t.Errorf("%s still names its note", at)
		}
		named++
	})
	if named < 10 {
		t.Errorf("only %d commands name a note", named)
	}
}

func TestOnlyANoteThatIsNamedGetsAPath(t *testing.T) {
	for _, call := range []Call{{}, mustParse(t, "read", Params{"path": Text("A.md")}), mustParse(t, "base:query", Params{"file": Text("Books.base")})} {
		if name, ok := call.Named(); ok {
			t.Errorf("%v names %q", call, name)
		}
		var wrong *ParseError
		if _, err := call.At("B.md"); !errors.As(err, &wrong) {
			t.Errorf("%v: %v", call, err)
		}
	}
	for _, path := range []string{"", "../B.md", ".obsidian/B.md", "a\x00b"} {
		if at, err := mustParse(t, "read", Params{"file": Text("A")}).At(path); err == nil {
			t.Errorf("%q became %v", path, at)
		}
	}
}

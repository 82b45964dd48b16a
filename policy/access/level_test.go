package access

import "testing"

func TestLevelsHaveNames(t *testing.T) {
	for level, name := range map[Level]string{None: "none", Read: "r", Write: "rw", Delete: "rwd", 4: "level(4)", 255: "level(255)"} {
		if level.String() != name {
			t.Errorf("%d is called %q, want %q", level, level.String(), name)
		}
		got, err := ParseLevel(name)
		if level <= Delete && (got != level || err != nil) {
			t.Errorf("%q is read as %v, %v", name, got, err)
		}
		if level > Delete && err == nil {
			t.Errorf("%q is read as %v", name, got)
		}
	}
	for _, bad := range []string{"", "R", "wr", "rwdx", " r", "none "} {
		if got, err := ParseLevel(bad); err == nil || got != None {
			t.Errorf("%q is read as %v, %v", bad, got, err)
		}
	}
	if _, err := ParseLevel("w"); err == nil || err.Error() != `invalid access "w": want none, r, rw or rwd` {
		t.Errorf("got %v", err)
	}
}

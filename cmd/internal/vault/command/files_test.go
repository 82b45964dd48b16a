package command

import (
	"testing"
)

func TestExclusion(t *testing.T) {
	for _, tt := range []struct {
		filter, path string
		want         bool
	}{
		{"Archive", "Archive/a.md", true}, {"Archive/", "Archive/a.md", true}, {"Archive", "Archived.md", false},
		{"a.md", "a.md", true}, {"/^Draft/", "Draft 1.md", true}, {"/^Draft/", "My Draft.md", false},
		{"/(/", "a.md", false}, {"", "a.md", false}, {"/", "a.md", false},
	} {
		if got := exclusion(tt.filter)(tt.path); got != tt.want {
			t.Errorf("%q excludes %s: %v, want %v", tt.filter, tt.path, got, tt.want)
		}
	}
}

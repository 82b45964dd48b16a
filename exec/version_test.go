package exec

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/tiers"
)

func TestParseRelease(t *testing.T) {
	good := map[string]string{
		"1.12.7": "1.12.7", "1.12.7 (installer 1.12.4)": "1.12.7 1.12.4", "1.13.7 (installer 1.13.4)": "1.13.7 1.13.4",
	}
	for line, want := range good {
		r, ok := parseRelease(line)
		var got []string
		if ok {
			got = append(got, r.app.String())
			if r.installer != (tiers.Version{}) {
				got = append(got, r.installer.String())
			}
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q", line, got)
		}
	}
	for _, line := range []string{"", "1.12", "v1.12.7", "1.12.7.1", "1.12.7-beta", " 1.12.7", "1.12.7 (installer 1.12)", "1.12.7 (installer 1.12.7", "1..7", "1.12.7\n1.12.8", "Obsidian 1.12.7"} {
		if _, ok := parseRelease(line); ok {
			t.Errorf("%q was taken for a version", line)
		}
	}
}

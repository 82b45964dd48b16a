package prompts

import (
	"testing"
	"time"
)

// TestSuggestedValuesAreValid: every value that is suggested for an argument passes its
// check.
func TestSuggestedValuesAreValid(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("", -5*3600))
	suggested := 0
	for _, p := range All() {
		for _, a := range p.arguments {
			for _, value := range a.Suggestions(now) {
				suggested++
				if reason := a.check(value); reason != "" {
					t.Errorf("%s %s: %q %s", p.Name, a.Name, value, reason)
				}
			}
		}
	}
	if suggested < 70 {
		t.Errorf("only %d values are suggested", suggested)
	}
}

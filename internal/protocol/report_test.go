package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestCutReport(t *testing.T) {
	tests := []struct {
		stderr, rest string
		facts        Facts
		failure      Failure
	}{
		{"vaultwicket-facts: {\"path\":\"a\"}\n", "", Facts{Path: "a"}, Failure{}},
		{"x\nvaultwicket-facts: {\"hash\":\"h\"}", "x\n", Facts{Hash: "h"}, Failure{}},
		{"x\nvaultwicket-facts: {\"code\":\"c\",\"hint\":\"h\",\"reason\":\"r\"}\r\n", "x\n", Facts{}, Failure{"c", "h", "r"}},
		{"vaultwicket-facts: {\"path\":\"a\"}\nx\n", "vaultwicket-facts: {\"path\":\"a\"}\nx\n", Facts{}, Failure{}},
		{"vaultwicket-facts: {\"path\":\n", "vaultwicket-facts: {\"path\":\n", Facts{}, Failure{}},
		{"vaultwicket-facts: []", "vaultwicket-facts: []", Facts{}, Failure{}},
		{"", "", Facts{}, Failure{}},
	}
	for _, tt := range tests {
		rest, facts, failure := CutReport(tt.stderr)
		assert.That(t, rest == tt.rest && facts == tt.facts && failure == tt.failure, "%q: %q, %+v, %+v", tt.stderr, rest, facts, failure)
	}
}

func TestAFailureIsOneShortLine(t *testing.T) {
	for reason, want := range map[string]string{
		"Error: x.":                    "Error: x.",
		"Error: x.\nAnother line":      "Error: x.",
		"vaultwicket-facts: {}\n{}":    "vaultwicket-facts: {}",
		"a\rb\u2028c\x00\"}":           "a\rb\u2028c\x00\"}",
		strings.Repeat("x", 300):       strings.Repeat("x", MaxReason),
		strings.Repeat("ü", 200):       strings.Repeat("ü", MaxReason/2),
		"x" + strings.Repeat("漢", 100): "x" + strings.Repeat("漢", (MaxReason-1)/3),
	} {
		line := Failure{Code: "c", Hint: "h", Reason: reason}.Line()
		assert.That(t, !strings.ContainsAny(line, "\r\n"), "%q is more than a line: %q", reason, line)
		rest, _, got := CutReport("before\n" + line + "\n")
		assert.That(t, rest == "before\n" && got == (Failure{"c", "h", want}) && utf8.ValidString(got.Reason), "%q: %q, %+v", reason, rest, got)
	}
}

package pages

import (
	"strings"
	"testing"
)

func TestCompact(t *testing.T) {
	for text, want := range map[string]string{
		"[\n  {\n    \"a\": 1.50,\n    \"b\": \"<x  y>\\u0041\"\n  }\n]\n": `[{"a":1.50,"b":"<x  y>\u0041"}]`,
		`{"a": 1, "a": 2}`: `{"a":1,"a":2}`,
		"[]":               "[]",
		"":                 "",
		"no JSON, [ ]":     "no JSON, [ ]",
		"[1, 2] [3]":       "[1, 2] [3]",
		"[\n" + strings.Repeat(" ", maxCompact) + "]": "[\n" + strings.Repeat(" ", maxCompact) + "]",
	} {
		if got, _ := Compact(text); got != want {
			t.Errorf("%.60q becomes %.60q, want %.60q", text, got, want)
		}
	}
}

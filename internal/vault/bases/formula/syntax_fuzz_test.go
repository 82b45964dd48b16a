package formula

import (
	"errors"
	"reflect"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Whatever the text is, it is parsed the same way twice, an error is within the
// text, and so is every part of an expression.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", " ", "n + 2 * half", "!a && -b < 3 || c", `file.hasTag("x", 'y')`, "nums.map(value * 10)[1]",
		`/a\/[/]+/gi.matches(t)`, "(1).round()", "1.round()", "[1, 2,]", "a-b", `"open`, "/open", `note["a b"]`,
		"título == \"💩\"", "a < b < c", "x.y.z()()[0]", "((((", "- - -1", "1e999", ".5", "n ? 1 : 2",
		"\ufeffn\u2028+ 1", "\xff\xfe", "a\x00b", "`x`", "//", "{a: 1}", "note.a.b == null",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		node, err := Parse(text)
		again, second := Parse(text)
		require.That(t, reflect.DeepEqual(node, again), "%q is parsed as %#v, %v and then as %#v, %v", text, node, err, again, second)
		require.That(t, reflect.DeepEqual(err, second), "%q is parsed as %#v, %v and then as %#v, %v", text, node, err, again, second)
		if err == nil {
			checkPositions(t, text, node)
			return
		}
		var problem *SyntaxError
		require.That(t, errors.As(err, &problem), "%q fails with %T", text, err)
		if problem.At < 0 || problem.At > len(text) || problem.Position < 0 || problem.Position > len(text) || problem.Reason == "" {
			t.Errorf("%q fails at byte %d, position %d, reason %q", text, problem.At, problem.Position, problem.Reason)
		}
		assert.That(t, !utf8.ValidString(text) || problem.Position <= len(utf16.Encode([]rune(text))),
			"position %d is after the end of %q", problem.Position, text)
	})
}

func checkPositions(t *testing.T, text string, node Node) {
	t.Helper()
	require.That(t, node != nil, "%q is parsed as nothing without an error", text)
	Walk(node, func(n Node) {
		assert.That(t, n.Position() >= 0, "a part of %q is at %d", text, n.Position())
		assert.That(t, n.Position() <= len(text), "a part of %q is at %d", text, n.Position())
	})
}

package bases

import (
	"bytes"
	"errors"
	"testing"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/tests/require"
)

// Whatever a file is, reading it ends in a base or in a reason, twice the same;
// what is wrong is on a line of the file, and a base can be answered or says why
// it cannot.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "views: []\n", "filters: a == 1\nviews:\n  - type: table\n    name: V\n    order: [file.name, formula.f]\nformulas: {f: a + 1}\n",
		"filters:\n  and:\n    - a\n    - or: [b, not: [c]]\n", "- a\n", "views:\n  - {groupBy: x, sort: [a, {property: b, direction: down}], limit: -3, summaries: {a: Sum}}\n", "filters: {and: {}, or: []}\n",
		"formulas:\n  a: formula.b\n  b: formula.a\n  c: 1.x\n", "properties: {note.a: {displayName: B}, b: 3}\ndisplay: {a: b, c: 1}\n", "summaries: {s: values.}\n", "a: &x [1]\nb: *x\n", "views: [null, 1, [a]]\n", "\xef\xbb\xbfviews:\r\n  - name: A\r\n", "filters: !!binary aGk=\n", "? [a]\n: b\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Read(text)
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		if err != nil {
			var malformed *frontmatter.Malformed
			require.That(t, errors.As(err, &malformed) && malformed.Line >= 0 && malformed.Line <= lines, "%q is refused with %v", text, err)
			return
		}
		again, _ := Read(text)
		for i, p := range b.Problems {
			if p.Line < 0 || p.Line > lines || p.Text == "" || p.Position > len(p.Expression) || p != again.Problems[i] {
				t.Errorf("%q has the problem %+v", text, p)
			}
		}
		src := vaultOf(rowsOfEveryKind)
		if _, err := b.Run(t.Context(), src, Query{}); (err != nil) != (b.Fatal() != nil) {
			t.Errorf("%q: answering fails with %v, and %v is fatal", text, err, b.Fatal())
		}
	})
}

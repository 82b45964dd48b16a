package difference

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func shown(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		if r.Kind == Gap {
			fmt.Fprintf(&b, "… %d\n", r.Skipped)
			continue
		}
		fmt.Fprintf(&b, "%s %d %q %d %q\n", r.Kind, r.LeftLine, r.Left, r.RightLine, r.Right)
	}
	return b.String()
}

func TestRows(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing":        {"", "", ""},
		"a new text":     {"", "a\nb\n", "added 0 \"\" 1 \"a\"\nadded 0 \"\" 2 \"b\"\n"},
		"a removed text": {"a\n", "", "removed 1 \"a\" 0 \"\"\n"},
		"a changed line": {"a\nb\nc\n", "a\nx\nc\n", "same 1 \"a\" 1 \"a\"\nchanged 2 \"b\" 2 \"x\"\nsame 3 \"c\" 3 \"c\"\n"},
		"an added line":  {"a\nc\n", "a\nb\nc\n", "same 1 \"a\" 1 \"a\"\nadded 0 \"\" 2 \"b\"\nsame 2 \"c\" 3 \"c\"\n"},
		"the same":       {"a\nb\n", "a\nb\n", "… 2\n"},
		"far apart":      {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n", "… 5\nsame 6 \"6\" 6 \"6\"\nsame 7 \"7\" 7 \"7\"\nsame 8 \"8\" 8 \"8\"\nchanged 9 \"9\" 9 \"x\"\n"},
	} {
		if rows, cut := Rows(test.before, test.after); shown(rows) != test.want || cut {
			t.Errorf("%s:\n%s", name, shown(rows))
		}
	}
}

func TestRowsAreBounded(t *testing.T) {
	if rows, cut := Rows(strings.Repeat("x", MaxBytes+1), "a"); rows != nil || !cut {
		t.Errorf("%d rows of a text that is too long, %v", len(rows), cut)
	}
	if rows, cut := Rows("", strings.Repeat("x\n", MaxRows+1)); len(rows) != MaxRows || !cut {
		t.Errorf("%d rows, %v", len(rows), cut)
	}
}

// Every line of both texts is in a row or in a gap, in order, with its number.
func TestNoLineIsLost(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "a b"}), 0, 40).Draw(t, "lines"), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		rows, _ := Rows(before, after)
		l, r := 0, 0
		left, right := lines(before), lines(after)
		for _, row := range rows {
			if row.Kind == Gap {
				l, r = l+row.Skipped, r+row.Skipped
				continue
			}
			if row.LeftLine > 0 {
				if l++; row.LeftLine != l || left[l-1] != row.Left {
					t.Fatalf("left line %d: %+v", l, row)
				}
			}
			if row.RightLine > 0 {
				if r++; row.RightLine != r || right[r-1] != row.Right {
					t.Fatalf("right line %d: %+v", r, row)
				}
			}
			if row.Kind == Same && row.Left != row.Right {
				t.Fatalf("%+v", row)
			}
		}
		if l != len(left) || r != len(right) {
			t.Fatalf("%d of %d and %d of %d lines\n%q\n%q", l, len(left), r, len(right), before, after)
		}
	})
}

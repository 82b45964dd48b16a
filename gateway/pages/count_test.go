package pages

import (
	"fmt"
	"strings"
	"testing"
)

// TestRowsOfAllPagesAreCounted: what begins before a page and what begins on it are
// the rows of the whole, for every form and size of pages.
func TestRowsOfAllPagesAreCounted(t *testing.T) {
	texts := map[Form][]string{
		Text:     {"", "a", "a\n", "a\nb\nc", "one\n\ntwo\n", strings.Repeat("a long line of a note\n", 20)},
		Headed:   {"==> A.md <==\none\ntwo\n\n==> B.md <==\nthree\n", "==> only a heading <==\n", "one\n==> an end <==\ntwo", "==> a\n==> b <==\nc"},
		Numbered: {"A.md\n3: - [ ] one\n4: - [ ] two\nB.md\n1: - [ ] three\n", "A.md\n", "1: one\nA\nB\n2: two", "a: b\n12: c\n:d\n"},
		JSON:     {"[]", "[1]", `["a", "b,]", {"c": [1, 2]}]`, "[\n  1,\n  2,\n  3\n]", `{"a": 1}`, "[" + strings.Repeat(`"row",`, 30) + `"last"]`},
		CSV:      {"a,b\nc,d\n", "\"a\nb\",c\nd,e", "h\n\na\n"},
	}
	wants := map[string]int{"": 0, "a\nb\nc": 3, `["a", "b,]", {"c": [1, 2]}]`: 3, "[]": 0, `{"a": 1}`: 1, "\"a\nb\",c\nd,e": 2, "==> A.md <==\none\ntwo\n\n==> B.md <==\nthree\n": 4, "A.md\n3: - [ ] one\n4: - [ ] two\nB.md\n1: - [ ] three\n": 3}
	for form, all := range texts {
		for _, whole := range all {
			total := CountRows(whole, form, len(whole))
			if want, known := wants[whole]; known && total != want {
				t.Errorf("%d %q: %d rows, want %d", form, whole, total, want)
			}
			for rows := 1; rows < 4; rows++ {
				if err := sumsUp(whole, form, rows, total); err != nil {
					t.Errorf("%d %q in pages of %d: %v", form, whole, rows, err)
				}
			}
		}
	}
}

// sumsUp follows the pages of a text.
func sumsUp(whole string, form Form, rows, total int) error {
	seen, at, known := 0, Position{}, Counted{}
	for {
		page, err := Cut(whole, form, at, Limit{Rows: rows})
		if err != nil {
			return err
		}
		if before := CountRows(whole, form, at.At); before != seen {
			return fmt.Errorf("at %d there are %d rows before, want %d", at.At, before, seen)
		}
		for _, until := range []int{at.At, len(whole)} {
			if got, want := known.Rows(whole, form, until), CountRows(whole, form, until); got != want {
				return fmt.Errorf("at %d there are %d rows before %d, want %d", at.At, got, until, want)
			}
		}
		seen += page.Rows
		if page.Last() {
			break
		}
		at = page.Next
		if later, ok := Before(whole, form, at, seen); ok {
			if known = later; known.Rows(whole, form, 0) != 0 {
				return fmt.Errorf("there are rows before the first one")
			}
		}
	}
	if seen != total {
		return fmt.Errorf("%d rows on all pages, %d in the whole", seen, total)
	}
	return nil
}

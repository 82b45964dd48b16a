package clean

import (
	"fmt"
	"strings"
)

// Report counts what was changed in a text. The sum of its fields is the number
// of code points that are no longer there, where a run of invalid bytes is one.
type Report struct {
	Invalid   int // runs of bytes that are no UTF-8, each shown as U+FFFD
	Controls  int // C0, C1 and delete, returns that overwrite a line, U+2028 and U+2029
	Escapes   int // ESC and the C1 characters that open or close a terminal sequence
	Invisible int // nobody sees them where they stand: zero width, tags, fillers, noncharacters
	Bidi      int // direction: embeddings, overrides, isolates, and marks away from right-to-left text
	Marks     int // combining marks beyond the eighth on one letter
	BOM       int // 1 for a byte order mark at the start, which is left out
}

// None reports whether nothing was changed.
func (r Report) None() bool { return r == Report{} }

// Notice says in one sentence what was changed in what, "" if nothing was.
func (r Report) Notice(what string) string {
	var said []string
	if escaped, plural := r.escaped(); plural {
		said = append(said, escaped+" are shown as escapes")
	} else if escaped != "" {
		said = append(said, escaped+" is shown as an escape")
	}
	if r.Invalid > 0 {
		said = append(said, "bytes that are no UTF-8 are shown as U+FFFD in "+counted(r.Invalid, "place"))
	}
	if r.BOM > 0 {
		said = append(said, "the byte order mark is left out")
	}
	if said == nil {
		return ""
	}
	return what + ": " + strings.Join(said, "; ")
}

// escaped lists what stands as an escape, and whether that is more than one.
func (r Report) escaped() (list string, plural bool) {
	var items []string
	total := 0
	for _, item := range []struct {
		n    int
		name string
	}{
		{r.Escapes, "terminal control sequence"},
		{r.Controls, "control character"},
		{r.Bidi, "direction control"},
		{r.Invisible, "invisible character"},
		{r.Marks, "piled combining mark"},
	} {
		total += item.n
		if item.n > 0 {
			items = append(items, counted(item.n, item.name))
		}
	}
	if last := len(items) - 1; last > 0 {
		return strings.Join(items[:last], ", ") + " and " + items[last], true
	}
	return strings.Join(items, ""), total > 1
}

// counted is n things, in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// count notes one code point of kind k that is shown as an escape.
func (r *Report) count(k kind) {
	switch k {
	case control, carriage:
		r.Controls++
	case escape:
		r.Escapes++
	case bidirectional, direction:
		r.Bidi++
	case mark:
		r.Marks++
	default:
		r.Invisible++
	}
}

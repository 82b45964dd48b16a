package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

const large = 16 << 20 // the longest answer that is kept

// wholes are answers of that size.
var wholes = []struct {
	name  string
	form  Form
	whole func() string
}{
	{"lines", Text, func() string { return fill("- [ ] something to do tomorrow\n") }},
	{"one line", Text, func() string { return fill("something to do tomorrow ") }},
	{"one line of Chinese", Text, func() string { return fill("明天要做的事情很多") }},
	{"one line of emoji", Text, func() string { return fill("👩‍👩‍👧‍👦👍🏽🇩🇪") }},
	{"one cluster", Text, func() string { return "e" + fill("\u0301") }},
	{"CSV", CSV, func() string { return fill("Inbox/a note.md,\"1,2\",todo\n") }},
	{"CSV, one record", CSV, func() string { return `"` + fill("Inbox\n") }},
	{"JSON, a million rows", JSON, func() string { return array(`{"a":12345678}`) }},
	{"JSON, rows of tables", JSON, func() string {
		return array("{\n    \"file\": \"Projects/Some note.md\",\n    \"line\": \"12\",\n    \"text\": \"- [ ] something to do tomorrow\"\n  }")
	}},
	{"JSON, one row", JSON, func() string { return `["` + fill("a word ") + `"]` }},
	{"JSON, an object", JSON, func() string { return `{"a":"` + fill("a word ") + `"}` }},
}

func fill(s string) string { return strings.Repeat(s, large/len(s)) }

func array(row string) string { return "[" + strings.TrimSuffix(fill(row+",\n"), ",\n") + "]" }

func BenchmarkFirstPage(b *testing.B) {
	for _, w := range wholes {
		b.Run(w.name, func(b *testing.B) {
			whole := w.whole()
			b.SetBytes(int64(len(whole)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := Cut(whole, w.form, Position{}, Limit{})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkAllPages is per byte what a page costs: linear in the whole.
func BenchmarkAllPages(b *testing.B) {
	for _, w := range wholes {
		b.Run(w.name, func(b *testing.B) {
			whole := w.whole()
			b.SetBytes(int64(len(whole)))
			pages, slowest := 0, time.Duration(0)
			for b.Loop() {
				for at, more := (Position{}), true; more; pages++ {
					start := time.Now()
					page := require.Value(Cut(whole, w.form, at, Limit{}))(b)
					if at != (Position{}) {
						slowest = max(slowest, time.Since(start))
					}
					at, more = page.Next, !page.Last()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pages), "ns/page")
			b.ReportMetric(float64(slowest.Nanoseconds()), "ns-slowest-later-page")
		})
	}
}

func BenchmarkFields(b *testing.B) {
	whole := wholes[8].whole()
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Fields(whole, []string{"text", "file"}, nil)
		require.NoError(b, err)
	}
}

func BenchmarkShelf(b *testing.B) {
	s := NewStore[int](Limits{16, 256, 64 << 20, time.Minute}, time.Now)
	sessions := make([]string, 16)
	for i := range sessions {
		sessions[i] = fmt.Sprint("session", i)
	}
	text := strings.Repeat("x", 32<<10)
	for i := 0; b.Loop(); i++ {
		session := sessions[i%len(sessions)]
		id, _ := s.Put(session, text, i)
		_, _, err := s.Get(session, id)
		require.NoError(b, err)
	}
}

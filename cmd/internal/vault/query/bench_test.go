package query

import (
	"bytes"
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

const prose = "The quick brown fox jumps over the lazy dog, and then it rests near a tree for the rest of the day.\n" +
	"- [ ] Write a note about 2024-01-05 and link it to [[Some Other Note]] #project/alpha\n" +
	"Another sentence with Several Capital letters, numbers 12 34 and punctuation; it goes on: \"quoted\".\n"

func BenchmarkNeedle(b *testing.B) {
	text := bytes.Repeat([]byte(prose), 1<<20/len(prose))
	russian := bytes.Repeat([]byte("Съешь же ещё этих мягких французских булок, да выпей чаю.\n"), 10000)
	for _, c := range []struct {
		name, needle string
		exact        bool
		text         []byte
	}{
		{"rare", "zebra", false, text},
		{"common", "santorini", false, text},
		{"common letters", "eaten", false, text},
		{"almost", "lazy cat", false, text},
		{"one", "ü", false, text},
		{"exact", "Santorini", true, text},
		{"umlaut", "größe", false, text},
		{"russian", "коты", false, russian},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			n := newNeedle(c.needle, c.exact)
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				require.That(b, !n.in(c.text), "found")
			}
		})
	}
}

func BenchmarkQuery(b *testing.B) {
	text := bytes.Repeat([]byte(prose), 1<<20/len(prose))
	note := fakeNote{path: "folder/note.md", text: text}
	for _, query := range []string{
		"zebra", `"lazy cat"`, "line:(zebra fox)", "section:(fox -fox)", "block:(zebra rests)",
		"/zeb[a-z]+/", "/[a-z]+bra$/", `/(?<=the )zebra/`, `/(\w)\1\1/`, "path:zebra fox",
	} {
		b.Run(strings.ReplaceAll(query, " ", "_"), func(b *testing.B) {
			q := require.Value(Parse(query, Options{}))(b)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				require.That(b, !q.Match(&note), "found")
			}
		})
	}
}

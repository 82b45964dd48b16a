package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// sample is a table of changes: fixed columns, and two that can be narrowed.
func sample(s Screen) *Table {
	t := s.Table(Column{Title: "id"}, Column{Title: "when", OnTerminal: true}, Column{Title: "command", Min: 6}, Column{Title: "file", Min: 8})
	t.Add(Text("c1"), Text("3 min ago"), Text("append"), Text("Notes/A rather long name of a note.md"))
	t.Add(Cell{"c22", Good}, Text("just now"), Text("daily:append"), Text("日本語のノート.md"))
	return t
}

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		screen Screen
		want   string
	}{
		{"scripts get whole cells and no header", Screen{}, "" +
			"c1   append        Notes/A rather long name of a note.md\n" +
			"c22  daily:append  日本語のノート.md\n"},
		{"colours alone change nothing else", Screen{colour: true}, "" +
			"c1   append        Notes/A rather long name of a note.md\n" +
			"\x1b[32mc22\x1b[0m  daily:append  日本語のノート.md\n"},
		{"a wide terminal", Screen{width: 80}, "" +
			"ID   WHEN       COMMAND       FILE\n" +
			"c1   3 min ago  append        Notes/A rather long name of a note.md\n" +
			"c22  just now   daily:append  日本語のノート.md\n"},
		{"the widest columns are narrowed", Screen{width: 44}, "" +
			"ID   WHEN       COMMAND       FILE\n" +
			"c1   3 min ago  append        Notes/A rathe…\n" +
			"c22  just now   daily:append  日本語のノー…\n"},
		{"down to their least width", Screen{width: 36}, "" +
			"ID   WHEN       COMMAND    FILE\n" +
			"c1   3 min ago  append     Notes/A …\n" +
			"c22  just now   daily:ap…  日本語の…\n"},
		{"and then at the edge", Screen{width: 20}, "" + "ID   WHEN       COM…\n" + "c1   3 min ago  app…\n" + "c22  just now   dai…\n"},
		{"a header in colours", Screen{width: 20, colour: true}, "" +
			"\x1b[1mID\x1b[0m   \x1b[1mWHEN\x1b[0m       \x1b[1mCOM…\x1b[0m\n" +
			"c1   3 min ago  app…\n" +
			"\x1b[32mc22\x1b[0m  just now   dai…\n"},
	} {
		var out strings.Builder
		tt.screen.out = &out
		err := sample(tt.screen).Flush()
		require.Equal(t, err, nil, "%s: %v\n%s\nwant\n%s", tt.name, err, out.String(), tt.want)
		assert.Equal(t, out.String(), tt.want, "%s: %v\n%s\nwant\n%s", tt.name, err, out.String(), tt.want)
	}
}

func TestAHeaderIsPrintedOnce(t *testing.T) {
	var out strings.Builder
	table := Screen{out: &out, width: 40}.Table(Column{Title: "a"})
	for range 3 {
		if err := table.Flush(); err != nil { // without rows
			t.Fatal(err)
		}
		table.Add(Text("x"))
		require.NoError(t, table.Flush())
	}
	assert.Equal(t, out.String(), "A\nx\nx\nx\n")
}

func TestAnIdIsNeverCut(t *testing.T) {
	for width, want := range map[int]string{
		30: "ID      STATE  FILE\nabc123  done   A long name.md\n",
		20: "STATE  FILE\ndone   A long name.…\n  abc123\n",
	} {
		var out strings.Builder
		table := Screen{out: &out, width: width}.Table(Column{Title: "id", Below: true}, Column{Title: "state"}, Column{Title: "file", Min: 4})
		table.Add(Text("abc123"), Text("done"), Text("A long name.md"))
		require.That(t, table.Flush() == nil, "%d columns:\n%s\nwant\n%s", width, out.String(), want)
		assert.Equal(t, out.String(), want, "%d columns:\n%s\nwant\n%s", width, out.String(), want)
	}
}

func TestRowsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 120).Draw(t, "width")
		var out strings.Builder
		table := Screen{out: &out, width: width}.Table(Column{Title: "one", Min: 3}, Column{Title: "two"}, Column{Title: "three", Min: 5})
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.String(), 3, 3), 1, 5).Draw(t, "rows")
		for _, row := range rows {
			table.Add(Text(row[0]), Text(row[1]), Text(row[2]))
		}
		require.NoError(t, table.Flush())
		text := out.String()
		require.Equal(t, strings.Count(text, "\n"), len(rows)+1)
		require.That(t, utf8.ValidString(text), "%q", text)
		require.That(t, !strings.ContainsAny(text, "\x1b\r\t"), "%q", text)
		for line := range strings.Lines(out.String()) {
			got := columns.String(strings.TrimSuffix(line, "\n"))
			require.That(t, got <= width, "a line of %d columns on a terminal of %d: %q", got, width, line)
		}
	})
}

func TestFacts(t *testing.T) {
	facts := func(s Screen) string {
		var out strings.Builder
		s.out = &out
		f := s.Facts()
		f.Add("decision", "deny", Bad)
		f.Add("left out", "", Plain)
		f.Add("why", "the command requires tier v1 and that is\nnot enabled", Plain)
		require.NoError(t, f.Print())
		return out.String()
	}
	got, want := facts(Screen{}), "decision  deny\nwhy       the command requires tier v1 and that is\\nnot enabled\n"
	assert.Equal(t, got, want, "for scripts")
	got, want = facts(Screen{width: 30}), "decision  deny\nwhy       the command requires\n          tier v1 and that\n          is\\nnot enabled\n"
	assert.Equal(t, got, want, "on a terminal")
	if got, want := facts(Screen{colour: true}),
		"\x1b[2mdecision\x1b[0m  \x1b[31mdeny\x1b[0m\n\x1b[2mwhy\x1b[0m       the command requires tier v1 and that is\\nnot enabled\n"; got != want {
		t.Errorf("in colours:\n%q\nwant\n%q", got, want)
	}
}

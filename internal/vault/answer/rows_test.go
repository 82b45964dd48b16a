package answer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// oddTexts are cells that a form could break on.
var oddTexts = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"", "a", "abcdefgh", " ", "\"", "\\", "/", "<&>", ",", ";", "\n", "\r", "\r\n", "\t", "\x00", "\x1f", "\x7f", "\u0080", "\u00a0", "é", "日本",
		"\u2027", "\u2028", "\u2029", "\u202a", "\ufeff", "\ufffd", "😀", "\xff", "\xe2", "\xe2\x80", "\xed\xa0\x80", `\.`,
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 7).Draw(t, "pieces"), "")
})

// object is a row as package encoding/json has one in which the order of keys counts.
func object(t *rapid.T, columns, cells []string, sparse bool) string {
	var fields []string
	for i, cell := range cells {
		if !sparse || cell != "" {
			fields = append(fields, fmt.Sprintf("    %s: %s", encoded(t, columns[i]), encoded(t, cell)))
		}
	}
	if fields == nil {
		return "  {\n  }"
	}
	return "  {\n" + strings.Join(fields, ",\n") + "\n  }"
}

func TestTablesArePrintedAsByTheLibraries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := []string{"status", "a \"name\"", "<file>"}
		table := Table{Columns: columns, Sparse: rapid.Bool().Draw(t, "sparse")}
		table.Rows = rapid.SliceOfN(rapid.SliceOfN(oddTexts, 1, len(columns)), 0, 5).Draw(t, "rows")
		objects, tabbed, separated := []string{}, "", new(strings.Builder)
		for _, cells := range table.Rows {
			objects = append(objects, object(t, columns, cells, table.Sparse))
			line := make([]string, len(cells))
			for i, cell := range cells {
				line[i] = oneLine.Replace(cell)
			}
			tabbed += strings.Join(line, "\t") + "\n"
		}
		require.NoError(t, csv.NewWriter(separated).WriteAll(table.Rows))
		list := "[]"
		if len(objects) > 0 {
			list = "[\n" + strings.Join(objects, ",\n") + "\n]"
		}
		checkForm(t, table, FormatTSV, tabbed)
		checkForm(t, table, FormatCSV, separated.String())
		checkForm(t, table, FormatJSON, list)
	})
}

func checkForm(t *rapid.T, table Table, form, want string) {
	got := table.Print(form)
	require.That(t, got == want, "%s of %q is\n%q\nwant\n%q", form, table.Rows, got, want)
	if said, out := table.listing().reply(form), new(bytes.Buffer); want != "" {
		said.Print(out)
		require.Equal(t, out.String(), strings.TrimSuffix(want, "\n")+"\n", "%s of %q is printed as %q", form, table.Rows, out)
		if form == FormatJSON {
			tight := new(bytes.Buffer)
			require.NoError(t, json.Compact(tight, []byte(want)))
			want = tight.String()
		}
		out.Reset()
		said.Compact()
		said.Print(out)
		require.Equal(t, out.String(), strings.TrimSuffix(want, "\n")+"\n", "%s of %q is compact as %q, want %q", form, table.Rows, out, want)
	}
}

// brokenPipe takes some bytes and then no more.
type brokenPipe struct{ left int }

func (p *brokenPipe) Write(text []byte) (int, error) {
	if p.left -= len(text); p.left < 0 {
		return 0, errors.New("nobody reads")
	}
	return len(text), nil
}

func TestRowsAreMadeAsFarAsTheyAreRead(t *testing.T) {
	const count, size = 10_000, 1000
	made := 0
	said := printRows(count, func(b []byte, place int) []byte {
		require.That(t, place == made, "row %d is asked for after %d", place, made)
		made++
		return append(append(b, bytes.Repeat([]byte{'x'}, size-1)...), '\n')
	})
	status := said.Print(&brokenPipe{left: 200_000})
	assert.That(t, status != ExitDone, "status %d, %d rows were made for a reader of 200 KB", status, made)
	assert.That(t, made <= 500, "status %d, %d rows were made for a reader of 200 KB", status, made)
	made = 0
	var out bytes.Buffer
	status = said.Print(&out)
	assert.Equal(t, status, ExitDone, "%d rows, %d bytes", made, out.Len())
	assert.Equal(t, made, count, "%d rows, %d bytes", made, out.Len())
	assert.Equal(t, out.Len(), count*size, "%d rows, %d bytes", made, out.Len())
}

// Rows of any length are printed as they are, and those of some KB without other memory than
// that of the writer.
func TestRowsOfAnyLength(t *testing.T) {
	text := bytes.Repeat([]byte("the quick brown fox "), PrintBuffer/6)
	row := func(size int) func(b []byte, place int) []byte {
		return func(b []byte, place int) []byte {
			return append(append(b, text[place%20:][:(place*7919)%size]...), '\n')
		}
	}
	for _, size := range []int{1, usualRow, 3 * usualRow, PrintBuffer, 3 * PrintBuffer} {
		count := min(1000, 100*PrintBuffer/size)
		var want []byte
		for place := range count {
			want = row(size)(want, place)
		}
		var out bytes.Buffer
		said := printRows(count, row(size))
		if status := said.Print(&out); status != ExitDone || !bytes.Equal(out.Bytes(), want) {
			t.Errorf("rows of %d bytes: status %d, %d bytes, want %d", size, status, out.Len(), len(want))
		}
		writer := &brokenPipe{left: 1 << 40}
		if made := testing.AllocsPerRun(2, func() { said.Print(writer) }); size <= 3*usualRow && made > 20 {
			t.Errorf("%v allocations for %d rows of %d bytes", made, count, size)
		}
	}
}

func TestAListingTakesFewAllocations(t *testing.T) {
	texts := []string{"a plain text of a note", "日本 with \"quotes\" — and more", "Folder/Some note.md"}
	listing := Listing{Columns: []string{"a", "b", "c", "d"}, Rows: 5000, Cell: func(b []byte, row, column int) []byte {
		if column == 3 {
			return AppendNumber(b, row)
		}
		return append(b, texts[(row+column)%2*2]...)
	}}
	said := listing.reply(FormatJSON)
	writer := &brokenPipe{left: 1 << 40}
	if count := testing.AllocsPerRun(5, func() { said.Print(writer) }); count > 20 {
		t.Errorf("%v allocations for %d rows", count, listing.Rows)
	}
}

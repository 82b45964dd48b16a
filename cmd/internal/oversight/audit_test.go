package oversight

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestADayHasBothItsEnds(t *testing.T) {
	q := auditQuery{since: "2026-11-20", until: "2026-11-20"}
	err := q.parse(nil, time.Now())
	require.Equal(t, err, nil, "from %v to %v", q.filter.Since, q.filter.Until)
	assert.That(t, q.filter.Until.Sub(q.filter.Since) >= 23*time.Hour, "from %v to %v, %v", q.filter.Since, q.filter.Until, err)
}

// plainScreen is standard output that is no terminal.
func plainScreen(out io.Writer) terminal.Screen {
	none := func(string) (string, bool) { return "", false }
	return terminal.NewScreen(terminal.Streams{Out: out, Lookup: none}, terminal.ScreenOptions{}, time.Time{})
}

// hostile is what a client can choose as its name, and the cell for it.
var hostile = []struct{ name, cell string }{
	{`=HYPERLINK("http://example.com")`, `'=HYPERLINK("http://example.com")`},
	{"+1", "'+1"},
	{"-1", "'-1"},
	{"@SUM(A1)", "'@SUM(A1)"},
	{"\t=1", `\t=1`},
	{"＝1", "'＝1"},
	{"a=b", "a=b"},
	{"a\nb", `a\nb`},
	{"a,\"b\"", "a,\"b\""},
	{"", ""},
}

func TestSheetsHoldNoFormula(t *testing.T) {
	var out strings.Builder
	sheet := newLineSheet(&out)
	exit := -1
	for _, h := range hostile {
		line := audit.Line{Seq: 1, Kind: "end", Client: h.name, Exit: &exit, Params: []audit.Param{{Name: "path"}, {Name: "content"}}}
		require.NoError(t, sheet.write(line))
	}
	require.NoError(t, sheet.end())
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	require.Equal(t, err, nil, "%d rows, %v", len(rows), err)
	require.Equal(t, len(rows), len(hostile)+1, "%d rows, %v", len(rows), err)
	cell := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	for i, h := range hostile {
		row := rows[i+1]
		assert.Equal(t, cell(row, "client"), h.cell, "%q is the cell", h.name)
		assert.Equal(t, cell(row, "exit"), "-1", "row %q", row)
		assert.Equal(t, cell(row, "params"), "path content", "row %q", row)
		assert.Equal(t, cell(row, "vault"), "", "row %q", row)
	}
}

func TestAnEmptySheetHasItsColumns(t *testing.T) {
	var out strings.Builder
	err := newLineSheet(&out).end()
	require.NoError(t, err)
	assert.That(t, strings.HasPrefix(out.String(), "seq,time,"), "got %q, %v", out.String(), err)
}

func TestArraysAreJSON(t *testing.T) {
	for n := range 3 {
		var out strings.Builder
		array := newLineArray(&out)
		for i := range n {
			require.NoError(t, array.write(audit.Line{Seq: uint64(i + 1), Client: "<a>"}))
		}
		var lines []audit.Line
		err := errors.Join(array.end(), json.Unmarshal([]byte(out.String()), &lines))
		require.Equal(t, err, nil, "%d lines come out as %q", n, out.String())
		assert.Equal(t, len(lines), n, "%d lines come out as %q", n, out.String())
	}
}

func TestTablesShowNothingThatATerminalObeys(t *testing.T) {
	var out strings.Builder
	table := newLineTable(plainScreen(&out))
	line := audit.Line{Kind: "end\x1b", Decision: "", Command: "a\x1b[2J", Vault: "b\nc", Code: "d\te", Client: "\u202ef", Session: "g\r"}
	require.NoError(t, errors.Join(table.write(line), table.end()))
	text := out.String()
	assert.That(t, !strings.ContainsAny(text, "\x1b\r\t\u202e"), "got %q", text)
	assert.Equal(t, strings.Count(text, "\n"), 1)
}

func TestALongTableIsAligned(t *testing.T) {
	var out strings.Builder
	table := newLineTable(plainScreen(&out))
	for i := range 2*tableRows + 1 {
		require.NoError(t, table.write(audit.Line{Seq: uint64(i), Kind: "end"}))
	}
	err := table.end()
	require.Equal(t, err, nil, "%d rows, %v", strings.Count(out.String(), "\n"), err)
	assert.Equal(t, strings.Count(out.String(), "\n"), 2*tableRows+1, "%d rows, %v", strings.Count(out.String(), "\n"), err)
}

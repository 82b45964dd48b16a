package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// bookNotes are notes about books, one of them in a folder that access rules can hide.
var bookNotes = map[string]string{
	"Books/Dune.md":     "---\nrating: 5\nstatus: done\n---\n#book [[Solaris]]\n",
	"Books/Ubik.md":     "---\nrating: 4\nstatus: reading\n---\n#book [[Secret]]\n",
	"Books/Solaris.md":  "---\nrating: 2\nstatus: done\n---\n#book\n",
	"Private/Secret.md": "---\nrating: 3\nstatus: done\n---\n#book [[Dune]]\n",
	"Library.base":      "filters: file.hasTag(\"book\")\nviews:\n  - type: table\n    name: All\n    order: [file.name, status]\n  - type: table\n    name: Done\n    filters: status == \"done\"\n",
	"Shelf.md":          "```base\nfilters: rating > 3 && file.hasTag(\"book\")\nviews:\n  - type: table\n    name: Best\n    order: [file.name]\n```\n",
}

// rowsAnswer is an answer with rows.
type rowsAnswer struct {
	OK     bool
	Rows   []map[string]any
	Total  int
	Groups []struct {
		Key  any
		Rows int
	}
	Summaries []any
	Explain   *struct{ Filters []struct{ Dropped int } }
	Stdout    *string
	Truncated *struct{ Cursor string }
}

func openBooks(t *testing.T) *typedServer {
	t.Helper()
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V2, Confirm: policy.ConfirmDestructive}, false)
	for name, text := range bookNotes {
		harness.WriteFile(t, filepath.Join(s.vault, filepath.FromSlash(name)), []byte(text))
	}
	return s
}

func (s *typedServer) query(tool, arguments string) (r rowsAnswer) {
	s.t.Helper()
	m := s.call(tool, arguments)
	require.NoError(s.t, json.Unmarshal(m.Result.StructuredContent, &r))
	return r
}

// names are the names of the notes in rows, in their order.
func (r rowsAnswer) names() string {
	var names []string
	for _, row := range r.Rows {
		names = append(names, strings.TrimSuffix(filepath.Base(fmt.Sprint(row["path"])), ".md"))
	}
	return strings.Join(names, " ")
}

func TestTypedQueriesReturnRows(t *testing.T) {
	s := openBooks(t)
	for _, test := range []struct{ tool, arguments, want string }{
		{"bases", `{"path":"Library.base","view":"All"}`, "Dune Secret Solaris Ubik"},
		{"bases", `{"file":"Library","view":"2"}`, "Dune Secret Solaris"},
		{"bases", `{"path":"Library.base","view":"Done","where":"rating > 2","sort":"rating desc"}`, "Dune Secret"},
		{"bases", `{"path":"Library.base","offset":2}`, "Solaris Ubik"},
		{"bases", `{"path":"Shelf.md","view":"Best"}`, "Dune Ubik"},
		{"query_notes", `{"where":"file.hasTag(\"book\") && rating >= 4","sort":"rating"}`, "Ubik Dune"},
		{"query_notes", `{"where":"file.hasLink(\"Dune\")"}`, "Secret"},
		{"query_notes", `{"where":"rating > 99"}`, ""},
	} {
		r := s.query(test.tool, test.arguments)
		assert.That(t, r.OK, "%s %s: %+v", test.tool, test.arguments, r)
		assert.That(t, r.Stdout == nil, "%s %s: %+v", test.tool, test.arguments, r)
		assert.That(t, r.Rows != nil, "%s %s: %+v", test.tool, test.arguments, r)
		assert.Equal(t, r.names(), test.want, "%s %s: %+v", test.tool, test.arguments, r)
	}
	r := s.query("query_notes", `{"where":"rating == 5","select":"file.name, double: rating * 2","values":"typed","fields":["double"]}`)
	assert.That(t, fmt.Sprint(r.Rows) == "[map[double:10]]", "columns, typed values and fields: %+v", r)
}

func TestTypedQueriesReturnGroupsAndExplanations(t *testing.T) {
	s := openBooks(t)
	r := s.query("bases", `{"path":"Library.base","group":"status desc","explain":true,"limit":2}`)
	require.Equal(t, len(r.Rows), 2, "%+v", r)
	require.Equal(t, r.Total, 4, "%+v", r)
	require.Equal(t, len(r.Groups), 2, "%+v", r)
	require.That(t, r.Explain != nil, "%+v", r)
	assert.That(t, r.Explain.Filters[0].Dropped != 0, "%+v", r)
	assert.That(t, r.Stdout == nil, "%+v", r)
	if r := s.query("query_notes", `{"where":"rating","summaries":true}`); len(r.Rows) != 4 || r.Total != 4 || r.Stdout != nil {
		t.Errorf("%+v", r)
	}
}

// The pages of an answer are all of its rows, each once.
func TestTypedQueriesArePagedToTheEnd(t *testing.T) {
	s := openBooks(t)
	for i := range 40 {
		harness.WriteFile(t, filepath.Join(s.vault, fmt.Sprintf("Many/%02d.md", i)), []byte("#many\n"))
	}
	for _, test := range []struct{ tool, query string }{
		{"query_notes", `"where":"file.hasTag(\"many\")"`}, {"bases", `"path":"Library.base","where":"false"`},
	} {
		first := s.query(test.tool, "{"+test.query+`,"limit":7}`)
		all := first.Rows
		for r := first; r.Truncated != nil && r.Truncated.Cursor != ""; all = append(all, r.Rows...) {
			if r = s.query(test.tool, fmt.Sprintf(`{"cursor":%q}`, r.Truncated.Cursor)); !r.OK || len(r.Rows) == 0 || len(r.Rows) > 7 {
				t.Fatalf("%+v", r)
			}
		}
		seen := map[any]bool{}
		for _, row := range all {
			seen[row["path"]] = true
		}
		want := map[string]int{"query_notes": 40, "bases": 0}[test.tool]
		assert.Equal(t, len(all), want, "%s: %d rows, %d different ones", test.tool, len(all), len(seen))
		assert.Equal(t, len(seen), want, "%s: %d rows, %d different ones", test.tool, len(all), len(seen))
	}
}

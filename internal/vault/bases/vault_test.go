package bases

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// note is a file of a vault in memory.
type note struct {
	path   string
	fields formula.Fields
}

func (n *note) Path() string              { return n.path }
func (*note) Size() int64                 { return 1 }
func (*note) Created() time.Time          { return time.Unix(0, 0) }
func (*note) Modified() time.Time         { return time.Unix(0, 0) }
func (*note) Tags() formula.Value         { return formula.OfList(nil) }
func (*note) Links() formula.Value        { return formula.OfList(nil) }
func (*note) Embeds() formula.Value       { return formula.OfList(nil) }
func (n *note) Properties() formula.Value { return formula.OfFields(&n.fields) }
func (n *note) Property(name string) (formula.Value, bool) {
	return n.fields.Lookup(name), slices.Contains(n.fields.Keys, name)
}

// with is a note at a path with properties: names and values in turn.
func with(path string, properties ...any) *note {
	n := &note{path: path}
	for i := 0; i < len(properties); i += 2 {
		n.fields.Keys = append(n.fields.Keys, properties[i].(string))
		n.fields.Values = append(n.fields.Values, asValue(properties[i+1]))
	}
	return n
}

func asValue(v any) formula.Value {
	switch v := v.(type) {
	case formula.Value:
		return v
	case string:
		return formula.OfText(v)
	case int:
		return formula.OfNumber(float64(v))
	case float64:
		return formula.OfNumber(v)
	case bool:
		return formula.OfBool(v)
	case []any:
		var items []formula.Value
		for _, item := range v {
			items = append(items, asValue(item))
		}
		return formula.OfList(items)
	}
	return formula.Value{}
}

// day is a date without a time.
func day(text string) formula.Value {
	m, ok := formula.ParseProperty(text, time.UTC)
	if !ok {
		panic(text)
	}
	return formula.OfMoment(m)
}

// vaultOf is a vault of notes, in the order of listings.
func vaultOf(notes []*note) Source {
	notes = slices.Clone(notes)
	slices.SortFunc(notes, func(a, b *note) int { return filenames.Compare(a.path, b.path) })
	places := make([]int32, len(notes))
	s := Source{Environment: formula.Environment{
		World:     formula.World{Now: time.Date(2025, 3, 10, 8, 0, 0, 0, time.UTC)},
		Backlinks: func(formula.Entry) formula.Value { return formula.OfList(nil) },
		Leads:     func(formula.Entry, formula.Entry) bool { return false },
		Dangles:   func(formula.Entry, string) bool { return true },
		Random:    func() float64 { return 0.5 },
	}}
	for i, n := range notes {
		places[i] = int32(i)
		s.Files = append(s.Files, n)
	}
	name := func(place int32) string { return strings.TrimSuffix(path.Base(notes[place].path), ".md") }
	slices.SortFunc(places, func(a, b int32) int { return cmp.Or(filenames.Compare(name(a), name(b)), cmp.Compare(a, b)) })
	s.ByName = func() []int32 { return places }
	return s
}

// answer answers a base that has no error.
func answer(t testing.TB, text string, notes []*note, q Query) *Table {
	t.Helper()
	table, err := read(t, text).Run(t.Context(), vaultOf(notes), q)
	require.That(t, err == nil, "%s\n%v", text, err)
	return table
}

// rowsOfEveryKind have a property v of every kind.
var rowsOfEveryKind = []*note{
	with("a10.md", "v", 10), with("a2.md", "v", 9), with("B.md", "v", "text"), with("c.md", "v", "Text"),
	with("d/e.md", "v", true), with("d/f.md", "v", nil), with("g.md"), with("h.md", "v", []any{}),
	with("i.md", "v", []any{1, "x"}),
	with("j.md", "v", day("2025-01-02")), with("k.md", "v", ""), with("l.md", "v", 10), with("m.md", "v", "a10"), with("n.md", "v", "A2"), with("pic.png"),
}

package formula

import (
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// note is a file with properties of every kind.
type note struct {
	Entry
	properties map[string]Value
}

func (n note) Path() string { return "Folder/Note.md" }
func (n note) Property(name string) (Value, bool) {
	v, found := n.properties[name]
	return v, found
}

func (n note) Properties() Value {
	f := &Fields{}
	for _, name := range slices.Sorted(maps.Keys(n.properties)) {
		f.Keys = append(f.Keys, name)
		f.Values = append(f.Values, n.properties[name])
	}
	return OfFields(f)
}

// nothing is a file without a path and a content.
type nothing struct{}

func (nothing) Path() string                  { return "" }
func (nothing) Size() int64                   { return 0 }
func (nothing) Created() time.Time            { return time.Time{} }
func (nothing) Modified() time.Time           { return time.Time{} }
func (nothing) Property(string) (Value, bool) { return Value{}, false }
func (nothing) Properties() Value             { return Value{} }
func (nothing) Tags() Value                   { return OfList(nil) }
func (nothing) Links() Value                  { return OfList(nil) }
func (nothing) Embeds() Value                 { return OfList(nil) }

// kinds has a property of every kind that a note can have.
func kinds() note {
	day := Moment{Time: time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)}
	return note{Entry: nothing{}, properties: map[string]Value{
		"n": OfNumber(7), "s": OfText("Some Text"), "b": OfBool(true), "d": OfMoment(day),
		"l": OfList([]Value{OfNumber(3), OfText("x"), OfNumber(1)}), "k": OfTarget(Target{Text: "Note#A", Display: "b"}),
		"o": OfFields(&Fields{Keys: []string{"p"}, Values: []Value{OfNumber(1)}}), "t": OfList([]Value{OfTag("#a/b")}),
		"u": OfURL("https://example.org/a"), "e": OfText(""),
	}}
}

func environment(n note) Environment {
	return Environment{
		World: World{Now: time.Date(2025, 3, 10, 8, 0, 0, 0, time.UTC), Resolve: func(target, _ string) Entry {
			if target == "Note" {
				return n
			}
			return nil
		}},
		Backlinks: func(Entry) Value { return OfUnmade(1, func() []Value { return []Value{OfLinkTo(n, "Note")} }) },
		Leads:     func(Entry, Entry) bool { return true },
		Dangles:   func(Entry, string) bool { return true },
		Random:    func() float64 { return 0.25 },
		This:      n,
		Formulas:  map[string]*Program{"f": Compile("n * 2"), "g": Compile("formula.h"), "h": Compile("formula.g")},
	}
}

// Whatever the expression is, its value is one, twice the same, and of a bounded
// size; what is no expression is an error.
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"n + 1", `s.split(" ").map(value.lower()).join("-")`, "l.reduce(acc + [acc], [])", `s.repeat(1000000).repeat(1000)`, "d + \"1M\" - \"2h\"",
		"/(a+)+$/.matches(s)", "formula.g", "k.asFile().name", "if(b, t.contains(\"a\"), o.p)", "l.sort().unique().slice(-2)[0]", "file.links.length",
		"duration(\"1d\") * 1e300", "(0/0).toFixed(2)", "s[0]", "note[\"n\"]", "!!e || -n < 3", "[[[1]]].flat()", "1 .round()", "date(\"2025-13-01\")",
		"l.map(l.map(l.map(value)))", `"a💩b".reverse().slice(1, 3).length`, "this.file.hasLink(file)", "s.replace(/(?<x>o)/g, \"$<x>$&$$\")",
	} {
		f.Add(seed)
	}
	n := kinds()
	f.Fuzz(func(t *testing.T, source string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		p := Compile(source)
		session := NewSession(ctx, environment(n))
		v := session.Row(n).Eval(p)
		assert.That(t, p.Problem() == nil || v.IsError(), "%q is no expression, and is %q", source, v.Text())
		if session.Err() != nil {
			return
		}
		text := v.Text()
		assert.That(t, len(text) <= 2*maxText, "%q is a text of %d bytes", source, len(text))
		again := NewSession(ctx, environment(n)).Row(n).Eval(p)
		assert.Equal(t, again.Kind(), v.Kind(), "%q is %q and then %q", source, text, again.Text())
		assert.Equal(t, again.Text(), text, "%q is %q and then %q", source, text, again.Text())
		assert.That(t, v.Kind() != Number || math.IsNaN(v.Num()) == (text == "NaN"), "%q is written %q", source, text)
	})
}

func isOverrun(err error) bool {
	var over *budget.Overrun
	return errors.As(err, &over)
}

// What is alive at once is bounded, whatever makes it: copies of texts, templates, lists of
// lists. What one row has needed the next one can need again.
func TestWhatIsAliveIsBounded(t *testing.T) {
	n := kinds()
	limits := budget.Limits{Alive: budget.Default.Alive / 8}
	for _, source := range []string{
		`"x".repeat(1000000).replace(/x+/, "$&".repeat(350))`,
		`"a".repeat(125000).split("").map([value, [value]])`,
		`"ab".repeat(62500).split("").map(value.repeat(200))`,
		`[1,2,3,4,5,6,7,8,9,10].map("x".repeat(1900000))`,
	} {
		ctx, end := context.WithCancel(t.Context())
		session := NewSession(budget.With(ctx, budget.New(limits)), environment(n))
		before := memory()
		v := session.Row(n).Eval(Compile(source))
		end()
		made := memory() - before
		assert.That(t, v.IsError(), "%s makes %d MiB and is %v", source, made>>20, v.Kind())
		assert.That(t, made <= 100<<20, "%s makes %d MiB and is %v", source, made>>20, v.Kind())
	}
	session := NewSession(budget.With(t.Context(), budget.New(limits)), environment(n))
	for range 30 { // 19 MB together
		if v := session.Row(n).Eval(Compile(`"x".repeat(625000).length`)); v.IsError() {
			t.Fatalf("a row after others: %v", v.Message())
		}
	}
}

// memory is how many bytes were ever taken.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The time of all matches of a query is one, and its end is the end of the query.
func TestMatchesShareTheirTime(t *testing.T) {
	n := kinds()
	b := budget.New(budget.Limits{Match: 20 * time.Millisecond})
	session := NewSession(budget.With(t.Context(), b), environment(n))
	v := session.Row(n).Eval(Compile(`/(a+)+b/.matches("a".repeat(60))`))
	if !v.IsError() || !isOverrun(session.Err()) {
		t.Errorf("%v, %v", v, session.Err())
	}
	steps := session.Steps()
	v = session.Row(n).Eval(Compile(`/a/.matches("a")`))
	assert.That(t, v.IsError(), "it goes on: %v", v)
	assert.That(t, session.Steps() <= steps+2, "it goes on: %v", v)
}

func TestASessionEnds(t *testing.T) {
	n := kinds()
	many := make([]Value, 10_000)
	for i := range many {
		many[i] = OfNumber(float64(i))
	}
	n.properties["many"] = OfList(many)
	for source, want := range map[string]string{
		"many.map(many.map(value))": "memory", `many.map("x".repeat(1000000))`: "memory", "many.filter(many.contains(-1))": "steps",
		"many.reduce([acc, acc], 0)": "", // grows without new elements
	} {
		t.Run(source, func(t *testing.T) { // each with a context that ends, and gives its share of the memory back
			session := NewSession(t.Context(), environment(n))
			v := session.Row(n).Eval(Compile(source))
			err := session.Err()
			assert.That(t, v.IsError(), "it ends with %v and is %v", err, v.Kind())
			if want != "" {
				require.That(t, isOverrun(err), "it ends with %v", err)
				assert.Contains(t, err.Error(), want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	session := NewSession(ctx, environment(n))
	session.Row(n).Eval(Compile("many.map(value)"))
	assert.Equal(t, session.Err(), context.Canceled, "a query that no one waits for ends with")
}

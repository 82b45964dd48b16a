package frontmatter

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/knowledge/cache/wire"
)

func readBack(p Properties) (Properties, bool) {
	r := wire.NewReader(string(p.AppendBinary(nil)))
	got := ReadProperties(r)
	return got, r.Done()
}

// Without names in the literals, a field that is added does not compile here.
// Give it a value and write it in encode.go, or the cache forgets it.
func TestEveryFieldIsWritten(t *testing.T) {
	for _, v := range []Value{ // the line is only of documents, which are not kept
		{Map, true, 0, 1.5, "x", Properties{{"k", Value{}, 7}}},
		{List, true, 0, 1.5, "x", []Value{{kind: List}}},
		{Bool, true, 0, 0, "", nil},
		{Number, false, 0, math.Copysign(0, -1), "-0", nil},
		{String, false, 0, 0, "text", nil},
		{List, false, 0, 0, "", []Value{}},
		{Map, false, 0, 0, "", Properties{}},
		{},
	} {
		p := Properties{{"key", v, 3}, {"other", v, 1}}
		got, ok := readBack(p)
		if !ok || !reflect.DeepEqual(got, p) || math.Signbit(got[0].Value.number) != math.Signbit(v.number) {
			t.Errorf("%+v came back as %+v, %v", p, got, ok)
		}
	}
	for _, p := range []Properties{nil, {}} {
		if got, ok := readBack(p); !ok || !reflect.DeepEqual(got, p) {
			t.Errorf("%#v came back as %#v, %v", p, got, ok)
		}
	}
}

func values(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		v := Value{
			kind: Kind(rapid.IntRange(0, int(Map)).Draw(t, "kind")), truth: rapid.Bool().Draw(t, "truth"),
			number: rapid.SampledFrom([]float64{0, 1, -1.5, math.Inf(1), math.MaxFloat64}).Draw(t, "number"),
			text:   rapid.String().Draw(t, "text"),
		}
		if depth > 0 && rapid.Bool().Draw(t, "is list") {
			v.more = rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "list")
		}
		if depth > 0 && v.more == nil && rapid.Bool().Draw(t, "is map") {
			v.more = properties(depth-1).Draw(t, "fields")
		}
		return v
	})
}

func properties(depth int) *rapid.Generator[Properties] {
	return rapid.Custom(func(t *rapid.T) Properties {
		one := rapid.Custom(func(t *rapid.T) Property {
			return Property{rapid.String().Draw(t, "key"), values(depth).Draw(t, "value"), rapid.Int().Draw(t, "line")}
		})
		return rapid.SliceOfN(one, 0, 4).Draw(t, "properties")
	})
}

func TestPropertiesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := properties(3).Draw(t, "p")
		if got, ok := readBack(p); !ok || !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v came back as %+v, %v", p, got, ok)
		}
	})
}

func TestAsDeepAsANoteCanBeAndNoDeeper(t *testing.T) {
	nested := func(levels int) Properties {
		v := Value{}
		for range levels - 1 {
			v = Value{kind: List, more: []Value{v}}
		}
		return Properties{{"k", v, 1}}
	}
	if _, ok := readBack(nested(maxDepth)); !ok {
		t.Error("values as deep as they may be are refused")
	}
	if _, ok := readBack(nested(maxDepth + 1)); ok {
		t.Error("values too deep are read")
	}
	if _, ok := readBack(Properties{{"k", Value{kind: 7}, 1}}); ok {
		t.Error("a kind that is none is read")
	}
}

package index

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func readBack(n markdown.Note) (markdown.Note, bool) {
	r := newReader(string(appendNote(nil, &n)))
	return readNote(&r), r.done()
}

// The notes are generated from the type: a field that is added and not written in
// encode.go fails here.
func TestEveryFieldOfANoteIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Make[markdown.Note]().Draw(t, "note")
		got, ok := readBack(n)
		require.That(t, ok, "%+v became %+v, %v", n, got, ok)
		require.That(t, reflect.DeepEqual(got, n), "%+v became %+v, %v", n, got, ok)
		f := (&Found{Note: n}).Pack()
		if !reflect.DeepEqual(listOf(f, linkList), n.Links) || !reflect.DeepEqual(f.BodyTags(), n.Tags) ||
			!reflect.DeepEqual(f.Tasks(), n.Tasks) || !reflect.DeepEqual(f.Headings(), n.Headings) {
			t.Fatalf("%+v: links %+v, tags %+v, tasks %+v", n, f.Links(), f.BodyTags(), f.Tasks())
		}
	})
	for _, p := range []packed{"", "\x00", "\xff\xff", "\x02\x02\x02\x02\x02\xff"} {
		links, tags, tasks := p.list(linkList.index), p.list(tagList.index), p.list(taskList.index)
		require.That(t, linkList.elements(&links) == nil, "%q has lists", p)
		require.That(t, tagList.elements(&tags) == nil, "%q has lists", p)
		assert.That(t, taskList.elements(&tasks) == nil, "%q has lists", p)
	}
}

func TestALinkThatIsNotItsParts(t *testing.T) {
	for _, link := range []markdown.Link{
		{Target: "a#b", Path: "/a", Subpath: "#b", Embed: true}, // of a canvas
		{Target: "aa", Path: "a", Subpath: ""},
		{Target: "ab", Path: "b", Subpath: "a"},
		{Style: 255},
	} {
		n := markdown.Note{Links: []markdown.Link{link}}
		got, ok := readBack(n)
		require.That(t, ok, "%+v became %+v, %v", n, got, ok)
		assert.That(t, reflect.DeepEqual(got, n), "%+v became %+v, %v", n, got, ok)
	}
}

func TestAPathLongerThanItsTarget(t *testing.T) {
	n := markdown.Note{Links: []markdown.Link{{Target: "abc", Path: "abc"}}}
	b := bytes.Replace(appendNote(nil, &n), []byte("abc\x03"), []byte("abc\x04"), 1)
	r := newReader(string(b))
	readNote(&r)
	assert.That(t, !r.done(), "it is read")
}

func readPropertiesBack(p frontmatter.Properties) (frontmatter.Properties, bool) {
	r := newReader(string(appendProperties(nil, p)))
	return readProperties(&r, frontmatter.MaxDepth), r.done()
}

func TestPropertiesThatAreOdd(t *testing.T) {
	for _, v := range []frontmatter.Parts{
		{Kind: frontmatter.Map, Truth: true, Number: 1.5, Text: "x", Fields: frontmatter.Properties{{Key: "k", Line: 7}}},
		{Kind: frontmatter.List, Truth: true, Number: 1.5, Text: "x", List: []frontmatter.Value{frontmatter.Parts{Kind: frontmatter.List}.Value()}},
		{Kind: frontmatter.Number, Number: math.Copysign(0, -1), Text: "-0"},
		{Kind: frontmatter.List, List: []frontmatter.Value{}},
		{Kind: frontmatter.Map, Fields: frontmatter.Properties{}},
		{},
	} {
		p := frontmatter.Properties{{Key: "key", Value: v.Value(), Line: 3}, {Key: "other", Value: v.Value(), Line: 1}}
		got, ok := readPropertiesBack(p)
		require.That(t, ok, "%+v became %+v, %v", p, got, ok)
		require.That(t, reflect.DeepEqual(got, p), "%+v became %+v, %v", p, got, ok)
		assert.Equal(t, math.Signbit(got[0].Value.Float()), math.Signbit(v.Number), "%+v became %+v", p, got)
	}
	for _, p := range []frontmatter.Properties{nil, {}} {
		got, ok := readPropertiesBack(p)
		require.That(t, ok, "%#v became %#v, %v", p, got, ok)
		assert.That(t, reflect.DeepEqual(got, p), "%#v became %#v, %v", p, got, ok)
	}
}

func values(depth int) *rapid.Generator[frontmatter.Value] {
	return rapid.Custom(func(t *rapid.T) frontmatter.Value {
		v := frontmatter.Parts{
			Kind: frontmatter.Kind(rapid.IntRange(0, int(frontmatter.Map)).Draw(t, "kind")), Truth: rapid.Bool().Draw(t, "truth"),
			Number: rapid.SampledFrom([]float64{0, 1, -1.5, math.Inf(1), math.MaxFloat64}).Draw(t, "number"),
			Text:   rapid.String().Draw(t, "text"),
		}
		if depth > 0 && rapid.Bool().Draw(t, "is list") {
			v.List = rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "list")
		} else if depth > 0 && rapid.Bool().Draw(t, "is map") {
			v.Fields = properties(depth-1).Draw(t, "fields")
		}
		return v.Value()
	})
}

func properties(depth int) *rapid.Generator[frontmatter.Properties] {
	return rapid.Custom(func(t *rapid.T) frontmatter.Properties {
		one := rapid.Custom(func(t *rapid.T) frontmatter.Property {
			return frontmatter.Property{Key: rapid.String().Draw(t, "key"), Value: values(depth).Draw(t, "value"), Line: rapid.Int().Draw(t, "line")}
		})
		return rapid.SliceOfN(one, 0, 4).Draw(t, "properties")
	})
}

func TestPropertiesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := properties(3).Draw(t, "p")
		got, ok := readPropertiesBack(p)
		require.That(t, ok, "%+v became %+v, %v", p, got, ok)
		require.That(t, reflect.DeepEqual(got, p), "%+v became %+v, %v", p, got, ok)
	})
}

func TestAsDeepAsANoteCanBeAndNoDeeper(t *testing.T) {
	nested := func(levels int) frontmatter.Properties {
		v := frontmatter.Value{}
		for range levels - 1 {
			v = frontmatter.Parts{Kind: frontmatter.List, List: []frontmatter.Value{v}}.Value()
		}
		return frontmatter.Properties{{Key: "k", Value: v, Line: 1}}
	}
	_, ok := readPropertiesBack(nested(frontmatter.MaxDepth))
	assert.That(t, ok, "values as deep as they may be are refused")
	_, ok = readPropertiesBack(nested(frontmatter.MaxDepth + 1))
	assert.That(t, !ok, "values too deep are read")
	_, ok = readPropertiesBack(frontmatter.Properties{{Key: "k", Value: frontmatter.Parts{Kind: 7}.Value(), Line: 1}})
	assert.That(t, !ok, "an unknown kind is read")
}

func TestNothingIsBelieved(t *testing.T) {
	const huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	tests := []struct {
		name, text string
		read       func(r *reader)
	}{
		{"a number without end", "\xff\xff", func(r *reader) { r.uint() }},
		{"a number of more than 64 bits", huge[:9] + "\xff\x01", func(r *reader) { r.uint() }},
		{"no byte", "", func(r *reader) { r.byte() }},
		{"half a float", "\x00\x00", func(r *reader) { r.float() }},
		{"a text longer than the rest", "\x02a", func(r *reader) { r.string() }},
		{"a text of the greatest length", huge, func(r *reader) { r.string() }},
		{"a list longer than the rest", "\x05abc", func(r *reader) { readList[int](r, 1) }},
		{"a list of large elements", "\x03abcde", func(r *reader) { readList[int](r, 4) }},
		{"a list of the greatest length", huge, func(r *reader) { readList[int](r, 1) }},
		{"lists that claim the same bytes", "\x04\x04ab", func(r *reader) { readList[int](r, 1); readList[int](r, 1) }},
		{"something left over", "\x00\x00", func(r *reader) { r.byte() }},
	}
	for _, tt := range tests {
		r := newReader(tt.text)
		tt.read(&r)
		assert.That(t, !r.done(), "%s: it is done", tt.name)
	}
}

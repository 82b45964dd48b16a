package markdown

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/knowledge/cache/wire"
	_ "vaultwicket/tests/sameseed"
)

func readBack(n Note) (Note, bool) {
	r := wire.NewReader(string(n.AppendBinary(nil)))
	got := ReadNote(r)
	return got, r.Done()
}

// The notes are made by looking at the type: a field that is added and not
// written in encode.go fails here.
func TestEveryFieldIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Make[Note]().Draw(t, "note")
		if got, ok := readBack(n); !ok || !reflect.DeepEqual(got, n) {
			t.Fatalf("%+v came back as %+v, %v", n, got, ok)
		}
	})
}

func TestNotesAreReadAsTheyWereFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := notes().Draw(t, "text")
		n := Scan([]byte(text))
		if got, ok := readBack(n); !ok || !reflect.DeepEqual(got, n) {
			t.Fatalf("%q: %+v came back as %+v, %v", text, n, got, ok)
		}
	})
}

func TestOneListIsReadWithoutTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Make[Note]().Draw(t, "note")
		p := Packed(n.AppendBinary(nil))
		if !reflect.DeepEqual(p.Links(), n.Links) || !reflect.DeepEqual(p.Tags(), n.Tags) || !reflect.DeepEqual(p.Tasks(), n.Tasks) {
			t.Fatalf("%+v: links %+v, tags %+v, tasks %+v", n, p.Links(), p.Tags(), p.Tasks())
		}
	})
	for _, p := range []Packed{"", "\x00", "\xff\xff", "\x02\x02\x02\x02\x02\xff"} {
		if p.Links() != nil || p.Tags() != nil || p.Tasks() != nil {
			t.Errorf("%q holds something", p)
		}
	}
}

func TestALinkThatIsNotItsParts(t *testing.T) {
	for _, link := range []Link{
		{Target: "a#b", Path: "/a", Subpath: "#b", Embed: true}, // of a canvas
		{Target: "aa", Path: "a", Subpath: ""},
		{Target: "ab", Path: "b", Subpath: "a"},
		{Style: 255},
	} {
		n := Note{Links: []Link{link}}
		if got, ok := readBack(n); !ok || !reflect.DeepEqual(got, n) {
			t.Errorf("%+v came back as %+v, %v", n, got, ok)
		}
	}
}

func TestAPathLongerThanItsTarget(t *testing.T) {
	n := Note{Links: []Link{{Target: "abc", Path: "abc"}}}
	b := bytes.Replace(n.AppendBinary(nil), []byte("abc\x03"), []byte("abc\x04"), 1)
	r := wire.NewReader(string(b))
	if ReadNote(r); r.Done() {
		t.Error("it is read")
	}
}

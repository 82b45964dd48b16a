package index

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

var samples = []string{
	"", "plain", "---\ntags: [a, \"#b\"]\nup: \"[[X]]\"\nn: 1.5\nyes: true\nnone:\ndeep: {a: [1, {b: c}]}\n---\n# H\n\n[[A#x|y]] ![b](c.png) #t/u ^id\n- [ ] do\n- [x] done\n",
	"---\nbroken: [\n---\n#x", "\xff\x00 #a [[\xfe]]", "Setext\n===\n\ntext ^block\n",
	"---\nTAGS: a\n---\n", "---\ntAg\u017f: [a, b]\n---\n#c", "---\nage: 1\nmore: {tags: x}\n---\n#d", "---\nstatus: draft\n---\n#e #f",
}

func TestFactsSayWhatWasFound(t *testing.T) {
	note, _ := disk.ParsePath("a.md")
	for _, text := range samples {
		want := ReadNote([]byte(text))
		got := Read(note, []byte(text))
		if !got.Known() || !reflect.DeepEqual(got.Found(), want) {
			t.Errorf("%q: %+v, want %+v", text, got.Found(), want)
		}
		if !reflect.DeepEqual(got.Tasks(), want.Tasks) || !reflect.DeepEqual(got.Properties(), want.Properties) {
			t.Errorf("%q: tasks %+v, properties %+v", text, got.Tasks(), got.Properties())
		}
		tags := frontmatter.Tags(want.Properties)
		for _, tag := range want.Tags {
			tags = append(tags, tag.Text)
		}
		if len(got.Links()) < len(want.Links) || !slices.Equal(got.Tags(), tags) {
			t.Errorf("%q: links %+v, tags %+v", text, got.Links(), got.Tags())
		}
	}
	picture, _ := disk.ParsePath("a.png")
	if Read(picture, []byte("[[x]]")).Known() || IsRead(picture) || !IsRead(note) {
		t.Error("a picture has facts")
	}
	none := Facts("")
	if none.Known() || none.Tasks() != nil || none.Tags() != nil || none.Links() != nil || none.Properties() != nil {
		t.Error("nothing says something")
	}
}

// FuzzFacts takes arbitrary bytes for facts, as a cache file could hold them.
// What can be read of them is read from what it is written as.
func FuzzFacts(f *testing.F) {
	for _, text := range samples {
		f.Add(string(ReadNote([]byte(text)).Pack()))
	}
	f.Add("\xff\xff\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, text string) {
		facts := Facts(text)
		found := facts.Found()
		facts.Tags()
		facts.Tasks()
		facts.Links()
		packed := found.Pack()
		// A number that is none is not equal to itself, but written alike.
		if again := packed.Found(); again.Pack() != packed || fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", found) {
			t.Fatalf("%#v came back as %#v", found, again)
		}
	})
}

package lookup

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/order"
	_ "vaultwicket/tests/sameseed"
)

var (
	folders = rapid.SampledFrom([]string{"", "", "a/", "A/", "a/b/", "é/", "E\u0301/x/", "n/"})
	names   = rapid.SampledFrom([]string{"n.md", "N.MD", "n", "n.md.md", "m.md", "n.png", "v1.2.md", "v1.2", "é.md", "É.md"})
	file    = rapid.Custom(func(t *rapid.T) string { return folders.Draw(t, "folder") + names.Draw(t, "name") })
	target  = rapid.Custom(func(t *rapid.T) string {
		before := rapid.SampledFrom([]string{"", "", "/", "./", "../", "a/", "b/"}).Draw(t, "before")
		return before + rapid.SampledFrom([]string{"", "n", "N", "n.md", "n.MD", "n.md.md", "m", "n.png", "v1.2", "e\u0301", "nothing", "a/..", ".", ".md"}).Draw(t, "target")
	})
)

func draw(t *rapid.T, label string) []string {
	paths := rapid.SliceOfNDistinct(file, 0, 14, rapid.ID[string]).Draw(t, label)
	order.Sort(paths)
	return paths
}

// between returns where each path of one list is in the other.
func between(before, after []string) []int32 {
	to := make([]int32, len(before))
	for i, path := range before {
		to[i] = int32(slices.Index(after, path))
	}
	return to
}

func TestMovedAgreesWithNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := draw(t, "before")
		files := New(before)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			after := draw(t, "after")
			files = files.Moved(between(before, after), after)
			before = after
		}
		again := New(before)
		for _, source := range append([]string{""}, before...) {
			link := target.Draw(t, "link")
			got, ok := files.Resolve(link, source)
			want, there := again.Resolve(link, source)
			if got != want || ok != there {
				t.Fatalf("[[%s]] in %q of %q leads to %d (%v), want %d (%v)", link, source, before, got, ok, want, there)
			}
			if i, ok := files.Index(source); ok != (source != "") || ok && before[i] != source {
				t.Fatalf("%q is at %d (%v) of %q", source, i, ok, before)
			}
			if name := base(source); files.Named(name) != again.Named(name) {
				t.Fatalf("%d of %q are called %s, want %d", files.Named(name), before, name, again.Named(name))
			}
		}
	})
}

// A link that leads elsewhere after a change led to a file that is gone or to a rival of a
// new one, or it led nowhere and has a key of a new one.
func TestKeysAndRivalsTellWhichLinksAChangeConcerns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := draw(t, "before")
		after := draw(t, "after")
		source := rapid.SampledFrom([]string{"s.md", "a/s.md", "A/s.md", "a/b/s.md", "é/s.md"}).Draw(t, "source")
		link := target.Filter(func(link string) bool { return link != "" }).Draw(t, "link")
		then, now := New(before), New(after)
		led, leads := "", ""
		i, ok := then.Resolve(link, source)
		if ok {
			led = before[i]
		}
		if i, ok := now.Resolve(link, source); ok {
			leads = after[i]
		}
		if led == leads || ok && !slices.Contains(after, led) {
			return
		}
		for _, path := range after {
			if slices.Contains(before, path) {
				continue
			}
			keys := Keys(path)
			if ok && slices.Contains(then.Rivals(path), int32(i)) || !ok && slices.Contains(keys[:], KeyOf(link, source)) {
				return
			}
		}
		t.Fatalf("[[%s]] in %s leads to %q instead of %q: nothing tells from %q and %q", link, source, leads, led, before, after)
	})
}

func TestATableOfManyFilesThatShrinksAndGrows(t *testing.T) {
	var paths []string
	for i := range 3000 {
		paths = append(paths, strings.Repeat("x", 1+i%7)+"/y"+strings.Repeat("y", i/7%31)+strings.Repeat("Z", i/217)+".md")
	}
	files, before := New(nil), []string(nil)
	for _, size := range []int{1, 2, 50, 3000, 2999, 10, 0, 700} {
		after := slices.Clone(paths[:size])
		files, before = files.Moved(between(before, after), after), after
		for i, path := range after {
			if got, ok := files.Index(path); !ok || got != i {
				t.Fatalf("%q of %d is at %d (%v), want %d", path, size, got, ok, i)
			}
			if got, ok := files.Resolve("/"+path, ""); !ok || got != i {
				t.Fatalf("a link to %q of %d leads to %d (%v), want %d", path, size, got, ok, i)
			}
		}
		if _, ok := files.Index("none.md"); ok {
			t.Fatal("a file is found that was not there")
		}
	}
}

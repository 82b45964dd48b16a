package lookup

import (
	"slices"
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

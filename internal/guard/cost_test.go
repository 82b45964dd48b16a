package guard

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// costTexts are texts as most answers are.
func costTexts() map[string][]byte {
	prose := "# The harbour\n\nThe boat was painted in the spring, and sold before the summer; see [[Boats#Prices|the list]] and ![[plan.png]].\n" +
		"- [ ] ask for the key of the shed 📅 2026-11-25 #harbour\n- a password is needed for the camera, and the token of the meter is in the safe\n\n" +
		"> It is said that no rope is as long as the secret of its knot.\n\n| what | price |\n|---|---|\n| oar | 12 |\n\nMore at https://example.org/boats?page=2, by `git log`.\n"
	var listing strings.Builder
	for n := 0; listing.Len() < 1500<<10; n++ {
		fmt.Fprintf(&listing,
			"{\"path\": \"Projects/Harbour %d/Boat %d.md\", \"tags\": \"#boat #sail\", \"modified\": \"2026-11-%02dT10:00:00\"},\n",
			n/100, n, 1+n%28)
	}
	return map[string][]byte{"prose of 5 KB": bytes.Repeat([]byte(prose), 5120/len(prose)+1)[:5120], "listing of 1.5 MB": []byte(listing.String())}
}

// BenchmarkCost redacts texts as most answers are.
func BenchmarkCost(b *testing.B) {
	m := NewMarker([]byte("key"), false)
	for name, text := range costTexts() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Redact(text)
			}
		})
	}
}

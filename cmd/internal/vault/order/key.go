package order

import (
	"encoding/binary"
	"strings"
)

// AppendKey writes the key of a name behind b. Keys compare byte by byte as [Compare] does
// with the names, but are equal for names that differ in case or accents alone. They are for
// long lists, in which each name is compared many times. The key of a path is that of its
// folder, and behind it that of the rest, from the slash on.
func AppendKey(b []byte, name string) []byte {
	r := newReader(name)
	for {
		w := r.next()
		if w == end {
			return b
		}
		b = binary.BigEndian.AppendUint32(b, uint32(w))
		if w == digit {
			number := strings.TrimLeft(r.number(), "0")
			b = binary.BigEndian.AppendUint32(b, uint32(len(number)))
			b = append(b, number...)
		}
	}
}

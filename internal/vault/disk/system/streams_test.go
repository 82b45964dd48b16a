package system

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// listOf makes the list that Windows gives of the streams of a file, padded to eight bytes an entry.
func listOf(names ...string) (list []byte) {
	for i, name := range names {
		entry := make([]byte, 24)
		for _, unit := range utf16.Encode([]rune(name)) {
			entry = binary.LittleEndian.AppendUint16(entry, unit)
		}
		binary.LittleEndian.PutUint32(entry[4:], uint32(len(entry)-24))
		for len(entry)%8 != 0 {
			entry = append(entry, 0)
		}
		if i < len(names)-1 {
			binary.LittleEndian.PutUint32(entry, uint32(len(entry)))
		}
		list = append(list, entry...)
	}
	return append(list, make([]byte, 40)...) // what is left of the buffer
}

func TestStreamNames(t *testing.T) {
	for _, c := range []struct {
		name string
		list []byte
		want []string
	}{
		{"none", listOf(), nil},
		{"the content alone", listOf("::$DATA"), nil},
		{"a mark of the web", listOf("::$DATA", ":Zone.Identifier:$DATA"), []string{":Zone.Identifier:$DATA"}},
		{"other letters", listOf(":ä:$DATA", "::$DATA", ":𝄞:$DATA"), []string{":ä:$DATA", ":𝄞:$DATA"}},
		{"cut in an entry", listOf(":one:$DATA", ":two:$DATA")[:60], []string{":one:$DATA"}},
		{"cut in the first", listOf(":one:$DATA")[:30], nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.EqualSlices(t, streamNames(c.list), c.want)
		})
	}
}

func TestAListOfStreamsThatLiesIsReadToItsEnd(t *testing.T) {
	list := listOf(":one:$DATA", ":two:$DATA")
	for i := range 8 { // both numbers of the first entry
		for _, value := range []byte{0, 1, 7, 0x7f, 0xff} {
			changed := append([]byte(nil), list...)
			changed[i] = value
			if names := streamNames(changed); len(names) > len(list) {
				t.Errorf("byte %d is %d: %d names", i, value, len(names))
			}
		}
	}
}

package pages

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

const someID = "ABCDEFGHIJKLMNOPQRSTUVW234"

func TestCursor(t *testing.T) {
	for _, at := range []Position{{}, {At: 7}, {At: 1, Until: 12}, {Until: 3}, {At: maxOffset, Until: maxOffset}} {
		for _, id := range []string{someID, rand.Text()} {
			cursor := Cursor(id, at)
			gotID, got, err := ParseCursor(cursor)
			if err != nil || gotID != id || got != at || len(cursor) > 48 {
				t.Errorf("%s: %s, %+v, %v", cursor, gotID, got, err)
			}
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	for _, cursor := range []string{
		"", ".", someID, someID + ".", "." + someID, someID + ".1.", someID + "..1", someID + ".1.0", someID + ".1.2.3",
		someID + ".01", someID + ".-1", someID + ".+1", someID + ".1 ", " " + someID + ".1", someID + ".1_0", someID + ".0x1",
		someID + ".1073741825", someID + ".4294967296", someID + ".99999999999999999999", someID + ".1.01", someID + ".１",
		someID[1:] + ".1", someID + "A.1", strings.ToLower(someID) + ".1", someID[1:] + "0.1", someID[1:] + "\x00.1",
		strings.Repeat("A", 1<<20),
	} {
		id, at, err := ParseCursor(cursor)
		var invalid *Invalid
		if !errors.As(err, &invalid) || id != "" || at != (Position{}) {
			t.Fatalf("%.60q: %s, %+v, %v", cursor, id, at, err)
		}
		if invalid.Code() != "bad_value" || invalid.Hint() != "send the cursor of the latest answer, as it was" || len(err.Error()) > 200 {
			t.Errorf("%.60q: %v, %s", cursor, err, invalid.Hint())
		}
	}
}

package markdown

import (
	"fmt"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestCopiesStayWhatTheyAre(t *testing.T) {
	var a Arena
	var got, want []string
	for i := range 5000 {
		text := fmt.Sprint(i, strings.Repeat("x", i%97))
		if i%1000 == 500 {
			text += strings.Repeat("long", pieceSize)
		}
		buf := []byte(text)
		got, want = append(got, a.Copy(buf)), append(want, text)
		clear(buf)
	}
	for i := range want {
		require.Equal(t, got[i], want[i], "copy %d", i)
	}
	assert.That(t, a.Copy(nil) == "", "a copy of nothing is something")
}

func TestFewPiecesAreUsed(t *testing.T) {
	text := make([]byte, pieceSize/100)
	if pieces := testing.AllocsPerRun(5, func() {
		var a Arena
		for range 1000 {
			a.Copy(text)
		}
	}); pieces > 12 {
		t.Errorf("%v pieces for the texts of ten", pieces)
	}
}

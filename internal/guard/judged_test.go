package guard

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestNothingPrintsATextThatWasNotJudged(t *testing.T) {
	text := NewUnjudged([]byte("password: s7nflower!\n"))
	for _, verb := range []string{"%v", "%s", "%q", "%x", "%+v", "%#v"} {
		assert.Equal(t, fmt.Sprintf(verb, text), "(21 bytes)", "%s", verb)
	}
	assert.Equal(t, fmt.Sprint(map[string]any{"text": text}), "map[text:(21 bytes)]")
	assert.Equal(t, string(require.Value(json.Marshal(map[string]any{"text": text}))(t)), `{"text":{}}`)
}

func TestWhatIsJudged(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	text := NewUnjudged([]byte("password: s7nflower!\n"))
	judged := require.Value(m.Judge(text, nil))(t)
	assert.That(t, strings.HasPrefix(judged.String(), "password: ‹secret:password:"), "%q", judged)
	assert.Equal(t, string(judged.Bytes()), judged.String())
	var everything *Marker
	assert.Equal(t, require.Value(everything.Judge(text, nil))(t).String(), "password: s7nflower!\n")
	nothing, err := m.Judge(text, func(int64) error { return io.ErrShortBuffer })
	assert.ErrorIs(t, err, io.ErrShortBuffer)
	assert.Equal(t, nothing.String()+Judged{}.String(), "", "without a budget, or made by nobody")
	pages := require.Value(m.JudgePieces([]Unjudged{NewUnjudged([]byte("password: s7nfl")), NewUnjudged([]byte("ower!\n"))}, nil))(t)
	for _, page := range pages {
		assert.NotContains(t, page.String(), "s7nfl")
		assert.NotContains(t, page.String(), "ower")
	}
}

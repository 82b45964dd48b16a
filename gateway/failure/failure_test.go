package failure

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestASentenceIsOneBoundedLine: what a program says of a call can repeat names of a vault.
func TestASentenceIsOneBoundedLine(t *testing.T) {
	got := Of(New(CodeNotFound, "there is \"a\nb\u202e\"", "no \x1b[31m\nINJECT %s", strings.Repeat("x", 2*maxSentence)))
	if !strings.HasPrefix(got.Message, `no \x1b[31m\nINJECT xxx`) || len(got.Message) > maxSentence+len("…") || got.Hint != `there is "a\nb\u202e"` {
		t.Errorf("%.80q with %d bytes, hint %q", got.Message, len(got.Message), got.Hint)
	}
	list := Sentences([]string{"a\nb", "c"})
	require.Equal(t, list[0], `a\nb`)
	assert.Equal(t, list[1], "c")
}

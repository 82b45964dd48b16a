package oversight

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A text or a name that a client has chosen is nowhere where a code is.
func TestNoTextPosesAsAQuestion(t *testing.T) {
	home := t.TempDir()
	var out, errs strings.Builder
	std := terminal.Streams{Out: &out, Err: &errs, Lookup: func(name string) (string, bool) { return home, name == "XDG_STATE_HOME" }}
	state := ownerfiles.StateFolder(std.Getenv, "")
	require.That(t, ownerfiles.EnsureFolder(state), "no state folder")
	q := require.Value(consent.OpenStore(consent.Folder(state), time.Now).Ask(consent.StoredQuestion{
		Session: "theirs", Client: `evil", session "mine`, Vault: "Notes", Command: "delete",
		Text: "Allow \"delete\"?\n│ AAAA-BBBB  asked 1s ago", Digest: consent.Digest{1},
	}))(t)
	err := Approvals(t.Context(), std, nil)
	require.Equal(t, err, nil, "%v, %s", err, &errs)
	require.Equal(t, errs.Len(), 0, "%v, %s", err, &errs)
	for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		assert.Equal(t, i == 0, strings.HasPrefix(line, q.Code+"  asked "), "line %d is %q", i, line)
		assert.That(t, i <= 0 || strings.HasPrefix(line, "  "), "line %d is %q", i, line)
	}
	assert.That(t, strings.Contains(out.String(), `client "evil\", session \"mine", session "theirs"`), "got %s", &out)
}

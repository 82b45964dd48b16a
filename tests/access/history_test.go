package access

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// historyVault is a gateway for a vault in which notes can close themselves.
func historyVault(t *testing.T) *harness.InProcess {
	t.Helper()
	private := require.Value(access.NewPrivate([]string{"private", "agent"}, []string{"secret"}))(t)
	h := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Policy.Ceiling, c.Policy.Confirm, c.Policy.Private = tiers.V3, policy.ConfirmNever, private
	})
	h.Write("X.md", "CANARY one\n")
	return h
}

// TestVersionsFollowTheirNote: what is known of a note by its earlier path is told as of a note that does not exist, once
// the note has become private or hidden at another path, or was so when it was removed.
func TestVersionsFollowTheirNote(t *testing.T) {
	t.Parallel()
	closed := "---\nprivate: true\n---\nCANARY one\nCANARY two\n"
	for name, after := range map[string]struct {
		do   func(h *harness.InProcess, entry string)
		sees bool
	}{
		"moved": {func(h *harness.InProcess, _ string) { h.Must([]string{"move", "path=X.md", "to=Y.md"}) }, true},
		"moved, private": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Write("Y.md", closed)
		}, false},
		"moved twice, by its tag": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Must([]string{"rename", "path=Y.md", "name=Z"})
			h.Write("Z.md", "CANARY #secret\n")
		}, false},
		"moved, agent: none": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Write("Y.md", "---\nagent: none\n---\n")
		}, false},
		"its folder moved": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=In/Y.md"})
			h.Must([]string{"folder:move", "path=In", "to=Out"})
			h.Write("Out/Y.md", closed)
		}, false},
		"moved, another at X": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Write("Y.md", closed)
			h.Must([]string{"create", "path=X.md", "content=another"})
		}, false},
		"removed": {func(h *harness.InProcess, _ string) { h.Must([]string{"delete", "path=X.md"}) }, true},
		"removed by the owner when it was private": {func(h *harness.InProcess, _ string) {
			h.Write("X.md", closed)
			open := h.Again(func(c *gateway.Config) { c.Policy.Private = access.Private{} })
			open.Must([]string{"delete", "path=X.md"})
		}, false},
		"moved and removed when it was private": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Write("Y.md", closed)
			open := h.Again(func(c *gateway.Config) { c.Policy.Private = access.Private{} })
			open.Must([]string{"delete", "path=Y.md"})
		}, false},
		"moved, undone": {func(h *harness.InProcess, _ string) {
			h.Must([]string{"move", "path=X.md", "to=Y.md"})
			h.Must([]string{"undo"})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := historyVault(t)
			entry := h.Must([]string{"append", "path=X.md", "content=CANARY two"}).Change.ID
			after.do(h, entry)
			told := 0
			for _, words := range [][]string{
				{"history", "path=X.md"}, {"history:read", "path=X.md"}, {"history:read", "path=X.md", "version=1"}, {"history:read", "path=X.md", "version=2"},
				{"diff", "path=X.md"}, {"diff", "path=X.md", "from=1"}, {"diff", "path=X.md", "from=2"},
				{"diff", "path=X.md", "from=1", "to=2"}, {"undo", "id=" + entry}, {"changes"},
			} {
				if name == "moved, undone" && words[0] == "undo" {
					continue
				}
				result, _ := h.Do(words)
				said := fmt.Sprint(result.Stdout, result.Stderr, result.Notices, result.Error)
				isTold := strings.Contains(said, "CANARY") || words[0] == "history" && result.OK && result.Stdout != ""
				if isTold {
					told++
				}
				assert.That(t, after.sees || !isTold, "%q: %s", words, said)
				if after.sees || words[0] == "undo" || words[0] == "changes" || strings.HasSuffix(name, "another at X") {
					continue
				}
				twin := append([]string{words[0], "path=Never.md"}, words[2:]...)
				other, _ := h.Do(twin)
				same := strings.ReplaceAll(fmt.Sprint(other.Stdout, other.Stderr, other.Notices, other.Error, other.ExitCode), "Never", "X")
				assert.Equal(t, fmt.Sprint(result.Stdout, result.Stderr, result.Notices, result.Error, result.ExitCode), same, "%q", words)
			}
			assert.That(t, after.sees == (told > 0), "%d answers tell of it", told)
		})
	}
}

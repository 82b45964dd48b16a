package consent

import (
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Without a grant and a proposal no call looks for one, by the system calls of all its processes: only one that would ask
// the owner looks once for grants, and the command that lists both looks once for each. No folder is made.
func TestCallsWithoutGrantsDoNotLookForThem(t *testing.T) {
	t.Parallel()
	strace, err := osexec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	r := newGrantProgram(t)
	r.Set("confirm", `"destructive"`)
	r.Save()
	traced := func(words ...string) (trace string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "trace")
		c := osexec.Command(strace, append([]string{"-f", "-qq", "-o", file, harness.Binary, "run", "--agent", "cursor"}, words...)...)
		c.Env = []string{"HOME=" + r.Home, "PATH="}
		var said bytes.Buffer
		c.Stderr = &said
		_ = c.Run() // a question is not answered
		text, err := os.ReadFile(file)
		if err != nil || bytes.Contains(said.Bytes(), []byte("ptrace")) {
			t.Skipf("strace cannot trace here: %s", said.String())
		}
		require.That(t, bytes.Contains(text, []byte("config.toml")), "the trace has no file: %s", said.String())
		return string(text)
	}
	for _, tt := range []struct {
		words             []string
		grants, proposals int
	}{
		{[]string{"read", "path=Projects/a.md"}, 0, 0},
		{[]string{"search", "query=one"}, 0, 0},
		{[]string{"append", "path=Projects/a.md", "content=two"}, 0, 0},
		{[]string{"create", "path=Projects/a.md", "content=other", "overwrite"}, 1, 0},
		{[]string{"approvals"}, 1, 1},
	} {
		trace := traced(tt.words...)
		state := filepath.Join(r.Home, ".local", "state", "vaultwicket")
		assert.Equal(t, strings.Count(trace, fmt.Sprintf("%q", state+"/grants")), tt.grants, "looks for grants by %q", tt.words)
		assert.Equal(t, strings.Count(trace, fmt.Sprintf("%q", state+"/proposals")), tt.proposals, "looks for proposals by %q", tt.words)
		assert.Equal(t, strings.Count(trace, state+"/grants/"), 0, "files of grants by %q", tt.words)
		assert.Equal(t, strings.Count(trace, state+"/proposals/"), 0, "files of proposals by %q", tt.words)
		for _, folder := range []string{"grants", "proposals"} {
			_, err := os.Stat(filepath.Join(state, folder))
			assert.That(t, os.IsNotExist(err), "%q made the folder %s: %v", tt.words, folder, err)
		}
	}
	assert.Equal(t, r.Read("Projects/a.md"), "one\ntwo")
}

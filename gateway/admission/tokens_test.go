package admission

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func set(t *testing.T, s *AgentTokens, agent string) string {
	t.Helper()
	return require.Value(s.Set(agent, time.Now()))(t)
}

// A token is of the agent that it was made for until it is replaced or removed, also in a process
// that has read the file before, and the file does not hold it.
func TestATokenIsOfItsAgent(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	server, user := OpenAgentTokens(state), OpenAgentTokens(state)
	of := func(token string) string { return server.AgentOf(sha256.Sum256([]byte(token))) }
	assert.Equal(t, of(""), "", "without a file")
	ann, bob := set(t, user, "ann"), set(t, user, "bob")
	for token, want := range map[string]string{ann: "ann", bob: "bob", "": "", ann[:len(ann)-1]: "", ann + "x": "", strings.ToUpper(ann): "", "ann": ""} {
		assert.Equal(t, of(token), want, "%q is of", token)
	}
	text, err := os.ReadFile(filepath.Join(state, fileName))
	require.Equal(t, err, nil, "the file contains the token")
	require.That(t, !strings.Contains(string(text), ann), "the file contains the token: %s, %v", text, err)
	assert.That(t, !strings.Contains(string(text), ann[len(prefix):]), "the file contains the token: %s, %v", text, err)
	again := set(t, user, "ann")
	assert.Equal(t, of(ann), "", "after a rotation")
	assert.Equal(t, of(again), "ann", "after a rotation")
	assert.Equal(t, of(bob), "bob", "after a rotation")
	had, err := user.Remove("ann")
	assert.That(t, had, "after a removal")
	require.Equal(t, err, nil, "after a removal")
	assert.Equal(t, of(again), "", "after a removal")
	assert.Equal(t, of(bob), "bob", "after a removal")
	had, err = user.Remove("ann")
	assert.That(t, !had, "removed twice: %v, %v", had, err)
	assert.NoError(t, err, "removed twice")
}

func TestAnUnsafeFileHasNoTokens(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	s := OpenAgentTokens(state)
	token := set(t, s, "ann")
	name := filepath.Join(state, fileName)
	spoilt := map[string]func() error{
		"damaged": func() error { return os.WriteFile(name, []byte("[{}]"), 0o600) },
	}
	if runtime.GOOS != "windows" { // there the mode of a file gives nobody access to it
		spoilt["readable by others"] = func() error { return os.Chmod(name, 0o644) }
	}
	for what, spoil := range spoilt {
		require.NoError(t, spoil())
		assert.Equal(t, s.AgentOf(sha256.Sum256([]byte(token))), "", "%s: it is of", what)
		_, err := s.List()
		assert.That(t, err != nil, "%s: it is listed", what)
		require.NoError(t, os.Remove(name))
		token = set(t, s, "ann")
	}
}

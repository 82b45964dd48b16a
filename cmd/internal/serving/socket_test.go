package serving

import (
	"errors"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestOnlyVariablesForThisProcessCount(t *testing.T) {
	for _, env := range []map[string]string{{}, {"LISTEN_FDS": "1"}, {"LISTEN_PID": "7", "LISTEN_FDS": "1"}, {"LISTEN_PID": "", "LISTEN_FDS": "1"}} {
		l, err := passedListener(func(name string) string { return env[name] }, 42)
		assert.That(t, l == nil, "%v gives %v, %v", env, l, err)
		assert.NoError(t, err, "%v gives %v", env, l)
	}
}

func TestOneSocketIsTaken(t *testing.T) {
	for _, n := range []string{"", "0", "2", "x"} {
		env := map[string]string{"LISTEN_PID": "42", "LISTEN_FDS": n}
		l, err := passedListener(func(name string) string { return env[name] }, 42)
		_, ok := errors.AsType[*terminal.UsageError](err)
		assert.That(t, ok, "%q sockets give %v, %v", n, l, err)
		assert.That(t, l == nil, "%q sockets give %v, %v", n, l, err)
	}
}

func TestWhatIsNoSocketIsRefused(t *testing.T) {
	l, err := listener(1 << 20)
	_, ok := errors.AsType[*terminal.UsageError](err)
	assert.That(t, ok, "it gives %v, %v", l, err)
	assert.That(t, l == nil, "it gives %v, %v", l, err)
}

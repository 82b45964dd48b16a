package main

import (
	"errors"
	"testing"

	"vaultwicket/cmd/internal/terminal"
)

func TestOnlyVariablesForThisProcessCount(t *testing.T) {
	for _, env := range []map[string]string{{}, {"LISTEN_FDS": "1"}, {"LISTEN_PID": "7", "LISTEN_FDS": "1"}, {"LISTEN_PID": "", "LISTEN_FDS": "1"}} {
		if l, err := passedListener(func(name string) string { return env[name] }, 42); l != nil || err != nil {
			t.Errorf("%v gives %v, %v", env, l, err)
		}
	}
}

func TestOneSocketIsTaken(t *testing.T) {
	for _, n := range []string{"", "0", "2", "x"} {
		env := map[string]string{"LISTEN_PID": "42", "LISTEN_FDS": n}
		l, err := passedListener(func(name string) string { return env[name] }, 42)
		if _, ok := errors.AsType[*terminal.UsageError](err); !ok || l != nil {
			t.Errorf("%q sockets give %v, %v", n, l, err)
		}
	}
}

// A descriptor that is not open is refused, and does not end in a panic.
func TestWhatIsNoSocketIsRefused(t *testing.T) {
	l, err := listener(1 << 20)
	if _, ok := errors.AsType[*terminal.UsageError](err); !ok || l != nil {
		t.Errorf("it gives %v, %v", l, err)
	}
}

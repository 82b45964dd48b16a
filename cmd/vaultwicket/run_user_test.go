package main

import (
	"os"
	"testing"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/tests/require"
)

func TestWhatIsTypedHasOneCaller(t *testing.T) {
	first := typed(&user{}, gateway.Request{Command: "read"})
	second := typed(&user{}, gateway.Request{Command: "delete"})
	if first.Caller == "" || first.Caller != second.Caller {
		t.Errorf("callers %q and %q", first.Caller, second.Caller)
	}
	if first.Surface != "terminal" || first.Client != "terminal" || first.Command != "read" {
		t.Errorf("got %+v", first)
	}
}

func TestNobodyIsAskedOffATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	if req := typed(&user{std: terminal.Streams{In: null, Err: null}}, gateway.Request{}); req.Ask != nil {
		t.Error("a user would be asked")
	}
}

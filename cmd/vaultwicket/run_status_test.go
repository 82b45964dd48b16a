package main

import (
	"context"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// Of a change that was not made, the status says whether Ctrl-C was the reason.
func TestACallThatIsInterruptedIsNoFailure(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	notMade := &failure.Error{Code: failure.CodeNotApplied}
	missing := &failure.Error{Code: failure.CodeNotFound}
	assert.Equal(t, statusOfCall(ended, notMade), terminal.ExitInterrupted, "a change that Ctrl-C ended")
	assert.Equal(t, statusOfCall(t.Context(), notMade), terminal.ExitFailed, "a change that was not made")
	assert.Equal(t, statusOfCall(ended, missing), terminal.ExitFailed, "a note that is missing")
	assert.Equal(t, statusOfCall(ended, nil), terminal.ExitDone, "a change that was made")
}

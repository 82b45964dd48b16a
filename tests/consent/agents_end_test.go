package consent

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// within calls what until it is true, at most a second: that is how long an agent may keep its
// rights after the user has taken them.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	begun := time.Now()
	require.Within(t, 10*time.Second, what, is)
	t.Logf("%s: after %v", what, time.Since(begun).Round(time.Millisecond))
}

func TestAPausedAgentIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	for i := range 30 {
		r.Write("Ann/"+strings.Repeat("n", i+1)+".md", "text\n")
	}
	ann, bob := serverOf(r, "ann"), serverOf(r, "bob")
	first := ann.Do(harness.Calling("files").With("limit", 5))
	require.That(t, first.OK, "%+v", first)
	require.That(t, first.Truncated != nil, "%+v", first)
	require.That(t, first.Truncated.Cursor != "", "%+v", first)
	r.Must("pause", "--agent=ann")
	next := harness.Call{"command": "files", "cursor": first.Truncated.Cursor}
	for _, call := range []harness.Call{harness.Calling("read", "path=Ann/Plan.md"), next, harness.Calling("append", "path=Ann/Plan.md", "content=x")} {
		got := ann.Do(call)
		require.That(t, !got.OK, "%v: %+v", call, got)
		assert.Equal(t, got.Error.Code, "paused", "%v: %+v", call, got)
		assert.Equal(t, got.Stdout, "", "%v: %+v", call, got)
	}
	if got := ann.Batch(harness.Calling("read", "path=Ann/Plan.md"), harness.Calling("append", "path=Ann/Plan.md", "content=x")); got.OK {
		t.Errorf("a batch: %+v", got)
	}
	if got := bob.Do(harness.Calling("read", "path=Bob/Plan.md")); !got.OK {
		t.Errorf("bob: %+v", got.Error)
	}
	r.Must("resume", "--agent=ann")
	got := ann.Do(harness.Calling("read", "path=Ann/Plan.md"))
	assert.That(t, got.OK, "after the end of the pause: %+v", got.Error)
	assert.Equal(t, r.Read("Ann/Plan.md"), agentNotes["Ann/Plan.md"], "the note")
}

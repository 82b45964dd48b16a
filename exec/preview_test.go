package exec

import (
	"context"
	"errors"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/policy"
	"vaultwicket/tests/require"
)

// What would change is worked out by the embedded program alone, and by nothing that
// it is told besides: everything else would change something.
func TestAPreviewStartsNothingButThePlan(t *testing.T) {
	call, err := allowlist.Parse("append", allowlist.Params{"path": allowlist.Text("A.md"), "content": allowlist.Text("x")})
	require.NoError(t, err)
	preview := everything.Decide(call).Preview()
	r := New(Config{CLI: "/nowhere/obsidian", Self: "/nowhere/vaultwicket"})
	defer r.Close()
	embedded := Program{backend: embeddedBackend, path: "/nowhere/vaultwicket"}
	for name, p := range map[string]Program{
		"the app":            {backend: appBackend, path: "/nowhere/obsidian"},
		"the app, told so":   Program{backend: appBackend, path: "/nowhere/obsidian"}.WithOptions(WriteOptions{Task: Plan}),
		"the embedded CLI":   embedded,
		"to begin a change":  embedded.WithOptions(WriteOptions{Task: Begin}),
		"to look at the end": embedded.WithOptions(WriteOptions{Task: End}),
	} {
		if _, err := r.Preview(context.Background(), preview, p); !errors.Is(err, ErrNoPermit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Preview(context.Background(), policy.Preview{}, embedded.WithOptions(WriteOptions{Task: Plan})); !errors.Is(err, ErrNoPermit) {
		t.Errorf("the zero preview: %v", err)
	}
	if _, err := r.Preview(context.Background(), preview, embedded.WithOptions(WriteOptions{Task: Plan})); err == nil || errors.Is(err, ErrNoPermit) {
		t.Errorf("the plan itself: %v", err)
	}
}

package settings

import (
	"os"
	"sync"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/tests/require"
)

// TestCallsGoOnWhileSettingsAreRead is for the race detector: calls are judged
// while the policy changes under them.
func TestCallsGoOnWhileSettingsAreRead(t *testing.T) {
	const loose = "tier = \"v3\"\nallow-mutations = true\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"/\" = \"rwd\"\n[[vaults]]\nname = \"B\"\n"
	const strict = "tier = \"v0\"\nrate = 1000\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"Private\" = \"none\"\n"
	file := writeSettings(t, loose)
	std := world(nil)
	f := NewFlags("serve")
	s, _, err := f.Load(std, []string{"--config=" + file})
	require.NoError(t, err)
	g := gateway.New(gateway.Config{Vaults: s.Served, Backend: s.Backend, Limits: s.Limits, Disabled: !s.Enabled, Session: "1-a", Getenv: std.Getenv, Log: s.Logger(std.Err)})
	r := newReloader(g, f, s, std, s.Logger(std.Err))

	stop := make(chan struct{})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, listed := range g.Listing() {
					if listed.Denial != nil {
						_ = listed.Denial.Hint()
					}
				}
			}
		})
	}
	for _, content := range []string{strict, loose, "tier = ", strict} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		r.reload(nil)
	}
	close(stop)
	calls.Wait()
	if open := allowed(g); open["daily:append"] || open["files"] || !open["daily:read"] {
		t.Errorf("open is %v", open)
	}
}

func allowed(g *gateway.Gateway) map[string]bool {
	open := map[string]bool{}
	for _, listed := range g.Listing() {
		open[listed.Name] = listed.Denial == nil
	}
	return open
}

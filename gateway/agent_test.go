package gateway

import (
	"context"
	"testing"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// While the user is asked about a call, alone or in a batch, its agent is paused, revoked or
// expires: the question ends soon, and an approval that comes all the same is void.
func TestAQuestionEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(state string, until *time.Time) error{
		"paused":  func(state string, _ *time.Time) error { return admission.PauseAgent(state, "cursor", time.Now()) },
		"revoked": func(state string, _ *time.Time) error { return admission.RevokeAgent(state, "cursor", time.Now()) },
		"expires": func(_ string, until *time.Time) error { *until = time.Now().Add(500 * time.Millisecond); return nil },
	} {
		for _, batch := range []bool{false, true} {
			var until time.Time
			if name == "expires" {
				_ = end("", &until)
			}
			f := openAsking(t, func(c *Config) { c.Agent, c.Policy.Agent, c.Policy.Until = "cursor", "cursor", until })
			state := private.StateFolder(f.config.Getenv, "")
			require.That(t, private.EnsureFolder(state), "no state folder")
			ended := false
			ask := func(ctx context.Context, _ consent.Question) consent.Reply {
				if name != "expires" {
					assert.NoError(t, end(state, nil))
				}
				select {
				case <-ctx.Done():
					ended = true
				case <-time.After(20 * time.Second):
				}
				return consent.Yes
			}
			req := Request{Command: "publish:add", Params: params("path", "a.md"), Ask: ask}
			ok := false
			if batch {
				ok = f.gateway.DoBatch(t.Context(), Batch{Request: Request{Ask: ask}, Operations: []Operation{{ClientID: "a", Request: Request{Command: "publish:add", Params: params("path", "a.md")}}}}).OK
			} else {
				ok = f.gateway.Do(t.Context(), req).OK
			}
			if !ended || ok || f.published() > 0 {
				t.Errorf("%s, in a batch %v: the question ended %v, the call is done %v, published %d", name, batch, ended, ok, f.published())
			}
			if again := f.gateway.Do(t.Context(), req); again.OK || code(again) != map[string]string{"paused": "paused", "revoked": "agent_denied", "expires": "agent_denied"}[name] {
				t.Errorf("%s: afterwards %+v", name, again.Error)
			}
		}
	}
}

package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/state/private"
	"vaultwicket/policy"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// A batch that the limits would stop half way does not begin. What was changed can be taken
// back above the limits, and during a pause by the owner.
func TestLimitsStopNoBatchHalfWay(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, func(c *gateway.Config) {
		c.Policy.Confirm = policy.ConfirmNever
		c.Limits = admission.Limits{Calls: 1000, Mutations: 3}
	})
	var operations []gateway.Operation
	for i := range 4 {
		operations = append(operations, rig.Operation(fmt.Sprint(i), "create", fmt.Sprintf("path=n%d.md", i), "content=x"))
	}
	before := rig.TreeOf(t, o.Vault)
	got, _ := o.Batch(operations, nil)
	if got.Error == nil || got.Error.Code != "rate_limited" || !strings.Contains(got.Error.Hint, "send at most 3 at once") || rig.TreeOf(t, o.Vault) != before {
		t.Fatalf("four changes of three: %+v", got.Error)
	}
	if got, _ := o.Batch(operations[:3], nil); got.Summary.OK != 3 {
		t.Fatalf("three changes of three: %+v", got)
	}
	if got, _ := o.Do([]string{"create", "path=more.md", "content=x"}, nil); rig.CodeOf(got) != "rate_limited" {
		t.Errorf("one more: %+v", got.Error)
	}
	state := private.StateFolder(func(name string) string { return map[string]string{"XDG_STATE_HOME": o.State}[name] }, "")
	require.NoError(t, os.WriteFile(filepath.Clean(admission.PauseFile(state)), nil, 0o600))
	undo := gateway.Request{Command: "undo", Caller: "me"}
	if got := o.Gateway.Do(t.Context(), undo); rig.CodeOf(got) != "paused" {
		t.Errorf("an agent during a pause: %+v", got.Error)
	}
	undo.Owner = true // who is above the limits, too
	if got := o.Gateway.Do(t.Context(), undo); !got.OK {
		t.Errorf("the owner during a pause: %+v", got.Error)
	}
	if got := o.Gateway.Do(t.Context(), gateway.Request{Command: "create", Words: []string{"path=p.md", "content=x"}, Owner: true}); rig.CodeOf(got) != "paused" {
		t.Errorf("the owner writes during a pause: %+v", got.Error)
	}
}

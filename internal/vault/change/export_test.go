package change

import (
	"fmt"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// ShowRemoval returns the plan of a change that removes so many notes of a line, in a folder.
func ShowRemoval(t *testing.T, v *call.Vault, notes int, folder string) string {
	t.Helper()
	var p Proposal
	for i := range notes {
		at := require.Value(disk.ParsePath(fmt.Sprintf("%s/%d.md", folder, i)))(t)
		p.Steps = append(p.Steps, Step{Path: at, Before: Existing([]byte("x\n")).WithoutText(v, at), Trash: true})
	}
	shown := require.Value(showPlan(v, p))(t)
	return shown.Text()
}

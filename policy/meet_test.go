package policy_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestMeetLeavesBothAsTheyAre(t *testing.T) {
	p, q := widest(), widest()
	p.Origins, q.Origins = map[string]string{"tier": "flag"}, map[string]string{"tier": "file"}
	p.Disable, q.Disable = []string{"read", "append"}, []string{"move", "append"}
	p.EnableOnly, q.EnableOnly = []string{"create", "read", "file"}, []string{"file"}
	hides := require.Value(access.New(map[string]access.Level{"A": access.None}))(t)
	q.Access = hides
	got := p.Meet(q)
	assert.That(t, maps.Equal(got.Origins, map[string]string{"tier": "flag", "disable": "", "enable-only": "", "access": ""}), "got %+v", got)
	assert.That(t, got.Access.Hide(), "got %+v", got)
	assert.That(t, !p.Access.Restrict(), "got %+v", got)
	assert.EqualSlices(t, got.Disable, []string{"append", "move", "read"})
	assert.EqualSlices(t, got.EnableOnly, []string{"file"})
	if !slices.Equal(p.Disable, []string{"read", "append"}) || !slices.Equal(q.Disable, []string{"move", "append"}) ||
		!slices.Equal(p.EnableOnly, []string{"create", "read", "file"}) || !slices.Equal(q.EnableOnly, []string{"file"}) {
		t.Errorf("%+v and %+v", p, q)
	}
}

package call

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestExclusion(t *testing.T) {
	for _, tt := range []struct {
		filter, path string
		want         bool
	}{
		{"Archive", "Archive/a.md", true}, {"Archive/", "Archive/a.md", true}, {"Archive", "Archived.md", false},
		{"a.md", "a.md", true}, {"/^Draft/", "Draft 1.md", true}, {"/^Draft/", "My Draft.md", false},
		{"/(/", "a.md", false}, {"", "a.md", false}, {"/", "a.md", false},
	} {
		assert.Equal(t, excludes([]string{tt.filter})(tt.path), tt.want, "%q excludes %s", tt.filter, tt.path)
	}
}

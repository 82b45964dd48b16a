package disk

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// evict has everything whose name begins with "Away" be in a cloud, until the test ends.
func evict(t *testing.T) {
	t.Helper()
	before := elsewhere
	t.Cleanup(func() { elsewhere = before })
	elsewhere = func(info fs.FileInfo) bool { return strings.HasPrefix(info.Name(), "Away") }
}

// A walk fetches nothing from a cloud: neither the content of a file nor, on macOS, the names in a folder. Both are told.
func TestAWalkFetchesNothingFromACloud(t *testing.T) {
	evict(t)
	dir := planted(t, map[string]string{"Here.md": "text", "Away.md": "text", "Away folder/n.md": "text", "Sub/Away/n.md": "text", "Sub/n.md": "text"})
	folder := openFolder(t, dir)
	var entered []string
	folder.InterposeReads(func(method, name string) error {
		if method == "step" {
			entered = append(entered, name)
		}
		return nil
	})
	for name, in := range map[string]*Folder{"the disk": folder, "a plan": folder.Over(NewOverlay())} {
		entered = nil
		var told, visited []string
		err := in.Telling(func(p Path) { told = append(told, p.String()) }).Walk(Path{}, func(e Entry) {
			visited = append(visited, e.Path.String())
			if e.IsDir {
				return
			}
			_, _, err := e.Read()
			isAway := strings.HasPrefix(e.Path.Base(), "Away")
			assert.Equal(t, errors.Is(err, system.ErrElsewhere), isAway, "%s: %s", name, e.Path)
		})
		require.NoError(t, err)
		slices.Sort(told)
		slices.Sort(visited)
		assert.EqualSlices(t, slices.Compact(told), []string{"Away folder", "Away.md", "Sub/Away"})
		assert.EqualSlices(t, visited, []string{"Away folder", "Away.md", "Here.md", "Sub", "Sub/Away", "Sub/n.md"})
		assert.That(t, !slices.ContainsFunc(entered, func(name string) bool { return strings.HasPrefix(name, "Away") }), "%s: entered %q", name, entered)
	}
}

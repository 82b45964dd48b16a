package page

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestThePageShowsNoSecret has a secret of each kind in each of the places that a note has, changes all of these notes, and
// looks at every view that has text of notes.
func TestThePageShowsNoSecret(t *testing.T) {
	t.Parallel()
	places := fake.Places()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(places)), func(name string) bool { return places[name].Ext != "md" })
	notes := map[string]string{}
	values := map[string]string{} // what nobody may see, by note
	for i, secret := range fake.Secrets() {
		if !testenv.Long() && i%4 > 0 {
			continue
		}
		path := fmt.Sprintf("Of %d.md", i)
		notes[path] = places[names[i%len(names)]].Put(secret.Line)
		values[path] = secret.Value
	}
	r := harness.New(t, notes)
	v := open(r)
	client := r.Stdio(false, "")
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(notes)) {
		result := client.Do(harness.Calling("append", "path="+path, "content=more"))
		if result.OK {
			changed = append(changed, result.Change.ID)
		}
	}
	client.Do(harness.Calling("delete", "path=Of 0.md")) // asks
	require.That(t, len(changed) >= len(notes)/2, "%d of %d notes were changed", len(changed), len(notes))
	views := []string{"", "changes", "activity", "activity?period=all", "approvals", "agents", "policy", "review"}
	for _, id := range changed {
		views = append(views, "changes/one/"+id+"?vault="+url.QueryEscape("Notes"))
	}
	marks := 0
	for _, view := range views {
		_, body := v.Fetch("GET", v.Base+view, nil)
		marks += strings.Count(body, "‹secret:")
		bare := strings.NewReplacer("\\", "", "&#34;", "\"").Replace(body)
		for path, value := range values {
			middle := value[len(value)/2-4 : len(value)/2+4]
			isShown := strings.Contains(body, middle) || strings.Contains(bare, middle)
			assert.Equal(t, isShown, false, "%q shows the secret of %s", view, path)
		}
	}
	assert.That(t, marks >= len(changed)/2, "%d marks for %d changes", marks, len(changed))
}

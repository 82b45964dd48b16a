package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

// The list of pages of the site has every document, and no other.
func TestTheSiteListsEveryPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "site", "nav.js"))
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, entry := range regexp.MustCompile(`\["([a-z-]+)", "`).FindAllStringSubmatch(string(text), -1) {
		listed["docs/"+entry[1]+".md"] = true
	}
	for name := range documents(t) {
		if outside := !strings.HasPrefix(name, "docs/"); outside {
			name = "docs/" + strings.ToLower(name)
		}
		if !listed[name] && !strings.HasPrefix(name, "docs/clients/") && name != "docs/readme.md" {
			t.Errorf("the site does not list %s", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("the site lists %s, which is not there", name)
	}
}

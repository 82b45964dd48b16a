package packaging

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// instructions are those of the Containerfile, by their first word.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "packaging", "container", "Containerfile")))(t)
	found := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			found[word] = append(found[word], rest)
		}
	}
	return found
}

func TestTheImageIsTheProgram(t *testing.T) {
	found := instructions(t)
	if !slices.Equal(found["FROM"], []string{"scratch"}) || !slices.Equal(found["USER"], []string{"65532:65532"}) ||
		found["RUN"] != nil || found["ADD"] != nil || found["EXPOSE"] != nil {
		t.Errorf("the image is made by %v", found)
	}
	var entry, command []string
	if err := json.Unmarshal([]byte(found["ENTRYPOINT"][0]), &entry); err != nil || !slices.Equal(entry, []string{"/vaultwicket"}) {
		t.Errorf("it starts %q (%v)", entry, err)
	}
	err := json.Unmarshal([]byte(found["CMD"][0]), &command)
	require.Equal(t, err, nil, "with %q (%v)", command, err)
	assert.EqualSlices(t, command, []string{"serve", "--vault", "/vault"}, "with %q (%v)", command, err)
	// The MCP registry believes the label that names the entry.
	name := decode(t, filepath.Join("..", "..", "packaging", "server.json"))["name"].(string)
	if !strings.Contains(found["LABEL"][0], `io.modelcontextprotocol.server.name="`+name+`"`) {
		t.Errorf("the labels are %s", found["LABEL"])
	}
	if launcher := decode(t, filepath.Join("..", "..", "packaging", "npm", "vaultwicket", "package.json")); launcher["mcpName"] != name {
		t.Errorf("the package for npm is %v in the registry, want %s", launcher["mcpName"], name)
	}
}

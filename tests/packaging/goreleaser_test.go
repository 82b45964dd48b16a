package packaging

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// plain reads YAML as JSON has it.
func plain(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var value, same map[string]any
	require.NoError(t, yaml.Unmarshal(text, &value))
	encoded := require.Value(json.Marshal(value))(t)
	require.NoError(t, json.Unmarshal(encoded, &same))
	return same
}

// retired are keys that the schema still has and goreleaser no longer likes.
var retired = []string{"brews", "dockers", "docker_manifests", "furies"}

func TestTheReleaseFileFitsItsSchema(t *testing.T) {
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "packaging", "goreleaser.yaml")))(t)
	schema, file := schemaOf(t, "goreleaser"), plain(t, text)
	assert.NoError(t, schema.Validate(file))
	for _, key := range retired {
		assert.That(t, file[key] == nil, "the key %s is deprecated", key)
	}
	wrong := plain(t, bytes.Replace(text, []byte("\narchives:"), []byte("\narchivs:"), 1))
	assert.That(t, schema.Validate(wrong) != nil, "the schema lets an unknown key pass")
	for _, want := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64",
		"windows_arm64", "formats: [deb, rpm, apk, archlinux]", "mod_timestamp:", "cosign"} {
		assert.That(t, strings.Contains(string(text), want), "there is no %s", want)
	}
	// The clock must not be in what is built.
	for _, clock := range []string{".Date }}", ".Now", ".Timestamp }}"} {
		for line := range strings.Lines(string(text)) {
			assert.That(t, !strings.Contains(line, clock) || strings.Contains(line, ".Commit"), "the time of the build is in %s", strings.TrimSpace(line))
		}
	}
}

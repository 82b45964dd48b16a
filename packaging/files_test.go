package packaging

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// version is that of the program, read from its source.
func version(t *testing.T) string {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("..", "internal", "release", "version.go")))(t)
	found := regexp.MustCompile(`const Version = "([^"]+)"`).FindSubmatch(text)
	require.That(t, found != nil, "the source names no version")
	return string(found[1])
}

func TestFilesAreFresh(t *testing.T) {
	files, err := Files(version(t))
	require.NoError(t, err)
	require.That(t, len(files) >= 10, "only %d files", len(files))
	for name, want := range files {
		testenv.GoldenFile(t, filepath.Join("..", filepath.FromSlash(name)), want)
	}
}

// The registries and packages limit the texts.
func TestTextsFitTheirPlaces(t *testing.T) {
	n := len(Tagline)
	assert.That(t, n <= 80, "the tagline has %d characters, or a full stop", n)
	assert.That(t, !strings.HasSuffix(Tagline, "."), "the tagline has %d characters, or a full stop", n)
	assert.That(t, strings.HasSuffix(Summary, "."), "the summary is not one sentence")
	assert.Equal(t, strings.Count(Summary, "."), 1, "the summary is not one sentence")
	for line := range strings.Lines(wrapped("  ", Description)) {
		assert.That(t, len(line) <= 79, "the line %q has %d characters", line, len(line))
		assert.HasPrefix(t, line, "  ", "the line %q has %d characters", line, len(line))
	}
	assert.That(t, strings.Join(strings.Fields(wrapped("  ", Description)), " ") == Description, "wrapping changes the text")
}

// Clients ask for the size that the manifests name.
func TestTheIconHasItsSize(t *testing.T) {
	file := require.Value(os.Open(filepath.Join("mcpb", "icon.png")))(t)
	defer file.Close()
	if icon, err := png.DecodeConfig(file); err != nil || fmt.Sprintf("%dx%d", icon.Width, icon.Height) != values["IconSize"] {
		t.Errorf("%+v, %v", icon, err)
	}
}

// A template can only write what a text of JSON can carry.
func TestOnlyTextsAreQuoted(t *testing.T) {
	if text, err := quoted(`a "b"`); text != `"a \"b\""` || err != nil {
		t.Error(text, err)
	}
	if text, err := quoted([]string{"a", "b"}); text != `["a", "b"]` || err != nil {
		t.Error(text, err)
	}
	if text, err := quoted(1); err == nil {
		t.Errorf("a number is written as %s", text)
	}
}

package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestOverlayFitsTheStandardLibrary(t *testing.T) {
	goroot, err := setting("GOROOT")
	require.NoError(t, err)
	for arch := range traps {
		name := require.Value(writeOverlay(goroot, arch, t.TempDir()))(t)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var overlay struct{ Replace map[string]string }
		if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 3 {
			t.Errorf("%s: %v", text, err)
		}
		for original, replacement := range overlay.Replace {
			_, err := parser.ParseFile(token.NewFileSet(), replacement, nil, 0)
			assert.That(t, err == nil, "%s for %s: %v", original, arch, err)
		}
	}
}

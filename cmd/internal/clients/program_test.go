//go:build unix

package clients_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "client")
	testenv.WriteProgram(t, name, []byte("#!/bin/sh\n"+text))
	return name
}

func TestRun(t *testing.T) {
	ctx := context.Background()
	output, err := clients.Run(ctx, []string{script(t, `printf '<%s>' "$@"; echo bad >&2; exit 3`), "a b", "$HOME", ""})
	assert.Equal(t, output, "<a b><$HOME><>\nbad", "the output is %q", output)
	assert.That(t, err != nil, "the output is %q, %v", output, err)
	output, err = clients.Run(ctx, []string{script(t, "yes | head -c 100000")})
	require.Equal(t, err, nil, "a long output has %d bytes, %v", len(output), err)
	require.That(t, len(output) <= 16<<10, "a long output has %d bytes, %v", len(output), err)
	assert.That(t, strings.HasPrefix(output, "y"), "a long output has %d bytes, %v", len(output), err)
	for _, argv := range [][]string{nil, {"sh"}, {"./client"}} {
		_, err := clients.Run(ctx, argv)
		assert.That(t, err != nil, "%q was run", argv)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = clients.Run(ended, []string{script(t, "sleep 60")})
	assert.That(t, err != nil, "a program was run after the end")
}

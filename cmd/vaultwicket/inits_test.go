package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What a package makes when the program starts is paid by every start, also of "vaultwicket version": expressions and tables
// that only some calls need are made by the first of these.
func TestPackagesMakeLittleWhenTheProgramStarts(t *testing.T) {
	t.Parallel()
	const module = "github.com/vaultwicket/vaultwicket/"
	const mostBytes = 24 << 10 // of one package
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	program.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := program.CombinedOutput()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		words := strings.Fields(line)
		isInit := len(words) > 8 && words[0] == "init"
		if !isInit || !strings.HasPrefix(words[1], module) || words[1] == module+"cmd/vaultwicket" { // which has these tests
			continue
		}
		seen++
		bytes, err := strconv.Atoi(words[7])
		require.NoError(t, err)
		assert.That(t, bytes <= mostBytes, "%s makes %d bytes when the program starts, want at most %d", words[1], bytes, mostBytes)
	}
	assert.That(t, seen > 10, "only %d packages were seen:\n%s", seen, out)
}

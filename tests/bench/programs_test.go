package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// programs is where the binaries under test are.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "vaultwicket-bench-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer os.RemoveAll(folder)
		programs = folder
		return m.Run()
	}())
}

var build = sync.OnceValue(func() error {
	for name, pkg := range map[string]string{
		"vaultwicket": "github.com/vaultwicket/vaultwicket/cmd/vaultwicket", "obsidian": "github.com/vaultwicket/vaultwicket/tests/programs/client",
		"noop": "github.com/vaultwicket/vaultwicket/tests/programs/noop", "hello": "github.com/vaultwicket/vaultwicket/tests/programs/hello",
	} {
		linked := filepath.Join(programs, name+".linked")
		command := exec.Command("go", "build", "-o", linked, pkg)
		command.Env = append(os.Environ(), "CGO_ENABLED=0") // as the README and the releases build it
		out, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		if err := install(linked, filepath.Join(programs, name)); err != nil {
			return err
		}
	}
	return nil
})

// install copies a program to where it is started. The linker writes through a mapping, which
// leaves the file in small pieces in the page cache: as it is it would start a fifth slower
// than any program that was unpacked, copied or read from the disk.
func install(linked, program string) error {
	content, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	if err := os.Remove(linked); err != nil {
		return err
	}
	return os.WriteFile(program, content, 0o755)
}

func program(b *testing.B, name string) string {
	b.Helper()
	require.NoError(b, build())
	return filepath.Join(programs, name)
}

func bareStart(b *testing.B, path string, args ...string) {
	var out bytes.Buffer
	c := exec.Command(path, args...)
	c.Stdout = &out
	err := c.Run()
	require.That(b, err == nil, "%s %v: %v", path, args, err)
}

// tides is the note of a typical read: about 270 tokens.
var tides = []byte(strings.Repeat("Two high waters a day, fifty minutes later each time.\n", 20))

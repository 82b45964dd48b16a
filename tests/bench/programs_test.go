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
)

// programs is where the binaries under test stand.
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
		"vaultwicket": "vaultwicket/cmd/vaultwicket", "obsidian": "vaultwicket/tests/bench/client",
		"noop": "vaultwicket/tests/bench/noop", "hello": "vaultwicket/tests/bench/hello",
	} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(programs, name), pkg).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
})

func program(b *testing.B, name string) string {
	b.Helper()
	if err := build(); err != nil {
		b.Fatal(err)
	}
	return filepath.Join(programs, name)
}

func bareStart(b *testing.B, path string, args ...string) {
	var out bytes.Buffer
	c := exec.Command(path, args...)
	c.Stdout = &out
	if err := c.Run(); err != nil {
		b.Fatalf("%s %v: %v", path, args, err)
	}
}

// tides is the note of a typical read: about 270 tokens.
var tides = []byte(strings.Repeat("Two high waters a day, fifty minutes later each time.\n", 20))

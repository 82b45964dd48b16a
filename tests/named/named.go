// Package named lets a test have a program under a name of its choice: a link to one
// that exists, or a copy on Windows. Programs that tests start are the
// test binary itself, which plays the part that its name says.
package named

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Program makes the program at original appear as name in folder, and returns its
// path.
func Program(t testing.TB, original, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, File(name))
	// On Windows a symbolic link takes rights, and a second name of a running program
	// cannot be removed.
	if runtime.GOOS != "windows" && os.Symlink(original, path) == nil {
		return path
	}
	content, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// File returns what the file of a program is called: on Windows its name ends in
// ".com", as that of the Obsidian CLI does.
func File(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".com"
	}
	return name
}

// Self is [Program] for the test binary.
func Self(t testing.TB, folder, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Program(t, self, folder, name)
}

// Of returns the name that a program was made under by its path, as os.Args[0] has it.
func Of(path string) string { return strings.TrimSuffix(filepath.Base(path), ".com") }

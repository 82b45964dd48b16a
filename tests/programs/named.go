// Package programs is for tests that start processes, as a rule the test binary itself:
// a program has a name of the test's choice, which says what part it plays, and is killed
// at any moment of its work.
package programs

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Program makes the program at original appear as name in folder, through a link or, on
// Windows, as a copy, and returns its path.
func Program(t testing.TB, original, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, File(name))
	// On Windows a symbolic link takes rights, and a second name of a running program
	// cannot be removed.
	if runtime.GOOS != "windows" && os.Symlink(original, path) == nil {
		return path
	}
	content := require.Value(os.ReadFile(original))(t)
	Write(t, path, content)
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
	self := require.Value(os.Executable())(t)
	return Program(t, self, folder, name)
}

// StartSlowly reports whether a program takes a while to start, as all do on Windows, and
// the test binary with the race detector in it: a tenth of a second of a processor.
func StartSlowly() bool {
	info, _ := debug.ReadBuildInfo()
	return runtime.GOOS == "windows" || info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Of returns the name that a program was made under by its path, as os.Args[0] has it.
func Of(path string) string { return strings.TrimSuffix(filepath.Base(path), ".com") }

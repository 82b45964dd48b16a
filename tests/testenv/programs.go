package testenv

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
	path := filepath.Join(folder, ProgramFile(name))
	// On Windows a symbolic link takes rights, and a second name of a running program
	// cannot be removed.
	if runtime.GOOS != "windows" && os.Symlink(original, path) == nil {
		return path
	}
	content := require.Value(os.ReadFile(original))(t)
	WriteProgram(t, path, content)
	return path
}

// ProgramFile returns what the file of a program is called: on Windows its name ends in
// ".com", as that of the Obsidian CLI does.
func ProgramFile(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".com"
	}
	return name
}

// SelfAs is [Program] for the test binary.
func SelfAs(t testing.TB, folder, name string) string {
	t.Helper()
	self := require.Value(os.Executable())(t)
	return Program(t, self, folder, name)
}

// ProgramsStartSlowly reports whether a program takes a while to start, as all do on Windows, and
// the test binary with the race detector in it: a tenth of a second of a processor.
func ProgramsStartSlowly() bool {
	info, _ := debug.ReadBuildInfo()
	return runtime.GOOS == "windows" || info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// ProgramName returns the name that a program was made under by its path, as os.Args[0] has it.
func ProgramName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".com") }

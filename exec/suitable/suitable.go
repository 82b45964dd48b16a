// Package suitable tells whether a file may be started as the Obsidian CLI: that it is
// the command line client and not the app, and that nobody but the user, root and the
// administrators can have put it there or can replace it. It starts nothing.
package suitable

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/allowlist/quote"
)

const (
	// NativeName is the native client in the app's own folder.
	NativeName = "obsidian-cli"
	// ShimName is the native client on Windows.
	ShimName = "Obsidian.com"
	// MaxClientSize tells the client, which has 18 to 70 KB, from an Electron
	// executable with well over 90 MB. Stand-ins written in Go have 10 to 40.
	MaxClientSize = 64 << 20
	scriptHead    = 4 << 10 // a launcher names what it starts in its first lines
)

// Surroundings is what a suitable file must not be in. The zero value is nowhere.
type Surroundings struct {
	// Vaults lists the folders of the vaults; nil is none.
	Vaults func() []string
	// Home is the home folder of the user, "" if it is not known.
	Home string
}

func (at Surroundings) vaults() []string {
	if at.Vaults == nil {
		return nil
	}
	return at.Vaults()
}

// File says why a file must not be started, in words that follow its name, "" if it may.
// The path is absolute and without links.
func File(path string, file fs.FileInfo, at Surroundings) (reason string) {
	for _, check := range [...]func(Surroundings, string, fs.FileInfo) string{
		regular, noBatchFile, noElectron, noLauncher, safeFile, safePlace,
	} {
		if reason := check(at, path, file); reason != "" {
			return reason
		}
	}
	return ""
}

// Place says why a program of the user must not be started from where it is, as [File] does
// for the Obsidian CLI: another user could have put it there or replace it, or it is in a
// vault or the working folder. The path is absolute, and its links are followed.
func Place(path string, at Surroundings) (reason string, err error) {
	if reason, err = Way(path); reason != "" || err != nil {
		return reason, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	file, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	for _, check := range [...]func(Surroundings, string, fs.FileInfo) string{regular, safeFile, safePlace} {
		if reason := check(at, path, file); reason != "" {
			return reason, nil
		}
	}
	return "", nil
}

func regular(_ Surroundings, _ string, file fs.FileInfo) string {
	if !file.Mode().IsRegular() {
		return "is not a regular file"
	}
	return ""
}

// noBatchFile refuses what is run by a command interpreter: there is no way to
// quote an argument for it that is always right.
func noBatchFile(_ Surroundings, path string, _ fs.FileInfo) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd", ".ps1":
		return "is a batch file, whose arguments cannot be quoted safely"
	}
	return ""
}

// electronNeighbours stand beside the executable of the app.
var electronNeighbours = [...]string{
	"chrome-sandbox", "chrome_100_percent.pak", "resources/app.asar", "resources/obsidian.asar",
}

// noElectron refuses the app itself. It would open a window, may become the
// user's app, and stopping it could kill that.
func noElectron(_ Surroundings, path string, file fs.FileInfo) string {
	const reason = "is the Obsidian app itself and not its command line client"
	base, dir := strings.ToLower(filepath.Base(path)), filepath.Dir(path)
	if file.Size() > MaxClientSize || base == "obsidian.exe" || path == "/opt/Obsidian/obsidian" ||
		base == "obsidian" && filepath.Base(dir) == "MacOS" {
		return reason
	}
	if base == NativeName || base == NativeName+".exe" || base == NativeName+".com" || base == strings.ToLower(ShimName) {
		return ""
	}
	for _, neighbour := range electronNeighbours {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(neighbour))); err == nil {
			return reason
		}
	}
	return ""
}

// noLauncher refuses scripts that start Electron, as some distributions put in
// the place of the app.
func noLauncher(_ Surroundings, path string, _ fs.FileInfo) string {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return "" // what cannot be read may still be started
	}
	defer f.Close()
	head := make([]byte, scriptHead)
	n, _ := io.ReadFull(f, head) // a short file is no error here
	head = bytes.ToLower(head[:n])
	if bytes.HasPrefix(head, []byte("#!")) && (bytes.Contains(head, []byte("electron")) || bytes.Contains(head, []byte(".asar"))) {
		return "is a script that starts the Obsidian app itself"
	}
	return ""
}

// safePlace refuses what an agent, or a repository somebody else made, could
// have put there: inside a vault and inside the working folder.
func safePlace(at Surroundings, path string, _ fs.FileInfo) string {
	for _, vault := range at.vaults() {
		if info, err := os.Stat(vault); err == nil && inside(path, info) {
			return "is inside the vault " + quote.Quoted(vault)
		}
	}
	work, err := os.Getwd()
	if err != nil {
		return ""
	}
	info, err := os.Stat(work)
	if err != nil || !inside(path, info) {
		return ""
	}
	if home := at.Home; isAbove(info, home) && !isFolder(filepath.Dir(path), info) {
		return "" // a session that starts in the home folder, or in the root, is no project
	}
	return "is inside the working folder"
}

// inside reports whether a folder is one of those around path. Folders are
// compared as files, so that no spelling of a path matters.
func inside(path string, folder fs.FileInfo) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isFolder(dir, folder) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func isFolder(dir string, folder fs.FileInfo) bool {
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(info, folder)
}

// isAbove reports whether folder is the home folder, the root or between them.
func isAbove(folder fs.FileInfo, home string) bool {
	if !filepath.IsAbs(home) {
		home = string(filepath.Separator)
	}
	return inside(filepath.Join(home, "x"), folder)
}

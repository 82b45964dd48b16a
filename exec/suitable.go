package exec

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	nativeName = "obsidian-cli" // the native client in the app's own folder
	shimName   = "Obsidian.com" // the native client on Windows
	// maxClientSize tells the client, which has 18 to 70 KB, from an Electron
	// executable with well over 90 MB. Stand-ins written in Go have 10 to 40.
	maxClientSize = 64 << 20
	scriptHead    = 4 << 10 // a launcher names what it starts in its first lines
)

// suitable says why a file must not be started, nil when it may. The path is
// absolute and without links.
func (r *Runner) suitable(path string, file fs.FileInfo) error {
	for _, check := range [...]func(*Runner, string, fs.FileInfo) string{
		regular, noBatchFile, noElectron, noLauncher, safeFile, safePlace,
	} {
		if reason := check(r, path, file); reason != "" {
			return unsuitable(path, reason)
		}
	}
	return nil
}

func unsuitable(path, reason string) *Unavailable {
	return &Unavailable{code: CodeUnsuitable, program: path, reason: reason,
		hint: "the user can set cli to the full path of the native client (obsidian-cli, on Windows Obsidian.com), which installers from 1.12.7 on bring"}
}

func regular(_ *Runner, _ string, file fs.FileInfo) string {
	if !file.Mode().IsRegular() {
		return "is not a regular file"
	}
	return ""
}

// noBatchFile refuses what is run by a command interpreter: there is no way to
// quote an argument for it that is always right.
func noBatchFile(_ *Runner, path string, _ fs.FileInfo) string {
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
func noElectron(_ *Runner, path string, file fs.FileInfo) string {
	const reason = "is the Obsidian app itself and not its command line client"
	base, dir := strings.ToLower(filepath.Base(path)), filepath.Dir(path)
	if file.Size() > maxClientSize || base == "obsidian.exe" || path == "/opt/Obsidian/obsidian" ||
		base == "obsidian" && filepath.Base(dir) == "MacOS" {
		return reason
	}
	if base == nativeName || base == nativeName+".exe" || base == nativeName+".com" || base == strings.ToLower(shimName) {
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
func noLauncher(_ *Runner, path string, _ fs.FileInfo) string {
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
func safePlace(r *Runner, path string, _ fs.FileInfo) string {
	for _, vault := range r.vaults() {
		if info, err := os.Stat(vault); err == nil && inside(path, info) {
			return "is inside the vault " + quote(vault)
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
	if home := r.config.Getenv("HOME"); isAbove(info, home) && !isFolder(filepath.Dir(path), info) {
		return "" // a session that starts in the home folder, or in the root, is no project
	}
	return "is inside the working folder"
}

func (r *Runner) vaults() []string {
	if r.config.Vaults == nil {
		return nil
	}
	return r.config.Vaults()
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

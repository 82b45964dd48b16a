package exec

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/exec/trust"
)

const (
	nativeName = "obsidian-cli" // the native client in the app's own folder
	shimName   = "Obsidian.com" // the native client on Windows
	// maxClientSize tells the client, which has 18 to 70 KB, from an Electron
	// executable with well over 90 MB. Stand-ins written in Go have 10 to 40.
	maxClientSize = 64 << 20
	scriptHead    = 4 << 10 // a launcher names what it starts in its first lines
)

// suitable refuses a file that must not be started. The path is absolute and without
// links.
func (r *Runner) suitable(path string, file fs.FileInfo) error {
	reason := ""
	if file.Mode().IsRegular() {
		reason = notClient(path, file)
	}
	if reason == "" {
		reason = trust.Program(path, file, trust.Surroundings{Vaults: r.config.Vaults, Home: r.config.Getenv("HOME")})
	}
	if reason != "" {
		return unsuitable(path, reason)
	}
	return nil
}

// notClient says why a file is not the command line client, in words that follow its name,
// "" if it may be. The app itself would open a window, may become the user's app, and
// stopping it could kill that.
func notClient(path string, file fs.FileInfo) string {
	const theApp = "is the Obsidian app itself and not its command line client"
	base, dir := strings.ToLower(filepath.Base(path)), filepath.Dir(path)
	switch filepath.Ext(base) {
	case ".bat", ".cmd", ".ps1": // run by an interpreter, for which no quoting is always right
		return "is a batch file, whose arguments cannot be quoted safely"
	}
	if file.Size() > maxClientSize || base == "obsidian.exe" || path == "/opt/Obsidian/obsidian" ||
		base == "obsidian" && filepath.Base(dir) == "MacOS" {
		return theApp
	}
	if base != nativeName && base != nativeName+".exe" && base != nativeName+".com" && base != strings.ToLower(shimName) {
		for _, besideApp := range []string{"chrome-sandbox", "chrome_100_percent.pak", "resources/app.asar", "resources/obsidian.asar"} {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(besideApp))); err == nil {
				return theApp
			}
		}
	}
	// Some distributions put a script that starts Electron in the place of the app.
	f, err := os.OpenFile(path, os.O_RDONLY|trust.Nonblocking, 0)
	if err != nil {
		return "" // a file that cannot be read may still be started
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

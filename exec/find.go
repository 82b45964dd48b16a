package exec

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// searchAgain is how long a failed search is cached: a user who installs the client need not
// restart the gateway, and not every call of a session without one searches the disk.
const searchAgain = 5 * time.Second

// client is the cached official CLI. It is searched once; then only the identity of the file is checked.
type client struct {
	mu       sync.Mutex
	program  Program
	missing  error
	missedAt time.Time
	checked  fs.FileInfo // the file at the last check, nil when there was none
	release  *release    // what it answered to the probe, nil when not asked
}

// App finds the official CLI. The error is an [*Unavailable]: CodeNotFound when there is none,
// CodeUnsuitable when there is only something that must not be started.
func (r *Runner) App() (Program, error) {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program.backend == appBackend {
		return c.program, nil
	}
	if c.missing != nil && time.Since(c.missedAt) < searchAgain {
		return Program{}, c.missing
	}
	err := r.search()
	if err != nil {
		c.missing = err
		c.missedAt = time.Now()
	}
	return c.program, err
}

// HasApp reports whether there is an official CLI. A failed search is not cached: a call that
// needs the CLI searches for itself.
func (r *Runner) HasApp() bool {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program.backend == appBackend || r.search() == nil
}

// search caches the first suitable candidate, otherwise it returns the error of the first one
// that exists. It is called with the lock of the client.
func (r *Runner) search() error {
	name := r.config.CLI
	var known, candidates []string
	if name == defaultCLI {
		known = wellKnown(r.config.Getenv) // where the app puts its client
	}
	switch {
	case filepath.IsAbs(name):
		candidates = []string{filepath.Clean(name)}
	case strings.ContainsAny(name, `/\`):
		return &Unavailable{code: CodeNotFound, program: name, reason: "is neither a bare name nor an absolute path",
			hint: "the user can set cli to a name such as obsidian, or to a full path"}
	default:
		for _, dir := range absoluteEntries(r.config.Getenv("PATH")) {
			for _, file := range fileNames(name) {
				candidates = append(candidates, filepath.Join(dir, file))
			}
		}
		candidates = append(candidates, known...)
	}
	var err error
	for _, candidate := range candidates {
		path, file, problem := r.inspect(candidate)
		if problem == nil {
			c := &r.client
			c.program = Program{backend: appBackend, path: path, name: candidate}
			c.checked = file
			c.missing = nil
			return nil
		}
		if err == nil && !errors.Is(problem, fs.ErrNotExist) {
			err = problem
		}
	}
	if err == nil {
		reason := "not found"
		if !filepath.IsAbs(name) {
			reason = strings.Join(append([]string{"not found in PATH"}, known...), " or at ")
		}
		err = &Unavailable{code: CodeNotFound, program: name, reason: reason,
			hint: "the user can install Obsidian 1.12.7 or newer with its own installer and switch on the CLI in Settings > General > Advanced, " +
				"or set cli to its full path, or set vault to the folder of the vault so that no Obsidian CLI is needed"}
	}
	return err
}

func (r *Runner) inspect(candidate string) (path string, file fs.FileInfo, err error) {
	path, err = filepath.EvalSymlinks(candidate)
	if err != nil {
		return "", nil, cannotLookAt(candidate, err)
	}
	file, err = lstat(path)
	if err != nil {
		return "", nil, cannotLookAt(candidate, err)
	}
	if err := r.suitable(path, file); err != nil {
		return path, file, err
	}
	return path, file, checkWay(candidate)
}

func unsuitable(path string, found ownerfiles.Objection) *Unavailable {
	hint := hintNative
	if found.Remedy != "" {
		hint = "the user can run: " + found.Remedy
	}
	return &Unavailable{code: CodeUnsuitable, program: path, reason: found.Reason, hint: hint}
}

const hintNative = "the user can set cli to the full path of the native client (obsidian-cli, on Windows Obsidian.com), which installers from 1.12.7 on bring"

// checkWay refuses a path that another user can redirect to another program.
func checkWay(path string) error {
	found, err := ownerfiles.CheckProgramPath(path)
	switch {
	case err != nil:
		return cannotLookAt(path, err)
	case found != (ownerfiles.Objection{}):
		return unsuitable(path, found)
	}
	return nil
}

func cannotLookAt(path string, err error) *Unavailable {
	code := CodeUnsuitable
	if errors.Is(err, fs.ErrNotExist) {
		code = CodeNotFound
	}
	return &Unavailable{code: code, program: path, reason: "cannot be inspected: " + reasonOf(err), cause: err,
		hint: "the user can set cli to the full path of the Obsidian CLI"}
}

// reasonOf is the part of a file error that does not repeat the path.
func reasonOf(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// lstat is os.Lstat for os.SameFile, which on Windows would open the file later by its name (TOCTOU).
func lstat(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if err == nil {
		os.SameFile(info, info)
	}
	return info, err
}

// isUnchanged reports whether two looks at a file saw the same one, of the same size, time and mode.
func isUnchanged(before, now fs.FileInfo) bool {
	isSameState := now.Size() == before.Size() && now.ModTime().Equal(before.ModTime()) && now.Mode() == before.Mode()
	return isSameState && os.SameFile(now, before)
}

// recheck inspects the program again before it is started. A replaced file is checked and asked
// for its version like a new one.
func (r *Runner) recheck(p Program) error {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	file, err := lstat(p.path)
	if err != nil {
		c.program = Program{}
		c.checked = nil
		c.release = nil
		return cannotLookAt(p.path, err)
	}
	if p.path == c.program.path && c.checked != nil && isUnchanged(c.checked, file) {
		return nil
	}
	if err = r.suitable(p.path, file); err == nil {
		err = checkWay(p.path)
	}
	if err != nil {
		c.program = Program{}
		c.checked = nil
		c.release = nil
		return err
	}
	c.program = p
	c.checked = file
	c.release = nil
	return nil
}

// Embedded returns this binary as the vault CLI of a folder. The error is an
// [*Unavailable] with CodeVaultNotFound when folder is no directory.
func (r *Runner) Embedded(folder string) (Program, error) {
	if !filepath.IsAbs(r.config.Self) {
		return Program{}, selfNotAbsolute(r.config.Self)
	}
	abs, err := filepath.Abs(folder)
	if err != nil || folder == "" {
		return Program{}, invalidVault(folder, "has no absolute path", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Program{}, unseenVault(runtime.GOOS, folder, err)
	}
	if !info.IsDir() {
		return Program{}, invalidVault(folder, "is not a folder", nil)
	}
	return Program{backend: embeddedBackend, path: r.config.Self, name: r.config.Self, folder: abs}, nil
}

const (
	nativeName = "obsidian-cli" // the native client in the app's own folder
	shimName   = "Obsidian.com" // the native client on Windows
	// maxClientSize tells the client, which has 18 to 70 KB, from an Electron
	// executable with well over 90 MB. Stand-ins written in Go have 10 to 40.
	maxClientSize = 64 << 20
	scriptHead    = 4 << 10 // a launcher names what it starts in its first lines
)

// suitable refuses a file that must not be started. The path is absolute and without links.
func (r *Runner) suitable(path string, file fs.FileInfo) error {
	var found ownerfiles.Objection
	if file.Mode().IsRegular() {
		found.Reason = notClient(path, file)
	}
	if found.Reason == "" {
		found = ownerfiles.CheckProgramFile(
			path,
			file,
			ownerfiles.Surroundings{Vaults: r.config.Vaults, Home: ownerfiles.Home(runtime.GOOS, r.config.Getenv)},
		)
	}
	if found.Reason != "" {
		return unsuitable(path, found)
	}
	return nil
}

// notClient says why a file is not the command line client, in words that follow its name, "" if it may
// be. The app itself would open a window, may become the user's app, and stopping it could kill that.
func notClient(path string, file fs.FileInfo) string {
	const theApp = "is the Obsidian app itself and not its command line client"
	base := strings.ToLower(filepath.Base(path))
	dir := filepath.Dir(path)
	switch filepath.Ext(base) {
	case ".bat", ".cmd", ".ps1": // run by an interpreter, for which no quoting is always right
		return "is a batch file, whose arguments cannot be quoted safely"
	}
	isNamedLikeApp := base == "obsidian.exe" || path == "/opt/Obsidian/obsidian"
	isInBundle := base == "obsidian" && filepath.Base(dir) == "MacOS"
	if file.Size() > maxClientSize || isNamedLikeApp || isInBundle {
		return theApp
	}
	clientNames := []string{nativeName, nativeName + ".exe", nativeName + ".com", strings.ToLower(shimName)}
	if !slices.Contains(clientNames, base) {
		for _, besideApp := range []string{"chrome-sandbox", "chrome_100_percent.pak", "resources/app.asar", "resources/obsidian.asar"} {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(besideApp))); err == nil {
				return theApp
			}
		}
	}
	// Some distributions put a script that starts Electron in the place of the app.
	f, err := os.OpenFile(path, os.O_RDONLY|ownerfiles.Nonblocking, 0)
	if err != nil {
		return "" // a file that cannot be read may still be started
	}
	defer f.Close()
	head := make([]byte, scriptHead)
	n, _ := io.ReadFull(f, head) // a short file is no error here
	head = bytes.ToLower(head[:n])
	if bytes.HasPrefix(head, []byte("#!")) &&
		(bytes.Contains(head, []byte("electron")) || bytes.Contains(head, []byte(".asar"))) {
		return "is a script that starts the Obsidian app itself"
	}
	return ""
}

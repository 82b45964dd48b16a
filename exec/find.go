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

// searchCacheTime is how long a failed search is cached. A user who installs the CLI need not restart the gateway,
// and calls of a session without a CLI do not search the disk every time.
const searchCacheTime = 5 * time.Second

// client is the cached official CLI. It is searched for once; after that only the identity of the file is checked.
type client struct {
	mu           sync.Mutex
	program      Program
	missing      error // the error of the last search, nil if it succeeded
	missingSince time.Time
	checked      fs.FileInfo // the file at the last check, nil if there was none
	release      *release    // its version, nil if unknown
}

// App finds the official CLI. The error is an [*Unavailable]: with CodeNotFound if there is none, with
// CodeUnsuitable if everything found must not be started.
func (r *Runner) App() (Program, error) {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program.backend == appBackend {
		return c.program, nil
	}
	if c.missing != nil && time.Since(c.missingSince) < searchCacheTime {
		return Program{}, c.missing
	}
	err := r.search()
	if err != nil {
		c.missing = err
		c.missingSince = time.Now()
	}
	return c.program, err
}

// HasApp reports whether there is an official CLI. It does not cache a failed search: a call that needs the CLI
// searches again.
func (r *Runner) HasApp() bool {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program.backend == appBackend || r.search() == nil
}

// search caches the first suitable candidate. If there is none, it returns the error of the first candidate that
// exists. The caller holds r.client.mu.
func (r *Runner) search() error {
	name := r.config.CLI
	var appPaths, candidates []string
	if name == defaultCLI {
		appPaths = wellKnown(r.config.Getenv) // where the app installs its CLI
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
		candidates = append(candidates, appPaths...)
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
			reason = strings.Join(append([]string{"not found in PATH"}, appPaths...), " or at ")
		}
		err = &Unavailable{code: CodeNotFound, program: name, reason: reason,
			hint: "the user can install Obsidian 1.12.7 or newer with its own installer and switch on the CLI in Settings > General > Advanced, " +
				"or set cli to its full path, or set vault to the folder of the vault so that no Obsidian CLI is needed"}
	}
	return err
}

// inspect resolves the links of a candidate and checks that it may be started.
func (r *Runner) inspect(candidate string) (path string, file fs.FileInfo, err error) {
	path, err = filepath.EvalSymlinks(candidate)
	if err != nil {
		return "", nil, inspectionError(candidate, err)
	}
	file, err = lstat(path)
	if err != nil {
		return "", nil, inspectionError(candidate, err)
	}
	if err := r.checkSuitable(path, file); err != nil {
		return path, file, err
	}
	return path, file, checkPath(candidate)
}

func unsuitable(path string, objection ownerfiles.Objection) *Unavailable {
	hint := hintNative
	if objection.Remedy != "" {
		hint = "the user can run: " + objection.Remedy
	}
	return &Unavailable{code: CodeUnsuitable, program: path, reason: objection.Reason, hint: hint}
}

const hintNative = "the user can set cli to the full path of the native client (obsidian-cli, on Windows Obsidian.com), which installers from 1.12.7 on bring"

// checkPath returns an error if another user could redirect the path to another program.
func checkPath(path string) error {
	objection, err := ownerfiles.CheckProgramPath(path)
	switch {
	case err != nil:
		return inspectionError(path, err)
	case objection != (ownerfiles.Objection{}):
		return unsuitable(path, objection)
	}
	return nil
}

func inspectionError(path string, err error) *Unavailable {
	code := CodeUnsuitable
	if errors.Is(err, fs.ErrNotExist) {
		code = CodeNotFound
	}
	return &Unavailable{code: code, program: path, reason: "cannot be inspected: " + withoutPath(err), cause: err,
		hint: "the user can set cli to the full path of the Obsidian CLI"}
}

// withoutPath returns the message of a file error without the path.
func withoutPath(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// lstat is like [os.Lstat], but makes [os.SameFile] safe on Windows, where it would otherwise open the file later by
// its name (TOCTOU).
func lstat(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if err == nil {
		os.SameFile(info, info)
	}
	return info, err
}

// isSameFile reports whether before and now describe the same file, with the same size, time and mode.
func isSameFile(before, now fs.FileInfo) bool {
	isSameState := now.Size() == before.Size() && now.ModTime().Equal(before.ModTime()) && now.Mode() == before.Mode()
	return isSameState && os.SameFile(now, before)
}

// checkAgain inspects the program before it is started. A file that was replaced is checked like a new one, and its
// version is asked again.
func (r *Runner) checkAgain(p Program) error {
	c := &r.client
	c.mu.Lock()
	defer c.mu.Unlock()
	file, err := lstat(p.path)
	if err != nil {
		c.program = Program{}
		c.checked = nil
		c.release = nil
		return inspectionError(p.path, err)
	}
	if p.path == c.program.path && c.checked != nil && isSameFile(c.checked, file) {
		return nil
	}
	if err = r.checkSuitable(p.path, file); err == nil {
		err = checkPath(p.path)
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

// Embedded returns this binary as the CLI of the vault in a folder. The error is an [*Unavailable], with
// CodeVaultNotFound if folder is not a directory.
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
		return Program{}, inaccessibleVault(runtime.GOOS, folder, err)
	}
	if !info.IsDir() {
		return Program{}, invalidVault(folder, "is not a folder", nil)
	}
	return Program{backend: embeddedBackend, path: r.config.Self, name: r.config.Self, folder: abs}, nil
}

const (
	nativeName = "obsidian-cli" // the native CLI in the folder of the app
	shimName   = "Obsidian.com" // the native CLI on Windows
	// maxClientSize separates the native CLI, of 18 to 70 KB, from an Electron executable of well over 90 MB.
	// Stand-ins written in Go have 10 to 40 MB.
	maxClientSize = 64 << 20
	scriptHead    = 4 << 10 // bytes; a launcher names what it starts in its first lines
)

// checkSuitable returns an error if a file must not be started. The path is absolute and without links.
func (r *Runner) checkSuitable(path string, file fs.FileInfo) error {
	var objection ownerfiles.Objection
	if file.Mode().IsRegular() {
		objection.Reason = whyNotCLI(path, file)
	}
	if objection.Reason == "" {
		objection = ownerfiles.CheckProgramFile(
			path,
			file,
			ownerfiles.Surroundings{Vaults: r.config.Vaults, Home: ownerfiles.Home(runtime.GOOS, r.config.Getenv)},
		)
	}
	if objection.Reason != "" {
		return unsuitable(path, objection)
	}
	return nil
}

// whyNotCLI returns why a file is not the Obsidian CLI, in words that follow its name, or "" if it may be. The app
// itself must not be started: it would open a window and might become the user's app, and stopping it could kill
// that.
func whyNotCLI(path string, file fs.FileInfo) string {
	const theApp = "is the Obsidian app itself and not its command line client"
	base := strings.ToLower(filepath.Base(path))
	dir := filepath.Dir(path)
	switch filepath.Ext(base) {
	case ".bat", ".cmd", ".ps1": // interpreters, for which no way of quoting is always right
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
	n, _ := io.ReadFull(f, head) // the file may be shorter
	head = bytes.ToLower(head[:n])
	if bytes.HasPrefix(head, []byte("#!")) &&
		(bytes.Contains(head, []byte("electron")) || bytes.Contains(head, []byte(".asar"))) {
		return "is a script that starts the Obsidian app itself"
	}
	return ""
}

package appvaults

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// The app can run on another system than this program, and then reports paths that do not exist
// here: a Windows app whose CLI is called from the Windows Subsystem for Linux (WSL), or an app
// outside the container in which this program runs. WSL mounts the drives of Windows below a
// folder, and Windows shows the files of a distribution below \\wsl$\NAME.

// System is the system on which to look for a folder that the app reports.
type System struct {
	OS      string // a value of runtime.GOOS
	Getenv  func(string) string
	Read    func(file string) ([]byte, error) // reads a file of the system, such as /etc/wsl.conf
	IsVault func(folder string) bool          // reports whether the app has opened the folder as a vault
	Exists  func(path string) bool            // reports whether a path exists; nil checks the disk
}

// ThisSystem returns the system of this process.
func ThisSystem(getenv func(string) string) System {
	return System{
		OS:      runtime.GOOS,
		Getenv:  getenv,
		Read:    os.ReadFile,
		IsVault: isVault,
	}
}

// isVault reports whether a folder contains the folder that the app creates in each vault.
func isVault(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, ".obsidian"))
	return err == nil && info.IsDir()
}

// Here converts the path of a folder that the app reports to a path on this system. It returns "" if
// this system has no such folder. Windows paths are converted only inside WSL, and only if the folder
// is a vault.
func (s System) Here(folder string) string {
	if info, err := os.Stat(folder); err == nil && info.IsDir() && filepath.IsAbs(folder) {
		return folder
	}
	if !s.IsWSL() || !isPlain(folder) {
		return ""
	}
	for _, candidate := range s.candidates(folder) {
		if s.IsVault(candidate) {
			return candidate
		}
	}
	return ""
}

// Remedy returns advice for the user if the app reports a path of another system that cannot be
// converted.
func (s System) Remedy() string {
	fix := "set name and folder of the vault in [[vaults]], folder being its path on this machine"
	switch {
	case s.IsContainer():
		fix = "mount the folder of the vault into the container, and " + fix
	case s.IsWSL():
		fix += ", such as " + path.Join(s.automountRoot(), "c/Users/NAME/Notes") + "; a drive has to be mounted first"
	}
	return fix
}

// isPlain reports whether a path has no "..", NUL or line breaks, so that it is what it looks like.
func isPlain(name string) bool {
	for segment := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '\\' || r == '/' }) {
		if segment == ".." {
			return false
		}
	}
	return !strings.ContainsAny(name, "\x00\r\n")
}

// IsWSL reports whether the system runs inside WSL.
func (s System) IsWSL() bool {
	if s.OS != "linux" {
		return false
	}
	if s.Getenv("WSL_DISTRO_NAME") != "" || s.Getenv("WSL_INTEROP") != "" {
		return true
	}
	version, err := s.Read("/proc/version")
	return err == nil && bytes.Contains(bytes.ToLower(version), []byte("microsoft"))
}

// IsContainer reports whether the system runs inside a container.
func (s System) IsContainer() bool {
	for _, file := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := s.Read(file); err == nil {
			return true
		}
	}
	return s.Getenv("container") != ""
}

var (
	drivePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?://[?.]/)?([A-Za-z]):(/.*)?$`) })
	sharePath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^//(?:[?.]/UNC/)?(?:wsl\$|wsl\.localhost)/([^/]+)(/.*)?$`)
	})
)

// IsOfWindows reports whether a path is a Windows path: with a drive, or with two backslashes.
func IsOfWindows(name string) bool {
	slashed := strings.ReplaceAll(name, `\`, "/")
	return drivePath().MatchString(slashed) || strings.HasPrefix(name, `\\`)
}

// candidates returns the paths inside WSL that may correspond to a Windows path, the likeliest first.
func (s System) candidates(folder string) []string {
	slashed := strings.ReplaceAll(folder, `\`, "/")
	if m := sharePath().FindStringSubmatch(slashed); m != nil {
		if distribution := s.Getenv("WSL_DISTRO_NAME"); distribution != "" && !strings.EqualFold(distribution, m[1]) {
			return nil // a path of another distribution
		}
		return []string{path.Clean("/" + m[2])}
	}
	m := drivePath().FindStringSubmatch(slashed)
	if m == nil {
		return nil
	}
	var list []string
	for _, mounted := range s.mountsOf(m[1]) {
		list = append(list, path.Join(mounted, m[2]))
	}
	return append(list, path.Join(s.automountRoot(), strings.ToLower(m[1]), m[2]))
}

// mountsOf returns where a Windows drive is mounted according to /proc/mounts, whose fields use octal
// escapes.
func (s System) mountsOf(drive string) (list []string) {
	table, err := s.Read("/proc/mounts")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		isDrive := len(fields) >= 3 && (fields[2] == "9p" || fields[2] == "drvfs")
		if !isDrive {
			continue
		}
		source := strings.TrimRight(unescape.Replace(fields[0]), `\/`)
		if strings.EqualFold(source, drive+":") {
			list = append(list, unescape.Replace(fields[1]))
		}
	}
	return list
}

// automountRoot returns the folder below which WSL mounts the drives: the setting root in the section
// automount of /etc/wsl.conf. The default is /mnt.
func (s System) automountRoot() string {
	text, _ := s.Read("/etc/wsl.conf") // if it is missing, the default applies
	root := "/mnt"
	section := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), "]")))
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if section == "automount" && strings.EqualFold(strings.TrimSpace(key), "root") && path.IsAbs(value) {
			root = path.Clean(value)
		}
	}
	return root
}

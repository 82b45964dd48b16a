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

// The app can run on another system than this program, and then names a folder by a path that this
// system does not have: an app for Windows whose CLI is called from the Windows Subsystem for Linux
// (WSL), or an app outside of the container in which this program runs. WSL has the drives of Windows
// below a folder, and Windows has the files of a distribution below \\wsl$\NAME.

// System is what a folder that the app names is looked for in.
type System struct {
	OS      string // as runtime.GOOS
	Getenv  func(string) string
	Read    func(file string) ([]byte, error) // a file of the system, such as /etc/wsl.conf
	IsVault func(folder string) bool          // whether it exists and the app has opened it as a vault
	Exists  func(path string) bool            // whether a path leads to something; nil asks the disk
}

// ThisSystem is the system of this process.
func ThisSystem(getenv func(string) string) System {
	return System{OS: runtime.GOOS, Getenv: getenv, Read: os.ReadFile, IsVault: isVault}
}

// isVault reports whether a folder has the folder that the app makes in each vault.
func isVault(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, ".obsidian"))
	return err == nil && info.IsDir()
}

// Here returns the path that a folder has on this system by the path that the app names, "" if it is
// not a folder of this system. Only inside of WSL a path of Windows is one of this system, and only
// that of a vault.
func (s System) Here(named string) string {
	if info, err := os.Stat(named); err == nil && info.IsDir() && filepath.IsAbs(named) {
		return named
	}
	if !s.IsWSL() || !isPlain(named) {
		return ""
	}
	for _, candidate := range s.candidates(named) {
		if s.IsVault(candidate) {
			return candidate
		}
	}
	return ""
}

// Remedy says how a user has a folder found that the app names by a path of another system.
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

// isPlain reports whether a path leads to where it reads.
func isPlain(named string) bool {
	for segment := range strings.FieldsFuncSeq(named, func(r rune) bool { return r == '\\' || r == '/' }) {
		if segment == ".." {
			return false
		}
	}
	return !strings.ContainsAny(named, "\x00\r\n")
}

// IsWSL reports whether the system is one inside of WSL.
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

// IsContainer reports whether the system is one inside of a container.
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

// IsOfWindows reports whether a path is one of Windows.
func IsOfWindows(named string) bool {
	slashed := strings.ReplaceAll(named, `\`, "/")
	return drivePath().MatchString(slashed) || strings.HasPrefix(named, `\\`)
}

// candidates returns the paths that a path of Windows may have inside of WSL, the likeliest first.
func (s System) candidates(named string) []string {
	slashed := strings.ReplaceAll(named, `\`, "/")
	if m := sharePath().FindStringSubmatch(slashed); m != nil {
		if own := s.Getenv("WSL_DISTRO_NAME"); own != "" && !strings.EqualFold(own, m[1]) {
			return nil // of another distribution
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

// mountsOf returns where a drive of Windows is mounted, by the table of the system: the escapes of its
// fields are those of octal digits.
func (s System) mountsOf(drive string) (list []string) {
	table, err := s.Read("/proc/mounts")
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "9p" && fields[2] != "drvfs" {
			continue
		}
		if source := strings.TrimRight(unescape.Replace(fields[0]), `\/`); strings.EqualFold(source, drive+":") {
			list = append(list, unescape.Replace(fields[1]))
		}
	}
	return list
}

// automountRoot returns the folder below which WSL mounts the drives: the setting root in the section
// automount of its file.
func (s System) automountRoot() string {
	text, _ := s.Read("/etc/wsl.conf") // without it the setting has its default
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

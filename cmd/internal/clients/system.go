package clients

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// System is the machine that the clients run on.
type System struct {
	OS      string // a value of runtime.GOOS
	Getenv  func(string) string
	Project string // absolute path of the folder of the project, "" for none
}

func (s System) home() string {
	return ownerfiles.Home(s.OS, s.Getenv)
}

// path expands a pattern of the table to an absolute path, "" if the environment lacks the value. A
// pattern begins with ~ for the home folder, {config} for the settings folder of the system, {xdg} for
// XDG_CONFIG_HOME, {local} for local data on Windows, or {VAR|PATTERN} for an environment variable or, if that is not
// set, a pattern. Any other pattern is relative to the project.
func (s System) path(pattern string) string {
	head, rest, _ := strings.Cut(pattern, "/")
	if strings.HasPrefix(pattern, "{") {
		head, rest, _ = strings.Cut(pattern, "}")
		head = head + "}"
		rest = strings.TrimPrefix(rest, "/")
	}
	var root string
	switch {
	case head == "~":
		root = s.home()
	case head == "{config}" && s.OS == "windows":
		root = ownerfiles.RoamingData(s.Getenv)
	case head == "{config}" && s.OS == "darwin":
		root = s.path("~/Library/Application Support")
	case head == "{config}", head == "{xdg}":
		root = s.Getenv("XDG_CONFIG_HOME")
		if s.OS != "linux" || !s.isAbs(root) {
			root = s.path("~/.config")
		}
	case head == "{local}":
		root = ownerfiles.LocalData(s.Getenv)
	case strings.HasPrefix(head, "{"):
		variable, otherwise, _ := strings.Cut(strings.Trim(head, "{}"), "|")
		root = s.Getenv(variable)
		if root == "" {
			root = s.path(otherwise)
		}
	default:
		root = s.Project
		rest = pattern
	}
	switch {
	case !s.isAbs(root):
		return ""
	case rest == "":
		return root
	case s.OS == "windows":
		return strings.TrimRight(root, `\/`) + `\` + strings.ReplaceAll(rest, "/", `\`)
	}
	return strings.TrimRight(root, "/") + "/" + rest
}

// isAbs reports whether a path is absolute on the system s, which need not be the one of this process.
func (s System) isAbs(path string) bool {
	if s.OS == "windows" {
		isShare := strings.HasPrefix(path, `\\`)
		isOnDrive := len(path) > 2 && path[1] == ':' && strings.ContainsAny(path[2:3], `\/`)
		return isShare || isOnDrive
	}
	return strings.HasPrefix(path, "/")
}

// storePackages is the folder with the data of programs from the Microsoft Store. A program is installed if the
// folder of its package exists.
const storePackages = "{local}/Packages/"

// File returns the settings file of a client in a scope: the first existing path in the table, or the first
// one if none exists; "" if the client has no file in that scope. The file of a package only counts if the package is installed.
func (s System) File(c Client, scope Scope) string {
	where := c.user
	if scope == Project {
		where = c.project
	}
	first := ""
	for _, pattern := range where.on(s.OS) {
		name := s.path(pattern)
		if name == "" {
			continue
		}
		packageFolder := s.packageOf(pattern)
		isPackaged := packageFolder != ""
		isInstalled := isPackaged && exists(packageFolder)
		if exists(name) || isInstalled {
			return name
		}
		if first == "" && !isPackaged {
			first = name
		}
	}
	return first
}

// HasPackagedClient reports whether a client is installed as a Windows package. Such a client, and the servers that it
// starts, have a separate AppData folder.
func (s System) HasPackagedClient() bool {
	for _, c := range table {
		for _, pattern := range c.user.on(s.OS) {
			if s.packageOf(pattern) != "" && exists(s.packageOf(pattern)) {
				return true
			}
		}
	}
	return false
}

// packageOf returns the folder of the Windows package that a pattern is in, "" if it is not in a package.
func (s System) packageOf(pattern string) string {
	rest, isPackaged := strings.CutPrefix(pattern, storePackages)
	if !isPackaged {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return s.path(storePackages + name)
}

// Found returns the path of the program, file or folder that shows that a client is installed, "" if it is not found.
func (s System) Found(c Client) string {
	if !c.on(s.OS) || c.byName {
		return ""
	}
	for _, program := range c.programs {
		if name := s.Program(program); name != "" {
			return name
		}
	}
	signs := c.signs
	if len(signs) == 0 {
		for _, pattern := range c.user.on(s.OS) {
			signs = append(signs, pattern[:strings.LastIndex(pattern, "/")])
		}
	}
	for _, pattern := range signs {
		if name := s.path(pattern); name != "" && name != s.home() && exists(name) {
			return name
		}
	}
	return ""
}

// Program returns the absolute path of a program on the PATH, "" if it is not there.
func (s System) Program(name string) string {
	endings := []string{""}
	if s.OS == "windows" {
		endings = []string{".exe", ".cmd", ".bat"}
	}
	for _, folder := range filepath.SplitList(s.Getenv("PATH")) {
		for _, ending := range endings {
			file := filepath.Join(folder, name+ending)
			info, err := os.Stat(file)
			if err != nil || !filepath.IsAbs(file) || !info.Mode().IsRegular() {
				continue
			}
			if s.OS == "windows" || info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}

// Binary returns the path of this program for entries: its path on the PATH if that is the same file as executable,
// otherwise executable. The path on the PATH stays valid when a package manager moves the file in an update.
func (s System) Binary(executable string) string {
	running, err := os.Stat(executable)
	if err != nil {
		return executable
	}
	if onPath := s.Program(programName); onPath != "" {
		if info, err := os.Stat(onPath); err == nil && os.SameFile(info, running) {
			return onPath
		}
	}
	return executable
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

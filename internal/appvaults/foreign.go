package appvaults

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

var (
	mountedPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/mnt/([A-Za-z])(/.*)?$`) })
	linuxPath   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/(?:home|root|mnt|tmp)(?:/.*)?$`) })
	// driveRelative matches a path relative to the working folder of a drive, such as C:Notes.
	driveRelative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]:)([^\\/].*)?$`) })
)

// ForeignHere calls [System.Foreign] for the system of this process.
func ForeignHere(folder string) string {
	return ThisSystem(func(string) string { return "" }).Foreign(folder)
}

// Foreign explains what is wrong with the path of a folder that was written for another system, with
// the path to use here if it is known. It returns "" for a path of this system. Users of the Windows
// Subsystem for Linux often copy paths from one side to the other.
func (s System) Foreign(folder string) string {
	if s.OS == "windows" {
		return s.foreignOnWindows(folder)
	}
	// Avoid compiling regular expressions for ordinary paths: this runs at every start.
	if !strings.ContainsAny(folder, `:\`) || !IsOfWindows(folder) || s.exists(folder) {
		return ""
	}
	quoted := excerpt.Quoted(folder)
	if !s.IsWSL() || !isPlain(folder) {
		return quoted + " is a path of Windows"
	}
	local := s.Here(folder)
	if candidates := s.candidates(folder); local == "" && len(candidates) > 0 {
		local = candidates[len(candidates)-1]
	}
	if local == "" {
		return quoted + " is a path of Windows, and not of this distribution"
	}
	return fmt.Sprintf("%s is a path of Windows; here it is %s", quoted, excerpt.Quoted(local))
}

func (s System) foreignOnWindows(folder string) string {
	quoted := excerpt.Quoted(folder)
	if m := driveRelative().FindStringSubmatch(folder); m != nil {
		return fmt.Sprintf("%s depends on the working folder of the drive; write %s", quoted, excerpt.Quoted(m[1]+`\`+m[2]))
	}
	slashed := path.Clean(folder)
	if !linuxPath().MatchString(slashed) || s.exists(folder) {
		return ""
	}
	local := `\\wsl.localhost\DISTRIBUTION` + strings.ReplaceAll(slashed, "/", `\`)
	if m := mountedPath().FindStringSubmatch(slashed); m != nil {
		local = strings.ToUpper(m[1]) + `:\` + strings.ReplaceAll(strings.TrimPrefix(m[2], "/"), "/", `\`)
	}
	return fmt.Sprintf("%s is a path of Linux; here it is %s", quoted, excerpt.Quoted(local))
}

// exists reports whether a path exists on this system.
func (s System) exists(name string) bool {
	if s.Exists != nil {
		return s.Exists(name)
	}
	_, err := os.Lstat(name)
	return err == nil
}

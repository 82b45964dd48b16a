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
	// driveRelative is a path from the working folder that each drive of Windows has.
	driveRelative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]:)([^\\/].*)?$`) })
)

// ForeignHere is [System.Foreign] of the system of this process.
func ForeignHere(named string) string {
	return ThisSystem(func(string) string { return "" }).Foreign(named)
}

// Foreign says what is wrong with the path of a folder that was written for another system, and what it is here, "" for a path
// of this system: users of the Windows Subsystem for Linux copy paths from one side to the other.
func (s System) Foreign(named string) string {
	if s.OS == "windows" {
		return s.foreignOnWindows(named)
	}
	// Most paths are looked at here at each start, and need no regular expression.
	if !strings.ContainsAny(named, `:\`) || !IsOfWindows(named) || s.exists(named) {
		return ""
	}
	quoted := excerpt.Quoted(named)
	if !s.IsWSL() || !isPlain(named) {
		return quoted + " is a path of Windows"
	}
	here := s.Here(named)
	if candidates := s.candidates(named); here == "" && len(candidates) > 0 {
		here = candidates[len(candidates)-1]
	}
	if here == "" {
		return quoted + " is a path of Windows, and not of this distribution"
	}
	return fmt.Sprintf("%s is a path of Windows; here it is %s", quoted, excerpt.Quoted(here))
}

func (s System) foreignOnWindows(named string) string {
	quoted := excerpt.Quoted(named)
	if m := driveRelative().FindStringSubmatch(named); m != nil {
		return fmt.Sprintf("%s depends on the working folder of the drive; write %s", quoted, excerpt.Quoted(m[1]+`\`+m[2]))
	}
	slashed := path.Clean(named)
	if !linuxPath().MatchString(slashed) || s.exists(named) {
		return ""
	}
	here := `\\wsl.localhost\DISTRIBUTION` + strings.ReplaceAll(slashed, "/", `\`)
	if m := mountedPath().FindStringSubmatch(slashed); m != nil {
		here = strings.ToUpper(m[1]) + `:\` + strings.ReplaceAll(strings.TrimPrefix(m[2], "/"), "/", `\`)
	}
	return fmt.Sprintf("%s is a path of Linux; here it is %s", quoted, excerpt.Quoted(here))
}

// exists reports whether a path leads to something on this system.
func (s System) exists(named string) bool {
	if s.Exists != nil {
		return s.Exists(named)
	}
	_, err := os.Lstat(named)
	return err == nil
}

package release

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Build describes how this program was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commitTime,omitempty"` // RFC 3339
	Modified bool   `json:"modified,omitempty"`   // the source differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Settings are the build settings of Go, such as "-trimpath=true".
	Settings []string `json:"settings"`
	Modules  []Module `json:"modules"`
}

// The commit of a release. Releases are built without reading it from git, so that builds are
// reproducible: go build -ldflags "-X github.com/vaultwicket/vaultwicket/internal/release.commit=…".
var commit, commitTime string

// Module is a module that is compiled in.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"` // as in go.sum
	// Replaced is the path of the module that replaces this one.
	Replaced string `json:"replacedBy,omitempty"`
}

// ThisBuild returns how this program was built.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) Build {
	b := Build{
		Version:  Version,
		Commit:   commit,
		Time:     commitTime,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Settings: []string{},
		Modules:  []Module{},
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs":
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		default:
			b.Settings = append(b.Settings, s.Key+"="+s.Value)
		}
	}
	for _, m := range info.Deps {
		module := Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
		if m.Replace != nil {
			module.Replaced = m.Replace.Path
			module.Sum = m.Replace.Sum
		}
		b.Modules = append(b.Modules, module)
	}
	return b
}

// Lines returns the facts of the build for users, one per line. Unknown facts are left out: a
// build without git has no commit.
func (b Build) Lines() string {
	var text strings.Builder
	if b.Commit != "" {
		fmt.Fprintf(&text, "commit %s", b.Commit)
		if b.Time != "" {
			fmt.Fprintf(&text, " of %s", b.Time)
		}
		if b.Modified {
			text.WriteString(", with local changes")
		}
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "%s, %s", b.Go, b.Platform)
	for _, s := range b.Settings {
		if s == "-trimpath=true" || strings.HasPrefix(s, "CGO_ENABLED=") {
			text.WriteString(", " + s)
		}
	}
	return text.String() + "\n"
}

package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Drift is the difference between the commands of a version of the app and the allowlist.
type Drift struct {
	Version string   `json:"version"` // the version that the app reports
	New     []string `json:"new"`     // commands that vaultwicket does not know
	// Missing are commands of the allowlist that the app does not list. Commands of a disabled
	// core plugin are missing, too.
	Missing []string `json:"missing"`
}

// InstalledApp is the part of the app that [CheckDrift] needs.
type InstalledApp interface {
	AppVersion(ctx context.Context) (string, error)
	AppHelp(ctx context.Context) (string, error)
}

// CheckDrift asks the app for its version, and for its help if this version was not checked
// before. The result is stored in the cache folder.
func CheckDrift(ctx context.Context, getenv func(string) string, app InstalledApp) (Drift, error) {
	version, err := app.AppVersion(ctx)
	if err != nil {
		return Drift{}, err
	}
	if known, ok := KnownDrift(getenv); ok && known.Version == version {
		return known, nil
	}
	help, err := app.AppHelp(ctx)
	if err != nil {
		return Drift{}, err
	}
	drift := driftOf(version, commandsIn(help))
	name := driftFile(getenv)
	if name == "" || len(drift.Version) > maxDriftVersion || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return drift, nil
	}
	text, _ := json.Marshal(drift)
	text = append(text, '\n')
	// If this fails, the app is asked again next time.
	_, _ = ownerfiles.Replace(ownerfiles.Disk{}, name+".new", name, text, time.Time{})
	return drift, nil
}

// Notices returns sentences about the differences, none if there are none.
func (d Drift) Notices() (notices []string) {
	if len(d.New) > 0 {
		notices = append(
			notices,
			fmt.Sprintf(
				"Obsidian %s has commands that vaultwicket does not know and does not enable: %s",
				d.Version,
				strings.Join(d.New, ", "),
			),
		)
	}
	if len(d.Missing) > 0 {
		notices = append(
			notices,
			fmt.Sprintf(
				"Obsidian %s does not list these commands; a core plugin may be off: %s",
				d.Version,
				strings.Join(d.Missing, ", "),
			),
		)
	}
	return notices
}

// KnownDrift returns the stored result of the last check without starting the app. ok is false if there is none.
func KnownDrift(getenv func(string) string) (d Drift, ok bool) {
	text, err := os.ReadFile(driftFile(getenv))
	if err != nil || json.Unmarshal(text, &d) != nil {
		return Drift{}, false
	}
	areValid := func(names []string) bool {
		return len(names) <= maxDriftCommands &&
			!slices.ContainsFunc(names, func(name string) bool { return !commandName().MatchString(name) })
	}
	hasVersion := d.Version != "" && len(d.Version) <= maxDriftVersion
	return d, hasVersion && areValid(d.New) && areValid(d.Missing)
}

const (
	maxDriftCommands = 1000
	maxDriftVersion  = 200
)

// driftFile returns the file of the cached result, "" without a cache folder.
func driftFile(getenv func(string) string) string {
	folder := ownerfiles.CacheFolder(getenv, "")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "obsidian-commands.json")
}

var commandName = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}(:[a-z0-9-]{1,40}){0,3}$`) },
)

// commandsIn returns the commands in a help text: below "Commands:", the first word of each line that is indented by
// exactly two spaces. It returns nil for any other text.
func commandsIn(help string) (names []string) {
	_, list, hasList := strings.Cut("\n"+strings.ReplaceAll(help, "\r\n", "\n"), "\nCommands:\n")
	if !hasList {
		return nil
	}
	for line := range strings.Lines(list) {
		rest, isIndented := strings.CutPrefix(line, "  ")
		if !isIndented || strings.HasPrefix(rest, " ") {
			continue
		}
		if word := strings.Fields(rest); len(word) > 0 && commandName().MatchString(word[0]) &&
			len(names) < maxDriftCommands {
			names = append(names, word[0])
		}
	}
	return names
}

// driftOf compares the commands of the app with the allowlist. Without commands the result is empty, because the help
// text was not understood.
func driftOf(version string, commands []string) Drift {
	drift := Drift{Version: version, New: []string{}, Missing: []string{}}
	if len(commands) == 0 {
		return drift
	}
	known := map[string]bool{}
	for c := range allowlist.Commands() {
		known[c.Name] = true
		if !c.EmbeddedOnly && !slices.Contains(commands, c.Name) {
			drift.Missing = append(drift.Missing, c.Name)
		}
	}
	for _, name := range commands {
		if !known[name] && !slices.Contains(drift.New, name) {
			drift.New = append(drift.New, name)
		}
	}
	return drift
}

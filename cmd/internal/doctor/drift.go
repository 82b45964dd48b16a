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

// Drift is the difference between the commands of a version of the app and the table.
type Drift struct {
	Version string   `json:"version"` // as the app says it
	New     []string `json:"new"`     // commands that vaultwicket does not know
	// Missing are commands of the table that the app does not list. Commands of a disabled
	// core plugin are missing, too.
	Missing []string `json:"missing"`
}

// InstalledApp is the app as [CheckDrift] asks it.
type InstalledApp interface {
	AppVersion(ctx context.Context) (string, error)
	AppHelp(ctx context.Context) (string, error)
}

// CheckDrift asks the app for its version, and for its help if this version was not asked
// before. The result is kept in the cache folder.
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
	d := driftOf(version, commandsIn(help))
	name := driftFile(getenv)
	if name == "" || len(d.Version) > maxDriftVersion || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return d, nil
	}
	text, _ := json.Marshal(d)
	_, _ = ownerfiles.Replace(
		ownerfiles.Disk{},
		name+".new",
		name,
		append(text, '\n'),
		time.Time{},
	) // without it the app is asked again
	return d, nil
}

// Notices say in which commands the app differs from the table.
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

// KnownDrift returns the result of the last check; it starts nothing. ok is false where there was none.
func KnownDrift(getenv func(string) string) (d Drift, ok bool) {
	text, err := os.ReadFile(driftFile(getenv))
	if err != nil || json.Unmarshal(text, &d) != nil {
		return Drift{}, false
	}
	valid := func(names []string) bool {
		return len(names) <= maxDriftCommands &&
			!slices.ContainsFunc(names, func(name string) bool { return !commandName().MatchString(name) })
	}
	hasVersion := d.Version != "" && len(d.Version) <= maxDriftVersion
	return d, hasVersion && valid(d.New) && valid(d.Missing)
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

// commandsIn returns the commands of a help text: in the sections below "Commands:", the
// first word of each line that begins with two blanks. It returns nil for another text.
func commandsIn(help string) (names []string) {
	_, list, found := strings.Cut("\n"+strings.ReplaceAll(help, "\r\n", "\n"), "\nCommands:\n")
	if !found {
		return nil
	}
	for line := range strings.Lines(list) {
		rest, indented := strings.CutPrefix(line, "  ")
		if !indented || strings.HasPrefix(rest, " ") {
			continue
		}
		if word := strings.Fields(rest); len(word) > 0 && commandName().MatchString(word[0]) &&
			len(names) < maxDriftCommands {
			names = append(names, word[0])
		}
	}
	return names
}

// driftOf compares the commands of the app with the table. A help text without any says nothing.
func driftOf(version string, has []string) Drift {
	d := Drift{Version: version, New: []string{}, Missing: []string{}}
	if len(has) == 0 {
		return d
	}
	known := map[string]bool{}
	for c := range allowlist.Commands() {
		known[c.Name] = true
		if !c.EmbeddedOnly && !slices.Contains(has, c.Name) {
			d.Missing = append(d.Missing, c.Name)
		}
	}
	for _, name := range has {
		if !known[name] && !slices.Contains(d.New, name) {
			d.New = append(d.New, name)
		}
	}
	return d
}

// Package drift compares the commands of the installed Obsidian CLI with those that
// vaultwicket knows. A new command is reported, and never enabled: nothing is known of its
// effect.
package drift

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

	"vaultwicket/allowlist"
	"vaultwicket/gateway/state/private"
)

// Drift is what a version of the app has more and less than the table.
type Drift struct {
	Version string `json:"version"` // as the app says it
	// New are commands that vaultwicket does not know.
	New []string `json:"new"`
	// Missing are commands of the table that the app does not list. A core plugin that
	// is off takes its commands away.
	Missing []string `json:"missing"`
}

// App is the installed app.
type App interface {
	AppVersion(ctx context.Context) (string, error)
	AppHelp(ctx context.Context) (string, error)
}

// Check asks the app for its version, and for its help if this version was not asked
// before. The result is kept in the cache folder.
func Check(ctx context.Context, getenv func(string) string, app App) (Drift, error) {
	version, err := app.AppVersion(ctx)
	if err != nil {
		return Drift{}, err
	}
	if known, ok := Known(getenv); ok && known.Version == version {
		return known, nil
	}
	help, err := app.AppHelp(ctx)
	if err != nil {
		return Drift{}, err
	}
	d := against(version, commandsIn(help))
	keep(getenv, d)
	return d, nil
}

// Notices say in which commands the app differs from the table.
func (d Drift) Notices() (notices []string) {
	if len(d.New) > 0 {
		notices = append(notices, fmt.Sprintf("Obsidian %s has commands that vaultwicket does not know and does not enable: %s", d.Version, strings.Join(d.New, ", ")))
	}
	if len(d.Missing) > 0 {
		notices = append(notices, fmt.Sprintf("Obsidian %s does not list these commands; a core plugin may be off: %s", d.Version, strings.Join(d.Missing, ", ")))
	}
	return notices
}

// Known returns the result of the last check; it starts nothing. ok is false where there
// was none.
func Known(getenv func(string) string) (d Drift, ok bool) {
	text, err := os.ReadFile(file(getenv))
	if err != nil || json.Unmarshal(text, &d) != nil {
		return Drift{}, false
	}
	valid := func(names []string) bool {
		return len(names) <= maxCommands && !slices.ContainsFunc(names, func(name string) bool { return !commandName().MatchString(name) })
	}
	return d, d.Version != "" && len(d.Version) <= maxVersion && valid(d.New) && valid(d.Missing)
}

const (
	maxCommands = 1000
	maxVersion  = 200
)

// file is where a result is kept, "" if there is no cache folder.
func file(getenv func(string) string) string {
	folder := private.CacheFolder(getenv, "")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "obsidian-commands.json")
}

// keep writes a result. Without it the app is asked again, so an error does not matter.
func keep(getenv func(string) string, d Drift) {
	name := file(getenv)
	if name == "" || len(d.Version) > maxVersion || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	text, err := json.Marshal(d)
	if err != nil {
		return
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), "obsidian-commands-*")
	if err != nil {
		return
	}
	_, err = temporary.Write(append(text, '\n'))
	if closed := temporary.Close(); err != nil || closed != nil || os.Rename(temporary.Name(), name) != nil {
		_ = os.Remove(temporary.Name())
	}
}

// commandName is the name of a command.
var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}(:[a-z0-9-]{1,40}){0,3}$`) })

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
		if word := strings.Fields(rest); len(word) > 0 && commandName().MatchString(word[0]) && len(names) < maxCommands {
			names = append(names, word[0])
		}
	}
	return names
}

// against compares the commands of the app with the table. A help text that has none says
// nothing about it.
func against(version string, has []string) Drift {
	d := Drift{Version: version, New: []string{}, Missing: []string{}}
	if len(has) == 0 {
		return d
	}
	known := map[string]bool{}
	for _, c := range allowlist.Commands() {
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

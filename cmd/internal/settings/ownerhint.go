package settings

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Patterns for the phrases in which hints for agents mention settings. OwnerHint rewrites them with the flag and the
// settings file.
var (
	// setFully matches a hint that is nothing but this phrase: setting, value and its source, see policy.Denial.
	setFully = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^the user can set ([a-z-]+) to ([a-z0-9]+(?:\.[a-z0-9]+)*)( and restart)?( \([^()]*\))?$`)
	})
	// setAmong matches, within a hint, a setting and its value.
	setAmong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|, or |, | and |; |to |can )set ([a-z-]+) to ([a-z0-9]+(?:\.[a-z0-9]+)*)($|[;,.)]| \()`)
	})
	// setFolder matches, within a hint, a setting whose value is a path.
	setFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(the user can )?\bset (vault|cli) to `) })
	// settingMention matches, within a hint, the name of a setting.
	settingMention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`the setting ([a-z][a-z-]*[a-z])`) })
	raiseTimeout   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\braise (timeout)\b`) })
)

// theFile is what hints for agents call the settings file: agents are not told its path.
const theFile = "the settings file"

// OwnerHint rewrites a hint for an agent into one that the owner can follow at a terminal: it names the flag and the
// settings file in place of the bare setting.
func (f *Flags) OwnerHint(std terminal.Streams, hint string) string {
	file := ""
	if location, err := f.place(std); err == nil {
		file = withTilde(std, location.name)
	}
	if found := setFully().FindStringSubmatch(hint); found != nil && file != "" {
		name := found[1]
		value := found[2]
		source := found[4]
		if row, isSetting := settingOf(name); isSetting {
			return fmt.Sprintf("add %s, or set %s in %s%s", flagOf(row, value), row.line(value), file, source)
		}
	}
	hint = replaceEach(setAmong(), hint, func(found []string) string {
		before := found[1]
		name := found[2]
		value := found[3]
		after := found[4]
		row, isSetting := settingOf(name)
		if !isSetting {
			return found[0]
		}
		return before + "add " + flagOf(row, value) + after
	})
	hint = replaceEach(setFolder(), hint, func(found []string) string {
		if found[2] == "vault" {
			return "add --vault with "
		}
		return "add --cli with "
	})
	hint = replaceEach(settingMention(), hint, func(found []string) string {
		name := found[1]
		if _, isSetting := settingOf(name); !isSetting {
			return found[0]
		}
		if file == "" {
			return "--" + name
		}
		return name + " in " + file
	})
	hint = replaceEach(raiseTimeout(), hint, func(found []string) string { return "raise --" + found[1] })
	if file != "" {
		hint = strings.ReplaceAll(hint, theFile, file)
	}
	return terminal.ForOwner(hint)
}

// flagOf returns the flag of a setting with a value, as the user would type it.
func flagOf(row setting, value string) string {
	if row.kind == boolean && value == "true" {
		return "--" + row.name
	}
	return "--" + row.name + "=" + value
}

// replaceEach replaces each match of pattern with what by returns for its submatches.
func replaceEach(pattern *regexp.Regexp, text string, replacement func(found []string) string) string {
	return pattern.ReplaceAllStringFunc(text, func(match string) string {
		return replacement(pattern.FindStringSubmatch(match))
	})
}

// withTilde returns a path with the home folder shortened to "~", except on Windows.
func withTilde(std terminal.Streams, name string) string {
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	within, isBelow := strings.CutPrefix(name, home+string(filepath.Separator))
	if runtime.GOOS == "windows" || home == "" || !isBelow {
		return name
	}
	return "~/" + within
}

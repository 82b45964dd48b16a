package clients

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// asking is how a client passes questions of a server on to its user.
type asking uint8

const (
	asksUnknown asking = iota // the client was not tested
	asksNothing               // it does not support questions
	asksUnseen                // it accepts questions but does not show them
	asksForms                 // it shows forms, and declines links on its own
	asksAll                   // it shows forms and opens links
)

// Asks describes how questions of a server reach the user through the client, "" if that is not known.
func (c Client) Asks() string {
	switch c.asks {
	case asksNothing:
		return "it has no dialog for questions; the answer to the agent has a link to show you"
	case asksUnseen:
		return "it shows no dialog for questions; the answer to the agent has a link to show you"
	case asksForms:
		return "it shows a form for changes that delete and overwrite nothing, as far as all of it fits; for others the answer to the agent has a link to show you"
	case asksAll:
		return "it opens a link to the question in your browser"
	}
	return ""
}

// Answers is a setting with which a client answers questions instead of the user, or acts without asking.
type Answers struct {
	File, Key string
	Hook      bool // a program answers questions; otherwise the agent acts without asking
}

// maxProjects is the maximum number of projects that are checked: Claude Code keeps a list of all projects.
const maxProjects = 500

// Answerers returns the settings of a client and its projects with which it answers instead of the user.
func (i Installer) Answerers(c Client) (found []Answers) {
	for _, setting := range c.answerers {
		files := i.answererFiles(c, setting)
		for _, file := range files {
			value, ok := decodedFile(file, setting.format)
			if ok && setting.isSet(value) {
				found = append(found, Answers{file, setting.key, setting.hook})
			}
		}
	}
	return found
}

// answerer describes a setting with which a client answers instead of the user.
type answerer struct {
	key      string
	hook     bool
	format   format
	user     []string // patterns of the files of the user
	projects []string // paths of files in each project
	isSet    func(settings map[string]any) bool
}

// answererFiles returns the files that can contain a setting, without duplicates.
func (i Installer) answererFiles(c Client, setting answerer) (files []string) {
	for _, pattern := range setting.user {
		files = append(files, i.System.path(pattern))
	}
	if len(setting.projects) > 0 {
		for _, folder := range i.projectsOf(c) {
			for _, below := range setting.projects {
				files = append(files, filepath.Join(folder, filepath.FromSlash(below)))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// projectsOf returns the current project and the projects that a client lists in its settings.
func (i Installer) projectsOf(c Client) (folders []string) {
	if i.System.Project != "" {
		folders = append(folders, i.System.Project)
	}
	value, ok := decodedFile(i.System.File(c, User), c.format)
	if !ok {
		return folders
	}
	known, _ := value["projects"].(map[string]any)
	for _, folder := range slices.Sorted(maps.Keys(known)) {
		if filepath.IsAbs(folder) && len(folders) < maxProjects {
			folders = append(folders, folder)
		}
	}
	return folders
}

// decodedFile reads the settings in a file. ok is false if it is missing or cannot be read.
func decodedFile(name string, f format) (settings map[string]any, ok bool) {
	if name == "" {
		return nil, false
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, false
	}
	if !filenames.IsFileAt(name, info.Mode()) || info.Size() > textedit.MaxText {
		return nil, false
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	value, err := f.editor().Decode(content)
	if err != nil {
		return nil, false
	}
	settings, ok = value.(map[string]any)
	return settings, ok
}

// textAt returns the string at a path of keys, "" if there is none.
func textAt(settings map[string]any, keys ...string) string {
	var value any = settings
	for _, key := range keys {
		table, _ := value.(map[string]any)
		value = table[key]
	}
	text, _ := value.(string)
	return text
}

// claudeAnswerers are the settings of Claude Code. A running session applies new hooks of a project immediately.
var claudeAnswerers = []answerer{
	{
		key:      "hooks.Elicitation",
		hook:     true,
		format:   relaxedJSON,
		user:     []string{claudeFolder + "/settings.json", claudeFolder + "/settings.local.json"},
		projects: []string{".claude/settings.json", ".claude/settings.local.json"},
		isSet: func(settings map[string]any) bool {
			hooks, _ := settings["hooks"].(map[string]any)
			list, _ := hooks["Elicitation"].([]any)
			return len(list) > 0
		},
	},
	{
		key:      "permissions.defaultMode",
		format:   relaxedJSON,
		user:     []string{claudeFolder + "/settings.json"},
		projects: []string{".claude/settings.json", ".claude/settings.local.json"},
		isSet: func(settings map[string]any) bool {
			return textAt(settings, "permissions", "defaultMode") == "bypassPermissions"
		},
	},
}

const claudeFolder = "{CLAUDE_CONFIG_DIR|~/.claude}"

// codexAnswerers are the settings of Codex. With full access it accepts empty forms on its own.
var codexAnswerers = []answerer{{
	key:    "sandbox_mode",
	format: tomlFormat,
	user:   []string{"{CODEX_HOME|~/.codex}/config.toml"},
	isSet: func(settings map[string]any) bool {
		return textAt(settings, "sandbox_mode") == "danger-full-access"
	},
}}

// qwenAnswerers are the settings of Qwen Code.
var qwenAnswerers = []answerer{{
	key:      "tools.approvalMode",
	format:   commentJSON,
	user:     []string{"~/.qwen/settings.json"},
	projects: []string{".qwen/settings.json"},
	isSet: func(settings map[string]any) bool {
		return strings.EqualFold(textAt(settings, "tools", "approvalMode"), "yolo")
	},
}}

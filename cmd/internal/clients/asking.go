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

// asking says how a client asks its user what a server asks it.
type asking uint8

const (
	// asksUnknown is for a client that was not tried.
	asksUnknown asking = iota
	asksNothing        // it takes no questions
	asksUnseen         // it takes questions and shows none
	asksForms          // it shows forms, and declines links by itself
	asksAll            // it shows forms, and opens links
)

// Asks says how questions of a server reach the user through the client, "" where that is not known.
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

// Answers is a setting of a client by which a program answers in the place of the user, or acts as the user.
type Answers struct {
	File, Key string
	Hook      bool // it answers questions; otherwise the agent acts without being asked
}

// maxProjects is how many projects of Claude Code are looked at: it keeps a list of all of them.
const maxProjects = 500

// Answerers returns what answers in the place of the user in the settings of a client, also in those of its projects.
func (i Installer) Answerers(c Client) (found []Answers) {
	for _, set := range c.answerers {
		files := i.answererFiles(c, set)
		for _, file := range files {
			value, ok := decodedFile(file, set.format)
			if ok && set.holds(value) {
				found = append(found, Answers{file, set.key, set.hook})
			}
		}
	}
	return found
}

// answerer is a setting that answers in the place of the user: holds reports whether a file has it.
type answerer struct {
	key      string
	hook     bool
	format   format
	user     []string // patterns of the files of the user
	projects []string // paths below each project
	holds    func(settings map[string]any) bool
}

// answererFiles returns the files that may have a setting, each once.
func (i Installer) answererFiles(c Client, set answerer) (files []string) {
	for _, pattern := range set.user {
		files = append(files, i.System.path(pattern))
	}
	if len(set.projects) > 0 {
		for _, folder := range i.projectsOf(c) {
			for _, below := range set.projects {
				files = append(files, filepath.Join(folder, filepath.FromSlash(below)))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// projectsOf returns the folders that a client has as its projects, and the current one.
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

// decodedFile returns the settings in a file. ok is false if it is missing or cannot be read.
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

// textAt returns the text of a setting below some keys, "" for none.
func textAt(settings map[string]any, keys ...string) string {
	var value any = settings
	for _, key := range keys {
		table, _ := value.(map[string]any)
		value = table[key]
	}
	text, _ := value.(string)
	return text
}

// claudeAnswerers are those of Claude Code. A running session takes up hooks of a project at once.
var claudeAnswerers = []answerer{
	{
		key:      "hooks.Elicitation",
		hook:     true,
		format:   relaxedJSON,
		user:     []string{claudeFolder + "/settings.json", claudeFolder + "/settings.local.json"},
		projects: []string{".claude/settings.json", ".claude/settings.local.json"},
		holds: func(settings map[string]any) bool {
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
		holds: func(settings map[string]any) bool {
			return textAt(settings, "permissions", "defaultMode") == "bypassPermissions"
		},
	},
}

const claudeFolder = "{CLAUDE_CONFIG_DIR|~/.claude}"

// codexAnswerers are those of Codex, which accepts empty forms by itself with full access.
var codexAnswerers = []answerer{{
	key:    "sandbox_mode",
	format: tomlFormat,
	user:   []string{"{CODEX_HOME|~/.codex}/config.toml"},
	holds: func(settings map[string]any) bool {
		return textAt(settings, "sandbox_mode") == "danger-full-access"
	},
}}

// qwenAnswerers are those of Qwen Code.
var qwenAnswerers = []answerer{{
	key:      "tools.approvalMode",
	format:   commentJSON,
	user:     []string{"~/.qwen/settings.json"},
	projects: []string{".qwen/settings.json"},
	holds: func(settings map[string]any) bool {
		return strings.EqualFold(textAt(settings, "tools", "approvalMode"), "yolo")
	},
}}

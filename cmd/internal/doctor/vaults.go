package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// vaults checks the served vaults.
func (m Machine) vaults(ctx context.Context, r *Report) {
	if m.Invalid != nil {
		return
	}
	served := 0
	for _, v := range m.Settings.Served {
		if v.Folder == "" {
			if v.Name != "" || v.ID != "" {
				served++
				if m.Settings.Backend != settings.App {
					fix := "give the folder of the vault, or a name that the app lists"
					if len(m.Known) > 0 {
						fix = fmt.Sprintf("give the folder of the vault, such as %q", m.Known[0])
					}
					r.problem(
						"vault-unknown",
						fmt.Sprintf("there is no vault %q", v.Name+v.ID),
						"no note of it can be read without the app",
						fix,
					)
					continue
				}
				r.ok("vault", fmt.Sprintf("vault %q of the app, whose folder is not set", v.Name+v.ID))
			}
			continue
		}
		served++
		if m.folder(v, r) {
			m.obsidianSettings(v.Folder, r)
			m.ignored(v.Folder, r)
			m.rules(v, r)
			m.notes(ctx, v, r)
		}
	}
	// If a vault is inside another one, the rules of one do not apply to notes that are reached through the other.
	for _, outer := range m.Settings.Served {
		for _, inner := range m.Settings.Served {
			if outer.Folder == "" || inner.Folder == "" {
				continue
			}
			rel, err := filepath.Rel(outer.Folder, inner.Folder)
			if err != nil || rel == "." || !filepath.IsLocal(rel) {
				continue
			}
			r.warn(
				"vault-in-vault",
				fmt.Sprintf("the vault %q is inside the vault %q", inner.Folder, outer.Folder),
				"each has its own permissions: what the one hides can be read through the other",
				"serve one of them, or give both the same access rules",
			)
		}
	}
	if served > 0 {
		return
	}
	fix := "vaultwicket setup, or: vaultwicket config set vault FOLDER, with the folder of your notes"
	if len(m.Known) > 0 {
		fix = fmt.Sprintf("vaultwicket setup, or: vaultwicket config set vault %q", m.Known[0])
	}
	if m.Settings.Backend == settings.App {
		r.ok("vault", "no vault is set: the app chooses the one that is open")
		return
	}
	why := "without --vault, notes can be read only while the app runs, from the vault that is open there"
	if m.Nearest != "" {
		why = fmt.Sprintf("commands that you type here use the vault around the working folder, %q; a client's server does not look for it", m.Nearest)
		fix = fmt.Sprintf("vaultwicket config set vault %q", m.Nearest)
	}
	r.warn("vault-none", "no vault is set", why, fix)
}

// folder checks the folder of a vault. It returns false if the folder does not exist or cannot be read, so that
// nothing else can be checked.
func (m Machine) folder(v settings.Served, r *Report) bool {
	info, err := os.Stat(v.Folder)
	const why = "no note of it can be read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.problem(
			"vault-missing",
			fmt.Sprintf("the vault folder %q does not exist", v.Folder),
			why,
			"correct the setting vault, or mount the disk",
		)
		return false
	case err == nil && !info.IsDir():
		r.problem(
			"vault-not-folder",
			fmt.Sprintf("the vault %q is not a folder", v.Folder),
			why,
			"set vault to the folder that contains your notes",
		)
		return false
	}
	entries, err := m.list(v.Folder)
	if protocol.IsClosedByMacOS(m.OS, err) {
		r.problem(
			"vault-closed-by-macos",
			fmt.Sprintf("macOS does not let the vault folder %q be read", v.Folder),
			why,
			fixPrivacy,
		)
		return false
	}
	if err != nil {
		r.problem(
			"vault-unreadable",
			fmt.Sprintf("the vault folder %q cannot be read: %v", v.Folder, reason(err)),
			why,
			"give your user the right to read it",
		)
		return false
	}
	dir := filepath.Clean(v.Folder)
	isHome := dir == filepath.Clean(ownerfiles.Home(m.OS, m.Getenv))
	isRoot := filepath.Dir(dir) == dir
	if isHome || isRoot {
		r.warn(
			"vault-too-wide",
			fmt.Sprintf("the vault %q is a whole home folder or disk", v.Folder),
			"an agent could read every Markdown file in it",
			"set vault to the folder of your notes alone",
		)
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".obsidian" }) {
		r.warn(
			"vault-unopened",
			fmt.Sprintf("%q has no folder .obsidian", v.Folder),
			"either Obsidian never opened it, or it is not the vault itself",
			"set vault to the folder that Obsidian opens; a plain folder of Markdown files works too",
		)
	}
	if v.Policy.Mutations && ownerfiles.Unwritable(v.Folder) != nil {
		r.problem(
			"vault-read-only",
			fmt.Sprintf("the vault folder %q cannot be written", v.Folder),
			"changes are enabled and will fail",
			"give your user the right to write, or set allow-mutations to false",
		)
	}
	return true
}

// fixPrivacy is the fix if macOS denies access to files.
const fixPrivacy = "allow it in System Settings, Privacy & Security, Files and Folders (or Full Disk Access) for your MCP client " +
	"and for this terminal, and start them again"

// reason returns an error of the file system without its path, which the message already contains.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// appSettings maps the settings files of the app that the embedded CLI reads to what it does without them.
var appSettings = map[string]string{
	"app.json":         "attachments, links and excluded files are treated as if nothing was set",
	"daily-notes.json": "daily notes are looked for as YYYY-MM-DD in the root of the vault",
	"templates.json":   "no template is found",
	"types.json":       "the types of properties are guessed",
	"bookmarks.json":   "no bookmark is found",
}

// obsidianSettings checks the settings files of the app in a vault.
func (m Machine) obsidianSettings(folder string, r *Report) {
	for _, name := range slices.Sorted(maps.Keys(appSettings)) {
		file := filepath.Join(folder, ".obsidian", name)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var value struct{ Folder, Template string }
		if err == nil {
			err = json.Unmarshal(text, &value)
		}
		if err != nil {
			r.warn(
				"app-settings",
				fmt.Sprintf("%q cannot be read: %v", file, reason(err)),
				appSettings[name],
				"open the vault in Obsidian and save the setting again",
			)
			continue
		}
		template := filepath.Join(folder, filepath.FromSlash(value.Template))
		isMissing := value.Template != "" && !exists(template) && !exists(template+".md")
		switch {
		case name == "daily-notes.json" && isMissing:
			r.warn(
				"daily-template-missing",
				fmt.Sprintf("the template %q of daily notes does not exist", value.Template),
				"new daily notes cannot be made from it",
				"correct the template in Obsidian's settings of daily notes",
			)
		case name == "templates.json" && value.Folder != "" && !exists(filepath.Join(folder, filepath.FromSlash(value.Folder))):
			r.warn(
				"template-folder-missing",
				fmt.Sprintf("the folder %q of templates does not exist", value.Folder),
				"no template is found",
				"correct the folder in Obsidian's settings of templates",
			)
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// rules checks that the access rules name existing paths and do not hide everything.
func (m Machine) rules(v settings.Served, r *Report) {
	if !v.Policy.Access.Restrict() {
		return
	}
	if !v.Policy.Access.Opens("") {
		r.warn(
			"nothing-readable",
			fmt.Sprintf("the access rules hide every note of %q", v.Folder),
			"an agent finds an empty vault",
			`give a folder the level "r", "rw" or "rwd"`,
		)
		return
	}
	var tables []map[string]string
	_ = json.Unmarshal([]byte(v.Policy.Access.String()), &tables)
	var paths []string
	for _, table := range tables {
		paths = slices.AppendSeq(paths, maps.Keys(table))
	}
	slices.Sort(paths)
	for _, rule := range slices.Compact(paths) {
		if rule != "/" && !exists(filepath.Join(v.Folder, filepath.FromSlash(rule))) {
			r.warn(
				"rule-without-folder",
				fmt.Sprintf("an access rule names %q, which does not exist in %q", rule, v.Folder),
				"a misspelled rule protects nothing",
				"correct the path; upper and lower case count",
			)
		}
	}
}

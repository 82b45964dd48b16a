package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// command is what the fake can do, with the parameters that it takes.
type command struct {
	params string
	run    func(*call) string
}

var commands map[string]command

func init() { // the table refers to functions that refer to it
	commands = map[string]command{
		"version":         {"", func(c *call) string { return cmp.Or(c.config.Version, "1.12.7 (installer 1.12.7)") }},
		"vault":           {"info", vaultInfo},
		"files":           {"folder ext total", listFiles},
		"file":            {"file path", fileFacts},
		"read":            {"file path", func(c *call) string { return c.read(c.target()) }},
		"search":          {"query format limit path", search},
		"properties":      {"file path format", properties},
		"daily:path":      {"", (*call).daily},
		"daily:read":      {"", readDaily},
		"random:read":     {"folder", readRandom},
		"daily":           {"", openDaily},
		"unique":          {"name content", unique},
		"base:create":     {"file path view name content", createInBase},
		"bookmark":        {"file title", bookmark},
		"daily:append":    {"content inline", func(c *call) string { return c.addDaily(true) }},
		"daily:prepend":   {"content inline", func(c *call) string { return c.addDaily(false) }},
		"create":          {"name path content overwrite", create},
		"append":          {"file path content inline", func(c *call) string { return c.add(true) }},
		"prepend":         {"file path content inline", func(c *call) string { return c.add(false) }},
		"delete":          {"file path permanent", remove},
		"move":            {"file path to", move},
		"rename":          {"file path name", rename},
		"property:set":    {"file path name value type", setProperty},
		"property:remove": {"file path name", removeProperty},
		"history":         {"file path", func(c *call) string { return c.listVersions(c.config.History) }},
		"history:read":    {"file path version", func(c *call) string { return c.print(c.config.History) }},
		"history:restore": {"file path version", func(c *call) string { return c.restore(c.config.History) }},
		"sync:history":    {"file path", func(c *call) string { return c.listVersions(c.config.Sync) }},
		"sync:read":       {"file path version", func(c *call) string { return c.print(c.config.Sync) }},
		"sync:restore":    {"file path version", func(c *call) string { return c.restore(c.config.Sync) }},
		"task":            {"file path line done todo toggle status ref", setTask},
	}
}

// sentence is a failure in the words the app writes, with which a command panics: those of an
// error in Go are others.
type sentence string

func notFound(typed string) sentence { return sentence(fmt.Sprintf("File %q not found.", typed)) }

// must panics with an error of the disk as the app words it.
func must(err error) {
	if err != nil {
		panic(sentence(err.Error()))
	}
}

// target returns the path of the note that a call means: path= as it is, file= as
// a link from the root of the vault.
func (c *call) target() string {
	if at, ok := c.values["path"]; ok {
		if info, err := os.Stat(c.file(at)); err != nil || info.IsDir() || hidden(at) {
			panic(notFound(at))
		}
		return at
	}
	name, ok := c.values["file"]
	if !ok {
		panic(sentence("No active file. Use file=<name> or path=<path> to specify a file."))
	}
	found := c.resolve(name, "")
	if found == "" {
		panic(notFound(name))
	}
	return found
}

func hidden(p string) bool {
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") || strings.Contains(p, "..")
}

// paths are those of all files of the vault, in an order that is not sorted by
// anything but chance in the app; here it is that of the folders.
func (c *call) paths() (all []string) {
	_ = filepath.WalkDir(c.vault.Folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(c.vault.Folder, name)
		if strings.HasPrefix(d.Name(), ".") && rel != "." {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	return all
}

func (c *call) read(path string) string {
	if text, ok := c.before[path]; ok {
		return text
	}
	text, err := os.ReadFile(c.file(path))
	must(err)
	return string(text)
}

func (c *call) write(path, text string) {
	must(os.MkdirAll(filepath.Dir(c.file(path)), 0o755))
	must(os.WriteFile(c.file(path), []byte(text), 0o644))
}

func (c *call) isThere(path string) bool { _, err := os.Stat(c.file(path)); return err == nil }

// setting returns a text of a file of the app's settings, "" where there is none.
func (c *call) setting(file, key string) string {
	var all map[string]any
	text, err := os.ReadFile(c.file(".obsidian/" + file))
	if err != nil || json.Unmarshal(text, &all) != nil {
		return ""
	}
	return fmt.Sprint(all[key])
}

func vaultInfo(c *call) string {
	switch c.values["info"] {
	case "path":
		return c.vault.Folder
	case "name":
		return c.vault.Name
	}
	return "name\t" + c.vault.Name + "\npath\t" + c.vault.Folder
}

func listFiles(c *call) string {
	found := slices.DeleteFunc(c.paths(), func(p string) bool {
		folder := strings.TrimSuffix(c.values["folder"], "/")
		ext := strings.TrimPrefix(c.values["ext"], ".")
		return folder != "" && !strings.HasPrefix(p, folder+"/") || ext != "" && !strings.HasSuffix(p, "."+ext)
	})
	if c.has("total") {
		return fmt.Sprint(len(found))
	}
	return strings.Join(found, "\n")
}

func fileFacts(c *call) string {
	at := c.target()
	info, err := os.Stat(c.file(at))
	must(err)
	ms := info.ModTime().UnixMilli()
	ext := path.Ext(at)
	return fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d",
		at, strings.TrimSuffix(path.Base(at), ext), strings.TrimPrefix(ext, "."), info.Size(), ms, ms)
}

func search(c *call) string {
	var found []string
	for _, p := range c.paths() {
		if strings.HasSuffix(p, ".md") && strings.Contains(strings.ToLower(p+"\n"+c.read(p)), strings.ToLower(c.values["query"])) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return "No matches found."
	}
	if c.values["format"] == "json" {
		text, err := json.Marshal(found)
		must(err)
		return string(text)
	}
	return strings.Join(found, "\n")
}

func properties(c *call) string {
	block, _, ok := split(c.read(c.target()))
	switch {
	case !ok || len(block) == 0:
		return "No frontmatter found."
	case c.values["format"] == "json":
		return block.json()
	}
	return block.yaml()
}

// daily is the path of today's note.
func (c *call) daily() string {
	folder := c.setting("daily-notes.json", "folder")
	if folder == "" || folder == "<nil>" {
		return c.config.Today + ".md"
	}
	return path.Join(folder, c.config.Today+".md")
}

// readDaily makes a missing note, and prints nothing then.
func readDaily(c *call) string {
	if !c.isThere(c.daily()) {
		c.write(c.daily(), "")
		return ""
	}
	return c.read(c.daily())
}

// readRandom prints the text alone, without the path of the note: the help page says otherwise, and nobody has recorded it.
func readRandom(c *call) string {
	for _, p := range c.paths() {
		if strings.HasSuffix(p, ".md") && strings.HasPrefix(p, c.values["folder"]) {
			return c.read(p)
		}
	}
	return "No markdown files found."
}

package main

import (
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
	run    func(*call) (string, error)
}

var commands map[string]command

func init() { // the table refers to functions that refer to it
	commands = map[string]command{
		"version":         {"", func(*call) (string, error) { return "1.12.7 (installer 1.12.7)", nil }},
		"vault":           {"info", vaultInfo},
		"files":           {"folder ext total", listFiles},
		"file":            {"file path", fileFacts},
		"read":            {"file path", read},
		"search":          {"query format limit path", search},
		"properties":      {"file path format", properties},
		"daily:path":      {"", func(c *call) (string, error) { return c.daily(), nil }},
		"daily:read":      {"", readDaily},
		"daily:append":    {"content inline", func(c *call) (string, error) { return c.addDaily(true) }},
		"daily:prepend":   {"content inline", func(c *call) (string, error) { return c.addDaily(false) }},
		"create":          {"name path content overwrite", create},
		"append":          {"file path content inline", func(c *call) (string, error) { return c.add(true) }},
		"prepend":         {"file path content inline", func(c *call) (string, error) { return c.add(false) }},
		"delete":          {"file path permanent", remove},
		"move":            {"file path to", move},
		"rename":          {"file path name", rename},
		"property:set":    {"file path name value type", setProperty},
		"property:remove": {"file path name", removeProperty},
		"task":            {"file path line done todo toggle status ref", setTask},
	}
}

// sentence is a failure in the words the app writes, which are not those of an error in Go.
type sentence string

func (s sentence) Error() string { return string(s) }

func notFound(typed string) error { return sentence(fmt.Sprintf("File %q not found.", typed)) }

const errNoTarget = sentence("No active file. Use file=<name> or path=<path> to specify a file.")

// target returns the path of the note that a call means: path= as it is, file= as
// a link from the root of the vault.
func (c *call) target() (string, error) {
	switch {
	case c.has("path"):
		if info, err := os.Stat(c.file(c.values["path"])); err != nil || info.IsDir() || hidden(c.values["path"]) {
			return "", notFound(c.values["path"])
		}
		return c.values["path"], nil
	case c.has("file"):
		if found := c.resolve(c.values["file"], ""); found != "" {
			return found, nil
		}
		return "", notFound(c.values["file"])
	}
	return "", errNoTarget
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

func (c *call) read(path string) (string, error) {
	if text, ok := c.before[path]; ok {
		return text, nil
	}
	text, err := os.ReadFile(c.file(path))
	return string(text), err
}

func (c *call) write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(c.file(path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(c.file(path), []byte(text), 0o644)
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

func vaultInfo(c *call) (string, error) {
	switch c.values["info"] {
	case "path":
		return c.vault.Folder, nil
	case "name":
		return c.vault.Name, nil
	}
	return "name\t" + c.vault.Name + "\npath\t" + c.vault.Folder, nil
}

func listFiles(c *call) (string, error) {
	found := slices.DeleteFunc(c.paths(), func(p string) bool {
		folder := strings.TrimSuffix(c.values["folder"], "/")
		ext := strings.TrimPrefix(c.values["ext"], ".")
		return folder != "" && !strings.HasPrefix(p, folder+"/") || ext != "" && !strings.HasSuffix(p, "."+ext)
	})
	if c.has("total") {
		return fmt.Sprint(len(found)), nil
	}
	return strings.Join(found, "\n"), nil
}

func fileFacts(c *call) (string, error) {
	at, err := c.target()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(c.file(at))
	if err != nil {
		return "", err
	}
	ms := info.ModTime().UnixMilli()
	ext := path.Ext(at)
	return fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d",
		at, strings.TrimSuffix(path.Base(at), ext), strings.TrimPrefix(ext, "."), info.Size(), ms, ms), nil
}

func read(c *call) (string, error) {
	at, err := c.target()
	if err != nil {
		return "", err
	}
	return c.read(at)
}

func search(c *call) (string, error) {
	var found []string
	for _, p := range c.paths() {
		text, _ := c.read(p)
		if strings.HasSuffix(p, ".md") && strings.Contains(strings.ToLower(p+"\n"+text), strings.ToLower(c.values["query"])) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return "No matches found.", nil
	}
	if c.values["format"] == "json" {
		text, err := json.Marshal(found)
		return string(text), err
	}
	return strings.Join(found, "\n"), nil
}

func properties(c *call) (string, error) {
	at, err := c.target()
	if err != nil {
		return "", err
	}
	text, err := c.read(at)
	if err != nil {
		return "", err
	}
	block, _, ok := split(text)
	if !ok || len(block) == 0 {
		return "No frontmatter found.", nil
	}
	if c.values["format"] != "json" {
		return block.yaml(), nil
	}
	return block.json(), nil
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
func readDaily(c *call) (string, error) {
	if !c.isThere(c.daily()) {
		return "", c.write(c.daily(), "")
	}
	return c.read(c.daily())
}

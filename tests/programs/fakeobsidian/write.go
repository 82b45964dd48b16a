package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// expand does what the app does with content: there is no way to protect a
// backslash in front of n or t.
func expand(text string) string { return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text) }

// create numbers a name that is taken.
func create(c *call) string {
	at, named := c.values["path"]
	if !named {
		if c.setting("app.json", "newFileLocation") == "folder" {
			at = c.setting("app.json", "newFileFolderPath")
		}
		at = path.Join(at, cmp.Or(c.values["name"], "Untitled"))
	}
	if !slices.Contains([]string{".md", ".canvas", ".base"}, path.Ext(at)) {
		at += ".md"
	}
	said := "Created: "
	switch taken := c.isThere(at); {
	case taken && c.has("overwrite"):
		said = "Overwrote: "
	case taken:
		at = c.numbered(at)
	}
	c.write(at, c.ended(expand(c.values["content"])))
	return said + at
}

func (c *call) numbered(at string) string {
	ext := path.Ext(at)
	for n := 1; ; n++ {
		if next := strings.TrimSuffix(at, ext) + " " + strconv.Itoa(n) + ext; !c.isThere(next) {
			return next
		}
	}
}

// ended ends a text that was added with a line break, if that is set.
func (c *call) ended(text string) string {
	if c.config.FinalBreak && text != "" && !strings.HasSuffix(text, "\n") {
		return text + "\n"
	}
	return text
}

// added returns the text of a note with content at its end, or before its body. A
// line break separates them, also where there is one.
func (c *call) added(text string, atEnd bool) string {
	content := expand(c.values["content"])
	separator := "\n"
	if c.has("inline") {
		separator = ""
	}
	if atEnd {
		return text + separator + c.ended(content)
	}
	_, body, _ := split(text)
	return strings.TrimSuffix(text, body) + content + separator + body
}

func (c *call) add(atEnd bool) string {
	at := c.target()
	c.write(at, c.added(c.read(at), atEnd))
	return map[bool]string{true: "Appended to: ", false: "Prepended to: "}[atEnd] + at
}

func (c *call) addDaily(atEnd bool) string {
	text := ""
	if c.isThere(c.daily()) {
		text = c.read(c.daily())
	}
	c.write(c.daily(), c.added(text, atEnd))
	return "Added to: " + c.daily()
}

// remove moves a file into the trash of the vault, which is flat.
func remove(c *call) string {
	at := c.target()
	if c.has("permanent") {
		must(os.Remove(c.file(at)))
		return "Deleted permanently: " + at
	}
	trash := ".trash/" + path.Base(at)
	if c.isThere(trash) {
		trash = c.numbered(trash)
	}
	must(os.MkdirAll(c.file(".trash"), 0o755))
	must(os.Rename(c.file(at), c.file(trash)))
	return "Moved to trash: " + at
}

func move(c *call) string {
	to := c.values["to"]
	if to == "" {
		panic(sentence("Missing required parameter: to=<path>\nUsage: move [file=<name>] [path=<path>] to=<path>"))
	}
	from := c.target()
	if strings.HasSuffix(to, "/") {
		to += path.Base(from)
	}
	return c.moved(from, to, "Moved: ")
}

func rename(c *call) string {
	from := c.target()
	to := path.Join(path.Dir(from), c.values["name"])
	if path.Ext(to) == "" {
		to += path.Ext(from)
	}
	return c.moved(from, to, "Renamed: ")
}

// moved gives a file another path, and writes the links to it anew if that is set.
func (c *call) moved(from, to, said string) string {
	if c.isThere(to) {
		panic(sentence("Destination file already exists!"))
	}
	must(os.MkdirAll(filepath.Dir(c.file(to)), 0o755))
	links := c.linksTo(from)
	must(os.Rename(c.file(from), c.file(to)))
	if c.setting("app.json", "alwaysUpdateLinks") == "true" {
		c.rewrite(links, from, to)
	}
	return fmt.Sprintf("%s%s -> %s", said, from, to)
}

// setTask changes the mark of a task.
func setTask(c *call) string {
	if ref, ok := c.values["ref"]; ok {
		c.values["path"], c.values["line"], _ = strings.Cut(ref, ":")
	}
	at := c.target()
	lines := strings.SplitAfter(c.read(at), "\n")
	n, _ := strconv.Atoi(c.values["line"])
	if n < 1 || n > len(lines) || !strings.Contains(lines[n-1], "[") {
		panic(sentence("No task found at line " + c.values["line"]))
	}
	box := strings.Index(lines[n-1], "[") + 1
	mark := map[bool]string{true: "x", false: " "}[c.has("done") || c.has("toggle") && lines[n-1][box] == ' ']
	if c.has("status") {
		mark = c.values["status"]
	}
	lines[n-1] = lines[n-1][:box] + mark + lines[n-1][box+1:]
	c.write(at, strings.Join(lines, ""))
	return strings.TrimSuffix(lines[n-1], "\n")
}

// openDaily makes a missing note, as daily:read does, and shows it.
func openDaily(c *call) string {
	readDaily(c)
	return "Opened: " + c.daily()
}

// unique names a note after the minute.
func unique(c *call) string {
	at := strings.TrimSpace(strings.ReplaceAll(c.config.Today, "-", "")+cmp.Or(c.config.Minute, "1042")+" "+c.values["name"]) + ".md"
	if c.setting("app.json", "newFileLocation") == "folder" {
		at = path.Join(c.setting("app.json", "newFileFolderPath"), at)
	}
	c.write(at, c.ended(expand(c.values["content"])))
	return "Created: " + at
}

// createInBase answers with the name of the file, without its folder (recorded on 1.12.7).
func createInBase(c *call) string {
	at := c.values["name"] + ".md"
	c.write(at, c.ended(expand(c.values["content"])))
	return "Created: " + path.Base(at)
}

// bookmark adds a file to those of the app.
func bookmark(c *call) string {
	const list = ".obsidian/bookmarks.json"
	var kept struct {
		Items []map[string]any `json:"items"`
	}
	if c.isThere(list) {
		must(json.Unmarshal([]byte(c.read(list)), &kept))
	}
	kept.Items = append(kept.Items, map[string]any{"type": "file", "ctime": 1, "path": c.values["file"], "title": c.values["title"]})
	text, err := json.Marshal(kept)
	must(err)
	c.write(list, string(text))
	return ""
}

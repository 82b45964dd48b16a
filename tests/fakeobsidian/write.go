package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// expand does what the app does with content: there is no way to protect a
// backslash in front of n or t.
func expand(text string) string { return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text) }

// newFolder is where new notes go.
func (c *call) newFolder() string {
	if c.setting("app.json", "newFileLocation") == "folder" {
		return c.setting("app.json", "newFileFolderPath")
	}
	return ""
}

// create numbers a name that is taken.
func create(c *call) (string, error) {
	at := c.values["path"]
	if !c.has("path") {
		name := c.values["name"]
		if name == "" {
			name = "Untitled"
		}
		at = path.Join(c.newFolder(), name)
	}
	switch path.Ext(at) {
	case ".md", ".canvas", ".base":
	default:
		at += ".md"
	}
	said := "Created: "
	switch taken := c.isThere(at); {
	case taken && c.has("overwrite"):
		said = "Overwrote: "
	case taken:
		at = c.numbered(at)
	}
	return said + at, c.write(at, c.ended(expand(c.values["content"])))
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
	content, separator := expand(c.values["content"]), "\n"
	if c.has("inline") {
		separator = ""
	}
	if atEnd {
		return text + separator + c.ended(content)
	}
	head, body := text[:len(text)-len(bodyOf(text))], bodyOf(text)
	return head + content + separator + body
}

func (c *call) add(atEnd bool) (string, error) {
	at, err := c.target()
	if err != nil {
		return "", err
	}
	text, err := c.read(at)
	if err != nil {
		return "", err
	}
	said := map[bool]string{true: "Appended to: ", false: "Prepended to: "}[atEnd]
	return said + at, c.write(at, c.added(text, atEnd))
}

func (c *call) addDaily(atEnd bool) (string, error) {
	text, err := c.read(c.daily())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return "Added to: " + c.daily(), c.write(c.daily(), c.added(text, atEnd))
}

// remove moves a file into the trash of the vault, which is flat.
func remove(c *call) (string, error) {
	at, err := c.target()
	if err != nil {
		return "", err
	}
	if c.has("permanent") {
		return "Deleted permanently: " + at, os.Remove(c.file(at))
	}
	trash := ".trash/" + path.Base(at)
	if c.isThere(trash) {
		trash = c.numbered(trash)
	}
	if err := os.MkdirAll(c.file(".trash"), 0o755); err != nil {
		return "", err
	}
	return "Moved to trash: " + at, os.Rename(c.file(at), c.file(trash))
}

func move(c *call) (string, error) {
	if c.values["to"] == "" {
		return "", sentence("Missing required parameter: to=<path>\nUsage: move [file=<name>] [path=<path>] to=<path>")
	}
	from, err := c.target()
	if err != nil {
		return "", err
	}
	to := c.values["to"]
	if strings.HasSuffix(to, "/") {
		to += path.Base(from)
	}
	return c.moved(from, to, "Moved: ")
}

func rename(c *call) (string, error) {
	from, err := c.target()
	if err != nil {
		return "", err
	}
	to := path.Join(path.Dir(from), c.values["name"])
	if path.Ext(to) == "" {
		to += path.Ext(from)
	}
	return c.moved(from, to, "Renamed: ")
}

// moved gives a file another path, and writes the links to it anew if that is set.
func (c *call) moved(from, to, said string) (string, error) {
	if c.isThere(to) {
		return "", sentence("Destination file already exists!")
	}
	if err := os.MkdirAll(filepath.Dir(c.file(to)), 0o755); err != nil {
		return "", err
	}
	links := c.linksTo(from)
	if err := os.Rename(c.file(from), c.file(to)); err != nil {
		return "", err
	}
	if c.setting("app.json", "alwaysUpdateLinks") == "true" {
		if err := c.rewrite(links, from, to); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s%s -> %s", said, from, to), nil
}

// setTask changes the mark of a task.
func setTask(c *call) (string, error) {
	if ref, ok := c.values["ref"]; ok {
		c.values["path"], c.values["line"], _ = strings.Cut(ref, ":")
	}
	at, err := c.target()
	if err != nil {
		return "", err
	}
	text, err := c.read(at)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(text, "\n")
	n, _ := strconv.Atoi(c.values["line"])
	if n < 1 || n > len(lines) || !strings.Contains(lines[n-1], "[") {
		return "", sentence("No task found at line " + c.values["line"])
	}
	box := strings.Index(lines[n-1], "[") + 1
	mark := map[bool]string{true: "x", false: " "}[c.has("done") || c.has("toggle") && lines[n-1][box] == ' ']
	if c.has("status") {
		mark = c.values["status"]
	}
	lines[n-1] = lines[n-1][:box] + mark + lines[n-1][box+1:]
	return strings.TrimSuffix(lines[n-1], "\n"), c.write(at, strings.Join(lines, ""))
}

package main

import (
	"path"
	"regexp"
	"strings"
)

var wikilink = regexp.MustCompile(`\[\[([^\]|#]+)([#|][^\]]*)?\]\]`)

// resolve returns the path of the file to which a link leads, "" for none: an exact
// path, then a file next to the source, then the shortest path that ends so.
func (c *call) resolve(target, source string) string {
	near := ""
	best := ""
	for _, name := range []string{target, target + ".md"} {
		for _, p := range c.paths() {
			switch {
			case strings.EqualFold(p, name):
				return p
			case !strings.HasSuffix(strings.ToLower("/"+p), strings.ToLower("/"+name)):
			case near == "" && source != "" && path.Dir(p) == path.Dir(source):
				near = p
			case best == "" || len(p) < len(best):
				best = p
			}
		}
	}
	if near != "" {
		return near
	}
	return best
}

// linksTo lists, by note, the targets of links that lead to a file.
func (c *call) linksTo(file string) map[string][]string {
	links := map[string][]string{}
	for _, p := range c.paths() {
		for _, found := range wikilink.FindAllStringSubmatch(c.read(p), -1) {
			if strings.HasSuffix(p, ".md") && c.resolve(found[1], p) == file {
				links[p] = append(links[p], found[1])
			}
		}
	}
	return links
}

// rewrite writes links to a file that has moved. The shortest form is the name, if
// no other file has it.
func (c *call) rewrite(links map[string][]string, from, to string) {
	short := strings.TrimSuffix(path.Base(to), ".md")
	for _, p := range c.paths() {
		if p != to && path.Base(p) == path.Base(to) {
			short = strings.TrimSuffix(to, ".md")
		}
	}
	for note, targets := range links {
		if note == from {
			note = to
		}
		text := c.read(note)
		for _, target := range targets {
			for _, end := range []string{"]]", "#", "|"} {
				text = strings.ReplaceAll(text, "[["+target+end, "[["+short+end)
			}
		}
		c.write(note, text)
	}
}

package relink

import (
	"path"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// targets returns the ways to write a link from a note to a file, best first,
// of those that lead there. A wikilink names a note without its extension where
// it can.
func (m *Move) targets(old markdown.Link, note, file string) []string {
	paths := []string{file, "/" + file}
	name := path.Base(file)
	switch {
	case m.format == Relative || note == m.to && isRelative(old.Path):
		paths = append(near(old.Path, path.Dir(note), file), paths...)
	case m.format == Shortest && m.after.Named(name) == 1:
		paths = append([]string{name}, paths...)
	case m.format == Shortest:
		paths = append(paths, name) // the name stands for several files, even if this is the nearest
	}
	var all []string
	for _, p := range paths {
		short, isNote := strings.CutSuffix(p, ".md")
		if isNote && old.Style == markdown.Wikilink && m.leads(short, note, file) {
			all = append(all, short)
		}
		if m.leads(p, note, file) {
			all = append(all, p)
		}
	}
	return all
}

// near returns the ways to write a link that counts from a folder. Without dots
// in front it might be taken for one from the vault's folder.
func near(old, folder, file string) []string {
	way := relative(folder, file)
	switch {
	case isRelative(way):
		return []string{way}
	case isRelative(old):
		return []string{"./" + way}
	}
	return []string{way, "./" + way}
}

// isRelative reports whether a link counts from the folder of its note.
func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}

// relative returns the way from a folder of the vault to a file.
func relative(folder, file string) string {
	var from []string
	if folder != "." {
		from = strings.Split(folder, "/")
	}
	to := strings.Split(file, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// display returns the display text that a link to the moved file gets: the new
// name if it was the old one.
func (m *Move) display(old markdown.Link, file string) string {
	if file == m.to && !old.Embed && old.Display != "" && old.Display == stem(m.from) {
		return stem(m.to)
	}
	return old.Display
}

// stem returns the name of a file without its extension.
func stem(p string) string {
	name := path.Base(p)
	return strings.TrimSuffix(name, path.Ext(name))
}

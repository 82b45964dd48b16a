package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"vaultwicket/policy/access"
)

// ignored checks the file of patterns of a vault. One that cannot be read hides
// everything.
func (m Machine) ignored(folder string, r *Report) {
	file := filepath.Join(folder, access.IgnoreFile)
	const why = "until it is mended every call on the vault is refused"
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && !info.Mode().IsRegular():
		r.problem("ignore-not-file", fmt.Sprintf("%q is not a regular file", file), why, "replace it by a file with one pattern a line")
		return
	case err == nil && info.Size() > access.MaxIgnoreFile:
		r.problem("ignore-too-long", fmt.Sprintf("%q has %d bytes, more than %d", file, info.Size(), access.MaxIgnoreFile), why, "shorten it: a pattern may name a whole folder")
		return
	}
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		r.problem("ignore-unreadable", fmt.Sprintf("%q cannot be read: %v", file, reason(err)), why, "give your user the right to read it")
	case !utf8.Valid(text):
		r.warn("ignore-not-utf8", fmt.Sprintf("%q is not UTF-8 text", file), "a pattern in another encoding hides nothing", "save it as UTF-8")
	case !hasPattern(string(text)):
		r.warn("ignore-empty", fmt.Sprintf("%q has no pattern", file), "it hides nothing", "add patterns, or remove the file")
	case access.ParseIgnored(string(text)).Hides("Any note.md", false) && access.ParseIgnored(string(text)).Hides("Any folder", true):
		r.warn("ignore-everything", fmt.Sprintf("%q hides every note", file), "an agent finds an empty vault", "make the patterns narrower")
	default:
		r.ok("ignore", fmt.Sprintf("%q hides notes", file))
		trailingSpaces(file, string(text), r)
	}
}

func hasPattern(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}

// trailingSpaces warns of a pattern that ends with a space: it was hardly meant.
func trailingSpaces(file, text string, r *Report) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			r.warn("ignore-space", fmt.Sprintf("line %d of %q ends with a space", i+1, file), "the space is not part of the pattern", `remove it, or write "\ "`)
			return
		}
	}
}

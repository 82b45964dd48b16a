package packaging

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// documents are the Markdown files that people read, by their slash paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root, texts := filepath.Join("..", ".."), map[string]string{}
	names := []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "site":
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			rel, err := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	require.NoError(t, err)
	for _, name := range names {
		text := require.Value(os.ReadFile(filepath.Join(root, filepath.FromSlash(name))))(t)
		texts[name] = string(text)
	}
	return texts
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
)

// Every link between documents leads to a file and a heading that are there.
func TestLinksLeadSomewhere(t *testing.T) {
	texts := documents(t)
	checked := 0
	for name, text := range texts {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(fence.ReplaceAllString(text, ""), ""), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(found[1], "://") {
				continue
			}
			checked++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
				continue
			}
			if anchor != "" && !anchors(texts[file])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", name, found[1])
			}
		}
	}
	assert.That(t, checked >= 50, "only %d links were found", checked)
}

// anchors are the names of the headings of a page, as GitHub and the site make them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		names[slug(h[1])] = true
	}
	return names
}

func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

func TestEveryPageIsLinked(t *testing.T) {
	texts := documents(t)
	reached := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if reached[name] || texts[name] == "" {
			return
		}
		reached[name] = true
		for _, found := range link.FindAllStringSubmatch(texts[name], -1) {
			target, _, _ := strings.Cut(found[1], "#")
			follow(path.Join(path.Dir(name), target))
		}
	}
	follow("docs/index.md")
	for name := range texts {
		assert.That(t, !strings.HasPrefix(name, "docs/") || reached[name], "no page leads to %s", name)
	}
}

// A reader who decides in a minute reads the README to its end.
func TestTheREADMEIsShort(t *testing.T) {
	size := len(documents(t)["README.md"])
	assert.That(t, size <= 9<<10, "README.md has %d bytes, more than 9 KiB: move tables and details to docs", size)
}

func TestTheSiteListsEveryPage(t *testing.T) {
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "docs", "site", "nav.js")))(t)
	listed := map[string]bool{}
	for _, entry := range regexp.MustCompile(`\["([a-z-]+)", "`).FindAllStringSubmatch(string(text), -1) {
		listed["docs/"+entry[1]+".md"] = true
	}
	for name := range documents(t) {
		if outside := !strings.HasPrefix(name, "docs/"); outside {
			name = "docs/" + strings.ToLower(name)
		}
		assert.That(t, listed[name] || strings.HasPrefix(name, "docs/clients/") || name == "docs/readme.md", "the site does not list %s", name)
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("the site lists %s, which is not there", name)
	}
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// maxEntries is the maximum number of files and folders that are inspected in a vault.
const maxEntries = 500_000

// census counts the files and folders of a vault, with examples of those that can cause trouble.
type census struct {
	root        string
	goos        string
	tryRead     func(name string) error
	elsewhere   func(info fs.FileInfo) bool
	entries     int
	notes       int
	placeholder found
	conflict    found
	hardLinked  found
	outside     found
	unreadable  found
	closed      found             // macOS does not allow reading it
	twice       found             // its path differs from another one only in case
	names       map[string]string // paths by their lower-case form
}

// found counts the files and folders of one kind.
type found struct {
	count    int
	examples []string // the first paths, up to maxExamples
}

// maxExamples is the maximum number of paths that are stored for a kind.
const maxExamples = 20

func (f *found) add(name string) {
	f.count++
	if len(f.examples) < maxExamples {
		f.examples = append(f.examples, name)
	}
}

// named lists the first most paths, in quotes.
func (f *found) named(most int) string {
	var quoted []string
	for _, name := range f.examples[:min(most, len(f.examples))] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.Join(quoted, ", ")
}

// notes looks through a vault for files and folders that can cause trouble.
func (m Machine) notes(ctx context.Context, v settings.Served, r *Report) {
	c := census{root: v.Folder, goos: m.OS, tryRead: m.TryRead, elsewhere: m.isElsewhere, names: map[string]string{}}
	err := fs.WalkDir(listed{v.Folder, m.list}, ".", func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil || c.entries >= maxEntries {
			return fs.SkipAll
		}
		rel := filepath.FromSlash(path)
		name := filepath.Join(c.root, rel)
		if err != nil {
			c.unread(rel, err)
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if rel == "." {
			return nil
		}
		c.entries++
		base := entry.Name()
		if system.IsCloudStub(base) {
			c.placeholder.add(rel)
			return nil
		}
		if strings.HasPrefix(base, ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if key := strings.ToLower(rel); c.names[key] != "" {
			c.twice.add(rel)
		} else {
			c.names[key] = rel
		}
		if entry.IsDir() {
			// Listing a folder that iCloud has evicted would download it.
			if info, err := entry.Info(); err == nil && c.elsewhere(info) {
				c.placeholder.add(rel)
				return fs.SkipDir
			}
		}
		if entry.Type()&fs.ModeSymlink != 0 && !leadsInside(c.root, name) {
			c.outside.add(rel)
		}
		if filenames.IsFileAt(name, entry.Type()) {
			c.file(rel, entry)
		}
		return nil
	})
	if err != nil {
		r.warn(
			"vault-unreadable",
			fmt.Sprintf("%q could not be looked through: %v", v.Folder, reason(err)),
			"notes may be missing in answers",
			"give your user the right to read it",
		)
	}
	more := ""
	if c.entries >= maxEntries {
		more = ", and more that were not looked at"
	}
	if c.notes == 0 && more == "" {
		r.warn(
			"vault-empty",
			fmt.Sprintf("%q has no note", v.Folder),
			"there is nothing for an agent to read",
			"set vault to the folder that contains your notes",
		)
	} else {
		r.ok("vault", fmt.Sprintf("vault %q: %s%s", v.Folder, sanitize.Counted(c.notes, "note"), more))
	}
	if !v.Policy.Mutations { // hard links only matter for changes
		c.hardLinked = found{}
	}
	c.report(r)
}

// leadsInside reports whether the target of a symbolic link exists and is inside a folder.
func leadsInside(folder, link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	inside, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(inside)
}

// listed is the file system of a vault that lists folders with a given function.
type listed struct {
	root string
	list func(folder string) ([]fs.DirEntry, error)
}

// path returns the path of a file or folder in the file system of the machine.
func (l listed) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

// Open implements [fs.FS].
func (l listed) Open(name string) (fs.File, error) { return os.Open(l.path(name)) }

// Stat implements [fs.StatFS].
func (l listed) Stat(name string) (fs.FileInfo, error) { return os.Stat(l.path(name)) }

// ReadDir implements [fs.ReadDirFS].
func (l listed) ReadDir(name string) ([]fs.DirEntry, error) { return l.list(l.path(name)) }

// list lists a folder with m.List, if it is set.
func (m Machine) list(folder string) ([]fs.DirEntry, error) {
	if m.List == nil {
		return os.ReadDir(folder)
	}
	return m.List(folder)
}

// isElsewhere reports whether reading a file or folder would download it from a cloud.
func (m Machine) isElsewhere(info fs.FileInfo) bool {
	if m.Elsewhere == nil {
		return system.IsElsewhere(info)
	}
	return m.Elsewhere(info)
}

// unread counts a file or folder that cannot be read.
func (c *census) unread(rel string, err error) {
	if protocol.IsClosedByMacOS(c.goos, err) {
		c.closed.add(rel)
		return
	}
	c.unreadable.add(rel)
}

// file counts a file. Only notes are inspected.
func (c *census) file(rel string, entry fs.DirEntry) {
	if !strings.EqualFold(filepath.Ext(rel), ".md") {
		return
	}
	c.notes++
	if copies().MatchString(entry.Name()) {
		c.conflict.add(rel)
	}
	info, err := entry.Info()
	if err != nil {
		return // it was removed meanwhile
	}
	if c.elsewhere(info) {
		c.placeholder.add(rel)
	} else if c.tryRead != nil {
		err := c.tryRead(filepath.Join(c.root, rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.unread(rel, err)
		}
	}
	if links(info) > 1 {
		c.hardLinked.add(rel)
	}
}

// tryRead reads the first byte of a file, which reveals missing rights and most disk errors.
func tryRead(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// copies matches the names of the copies that Syncthing, Dropbox, OneDrive and others create when two machines have
// changed the same note.
var copies = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.sync-conflict-\d{8}-|\((.*'s )?conflicted copy.*\)|\(case conflict.*\)`)
})

// report adds the findings of the census.
func (c *census) report(r *Report) {
	if c.unreadable.count > 0 {
		r.warn(
			"unreadable",
			fmt.Sprintf("%s cannot be read: %s", filesOrFolders(c.unreadable.count), c.unreadable.named(maxExamples)),
			"they are missing in answers, and changes of many notes are refused",
			"give your user the right to read them, or look at the disk",
		)
	}
	if c.closed.count > 0 {
		r.warn(
			"closed-by-macos",
			fmt.Sprintf("macOS does not let %s be read: %s", filesOrFolders(c.closed.count), c.closed.named(maxExamples)),
			"they are missing in answers, and changes of many notes are refused",
			fixPrivacy,
		)
	}
	for _, kind := range []struct {
		found
		check, what, why, fix string
	}{
		{
			c.placeholder,
			"placeholders",
			"files are in the cloud and not on this disk",
			"a search does not find them, and reading one may take long or fail",
			`have the program that synchronises keep the vault on this device ("Keep Downloaded", "Always keep on this device")`,
		},
		{
			c.conflict,
			"conflict-copies",
			"notes are copies of a conflict",
			"an agent may read or change the copy instead of the note",
			"merge each copy into its note and remove it",
		},
		{
			c.hardLinked,
			"hard-links",
			"notes have more than one hard link",
			"changes of them are refused, because the other name would keep the old text or change unnoticed",
			"replace the link by a copy",
		},
		{
			c.outside,
			"links-outside",
			"symbolic links lead out of the vault, or nowhere",
			"their targets are not read",
			"move the notes into the vault, or serve their folder as a vault of its own",
		},
		{
			c.twice,
			"same-name",
			"names differ from another one only in upper and lower case",
			"on other systems both are one file, and sync loses one of them",
			"rename one of them",
		},
	} {
		if kind.count > 0 {
			r.warn(
				kind.check,
				fmt.Sprintf("%d %s, such as %s", kind.count, kind.what, kind.named(1)),
				kind.why,
				kind.fix,
			)
		}
	}
}

// ignored checks the ignore file of a vault. An unreadable ignore file hides everything.
func (m Machine) ignored(folder string, r *Report) {
	file := filepath.Join(folder, access.IgnoreFile)
	const why = "until this is fixed, every call on the vault is refused"
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && !filenames.IsFileAt(file, info.Mode()):
		r.problem(
			"ignore-not-file",
			fmt.Sprintf("%q is not a regular file", file),
			why,
			"replace it by a file with one pattern a line",
		)
		return
	case err == nil && info.Size() > access.MaxIgnoreFile:
		r.problem(
			"ignore-too-long",
			fmt.Sprintf("%q has %d bytes, more than %d", file, info.Size(), access.MaxIgnoreFile),
			why,
			"shorten it: a pattern may name a whole folder",
		)
		return
	}
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		r.problem(
			"ignore-unreadable",
			fmt.Sprintf("%q cannot be read: %v", file, reason(err)),
			why,
			"give your user the right to read it",
		)
	case !utf8.Valid(text):
		r.warn(
			"ignore-not-utf8",
			fmt.Sprintf("%q is not UTF-8 text", file),
			"a pattern in another encoding hides nothing",
			"save it as UTF-8",
		)
	case !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "#")
	}):
		r.warn(
			"ignore-empty",
			fmt.Sprintf("%q has no pattern", file),
			"it hides nothing",
			"add patterns, or remove the file",
		)
	case access.ParseIgnored(string(text)).Hides("Any note.md", access.File) &&
		access.ParseIgnored(string(text)).Hides("Any folder", access.Folder):
		r.warn(
			"ignore-everything",
			fmt.Sprintf("%q hides every note", file),
			"an agent finds an empty vault",
			"make the patterns narrower",
		)
	default:
		r.ok("ignore", fmt.Sprintf("%q hides notes", file))
		// A space at the end of a pattern is probably a mistake.
		for i, line := range strings.Split(string(text), "\n") {
			line = strings.TrimSuffix(line, "\r")
			endsWithSpace := strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `)
			isPattern := strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#")
			if endsWithSpace && isPattern {
				r.warn(
					"ignore-space",
					fmt.Sprintf("line %d of %q ends with a space", i+1, file),
					"the space is not part of the pattern",
					`remove it, or write "\ "`,
				)
				break
			}
		}
	}
}

// filesOrFolders returns "1 file or folder" or "N files or folders".
func filesOrFolders(n int) string {
	if n == 1 {
		return "1 file or folder"
	}
	return fmt.Sprintf("%d files or folders", n)
}

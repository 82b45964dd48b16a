package access

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-pkgs/gitignore"
	"golang.org/x/text/unicode/norm"
)

// IgnoreFile is the name of the file with patterns in the root of a vault.
const IgnoreFile = ".vaultwicketignore"

// MaxIgnoreFile is the maximum size of that file in bytes: it is read at every call, and the library
// accepts lines of less than 64 KiB.
const MaxIgnoreFile = 60 << 10

// IgnoreFileOf returns the path of the ignore file of the vault in a folder, or "" if there is no such file or no folder.
// The file may be unusable.
func IgnoreFileOf(folder string) string {
	if folder == "" {
		return ""
	}
	file := filepath.Join(folder, IgnoreFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

// Ignored decides which notes the patterns of a file hide, according to gitignore(5). Everything in a matched
// folder is hidden, whatever other patterns match (gitignore(5): "It is not possible to re-include a file if
// a parent directory of that file is excluded"). It is safe for concurrent use; nil hides nothing.
type Ignored struct {
	written, plain patterns // as written, and normalized to match any spelling of a name
	folders        sync.Map // cache: path of a folder → whether it is hidden
}

// ParseIgnored parses the text of a file of patterns. It returns nil if the text is blank.
func ParseIgnored(text string) *Ignored {
	if len(strings.TrimSpace(text)) == 0 {
		return nil
	}
	return &Ignored{written: newPatterns(text), plain: newPatterns(normalize(text))}
}

// Kind tells files from folders: a pattern may match only folders.
type Kind bool

// The kinds.
const (
	File   Kind = false
	Folder Kind = true
)

// Hides reports whether a file or folder is hidden. name is its path from the root of the
// vault, with slashes. The root itself, "", is never hidden.
func (l *Ignored) Hides(name string, kind Kind) bool {
	if l == nil || name == "" {
		return false
	}
	if kind == Folder {
		return l.hidesFolder(name)
	}
	if parent := path.Dir(name); parent != "." && l.hidesFolder(parent) {
		return true
	}
	return l.hidingPattern(name, File) != nil
}

// hidesFolder is Hides for a folder other than the root, with a cache.
func (l *Ignored) hidesFolder(name string) bool {
	if known, ok := l.folders.Load(name); ok {
		return known.(bool)
	}
	parent := path.Dir(name)
	isParentHidden := parent != "." && l.hidesFolder(parent)
	isHidden := isParentHidden || l.hidingPattern(name, Folder) != nil
	l.folders.Store(name, isHidden)
	return isHidden
}

// hidingPattern returns the pattern that hides a name itself, not a folder around it, or nil. On some
// systems another case or normal form is the same file, so a pattern hides all spellings.
func (l *Ignored) hidingPattern(name string, kind Kind) *pattern {
	deciding := l.written.lastMatch(name, kind)
	if deciding != nil && !deciding.negated {
		return deciding
	}
	deciding = l.plain.lastMatch(normalize(name), kind)
	if deciding != nil && !deciding.negated {
		return deciding
	}
	return nil
}

// normalize returns the same text for all spellings of a name that differ only in the case of
// letters, invisible characters or the normal form.
func normalize(text string) string {
	if isPlain(text) {
		return text
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return foldRune(r)
	}, text))
}

// Reason is the reason why something is hidden: a line of the ignore file, and the path that it
// matches, which is that of the note or of a folder around it.
type Reason struct {
	Line    int // its number, from 1
	Pattern string
	Path    string
}

// Reason returns why a file or folder is hidden. ok is false if it is not hidden.
func (l *Ignored) Reason(name string, kind Kind) (reason Reason, ok bool) {
	if !l.Hides(name, kind) {
		return Reason{}, false
	}
	for end := 0; end < len(name); end++ {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			break
		}
		end += next
		if reason, ok = l.reasonFor(name[:end], Folder); ok {
			return reason, true
		}
	}
	return l.reasonFor(name, kind)
}

// reasonFor returns the reason that hides a name itself, not a folder around it.
func (l *Ignored) reasonFor(name string, kind Kind) (Reason, bool) {
	hiding := l.hidingPattern(name, kind)
	if hiding == nil {
		return Reason{}, false
	}
	for _, original := range l.written.lines { // the line as written, not normalized
		if original.line == hiding.line {
			hiding = &original
		}
	}
	return Reason{Line: hiding.line, Pattern: hiding.text, Path: name}, true
}

// patterns are the lines of a file in the format of gitignore(5). The last line that matches a name decides.
//
// Each line has its own matcher: in a common one, a negated line would also apply to everything in
// a folder, and so show files that git hides.
type patterns struct {
	lines []pattern
	any   *gitignore.Matcher // matches if one of the lines may
}

type pattern struct {
	matcher gitignore.Matcher
	negated bool // it negates earlier lines
	folders bool // it matches folders only
	line    int  // its number in the file
	text    string
}

// newPatterns parses the text of a file.
func newPatterns(text string) patterns {
	p := patterns{any: &gitignore.Matcher{}}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		end := 0 // of the line without trailing blanks, unless they are escaped
		for at := 0; at < len(line); at++ {
			if line[at] == '\\' {
				at++
			} else if line[at] == ' ' {
				continue
			}
			end = min(at+1, len(line))
		}
		line = line[:end]
		if line == "" || line[0] == '#' {
			continue
		}
		current := pattern{line: i + 1, text: line}
		line, current.negated = strings.CutPrefix(line, "!")
		line, current.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		line = strings.ReplaceAll(line, `\/`, "/") // no name has a backslash
		for strings.Contains(line, "***") {
			line = strings.ReplaceAll(line, "***", "**")
		}
		if inside, ok := strings.CutSuffix(line, "/**"); ok {
			line = inside + "/**/*" // with "/**", the library would also match the folder itself
		}
		if line[0] == '#' || line[0] == '!' {
			line = `\` + line
		}
		current.matcher.AddPatterns([]byte(line+"/"), "")
		p.any.AddPatterns([]byte(line), "")
		p.lines = append(p.lines, current)
	}
	return p
}

// lastMatch returns the last line that matches a name, or nil.
func (p patterns) lastMatch(name string, kind Kind) *pattern {
	if !p.any.MatchPath(name, true) {
		return nil
	}
	for i := range slices.Backward(p.lines) {
		// The line must match the name itself, not a folder around it. All lines were added as lines about
		// folders: such a line matches everything in a folder, but the folder itself only as a folder.
		line := &p.lines[i]
		applies := kind == Folder || !line.folders
		isItself := line.matcher.MatchPath(name, true) && !line.matcher.MatchPath(name, false)
		if applies && isItself {
			return line
		}
	}
	return nil
}

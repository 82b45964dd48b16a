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

// IgnoreFile is the name of the file of patterns, in the root of a vault.
const IgnoreFile = ".vaultwicketignore"

// MaxIgnoreFile bounds that file, in bytes: it is read at every call, and the library reads
// lines of less than 64 KiB.
const MaxIgnoreFile = 60 << 10

// IgnoreFileOf returns the path of the ignore file of a vault in a folder, "" if it has none, also for no folder. The
// file at the path may be one that cannot be used.
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

// Ignored says which notes the patterns of a file hide, as gitignore(5) describes them. Everything in a folder
// that they match is hidden too, whatever else they say (gitignore(5): "It is not possible to re-include a file
// if a parent directory of that file is excluded"). It is safe for concurrent use; nil hides nothing.
type Ignored struct {
	written, plain patterns // as they are written, and for any spelling of a name
	folders        sync.Map // path of a folder → bool
}

// ParseIgnored reads the text of a file of patterns. It returns nil if the text has none.
func ParseIgnored(text string) *Ignored {
	if len(strings.TrimSpace(text)) == 0 {
		return nil
	}
	return &Ignored{written: newPatterns(text), plain: newPatterns(plainly(text))}
}

// Kind says what a name in a vault is that of: a pattern can be about folders alone.
type Kind bool

// The kinds.
const (
	File   Kind = false
	Folder Kind = true
)

// Hides reports whether a file or folder is hidden, by its path from the root of the
// vault with slashes. The root itself, "", never is.
func (l *Ignored) Hides(name string, is Kind) bool {
	if l == nil || name == "" {
		return false
	}
	if is == Folder {
		return l.hidesFolder(name)
	}
	if parent := path.Dir(name); parent != "." && l.hidesFolder(parent) {
		return true
	}
	return l.hiding(name, File) != nil
}

func (l *Ignored) hidesFolder(name string) bool {
	if known, ok := l.folders.Load(name); ok {
		return known.(bool)
	}
	parent := path.Dir(name)
	hidden := parent != "." && l.hidesFolder(parent) || l.hiding(name, Folder) != nil
	l.folders.Store(name, hidden)
	return hidden
}

// hiding returns the line that hides one name, without the folders around it, nil if none does. On some
// systems another case or normal form is the same file, so a pattern hides all of them.
func (l *Ignored) hiding(name string, is Kind) *pattern {
	if decides := l.written.decides(name, is); decides != nil && !decides.negated {
		return decides
	}
	if decides := l.plain.decides(plainly(name), is); decides != nil && !decides.negated {
		return decides
	}
	return nil
}

// plainly returns the form that all spellings of a name share which differ only in the case
// of letters or the normal form.
func plainly(text string) string {
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

// Reason is why something is hidden: a line of the ignore file, and the path that it matches,
// of the note itself or of a folder around it.
type Reason struct {
	Line    int // its number, from 1
	Pattern string
	Path    string
}

// Reason returns why a file or folder is hidden; ok is false for one that is not.
func (l *Ignored) Reason(name string, is Kind) (reason Reason, ok bool) {
	if !l.Hides(name, is) {
		return Reason{}, false
	}
	for end := 0; end < len(name); end++ {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			break
		}
		end += next
		if reason, ok = l.matching(name[:end], Folder); ok {
			return reason, true
		}
	}
	return l.matching(name, is)
}

// matching returns the line that hides one name, without the folders around it.
func (l *Ignored) matching(name string, is Kind) (Reason, bool) {
	decides := l.hiding(name, is)
	if decides == nil {
		return Reason{}, false
	}
	for _, own := range l.written.lines { // as it is written
		if own.line == decides.line {
			decides = &own
		}
	}
	return Reason{Line: decides.line, Pattern: decides.text, Path: name}, true
}

// patterns are the lines of a file such as gitignore(5) describes. The last one that matches a name decides.
//
// The library gets one line at a time: in it a line that negates others also applies to
// everything in a folder, which would show what git hides.
type patterns struct {
	lines []pattern
	any   *gitignore.Matcher // whether one of them may match
}

type pattern struct {
	matcher gitignore.Matcher
	negated bool // it negates those before it
	folders bool // it matches folders only
	line    int  // its number in the file
	text    string
}

func newPatterns(text string) patterns {
	p := patterns{any: &gitignore.Matcher{}}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		end := 0 // without the blanks that have no backslash before them
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
		one := pattern{line: i + 1, text: line}
		line, one.negated = strings.CutPrefix(line, "!")
		line, one.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		line = strings.ReplaceAll(line, `\/`, "/") // no name has a backslash
		for strings.Contains(line, "***") {
			line = strings.ReplaceAll(line, "***", "**")
		}
		if inside, ok := strings.CutSuffix(line, "/**"); ok {
			line = inside + "/**/*" // for the library the folder is within itself
		}
		if line[0] == '#' || line[0] == '!' {
			line = `\` + line
		}
		one.matcher.AddPatterns([]byte(line+"/"), "")
		p.any.AddPatterns([]byte(line), "")
		p.lines = append(p.lines, one)
	}
	return p
}

// decides returns the line that decides about a name, nil if none matches.
func (p patterns) decides(name string, is Kind) *pattern {
	if !p.any.MatchPath(name, true) {
		return nil
	}
	for i := range slices.Backward(p.lines) {
		// The line matches this name itself, not a folder around it. The library has every line as one
		// about folders: such a line matches everything in a folder, and the folder itself only as a folder.
		one := &p.lines[i]
		applies := is == Folder || !one.folders
		isItself := one.matcher.MatchPath(name, true) && !one.matcher.MatchPath(name, false)
		if applies && isItself {
			return one
		}
	}
	return nil
}

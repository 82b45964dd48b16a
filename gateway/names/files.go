package names

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// otherCase returns a name with the case of every letter changed that has two.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); lower != r {
			return lower
		}
		return unicode.ToUpper(r)
	}, name)
}

// otherForm returns a name in another Unicode normal form, itself if it is the same in all.
func otherForm(name string) string {
	if isASCII(name) {
		return name
	}
	if composed := norm.NFC.String(name); composed != name {
		return composed
	}
	return norm.NFD.String(name)
}

// Same reports whether the case of letters or the normal form is all that tells two names apart.
func Same(a, b string) bool { return fold(a) == fold(b) }

// fold returns what the cases and forms of a name have in common.
func fold(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

func isASCII(name string) bool {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// level is one open folder.
type level interface {
	lstat(name string) (fs.FileInfo, error)
	list() ([]string, error)
	enter(name string) (level, error)
	info() (fs.FileInfo, error)
	close()
}

// rooted is a folder that names cannot lead out of.
type rooted struct{ dir *os.Root }

func (r rooted) lstat(name string) (fs.FileInfo, error) { return r.dir.Lstat(name) }
func (r rooted) info() (fs.FileInfo, error)             { return r.dir.Stat(".") }
func (r rooted) close()                                 { r.dir.Close() }

func (r rooted) enter(name string) (level, error) {
	sub, err := r.dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rooted{sub}, nil
}

func (r rooted) list() ([]string, error) {
	handle, err := r.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	return handle.Readdirnames(-1)
}

// plain is a folder by its path, which may be one that cannot be opened.
type plain string

func (p plain) lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(string(p), name))
}
func (p plain) info() (fs.FileInfo, error)       { return os.Stat(string(p)) }
func (p plain) enter(name string) (level, error) { return plain(filepath.Join(string(p), name)), nil }
func (p plain) close()                           {}

func (p plain) list() ([]string, error) {
	handle, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	return handle.Readdirnames(-1)
}

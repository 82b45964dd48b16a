package allowlist

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	maxPathBytes    = 1024 // PATH_MAX of macOS, the lowest of the systems that vaults are synced to
	maxSegmentBytes = 255  // NAME_MAX of Linux
)

// pathProblem returns why p is not a valid path in the vault, "" if it is valid.
//
// The same rules apply on every system, because a vault is synced between them: a name that is harmless
// here may be a device or a hidden folder elsewhere. The app joins paths to the vault folder without
// checking them, so whatever passes here reaches the file system.
func pathProblem(p string) (reason string) {
	switch {
	case p == "":
		return "is empty"
	case len(p) > maxPathBytes:
		return fmt.Sprintf("is longer than %d bytes", maxPathBytes)
	case !utf8.ValidString(p):
		return "is not valid UTF-8"
	case p[0] == '/':
		return "begins with a slash; vault paths are relative to the vault"
	case strings.Contains(p, `\`):
		return "contains a backslash; vault paths are written with /"
	case strings.Contains(p, ":"):
		return "contains a colon, which names a drive or a stream on some systems"
	}
	if r := firstUnprintable(p); r >= 0 {
		return fmt.Sprintf("contains the control or invisible character %U", r)
	}
	for s := range strings.SplitSeq(p, "/") {
		// HFS+ ignores joiners when it compares names, and the app may trim blanks: neither may
		// disguise the dot of a hidden folder.
		visible := strings.TrimLeftFunc(
			s,
			func(r rune) bool { return r == '\u200c' || r == '\u200d' || unicode.IsSpace(r) },
		)
		switch {
		case s == "":
			return "has an empty segment (two slashes in a row or one at the end)"
		case visible == "":
			return fmt.Sprintf("has the segment %q, which shows nothing", s)
		case s == "." || s == "..":
			return fmt.Sprintf("has the segment %q; vault paths have no relative segments", s)
		case visible[0] == '.':
			return fmt.Sprintf(
				"has the hidden segment %q; files and folders that begin with a dot are not accessible",
				s,
			)
		case len(s) > maxSegmentBytes:
			return fmt.Sprintf("has a segment longer than %d bytes", maxSegmentBytes)
		case s[len(s)-1] == '.' || len(strings.TrimRightFunc(s, unicode.IsSpace)) < len(s):
			return fmt.Sprintf("has the segment %q, which ends in a dot or a blank that Windows drops", s)
		case isDeviceName(s):
			return fmt.Sprintf("has the segment %q, a device name on Windows", s)
		case isShortName(s):
			return fmt.Sprintf("has the segment %q, which looks like a short name of Windows for another file", s)
		}
	}
	return ""
}

// canonicalFolder is [pathProblem] for a folder. It drops one slash at the end;
// "/" alone is the root of the vault.
func canonicalFolder(p string) (canonical, reason string) {
	if p == "/" {
		return p, ""
	}
	p = strings.TrimSuffix(p, "/")
	return p, pathProblem(p)
}

// titleProblem returns why s is not a valid name for a new file, "" if it is valid. The name has no
// folder: where a new note goes is always given as a path, so that it can be judged.
func titleProblem(s string) (reason string) {
	if strings.Contains(s, "/") {
		return "contains a slash; use path= to give a folder"
	}
	if reason := unportable(s); reason != "" {
		return reason
	}
	return pathProblem(s)
}

// newPathProblem is [pathProblem] for a file that may have to be created. Only its name
// must be portable: its folders may already exist under any valid name.
func newPathProblem(p string) (reason string) {
	if reason := unportable(p[strings.LastIndexByte(p, '/')+1:]); reason != "" {
		return reason
	}
	return pathProblem(p)
}

// destinationProblem returns why p is not a valid target of a move, "" if it is valid: a folder with a
// slash at its end, or a path whose name has an extension. Anything else is refused: the Obsidian CLI would
// treat it as a file name (reported on 1.12), and the note would lose its extension if a folder was meant.
func destinationProblem(p string) (reason string) {
	if strings.HasSuffix(p, "/") {
		_, reason := canonicalFolder(p)
		return reason
	}
	if reason := newPathProblem(p); reason != "" {
		return reason
	}
	if name := p[strings.LastIndexByte(p, '/')+1:]; !strings.Contains(name, ".") {
		return fmt.Sprintf(
			"could be a folder or a file; want %q for the folder or %q for the note",
			excerpt.Short(p)+"/",
			excerpt.Short(p)+".md",
		)
	}
	return ""
}

// unportable returns why a file of that name could not be linked to, or not exist
// on Windows; "" if it could (help page "Internal links", file names).
func unportable(name string) string {
	if i := strings.IndexAny(name, `#^[]|*?"<>`); i >= 0 {
		return fmt.Sprintf("contains %q, which is not allowed in the name of a note", name[i])
	}
	if strings.Contains(name, "%%") {
		return "contains %%, which begins a comment in a link"
	}
	return ""
}

// isDeviceName reports whether Windows opens a device for the segment, regardless of
// its extension and case (Microsoft, "Naming Files, Paths, and Namespaces").
func isDeviceName(segment string) bool {
	base, _, _ := strings.Cut(segment, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	digit, ok := strings.CutPrefix(base, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(digit) == 1 && strings.Contains("0123456789¹²³", digit)
}

// isShortName reports whether the segment has the form of an 8.3 alias such as
// OBSIDI~1, by which Windows also opens the hidden folder .obsidian.
func isShortName(segment string) bool {
	base, extension, _ := strings.Cut(segment, ".")
	if utf8.RuneCountInString(base) > 8 || utf8.RuneCountInString(extension) > 3 || strings.Contains(extension, ".") {
		return false
	}
	tilde := strings.LastIndexByte(base, '~') // there may be several: .~tmp is ~TMP~1
	number := base[tilde+1:]
	return tilde >= 0 && number != "" && strings.Trim(number, "0123456789") == ""
}

// firstUnprintable returns the first invisible or reordering character of s, or -1.
func firstUnprintable(s string) rune {
	for _, r := range s {
		if isUnprintable(r) {
			return r
		}
	}
	return -1
}

// isUnprintable reports whether r is a control character, a bidi control, a zero-width or tag
// character, a line or paragraph separator, or a filler without a glyph. The joiners U+200C and
// U+200D are printable: Persian, Indic scripts and emoji need them.
func isUnprintable(r rune) bool {
	if r == '\u200c' || r == '\u200d' {
		return false
	}
	isSeparator := r == '\u2028' || r == '\u2029'
	return isSeparator || unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// Named returns the value of file=, with which a call names its note as in a link.
// ok is false if the call names no note, or names it by its path.
func (c Call) Named() (name string, ok bool) {
	i := slices.IndexFunc(c.args, func(a arg) bool { return a.key == "file" && a.kind == kindLink })
	if i < 0 {
		return "", false
	}
	return c.args[i].value, true
}

// NamesNew returns the name of the note that the call creates in the folder for new
// notes. ok is false if the call creates none, or creates it at a given path.
func (c Call) NamesNew() (name string, ok bool) { return c.Param(c.definition().newNote) }

// At returns the call with path in place of the name of its note, or of the note that it creates, so that the
// note that was judged is the one that is changed. The error is a [*ParseError] if the call names no note,
// or path is not valid.
func (c Call) At(path string) (Call, error) {
	name := c.definition().newNote
	if _, createsNote := c.NamesNew(); !createsNote {
		name = "file"
		if _, ok := c.Named(); !ok {
			return Call{}, &ParseError{
				code:    CodeBadValue,
				Command: c.Name(),
				Param:   "path",
				Reason:  "the call names no note",
			}
		}
	}
	params := c.Params()
	delete(params, name)
	params["path"] = Text(path)
	at, err := Parse(c.Name(), params)
	at.vault = c.vault
	return at, err
}

// WithPaths returns the call with each path that it names replaced by the result of name, and checked again. With
// exist, only paths of notes that must exist are replaced. Of the target path of a move only the folder is replaced.
// The error is a [*ParseError] if a new path is not valid.
func (c Call) WithPaths(exist bool, name func(path string) string) (Call, error) {
	params := c.Params()
	changed := false
	for _, a := range c.args {
		if exist && a.kind != kindPath && a.kind != kindRef {
			continue
		}
		if value := a.withPath(name); value != a.value {
			params[a.key] = Text(value)
			changed = true
		}
	}
	if !changed {
		return c, nil
	}
	again, err := Parse(c.Name(), params)
	again.vault = c.vault
	return again, err
}

// withPath returns the value of the argument with its path replaced by the result of name.
func (a arg) withPath(name func(path string) string) string {
	switch a.kind {
	case kindPath, kindNewPath:
		return name(a.value)
	case kindFolder:
		return folderAs(a.value, name)
	case kindRef:
		colon := strings.LastIndexByte(a.value, ':')
		return name(a.value[:colon]) + a.value[colon:]
	case kindDestination:
		slash := strings.LastIndexByte(a.value, '/')
		if slash < 0 {
			return a.value
		}
		return folderAs(a.value[:slash], name) + a.value[slash:]
	}
	return a.value
}

func folderAs(folder string, name func(path string) string) string {
	if bare := strings.TrimSuffix(folder, "/"); bare != "" {
		return name(bare) + folder[len(bare):]
	}
	return folder
}

// fileKinds lists the kinds of files that the app opens, with their extensions (help page
// "Accepted file formats").
var fileKinds = []struct{ name, extensions string }{
	{"note", "md"}, {"canvas", "canvas"}, {"base", "base"},
	{"image", "avif bmp gif jpeg jpg png svg webp"},
	{"audio", "flac m4a mp3 oga ogg opus wav"},
	{"video", "3gp mkv mov mp4 ogv webm"},
	{"pdf", "pdf"},
}

// FileKind returns the kind of a file: note, canvas, base, image, audio, video, pdf, or other.
// extension has no dot, and its case does not matter.
func FileKind(extension string) string {
	extension = strings.ToLower(extension)
	for _, k := range fileKinds {
		for known := range strings.FieldsSeq(k.extensions) {
			if known == extension {
				return k.name
			}
		}
	}
	return "other"
}

// ServesKind returns a hint with the commands for a kind of file other than a note.
func ServesKind(kind string) string {
	switch kind {
	case "canvas":
		return "canvas:read shows a canvas; canvas:add, canvas:set, canvas:connect and canvas:remove change it"
	case "base":
		return "base:query answers a base; base:add-view, base:set-view, base:set-formula and base:remove-view change it"
	case "pdf":
		return "attachment:text prints the text of a PDF; attachment:write replaces the file"
	case "image":
		return "attachment:read shows an image; attachment:write replaces the file"
	}
	return "attachment:text prints a text, attachment:read tells the type and size of another file; attachment:write replaces it"
}

// TextInto returns the kind of the file that the call writes text to, judged by its extension. It
// returns note if the extension is unknown, and for calls that write no text.
func (c Call) TextInto() string {
	writesText := slices.ContainsFunc(c.definition().params, func(p param) bool { return p.kind == kindContent })
	if !writesText {
		return "note"
	}
	for _, a := range c.args {
		namesFile := a.key == "path" || a.key == "file" || a.key == "name"
		if !namesFile {
			continue
		}
		if kind := FileKind(strings.TrimPrefix(path.Ext(a.value), ".")); kind != "other" {
			return kind
		}
	}
	return "note"
}

package base

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// noteBase is a base in a note: a code block, or the embed of a base file.
type noteBase struct {
	base *bases.Base
	view string // "" for its first view
	// one says that the embed shows this view alone.
	one bool
}

// embeddedBase returns the base of a note that has a view, by its name or by its
// number among all views of the note; without a name it is the first.
func embeddedBase(v *session.Vault, path disk.Path, text []byte, name string) (*bases.Base, string, error) {
	found, err := basesIn(v, path, text)
	if err != nil {
		return nil, "", err
	}
	if len(found) == 0 {
		return nil, "", answer.Failure("There is no base in the note: %q", answer.Verbatim(path.String()))
	}
	if name == "" {
		return found[0].base, found[0].view, nil
	}
	var names []string
	number := 0
	for _, b := range found {
		for _, known := range b.views() {
			number++
			if known == name || fmt.Sprint(number) == name {
				return b.base, known, nil
			}
			names = append(names, known)
		}
	}
	return nil, "", noView(&bases.UnknownView{Name: name, Known: names})
}

// views are the names of the views that the note shows.
func (b noteBase) views() (names []string) {
	if b.one {
		return []string{b.view}
	}
	for _, v := range b.base.Views {
		names = append(names, v.Name)
	}
	return names
}

// basesIn returns the bases of a note, its code blocks first.
func basesIn(v *session.Vault, path disk.Path, text []byte) (found []noteBase, err error) {
	for _, block := range codeBlocks(string(text), baseExtension) {
		base, err := parseBase([]byte(block))
		if err != nil {
			return nil, err
		}
		found = append(found, noteBase{base: base})
	}
	var x *index.Index
	for _, l := range index.ReadNote(text).Note.Links {
		if !l.Embed || !strings.HasSuffix(l.Path, "."+baseExtension) {
			continue
		}
		if x == nil {
			if x, err = v.Index(); err != nil {
				return nil, err
			}
		}
		place, ok := x.ResolveFrom(l.Path, path.String())
		if !ok {
			continue
		}
		base, _, err := readBase(v, x.Files[place].Path, "")
		if err != nil {
			return nil, err
		}
		found = append(found, embedOf(base, l))
	}
	return found, nil
}

// embedOf returns the base that a link embeds, with the view behind its "#".
func embedOf(base *bases.Base, l markdown.Link) noteBase {
	name := strings.TrimPrefix(l.Subpath, "#")
	return noteBase{base: base, view: name, one: name != ""}
}

// codeBlocks returns the texts of the fenced code blocks of a language.
func codeBlocks(text, language string) (blocks []string) {
	var fence, block string
	wanted := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch mark := fenceOf(line); {
		case fence == "" && mark != "":
			fence, block = mark, ""
			wanted = strings.TrimSpace(bare[len(mark):]) == language
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "":
			if wanted {
				blocks = append(blocks, block)
			}
			fence = ""
		case fence != "":
			block += line
		}
	}
	return blocks
}

// fenceOf returns the marks of a fence at the start of a line, "" if there is
// none.
func fenceOf(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	mark := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
	if len(mark) < 3 {
		return ""
	}
	return mark
}

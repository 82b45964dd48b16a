package commands

import (
	"strings"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/markdown"
)

func init() {
	register(command.Command{Name: "vault:replace", Plan: replaceInVault})
}

// replaceInVault replaces a text wherever it is in the notes of a folder or a query: in
// texts, properties and code alike. A note whose properties could not be read any more
// is a reason to change nothing.
func replaceInVault(v *command.Vault, p command.Values) (command.Proposal, error) {
	find, err := searchFor(budget.From(v.Ctx), p)
	if err != nil {
		return command.Proposal{}, err
	}
	notes, err := Notes(v, p, true, func(n *knowledge.Note) bool { return find.mayBeIn(n.Text()) })
	if err == nil {
		err = budget.From(v.Ctx).Err()
	}
	if err != nil {
		return command.Proposal{}, err
	}
	changes, places := For(v), 0
	for _, path := range notes {
		err := changes.Edit(path, func(text []byte) ([]byte, error) {
			edited, n, err := replaceIn(text, find)
			if err == nil {
				err = keepsProperties(path, text, edited)
			}
			places += n
			return edited, err
		})
		if err != nil {
			return command.Proposal{}, err
		}
	}
	return changes.Proposal("Replaced " + Counted(places, "place")), nil
}

// keepsProperties refuses a change with which a block of properties could not be read
// any more, or would be text.
func keepsProperties(path disk.Path, before, after []byte) error {
	old, now := markdown.Scan(before), markdown.Scan(after)
	if _, err := frontmatter.Parse(before[old.Frontmatter.Start:old.Frontmatter.End]); err != nil || old.Body == 0 {
		return nil
	}
	_, err := frontmatter.Parse(after[now.Frontmatter.Start:now.Frontmatter.End])
	if err == nil && now.Body > 0 {
		return nil
	}
	return command.Failure("The properties of %q could not be read with the new text. Nothing was changed. Narrow it with folder=<path> or query=<text>.", command.Verbatim(path.String()))
}

// replaceIn returns a note with all matches replaced, and how many those are. A match
// is looked for in the text with LF in place of CRLF and without a byte order mark; what is
// put in gets the line ends of the place. All other bytes stay.
func replaceIn(text []byte, find finder) (edited []byte, places int, err error) {
	flat := flatten(text)
	end := flat.lineEnd()
	var out []byte
	at := 0
	err = find.each(flat.text, func(from, to int, put string) error {
		if end != "\n" {
			put = strings.ReplaceAll(put, "\n", end)
		}
		start, stop := flat.offset(from), flat.offset(to)
		if len(out)+start-at+len(put) > maxNoteSize {
			return errNoteTooLong
		}
		if out == nil {
			out = make([]byte, 0, len(text))
		}
		out = append(append(out, text[at:start]...), put...)
		at, places = stop, places+1
		return nil
	})
	if err != nil || places == 0 {
		return text, 0, err
	}
	return append(out, text[at:]...), places, nil
}

// maxNoteSize bounds what becomes of a note.
const maxNoteSize = 32 << 20

var errNoteTooLong = command.TooLong.Failure("With the new text a note would have more than %d MiB. Nothing was changed.", maxNoteSize>>20)

// flat is the text of a note with LF for each line end, and where its bytes are in the
// note.
type flat struct {
	text string
	bom  int
	gone []int // for each CR that is left out, where the LF after it is in text
	ends int   // how many line ends there are
}

const byteOrderMark = "\ufeff"

func flatten(text []byte) flat {
	body := string(text)
	rest := strings.TrimPrefix(body, byteOrderMark)
	f := flat{text: rest, bom: len(body) - len(rest), ends: strings.Count(rest, "\n")}
	if !strings.Contains(rest, "\r\n") {
		return f
	}
	var out strings.Builder
	out.Grow(len(rest))
	for {
		at := strings.Index(rest, "\r\n")
		if at < 0 {
			break
		}
		out.WriteString(rest[:at])
		f.gone = append(f.gone, out.Len())
		out.WriteByte('\n')
		rest = rest[at+len("\r\n"):]
	}
	out.WriteString(rest)
	f.text = out.String()
	return f
}

// lineEnd is that of most lines.
func (f flat) lineEnd() string {
	if 2*len(f.gone) > f.ends {
		return "\r\n"
	}
	return "\n"
}

// offset returns where in the note a place of the text is: in front of the CR if a
// line end follows.
func (f flat) offset(at int) int {
	low, high := 0, len(f.gone)
	for low < high {
		if mid := (low + high) / 2; f.gone[mid] < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return f.bom + at + low
}

package edit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// WithOwnLabels returns a text that is to be merged with another, with other labels for its footnotes and reference
// links where the other text has the same label for something else. What refers to them is changed with them. renamed
// has the changes as "[^1] -> [^2]".
func WithOwnLabels(text, other []byte) (edited []byte, renamed []string) {
	own := markdown.ScanReferences(text)
	others := markdown.ScanReferences(other)
	taken := map[string]bool{}
	for _, r := range []markdown.References{own, others} {
		for _, d := range r.Definitions {
			taken[d.Label] = true
		}
		for _, u := range r.Uses {
			taken[u.Label] = true
		}
	}
	used := map[string]bool{}
	for _, u := range others.Uses {
		used[u.Label] = true
	}
	to := map[string]string{}
	for _, d := range own.Definitions {
		same, defined := others.Defined(d.Label)
		clashes := defined && !sameDefinition(text, d, other, same)
		captures := !defined && used[d.Label] // what the other note leaves undefined
		if to[d.Label] != "" || !clashes && !captures {
			continue
		}
		label := freeLabel(string(text[d.LabelAt.Start:d.LabelAt.End]), taken)
		to[d.Label] = label
		renamed = append(renamed, "["+string(text[d.LabelAt.Start:d.LabelAt.End])+"] -> ["+label+"]")
	}
	return withLabels(text, own, to), renamed
}

// sameDefinition reports whether two definitions say the same.
func sameDefinition(text []byte, d markdown.Definition, other []byte, o markdown.Definition) bool {
	said := func(text []byte, d markdown.Definition) []byte {
		return bytes.TrimSpace(text[d.LabelAt.End:d.Span.End])
	}
	return bytes.Equal(said(text, d), said(other, o))
}

// freeLabel returns a label that is not taken, and takes it: the next number, or the label with a number.
func freeLabel(label string, taken map[string]bool) string {
	prefix := label + "-"
	if digits := strings.TrimPrefix(label, "^"); digits != label && strings.Trim(digits, "0123456789") == "" {
		prefix = "^"
	}
	for n := 2; ; n++ {
		free := prefix + strconv.Itoa(n)
		if folded := markdown.FoldLabel(free); !taken[folded] {
			taken[folded] = true
			return free
		}
	}
}

// withLabels returns a text with other labels. The text that a reference link shows stays.
func withLabels(text []byte, r markdown.References, to map[string]string) []byte {
	type patch struct {
		markdown.Span
		label string
	}
	var patches []patch
	for _, d := range r.Definitions {
		if label := to[d.Label]; label != "" {
			patches = append(patches, patch{d.LabelAt, label})
		}
	}
	for _, u := range r.Uses {
		switch label := to[u.Label]; {
		case label == "":
		case u.Shortcut:
			after := u.At.End + len("]")
			patches = append(patches, patch{markdown.Span{Start: after, End: after}, "[" + label + "]"})
		default:
			patches = append(patches, patch{u.At, label})
		}
	}
	if len(patches) == 0 {
		return text
	}
	slices.SortFunc(patches, func(a, b patch) int { return a.Start - b.Start })
	var edited []byte
	at := 0
	for _, p := range patches {
		edited = append(append(edited, text[at:p.Start]...), p.label...)
		at = p.End
	}
	return append(edited, text[at:]...)
}

// Closed returns a text in which the code block, comment or formula that is open at its end is closed.
func Closed(text []byte) []byte {
	closing := markdown.ScanReferences(text).Open
	if closing == "" {
		return text
	}
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	closed := slices.Clone(text)
	if !bytes.HasSuffix(closed, []byte("\n")) {
		closed = append(closed, end...)
	}
	return append(append(closed, closing...), end...)
}

// DivideReferences returns the parts of a text, each with the definitions that it needs: one that another part uses goes
// there, and stays where it is used, or where nothing uses it. carried returns a definition as it is written in a part.
// moved has the labels of those that go to another part.
func DivideReferences(
	parts [][]byte,
	carried func(part int, definition []byte) []byte,
) (divided [][]byte, moved []string) {
	scanned := make([]markdown.References, len(parts))
	home := map[string]int{} // the part with the definition of a label that counts
	for i, text := range parts {
		scanned[i] = markdown.ScanReferences(text)
		for _, d := range scanned[i].Definitions {
			if _, defined := home[d.Label]; !defined {
				home[d.Label] = i
			}
		}
	}
	needed := make([]map[string]bool, len(parts))
	users := map[string]int{} // parts that need a label
	for i := range parts {
		needed[i] = neededBy(scanned, home, i)
		for label := range needed[i] {
			users[label]++
		}
	}
	divided = make([][]byte, len(parts))
	for i, text := range parts {
		at := 0
		for _, d := range scanned[i].Definitions {
			if home[d.Label] != i || needed[i][d.Label] || users[d.Label] == 0 {
				continue
			}
			divided[i] = append(divided[i], text[at:d.Span.Start]...)
			at = d.Span.End
		}
		divided[i] = append(divided[i], text[at:]...)
		if at > 0 {
			divided[i] = withoutBlankEnd(divided[i])
		}
	}
	for from := range parts {
		for _, d := range scanned[from].Definitions {
			goes := false
			for to := range parts {
				if from == to || home[d.Label] != from || !needed[to][d.Label] {
					continue
				}
				goes = true
				divided[to] = withDefinition(divided[to], carried(to, parts[from][d.Span.Start:d.Span.End]))
			}
			if goes {
				moved = append(moved, "["+string(parts[from][d.LabelAt.Start:d.LabelAt.End])+"]")
			}
		}
	}
	return divided, moved
}

// withoutBlankEnd returns a text without blank lines at its end.
func withoutBlankEnd(text []byte) []byte {
	bare := bytes.TrimRight(text, " \t\r\n")
	if n := bytes.IndexByte(text[len(bare):], '\n'); n >= 0 && len(bare) > 0 {
		return text[:len(bare)+n+1]
	}
	return bare
}

// neededBy returns the labels that a part uses, with those that their definitions use.
func neededBy(scanned []markdown.References, home map[string]int, part int) map[string]bool {
	needed := map[string]bool{}
	var need func(label string)
	need = func(label string) {
		from, defined := home[label]
		if !defined || needed[label] {
			return
		}
		needed[label] = true
		d, _ := scanned[from].Defined(label)
		for _, u := range scanned[from].Uses {
			if d.Span.Start <= u.At.Start && u.At.Start < d.Span.End {
				need(u.Label)
			}
		}
	}
	for _, u := range scanned[part].Uses {
		inDefinition := slices.ContainsFunc(scanned[part].Definitions, func(d markdown.Definition) bool {
			return d.Span.Start <= u.At.Start && u.At.Start < d.Span.End
		})
		if !inDefinition {
			need(u.Label)
		}
	}
	return needed
}

// withDefinition adds a definition at the end of a text, after an empty line if no definition is there.
func withDefinition(text, definition []byte) []byte {
	end := "\n"
	if bytes.HasSuffix(definition, []byte("\r\n")) || bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	text = bytes.TrimRight(Closed(text), " \t\r\n")
	definitions := markdown.ScanReferences(text).Definitions
	text = append(text, end...)
	if len(definitions) == 0 || definitions[len(definitions)-1].Span.End < len(text)-len(end) {
		text = append(text, end...)
	}
	text = append(text, bytes.TrimRight(definition, "\r\n")...)
	return append(text, end...)
}

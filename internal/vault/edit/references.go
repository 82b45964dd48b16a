package edit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// WithOwnLabels returns a text that is to be merged with another one. A label of a footnote or reference link
// that the other text uses for something else is renamed, together with its uses. renamed lists these as "[^1]
// -> [^2]".
func WithOwnLabels(text, other []byte) (edited []byte, renamed []string) {
	own := markdown.ScanReferences(text)
	others := markdown.ScanReferences(other)
	isTaken := map[string]bool{}
	for _, r := range []markdown.References{own, others} {
		for _, d := range r.Definitions {
			isTaken[d.Label] = true
		}
		for _, u := range r.Uses {
			isTaken[u.Label] = true
		}
	}
	used := map[string]bool{}
	for _, u := range others.Uses {
		used[u.Label] = true
	}
	newLabels := map[string]string{}
	for _, d := range own.Definitions {
		same, isDefined := others.Defined(d.Label)
		isConflict := isDefined && !sameDefinition(text, d, other, same)
		isCaptured := !isDefined && used[d.Label] // the other text uses the label without defining it
		if newLabels[d.Label] != "" || !isConflict && !isCaptured {
			continue
		}
		label := freeLabel(string(text[d.LabelAt.Start:d.LabelAt.End]), isTaken)
		newLabels[d.Label] = label
		renamed = append(renamed, "["+string(text[d.LabelAt.Start:d.LabelAt.End])+"] -> ["+label+"]")
	}
	return withLabels(text, own, newLabels), renamed
}

// sameDefinition reports whether two definitions have the same content.
func sameDefinition(text []byte, d markdown.Definition, other []byte, o markdown.Definition) bool {
	content := func(text []byte, d markdown.Definition) []byte {
		return bytes.TrimSpace(text[d.LabelAt.End:d.Span.End])
	}
	return bytes.Equal(content(text, d), content(other, o))
}

// freeLabel returns a label that is not taken, and marks it as taken: the next free number, or the label with a
// number.
func freeLabel(label string, isTaken map[string]bool) string {
	prefix := label + "-"
	if digits := strings.TrimPrefix(label, "^"); digits != label && strings.Trim(digits, "0123456789") == "" {
		prefix = "^"
	}
	for n := 2; ; n++ {
		free := prefix + strconv.Itoa(n)
		if folded := markdown.FoldLabel(free); !isTaken[folded] {
			isTaken[folded] = true
			return free
		}
	}
}

// withLabels returns a text with renamed labels. The text that a reference link shows is unchanged.
func withLabels(text []byte, r markdown.References, newLabels map[string]string) []byte {
	type patch struct {
		markdown.Span
		label string
	}
	var patches []patch
	for _, d := range r.Definitions {
		if label := newLabels[d.Label]; label != "" {
			patches = append(patches, patch{d.LabelAt, label})
		}
	}
	for _, u := range r.Uses {
		switch label := newLabels[u.Label]; {
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

// Closed returns a text after closing a code block, comment or formula that is still open at its end.
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

// DivideReferences moves definitions of footnotes and reference links to the parts of a text that use them. A
// definition stays in its part if that uses it, or if no part does. carried returns a definition in the form in
// which a part needs it. moved lists the labels of the definitions that were copied to other parts.
func DivideReferences(
	parts [][]byte,
	carried func(part int, definition []byte) []byte,
) (divided [][]byte, moved []string) {
	scanned := make([]markdown.References, len(parts))
	home := map[string]int{} // index of the part with the effective definition of a label
	for i, text := range parts {
		scanned[i] = markdown.ScanReferences(text)
		for _, d := range scanned[i].Definitions {
			if _, isDefined := home[d.Label]; !isDefined {
				home[d.Label] = i
			}
		}
	}
	needed := make([]map[string]bool, len(parts))
	users := map[string]int{} // number of parts that need a label
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
			isMoved := false
			for to := range parts {
				if from == to || home[d.Label] != from || !needed[to][d.Label] {
					continue
				}
				isMoved = true
				divided[to] = withDefinition(divided[to], carried(to, parts[from][d.Span.Start:d.Span.End]))
			}
			if isMoved {
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

// neededBy returns the labels that a part uses, directly or in the definitions of such labels.
func neededBy(scanned []markdown.References, home map[string]int, part int) map[string]bool {
	needed := map[string]bool{}
	var need func(label string)
	need = func(label string) {
		from, isDefined := home[label]
		if !isDefined || needed[label] {
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

// withDefinition appends a definition to a text, after an empty line unless the text ends with a definition.
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

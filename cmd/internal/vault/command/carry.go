package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/exec/secrets"
)

// An address on another machine in a note can carry texts of other notes there: when the note is
// shown, for an image, or when a person follows the link. A change that adds such an address is
// destructive, whatever command makes it.

// Carried says what an added address carries, the zero Carried nothing.
type Carried struct {
	Kind string // "text" of a note, or "secret"
	Why  string
	asks bool // it counts as a loss
}

// The least that has to be the same in an address and in a note: so many words in a row, or one
// that is long and has a digit. Three words of a title are in many addresses.
const (
	carriedWords = 4
	carriedBytes = 14 // of these words
	longWord     = 12
)

// findCarried looks for texts of other notes in the addresses that a proposal adds. What a note of
// the vault has as an address is no new one. The error is that of the budget.
func (p *Proposal) findCarried(v *Vault) error {
	if v.addresses == "" || p.Undoes != "" || p.Raw {
		return nil
	}
	type addition struct {
		address string
		pieces  []string
	}
	var added []addition
	own := map[string]bool{}
	for _, s := range p.Steps {
		own[s.Path.String()], own[s.source().String()] = true, true
		if !s.After.Exists || s.After.Folder || s.CopyOf != (disk.Path{}) || !bytes.Contains(s.After.Text, []byte("://")) || s.Before.Equal(s.After) ||
			v.Host.exceptions.Has("remote-links", s.Path.String()) {
			continue
		}
		if err := budget.From(v.Ctx).Step(1 + int64(len(s.After.Text))/64); err != nil {
			return err
		}
		for _, a := range secrets.Addresses(s.After.Text) {
			if slices.ContainsFunc(p.Steps, func(s Step) bool { return bytes.Contains(s.Before.Text, []byte(a.Text)) }) {
				continue
			}
			if len(secrets.Find([]byte(a.Text), false)) > 0 {
				p.carried = Carried{"secret", fmt.Sprintf("adds an address with a secret to %q", named(s.Path.String())), v.addresses == AddressesAsk}
				return nil
			}
			var pieces []string
			for _, text := range a.Carried() {
				pieces = append(pieces, piecesOf(text)...)
			}
			if len(pieces) > 0 {
				added = append(added, addition{a.Text, pieces})
			}
		}
	}
	if len(added) == 0 {
		return nil
	}
	var mu sync.Mutex
	known, from := make([]bool, len(added)), make([]string, len(added))
	err := v.Host.Knowledge.EachNote(v.View(), knowledge.Scope{Texts: true, Excluded: func(path string) bool { return own[path] }}, func(n *knowledge.Note) {
		text := n.Text()
		if budget.From(v.Ctx).Step(1+int64(len(text))/32) != nil {
			return
		}
		plain := strings.Join(wordsOf(string(text)), " ")
		mu.Lock()
		defer mu.Unlock()
		for i, a := range added {
			known[i] = known[i] || bytes.Contains(text, []byte(a.address))
			if (from[i] == "" || n.File < from[i]) && slices.ContainsFunc(a.pieces, func(piece string) bool { return strings.Contains(" "+plain+" ", " "+piece+" ") }) {
				from[i] = n.File
			}
		}
	})
	for i := range added {
		if from[i] != "" && !known[i] && p.carried == (Carried{}) {
			p.carried = Carried{"text", fmt.Sprintf("adds an address with text of %q", named(from[i])), v.addresses == AddressesAsk}
		}
	}
	return err
}

// wordsOf returns the words of a text in small letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// piecesOf returns what of a text has to be the same in a note: each four words in a row, and each
// long word with a digit.
func piecesOf(text string) (all []string) {
	words := wordsOf(text)
	for i, word := range words {
		if len(word) >= longWord && strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter) {
			all = append(all, word)
		}
		if run := strings.Join(words[i:min(len(words), i+carriedWords)], " "); i+carriedWords <= len(words) && len(run) >= carriedBytes {
			all = append(all, run)
		}
	}
	return all
}

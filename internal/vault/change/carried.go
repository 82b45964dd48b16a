package change

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
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
// the vault has as an address is no new one. addresses is [protocol.Write.Addresses]. The error is that of the budget.
func (p *Proposal) findCarried(v *call.Vault, addresses protocol.Addresses) error {
	if addresses == protocol.AddressesPass || p.Undoes != "" {
		return nil
	}
	asks := addresses == protocol.AddressesAsk
	var added []addition
	spread := map[string][]guard.Address{} // the added images by their host
	own := map[string]bool{}
	seen := map[string]bool{}
	var before *addressPlaces // in the texts of the proposal, made if it has an address
	for _, s := range p.Steps {
		own[s.Path.String()] = true
		own[s.source().String()] = true
		isMade := s.After.Exists && !s.After.Folder && s.CopyOf == (disk.Path{}) && !s.Before.Equal(s.After)
		if !isMade || v.IsExcepted("remote-links", s.Path) {
			continue
		}
		beside, text := s.besideChange()
		if err := budget.From(v.Ctx).Step(1 + int64(len(text))/64); err != nil {
			return err
		}
		if s.addsOpenFormula() {
			p.carried = Carried{
				"text",
				fmt.Sprintf("adds a formula that makes an address of texts of notes to %q", named(s.Path.String())),
				asks,
			}
			return nil
		}
		all := guard.Addresses(text)
		if before == nil && len(all) > 0 {
			before = p.addressesBefore()
		}
		if len(beside) < s.Before.Text.Len() && len(all) > 0 {
			before.addOthers(beside)
		}
		for _, a := range all {
			if seen[a.Text] || before.have(a.Text) {
				continue
			}
			if len(guard.Find([]byte(a.Text), guard.Secrets)) > 0 {
				p.carried = Carried{
					"secret",
					fmt.Sprintf("adds an address with a secret to %q", named(s.Path.String())),
					asks,
				}
				return nil
			}
			var pieces []string
			for _, text := range a.Carried() {
				pieces = append(pieces, piecesOf(text)...)
			}
			var joined []string
			for _, text := range a.Joined() {
				joined = append(joined, piecesOf(text)...)
			}
			if host := a.Host(); a.Image {
				spread[host] = append(spread[host], a)
			}
			squeezed := squeezedOf(a.Carried())
			if len(pieces)+len(joined)+len(squeezed) > 0 {
				seen[a.Text] = true
				added = append(added, addition{address: a.Text, pieces: pieces, joined: joined, squeezed: squeezed})
			}
		}
	}
	added = append(added, spreadOver(spread)...)
	if len(added) == 0 {
		return nil
	}
	looked := newAdditions(added)
	view := v.View()
	view.Own = v.Disk.Telling(nil)
	view.Unread = nil // a text that nobody can read is in no address
	err := v.Host.Knowledge.EachNote(
		view,
		search.Scope{Texts: true, Excluded: func(path string) bool { return own[path] }},
		func(n *search.Note) {
			text := n.Text()
			if budget.From(v.Ctx).Step(1+int64(len(text))/32) == nil {
				looked.lookIn(n.File, text)
			}
		},
	)
	if from := looked.from(); from != "" {
		p.carried = Carried{"text", fmt.Sprintf("adds an address with text of %q", named(from)), asks}
	}
	return err
}

// addition is an address that a proposal adds.
type addition struct {
	address string
	pieces  []string // of the texts that it carries, see [piecesOf]
	joined  []string // the same of its parts together, which are not looked for in addresses: those have such parts, too
	// squeezed are the long words of it, in which several words may be without anything between them.
	squeezed []string
	known    bool   // a note has it
	from     string // the first note with one of the pieces
}

// spreadOver returns what the images of a host carry together, a piece each: they are fetched in their order.
func spreadOver(images map[string][]guard.Address) (all []addition) {
	for host, of := range images {
		if len(of) < 2 {
			continue
		}
		var values []string
		for _, a := range of {
			values = append(values, a.Values()...)
		}
		apart := piecesOf(strings.Join(values, " "))
		together := strings.Join(values, "")
		joined := append(apart, piecesOf(together)...)
		squeezed := squeezedOf([]string{together})
		if len(joined)+len(squeezed) > 0 {
			all = append(all, addition{address: "images of " + host, joined: joined, squeezed: squeezed})
		}
	}
	return all
}

// additions are looked for in one note after the other, all in one pass over the text of each. They are safe for use
// by several goroutines.
type additions struct {
	addresses map[string]int // places of additions by the address
	sizes     []int          // of the addresses, each once
	pieces    map[string][]int
	joined    map[string][]int
	squeezed  map[string][]int // what several words can be that are squeezed into one of the long words
	schemes   []int            // the sizes of the schemes of the addresses, each once

	mu  sync.Mutex
	all []addition
}

func newAdditions(all []addition) *additions {
	a := &additions{
		addresses: map[string]int{}, pieces: map[string][]int{}, joined: map[string][]int{}, squeezed: map[string][]int{}, all: all,
	}
	for i, one := range all {
		a.addresses[one.address] = i
		a.sizes = append(a.sizes, len(one.address))
		for _, piece := range one.pieces {
			a.pieces[piece] = append(a.pieces[piece], i)
		}
		for _, piece := range one.joined {
			a.joined[piece] = append(a.joined[piece], i)
		}
		for _, word := range one.squeezed {
			for start := range word {
				for end := start + carriedBytes; end <= min(len(word), start+longestRun); end++ {
					a.squeezed[word[start:end]] = append(a.squeezed[word[start:end]], i)
				}
			}
		}
		if n := strings.Index(one.address, string(schemeEnd)); n >= 0 {
			a.schemes = append(a.schemes, n)
		}
	}
	slices.Sort(a.schemes)
	a.schemes = slices.Compact(a.schemes)
	slices.Sort(a.sizes)
	a.sizes = slices.Compact(a.sizes)
	return a
}

// lookIn notes which of the addresses and which of the pieces a note has.
func (a *additions) lookIn(file string, text []byte) {
	var known, carried []int
	for at := range schemeEnds(text) {
		for _, scheme := range a.schemes {
			for _, size := range a.sizes {
				start := at - scheme
				if start < 0 || start+size > len(text) {
					continue
				}
				if i, ok := a.addresses[string(text[start:start+size])]; ok {
					known = append(known, i)
				}
			}
		}
	}
	carried = carriedIn(text, a.pieces, carried)
	if len(a.joined) > 0 {
		carried = carriedIn(withoutAddresses(text), a.joined, carried)
	}
	if len(a.squeezed) > 0 {
		carried = squeezedIn(withoutAddresses(text), a.squeezed, carried)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, i := range known {
		a.all[i].known = true
	}
	for _, i := range carried {
		if one := &a.all[i]; one.from == "" || file < one.from {
			one.from = file
		}
	}
}

// carriedIn appends the additions of which a text has a piece.
func carriedIn(text []byte, pieces map[string][]int, carried []int) []int {
	words := wordsOf(string(text))
	plain := strings.Join(words, " ")
	at := 0 // of the word in plain
	for i, word := range words {
		carried = append(carried, pieces[word]...)
		if i+carriedWords <= len(words) {
			end := at
			for _, next := range words[i : i+carriedWords] {
				end += len(next) + len(" ")
			}
			carried = append(carried, pieces[plain[at:end-len(" ")]]...)
		}
		at += len(word) + len(" ")
	}
	return carried
}

// Bounds of words that several words are squeezed into, in bytes.
const (
	leastSqueezed   = 2 * carriedBytes
	longestSqueezed = 300
	longestRun      = 48 // of the words that are looked for
)

// squeezedOf returns the words of texts in which several words may be without anything between them.
func squeezedOf(texts []string) (long []string) {
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			isOfLetters := !strings.ContainsAny(word, "0123456789")
			if len(word) >= leastSqueezed && isOfLetters {
				long = append(long, word[:min(len(word), longestSqueezed)])
			}
		}
	}
	return long
}

// squeezedIn appends the additions that have words in a row of a text without anything between them.
func squeezedIn(text []byte, squeezed map[string][]int, carried []int) []int {
	words := wordsOf(string(text))
	plain := strings.Join(words, "")
	at := 0
	for i, word := range words {
		if i+carriedWords > len(words) {
			break
		}
		end := at
		for _, next := range words[i : i+carriedWords] {
			end += len(next)
		}
		if end-at >= carriedBytes && end-at <= longestRun {
			carried = append(carried, squeezed[plain[at:end]]...)
		}
		at += len(word)
	}
	return carried
}

// withoutAddresses returns a text without what follows the scheme of an address, up to the next blank.
func withoutAddresses(text []byte) []byte {
	var out []byte
	done := 0
	for at := range schemeEnds(text) {
		if at < done {
			continue
		}
		out = append(out, text[done:at]...)
		done = len(text)
		if n := bytes.IndexAny(text[at:], " \t\r\n"); n >= 0 {
			done = at + n
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// from returns the note of which the first address that no note has carries text, "" for none.
func (a *additions) from() string {
	for _, one := range a.all {
		if one.from != "" && !one.known {
			return one.from
		}
	}
	return ""
}

// schemeEnd follows the scheme of an address.
var schemeEnd = []byte("://")

// schemeEnds are the places at which the scheme of an address may end.
func schemeEnds(text []byte) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		for at := 0; ; at += len(schemeEnd) {
			n := bytes.Index(text[at:], schemeEnd)
			if n < 0 {
				return
			}
			if at += n; !yield(at) {
				return
			}
		}
	}
}

// addressPlaces are the addresses of texts: their places, in the order of what follows the scheme, and those that
// are spelled otherwise than they are.
type addressPlaces struct {
	places []addressPlace
	others map[string]bool
}

type addressPlace struct {
	scheme []byte // and what is before it
	rest   []byte // up to the end of the longest address that begins there
}

// addressesBefore returns the addresses in the texts that a proposal changes.
func (p *Proposal) addressesBefore() *addressPlaces {
	all := &addressPlaces{others: map[string]bool{}}
	for _, s := range p.Steps {
		text := s.Before.Text.ForProgram()
		for at := range schemeEnds(text) {
			rest := text[at:]
			if end := bytes.IndexAny(rest, " \t\r\n\f<>\"'`"); end >= 0 {
				rest = rest[:end]
			}
			all.places = append(all.places, addressPlace{text[max(0, at-len("https")):at], rest})
		}
		if beside, _ := s.besideChange(); len(beside) == len(text) {
			all.addOthers(text)
		}
	}
	slices.SortFunc(all.places, func(a, b addressPlace) int {
		return cmp.Or(bytes.Compare(a.rest, b.rest), bytes.Compare(a.scheme, b.scheme))
	})
	all.places = slices.CompactFunc(
		all.places,
		func(a, b addressPlace) bool { return bytes.Equal(a.rest, b.rest) && bytes.Equal(a.scheme, b.scheme) },
	)
	return all
}

// addOthers adds the addresses of a text, however they are spelled.
func (p *addressPlaces) addOthers(text []byte) {
	for _, a := range guard.Addresses(text) {
		p.others[a.Text] = true
	}
}

// maxAddress is the length of the longest address that the app shows something of: it is that of Chromium.
const maxAddress = 2 << 20

// besideChange returns what is in reach of the change of a very long text, before and after it: an address that the change
// makes or makes longer is in there. Other texts are returned as a whole.
func (s Step) besideChange() (before, after []byte) {
	before = s.Before.Text.ForProgram()
	after = s.After.Text.ForProgram()
	isEncoded := bytes.IndexByte(after, 0) >= 0 // a part may begin within a character
	if len(after) <= 4*maxAddress || isEncoded {
		return before, after
	}
	changed := changedSpan(before, after)
	start := max(0, changed.Start-maxAddress)
	fromEnd := max(0, len(before)-changed.End-maxAddress)
	return before[start : len(before)-fromEnd], after[start : len(after)-fromEnd]
}

// have reports whether one of the texts has an address.
func (p *addressPlaces) have(address string) bool {
	at := strings.Index(address, string(schemeEnd))
	if p.others[address] || at < 0 {
		return p.others[address]
	}
	scheme := []byte(address[:at])
	rest := []byte(address[at:])
	first, _ := slices.BinarySearchFunc(
		p.places,
		rest,
		func(place addressPlace, rest []byte) int { return bytes.Compare(place.rest, rest) },
	)
	for _, place := range p.places[first:] {
		switch {
		case !bytes.HasPrefix(place.rest, rest):
			return false
		case bytes.HasSuffix(place.scheme, scheme):
			return true
		}
	}
	return false
}

// wordsOf returns the words of a text in small letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(
		strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) },
	)
}

// piecesOf returns what of a text has to be the same in a note: each four words in a row, and each
// long word with a digit.
func piecesOf(text string) (all []string) {
	words := wordsOf(text)
	for i, word := range words {
		if len(word) >= longWord && strings.ContainsAny(word, "0123456789") &&
			strings.ContainsFunc(word, unicode.IsLetter) {
			all = append(all, word)
		}
		if run := strings.Join(words[i:min(len(words), i+carriedWords)], " "); i+carriedWords <= len(words) &&
			len(run) >= carriedBytes {
			all = append(all, run)
		}
	}
	return all
}

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

// An address on another machine can carry texts of other notes there when a note is shown (as an image) or when
// the user follows the link. A change that adds such an address is destructive, whatever command makes it.

// Carried describes what an added address carries. The zero Carried stands for nothing.
type Carried struct {
	Kind string // "text" of a note, or "secret"
	Why  string
	asks bool // the user must approve it
}

// The minimum overlap of an address and a note: this many words in a row, or one long word with a digit. Three
// words of a title occur in many addresses.
const (
	carriedWords = 4
	carriedBytes = 14 // minimum length of these words together
	longWord     = 12
)

// findCarried looks for texts of other notes in the addresses that a proposal adds. An address that some note
// already has does not count. addresses is [protocol.Write.Addresses]. The only error is that of the exceeded
// budget.
func (p *Proposal) findCarried(v *call.Vault, addresses protocol.Addresses) error {
	if addresses == protocol.AddressesPass || p.Undoes != "" {
		return nil
	}
	asks := addresses == protocol.AddressesAsk
	var added []addition
	imagesByHost := map[string][]guard.Address{} // the added images
	own := map[string]bool{}
	seen := map[string]bool{}
	var before *addressPlaces // in the texts before the change; built for the first address
	for _, s := range p.Steps {
		own[s.Path.String()] = true
		own[s.source().String()] = true
		isMade := s.After.Exists && !s.After.Folder && s.CopyOf == (disk.Path{}) && !s.Before.Equal(s.After)
		if !isMade || v.IsExcepted("remote-links", s.Path) {
			continue
		}
		nearBefore, text := s.besideChange()
		if err := budget.From(v.Ctx).Step(1 + int64(len(text))/64); err != nil {
			return err
		}
		if s.addsOpenFormula() {
			p.carried = Carried{
				"text",
				fmt.Sprintf("adds a formula that makes an address of texts of notes to %q", quotable(s.Path.String())),
				asks,
			}
			return nil
		}
		candidates := guard.Addresses(text)
		if before == nil && len(candidates) > 0 {
			before = p.addressesBefore()
		}
		if len(nearBefore) < s.Before.Text.Len() && len(candidates) > 0 {
			before.addOthers(nearBefore)
		}
		for _, a := range candidates {
			if seen[a.Text] || before.have(a.Text) {
				continue
			}
			if len(guard.Find([]byte(a.Text), guard.Secrets)) > 0 {
				p.carried = Carried{
					"secret",
					fmt.Sprintf("adds an address with a secret to %q", quotable(s.Path.String())),
					asks,
				}
				return nil
			}
			if a.Image {
				host := a.Host()
				imagesByHost[host] = append(imagesByHost[host], a)
			}
			if next := additionOf(a); next.hasText() {
				seen[a.Text] = true
				added = append(added, next)
			}
		}
	}
	added = append(added, imagesTogether(imagesByHost)...)
	if len(added) == 0 {
		return nil
	}
	from, err := searchNotes(v, added, own)
	if from != "" {
		p.carried = Carried{"text", fmt.Sprintf("adds an address with text of %q", quotable(from)), asks}
	}
	return err
}

// searchNotes returns a note, other than the own ones, whose text one of the added addresses carries; "" for
// none.
func searchNotes(v *call.Vault, added []addition, own map[string]bool) (from string, err error) {
	matcher := newAdditions(added)
	view := v.View()
	view.Own = v.Disk.Telling(nil)
	view.Unread = nil // a text that nobody can read is in no address
	err = v.Host.Knowledge.EachNote(
		view,
		search.Scope{Texts: true, Excluded: func(path string) bool { return own[path] }},
		func(n *search.Note) {
			text := n.Text()
			if budget.From(v.Ctx).Step(1+int64(len(text))/32) == nil {
				matcher.lookIn(n.File, text)
			}
		},
	)
	return matcher.from(), err
}

// addition is an address that a proposal adds.
type addition struct {
	address string
	pieces  []string // of the texts in the address, see [piecesOf]
	joined  []string // pieces of its joined parts; not searched in addresses, which have such parts, too
	// squeezed has the long words of the address, each of which may be several words without separators.
	squeezed []string
	known    bool   // some note already has the address
	from     string // first note that contains one of the pieces
}

// additionOf returns the addition of an address.
func additionOf(a guard.Address) addition {
	added := addition{address: a.Text, squeezed: squeezedOf(a.Carried())}
	for _, text := range a.Carried() {
		added.pieces = append(added.pieces, piecesOf(text)...)
	}
	for _, text := range a.Joined() {
		added.joined = append(added.joined, piecesOf(text)...)
	}
	return added
}

// hasText reports whether the address has text that can be searched in notes.
func (a addition) hasText() bool { return len(a.pieces)+len(a.joined)+len(a.squeezed) > 0 }

// imagesTogether returns an addition for each host with several images, with the texts that these carry
// together: an image each, fetched in order.
func imagesTogether(images map[string][]guard.Address) (added []addition) {
	for host, addresses := range images {
		if len(addresses) < 2 {
			continue
		}
		var values []string
		for _, a := range addresses {
			values = append(values, a.Values()...)
		}
		separate := piecesOf(strings.Join(values, " "))
		together := strings.Join(values, "")
		joined := append(separate, piecesOf(together)...)
		squeezed := squeezedOf([]string{together})
		if len(joined)+len(squeezed) > 0 {
			added = append(added, addition{address: "images of " + host, joined: joined, squeezed: squeezed})
		}
	}
	return added
}

// additions searches notes for the texts of all additions, in a single pass over each note. It is safe for
// concurrent use.
type additions struct {
	addresses map[string]int // index of the addition by address
	sizes     []int          // lengths of the addresses, without duplicates
	pieces    map[string][]int
	joined    map[string][]int
	squeezed  map[string][]int // runs of letters that several squeezed words may consist of
	schemes   []int            // lengths of the addresses' schemes, without duplicates

	mu  sync.Mutex
	all []addition
}

func newAdditions(list []addition) *additions {
	a := &additions{
		addresses: map[string]int{},
		pieces:    map[string][]int{},
		joined:    map[string][]int{},
		squeezed:  map[string][]int{},
		all:       list,
	}
	for i, added := range list {
		a.addresses[added.address] = i
		a.sizes = append(a.sizes, len(added.address))
		for _, piece := range added.pieces {
			a.pieces[piece] = append(a.pieces[piece], i)
		}
		for _, piece := range added.joined {
			a.joined[piece] = append(a.joined[piece], i)
		}
		for _, word := range added.squeezed {
			for start := range word {
				for end := start + carriedBytes; end <= min(len(word), start+maxSqueezedRun); end++ {
					a.squeezed[word[start:end]] = append(a.squeezed[word[start:end]], i)
				}
			}
		}
		if n := strings.Index(added.address, string(schemeEnd)); n >= 0 {
			a.schemes = append(a.schemes, n)
		}
	}
	slices.Sort(a.schemes)
	a.schemes = slices.Compact(a.schemes)
	slices.Sort(a.sizes)
	a.sizes = slices.Compact(a.sizes)
	return a
}

// lookIn records which of the addresses and pieces a note contains.
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
		if match := &a.all[i]; match.from == "" || file < match.from {
			match.from = file
		}
	}
}

// carriedIn appends the indexes of the additions of which the text contains a piece.
func carriedIn(text []byte, pieces map[string][]int, carried []int) []int {
	words := wordsOf(string(text))
	plain := strings.Join(words, " ")
	at := 0 // offset of the word in plain
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

// Limits of words that may consist of several squeezed words, in bytes.
const (
	minSqueezed    = 2 * carriedBytes
	maxSqueezed    = 300
	maxSqueezedRun = 48 // of the words that are searched for
)

// squeezedOf returns the words of texts that may be several words without separators.
func squeezedOf(texts []string) (long []string) {
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			isOfLetters := !strings.ContainsAny(word, "0123456789")
			if len(word) >= minSqueezed && isOfLetters {
				long = append(long, word[:min(len(word), maxSqueezed)])
			}
		}
	}
	return long
}

// squeezedIn appends the indexes of the additions that contain consecutive words of the text without
// separators.
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
		if end-at >= carriedBytes && end-at <= maxSqueezedRun {
			carried = append(carried, squeezed[plain[at:end]]...)
		}
		at += len(word)
	}
	return carried
}

// withoutAddresses returns a text without its addresses; their schemes remain.
func withoutAddresses(text []byte) []byte {
	var out []byte
	end := 0
	for at := range schemeEnds(text) {
		if at < end {
			continue
		}
		out = append(out, text[end:at]...)
		end = len(text)
		if n := bytes.IndexAny(text[at:], " \t\r\n"); n >= 0 {
			end = at + n
		}
	}
	if end == 0 {
		return text
	}
	return append(out, text[end:]...)
}

// from returns the note whose text an added address carries, for the first such address that no note already
// has; "" for none.
func (a *additions) from() string {
	for _, added := range a.all {
		if added.from != "" && !added.known {
			return added.from
		}
	}
	return ""
}

// schemeEnd separates the scheme of an address from the rest.
var schemeEnd = []byte("://")

// schemeEnds yields the offset of each [schemeEnd] in a text.
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

// addressPlaces is an index of the addresses in texts: the places of possible addresses, sorted by what follows
// the scheme, and the addresses that are not spelled literally.
type addressPlaces struct {
	places []addressPlace
	others map[string]bool
}

type addressPlace struct {
	scheme []byte // the scheme, and possibly bytes before it
	rest   []byte // up to the end of the longest address that may begin there
}

// addressesBefore returns an index of the addresses in the texts before the change.
func (p *Proposal) addressesBefore() *addressPlaces {
	index := &addressPlaces{others: map[string]bool{}}
	for _, s := range p.Steps {
		text := s.Before.Text.ForProgram()
		for at := range schemeEnds(text) {
			rest := text[at:]
			if end := bytes.IndexAny(rest, " \t\r\n\f<>\"'`"); end >= 0 {
				rest = rest[:end]
			}
			index.places = append(index.places, addressPlace{text[max(0, at-len("https")):at], rest})
		}
		if beside, _ := s.besideChange(); len(beside) == len(text) {
			index.addOthers(text)
		}
	}
	slices.SortFunc(index.places, func(a, b addressPlace) int {
		return cmp.Or(bytes.Compare(a.rest, b.rest), bytes.Compare(a.scheme, b.scheme))
	})
	index.places = slices.CompactFunc(
		index.places,
		func(a, b addressPlace) bool { return bytes.Equal(a.rest, b.rest) && bytes.Equal(a.scheme, b.scheme) },
	)
	return index
}

// addOthers adds the addresses of a text, however they are spelled.
func (p *addressPlaces) addOthers(text []byte) {
	for _, a := range guard.Addresses(text) {
		p.others[a.Text] = true
	}
}

// maxAddress is the length in bytes of the longest address that the app handles at all: the limit of Chromium.
const maxAddress = 2 << 20

// besideChange returns the parts of a very long text, before and after the change, that are near enough to it
// to contain any address that the change adds or extends. Shorter texts are returned whole.
func (s Step) besideChange() (before, after []byte) {
	before = s.Before.Text.ForProgram()
	after = s.After.Text.ForProgram()
	isEncoded := bytes.IndexByte(after, 0) >= 0 // a part might begin within a character
	if len(after) <= 4*maxAddress || isEncoded {
		return before, after
	}
	changed := changedSpan(before, after)
	start := max(0, changed.Start-maxAddress)
	fromEnd := max(0, len(before)-changed.End-maxAddress)
	return before[start : len(before)-fromEnd], after[start : len(after)-fromEnd]
}

// have reports whether one of the texts contains the address.
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

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(
		strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) },
	)
}

// piecesOf returns the pieces of a text by which a note is recognized: each run of four words, and each long
// word with a digit.
func piecesOf(text string) (pieces []string) {
	words := wordsOf(text)
	for i, word := range words {
		isMixed := strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter)
		if isMixed && len(word) >= longWord {
			pieces = append(pieces, word)
		}
		if i+carriedWords > len(words) {
			continue
		}
		run := strings.Join(words[i:i+carriedWords], " ")
		if len(run) >= carriedBytes {
			pieces = append(pieces, run)
		}
	}
	return pieces
}

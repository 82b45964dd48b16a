package commands

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Limits of the words that are compared.
const (
	leastWord = 4    // letters: shorter words are mostly grammar
	mostWord  = 40   // letters: longer ones are data
	maxWords  = 4000 // of the note, the first ones
	maxShared = 12   // words that count for one note, the rarest
	rareShare = 0.02 // of all notes: what more of them contain says nothing
	leastRare = 5    // notes, in a small vault
)

// words looks for the words of the note that few notes contain, and for the notes with
// the same. It reads the texts of all notes once.
func (s *scores) words(v *command.Vault, excluded func(string) bool) error {
	text, err := v.Disk.Read(s.x.Files[s.from].Path)
	if err != nil || !s.x.Files[s.from].IsNote() {
		return nil // it has no words to compare
	}
	own := vocabularyOf(text)
	if len(own.words) == 0 {
		return nil
	}
	uses, err := own.usedIn(v, excluded, s)
	if err != nil {
		return err
	}
	for place, ids := range uses {
		e := (*evidence)(nil)
		slices.SortFunc(ids, func(a, b uint16) int {
			return cmp.Or(cmp.Compare(own.notes[a].Load(), own.notes[b].Load()), cmp.Compare(own.words[a], own.words[b]))
		})
		for _, id := range ids {
			n := own.notes[id].Load()
			if n > own.rare || e != nil && len(e.words) == maxShared {
				break // after it are only words that are more frequent
			}
			e = s.of(place)
			e.words = append(e.words, own.words[id])
			e.score += wordWeight * math.Log2(1+float64(s.notes)/float64(n)) / math.Log2(2+float64(s.notes)) * share(len(e.words))
		}
	}
	return nil
}

// vocabulary are the words of a note, and in how many other notes each is.
type vocabulary struct {
	ids   map[string]uint16
	marks [1 << 10]uint64 // of the words, see [mark]: most words of other notes are none of them
	words []string
	notes []atomic.Int32
	rare  int32 // in more notes than that a word is not rare
}

func vocabularyOf(text []byte) *vocabulary {
	own := &vocabulary{ids: map[string]uint16{}}
	eachWord(bodyOf(text), func(word []byte) {
		if _, known := own.ids[string(word)]; !known && len(own.words) < maxWords {
			own.ids[string(word)] = uint16(len(own.words))
			own.words = append(own.words, string(word))
			at := wordMark(word)
			own.marks[at>>6] |= 1 << (at & 63)
		}
	})
	own.notes = make([]atomic.Int32, len(own.words))
	return own
}

// wordMark is a number below 65,536 that is the same for the same word, which has at least
// four bytes.
func wordMark(word []byte) uint32 {
	last := len(word) - 1
	return (uint32(word[0])*0x9e5f ^ uint32(word[1])*0x85eb ^ uint32(word[2])*0xc2b3 ^ uint32(word[3])*0x27d5 ^ uint32(word[last])*0x1657 ^ uint32(last)*0x3f4d) & 0xffff
}

// id returns the number of a word, if it is one of the note.
func (own *vocabulary) id(word []byte) (id uint16, known bool) {
	at := wordMark(word)
	if own.marks[at>>6]&(1<<(at&63)) == 0 {
		return 0, false
	}
	id, known = own.ids[string(word)]
	return id, known
}

// bodyOf returns a note without its properties and its links, which count by themselves.
func bodyOf(text []byte) (body []byte) {
	found := markdown.Scan(text)
	at := found.Body
	for _, link := range found.Links {
		if link.Span.Start >= at {
			body = append(append(body, text[at:link.Span.Start]...), ' ')
			at = link.Span.End
		}
	}
	return append(body, text[at:]...)
}

// usedIn returns which of the words each note contains, by its place. Of a word that
// is not rare it may be left out.
func (own *vocabulary) usedIn(v *command.Vault, excluded func(string) bool, s *scores) (map[int][]uint16, error) {
	own.rare = max(leastRare, int32(rareShare*float64(s.notes)))
	var mu sync.Mutex
	uses := map[int][]uint16{}
	err := v.Host.Knowledge.EachNote(v.View(), knowledge.Scope{Excluded: excluded, Texts: true}, func(n *knowledge.Note) {
		place, ok := s.x.Place(n.File)
		if !ok || !s.isNote[place] || v.Ctx.Err() != nil {
			return
		}
		seen := make([]uint16, 0, 32)
		eachWord(n.Text(), func(word []byte) {
			id, known := own.id(word)
			if !known || own.notes[id].Load() > own.rare || slices.Contains(seen, id) {
				return
			}
			seen = append(seen, id)
		})
		if len(seen) == 0 {
			return
		}
		for _, id := range seen {
			own.notes[id].Add(1)
		}
		mu.Lock()
		uses[place] = seen
		mu.Unlock()
	})
	if err == nil {
		err = v.Ctx.Err()
	}
	return uses, err
}

// eachWord visits the words of a text in lower case, each time one is there. What visit
// is given is good until it returns.
func eachWord(text []byte, visit func(word []byte)) {
	var lower [mostWord * utf8.UTFMax]byte
	for at := 0; at < len(text); {
		start, letters, plain := at, 0, true
		for at < len(text) {
			b := text[at]
			if b < utf8.RuneSelf {
				if b|0x20 < 'a' || b|0x20 > 'z' {
					break
				}
				if letters < mostWord {
					lower[letters] = b | 0x20
				}
				at++
				letters++
				continue
			}
			r, size := utf8.DecodeRune(text[at:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				break
			}
			plain = false
			at += size
			letters++
		}
		switch {
		case letters < leastWord || letters > mostWord:
		case plain:
			visit(lower[:letters])
		default:
			visit(bytes.ToLower(text[start:at]))
		}
		if at < len(text) {
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
	}
}

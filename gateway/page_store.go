package gateway

import (
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// pageStoreLimits limit what a [pageStore] stores. If one of them is not above zero, it stores nothing.
type pageStoreLimits struct {
	PerSession int           // texts per session
	Total      int           // texts of all sessions, a few hundred at most
	Bytes      int64         // of all texts, with the names of their sessions
	Age        time.Duration // since a text was last stored or read
}

// pageStore is an LRU cache of texts whose rest may be fetched, each by one session. It is safe for concurrent use.
//
// T is data that the user of the store keeps with a text.
type pageStore[T any] struct {
	limits pageStoreLimits
	now    func() time.Time
	sizeOf func(T) int // in bytes; nil if the data is small

	mu    sync.Mutex
	texts []*storedPage[T] // least recently used first
	bytes int64
}

// storedPage is a text in the store.
type storedPage[T any] struct {
	id, session, text string
	about             T
	data              int // size of about in bytes
	used              time.Time
}

func (k *storedPage[T]) size() int64 {
	return int64(len(k.text)) + int64(len(k.session)) + int64(k.data)
}

// newPageStore returns an empty store. now is its clock. sizeOf returns the size of the data about a text in bytes;
// it may be nil if that is not worth counting.
func newPageStore[T any](limits pageStoreLimits, now func() time.Time, sizeOf func(T) int) *pageStore[T] {
	return &pageStore[T]{limits: limits, now: now, sizeOf: sizeOf}
}

// Put stores a text and returns the id under which its session finds it: 26 random letters and digits. ok is false
// if the text is too large to be stored.
func (s *pageStore[T]) Put(session, text string, about T) (id string, ok bool) {
	fresh := &storedPage[T]{id: rand.Text(), session: session, text: text, about: about}
	if !s.fits(fresh) {
		return fresh.id, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch(fresh)
	s.add(fresh)
	return fresh.id, true
}

// Replace replaces a stored text. It returns false, and the text stays, if there is none with that id or if the new
// text is too large.
func (s *pageStore[T]) Replace(session, id, text string, about T) (ok bool) {
	fresh := &storedPage[T]{id: id, session: session, text: text, about: about}
	if !s.fits(fresh) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch(fresh)
	isReplaced := false
	s.forget(func(k *storedPage[T]) bool {
		isSame := k.id == id && k.session == session
		isReplaced = isReplaced || isSame
		return isSame
	})
	if !isReplaced {
		return false // it was dropped or evicted
	}
	s.add(fresh)
	return true
}

// fits sets the size of a text, and reports whether the text can be stored at all.
func (s *pageStore[T]) fits(fresh *storedPage[T]) bool {
	if s.sizeOf != nil {
		fresh.data = s.sizeOf(fresh.about)
	}
	isOff := s.limits.PerSession <= 0 || s.limits.Total <= 0 || s.limits.Age <= 0
	return !isOff && fresh.size() <= s.limits.Bytes
}

// touch marks a text as just used, and drops expired texts.
func (s *pageStore[T]) touch(fresh *storedPage[T]) {
	fresh.used = s.now()
	s.sweep(fresh.used)
}

// add stores a text. It first drops texts of its session above the limit, and then evicts others as needed.
func (s *pageStore[T]) add(fresh *storedPage[T]) {
	ofSession := 0
	for _, k := range s.texts {
		if k.session == fresh.session {
			ofSession++
		}
	}
	count := len(s.texts)
	s.forget(func(k *storedPage[T]) bool {
		isSurplus := k.session == fresh.session && ofSession >= s.limits.PerSession
		if isSurplus {
			ofSession--
			count--
		}
		return isSurplus
	})
	for ; count > 0 && (count >= s.limits.Total || s.bytes+fresh.size() > s.limits.Bytes); count-- {
		s.evict(fresh)
	}
	s.texts = append(s.texts, fresh)
	s.bytes += fresh.size()
}

// evict drops the least recently used text of whoever has the most bytes, including those of the new text. So nobody
// loses texts to somebody who has more.
func (s *pageStore[T]) evict(fresh *storedPage[T]) {
	who := shares.Agent(fresh.session)
	bytes := map[shares.Payer]int64{who: fresh.size()}
	for _, k := range s.texts {
		bytes[shares.Agent(k.session)] += k.size()
	}
	victim := 0
	for i, k := range s.texts {
		payer := shares.Agent(k.session)
		largest := shares.Agent(s.texts[victim].session)
		if bytes[payer] > bytes[largest] {
			victim = i
		}
	}
	s.bytes -= s.texts[victim].size()
	s.texts = slices.Delete(s.texts, victim, victim+1)
}

// ErrPageGone is the error if no text is stored under an id for a session: it has expired, was evicted, or never
// existed.
var ErrPageGone = failure.New(
	failure.CodeNotFound,
	"run the command again, without a cursor",
	"the rest of this answer is not kept any more",
)

const hintSendUnchanged = "send the cursor of the latest answer, as it was"

// Get returns a text with its data, and marks it as used. The error is [ErrPageGone], even for the id of another
// session.
func (s *pageStore[T]) Get(session, id string) (text string, about T, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.sweep(now)
	for i, k := range s.texts {
		if k.id == id && k.session == session {
			k.used = now
			s.texts = append(slices.Delete(s.texts, i, i+1), k)
			return k.text, k.about, nil
		}
	}
	return "", about, ErrPageGone
}

// Drop drops all texts of a session.
func (s *pageStore[T]) Drop(session string) {
	s.DropOf(func(other string) bool { return other == session })
}

// DropOf drops all texts of the sessions for which matches returns true.
func (s *pageStore[T]) DropOf(matches func(session string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(func(k *storedPage[T]) bool { return matches(k.session) })
}

// Sweep drops expired texts. Put and Get do that, too; Sweep frees memory while neither is called.
func (s *pageStore[T]) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(s.now())
}

func (s *pageStore[T]) sweep(now time.Time) {
	s.forget(func(k *storedPage[T]) bool {
		age := now.Sub(k.used)
		return age >= s.limits.Age || age < 0 // setting the clock back must not extend the time
	})
}

// forget drops the texts for which isDropped returns true. It is called in order of use.
func (s *pageStore[T]) forget(isDropped func(*storedPage[T]) bool) {
	s.texts = slices.DeleteFunc(s.texts, func(k *storedPage[T]) bool {
		if !isDropped(k) {
			return false
		}
		s.bytes -= k.size()
		return true
	})
}

// Clear drops everything.
func (s *pageStore[T]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(func(*storedPage[T]) bool { return true })
}

const (
	idLength  = 26 // of crypto/rand.Text: 130 random bits
	idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	// maxOffset is the length of the longest text that a cursor can point into.
	maxOffset = 1 << 30
	maxCursor = idLength + 2*len(".1073741824")
)

// cursorAt returns the cursor for a position in a stored text. It has up to 48 letters, digits and full stops: the
// id from [pageStore.Put] and the position.
func cursorAt(id string, at pagePosition) string {
	cursor := id + "." + strconv.Itoa(at.At)
	if at.Until > 0 {
		cursor += "." + strconv.Itoa(at.Until)
	}
	return cursor
}

// parseCursor parses a cursor that [cursorAt] returned, and nothing else. It does not check the id; [cutForJSON]
// checks the position. The error is a [*failure.RequestError].
func parseCursor(cursor string) (id string, at pagePosition, err error) {
	bad := failure.New(failure.CodeBadValue, hintSendUnchanged, "cursor %s is not one of an answer", quoted(cursor))
	if len(cursor) > maxCursor {
		return "", pagePosition{}, bad
	}
	id, offsets, _ := strings.Cut(cursor, ".")
	start, until, _ := strings.Cut(offsets, ".")
	at = pagePosition{offset(start), offset(until)}
	if len(id) != idLength || strings.Trim(id, idLetters) != "" || cursorAt(id, at) != cursor {
		return "", pagePosition{}, bad
	}
	return id, at, nil
}

// offset parses an offset. It returns 0 for anything invalid, which makes the comparison in parseCursor fail.
func offset(s string) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxOffset {
		return 0
	}
	return int(n)
}

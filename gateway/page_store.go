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

// pageStoreLimits bound what a [pageStore] keeps. A store with one that is not above zero keeps nothing.
type pageStoreLimits struct {
	PerSession int           // texts of one session
	Total      int           // texts of all sessions, some hundreds at most
	Bytes      int64         // of all texts, with the names of their sessions
	Age        time.Duration // since a text was last put or got
}

// pageStore is an LRU cache of texts whose rest may be fetched, each for one session. It is safe
// for concurrent use.
//
// T is data of the caller about a text.
type pageStore[T any] struct {
	limits pageStoreLimits
	now    func() time.Time
	sizeOf func(T) int // in bytes; nil for data that is small

	mu    sync.Mutex
	texts []*kept[T] // the least recently used first
	bytes int64
}

type kept[T any] struct {
	id, session, text string
	about             T
	data              int // the size of about
	used              time.Time
}

func (k *kept[T]) size() int64 { return int64(len(k.text)) + int64(len(k.session)) + int64(k.data) }

// newPageStore makes an empty store. now is its clock, and sizeOf says how many bytes the data about a text have, nil
// where that is not worth counting.
func newPageStore[T any](limits pageStoreLimits, now func() time.Time, sizeOf func(T) int) *pageStore[T] {
	return &pageStore[T]{limits: limits, now: now, sizeOf: sizeOf}
}

// Put keeps a text and returns the id under which its session finds it: 26 random letters and
// digits. It is not ok if the text is too large to be kept at all.
func (s *pageStore[T]) Put(session, text string, about T) (id string, ok bool) {
	fresh := &kept[T]{id: rand.Text(), session: session, text: text, about: about}
	if !s.fits(fresh) {
		return fresh.id, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch(fresh)
	s.add(fresh)
	return fresh.id, true
}

// Replace replaces a kept text. It is not ok, and the text stays, if there is none with the
// id, or if the new one is too large to be kept.
func (s *pageStore[T]) Replace(session, id, text string, about T) (ok bool) {
	fresh := &kept[T]{id: id, session: session, text: text, about: about}
	if !s.fits(fresh) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch(fresh)
	found := false
	s.forget(func(k *kept[T]) bool {
		same := k.id == id && k.session == session
		found = found || same
		return same
	})
	if !found {
		return false // it was dropped or evicted
	}
	s.add(fresh)
	return true
}

// fits measures a text, and reports whether it can be kept at all.
func (s *pageStore[T]) fits(fresh *kept[T]) bool {
	if s.sizeOf != nil {
		fresh.data = s.sizeOf(fresh.about)
	}
	isOff := s.limits.PerSession <= 0 || s.limits.Total <= 0 || s.limits.Age <= 0
	return !isOff && fresh.size() <= s.limits.Bytes
}

// touch marks a text as used now, and drops those that have expired.
func (s *pageStore[T]) touch(fresh *kept[T]) {
	fresh.used = s.now()
	s.sweep(fresh.used)
}

// add keeps a text, in place of those of its session above the limit and of what has to be evicted.
func (s *pageStore[T]) add(fresh *kept[T]) {
	ofSession := 0
	for _, k := range s.texts {
		if k.session == fresh.session {
			ofSession++
		}
	}
	count := len(s.texts)
	s.forget(func(k *kept[T]) bool {
		surplus := k.session == fresh.session && ofSession >= s.limits.PerSession
		if surplus {
			ofSession = ofSession - 1
			count = count - 1
		}
		return surplus
	})
	for ; count > 0 && (count >= s.limits.Total || s.bytes+fresh.size() > s.limits.Bytes); count-- {
		s.evict(fresh)
	}
	s.texts = append(s.texts, fresh)
	s.bytes += fresh.size()
}

// evict drops the least recently used text of whoever has the most bytes, with a fresh text among them: nobody loses texts
// to somebody who has more.
func (s *pageStore[T]) evict(fresh *kept[T]) {
	who := shares.Agent(fresh.session)
	bytes := map[shares.Payer]int64{who: fresh.size()}
	for _, k := range s.texts {
		bytes[shares.Agent(k.session)] += k.size()
	}
	out := 0
	for i, k := range s.texts {
		payer := shares.Agent(k.session)
		most := shares.Agent(s.texts[out].session)
		if bytes[payer] > bytes[most] {
			out = i
		}
	}
	s.bytes -= s.texts[out].size()
	s.texts = slices.Delete(s.texts, out, out+1)
}

// ErrPageGone says that no text is kept under an id for a session: it has expired, was evicted, or
// never existed.
var ErrPageGone = failure.New(
	failure.CodeNotFound,
	"run the command again, without a cursor",
	"the rest of this answer is not kept any more",
)

const sendAsItWas = "send the cursor of the latest answer, as it was"

// Get returns a text and the data about it, and marks it as used. The error is [ErrPageGone], also
// for the id of another session.
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
func (s *pageStore[T]) Drop(session string) { s.DropOf(func(of string) bool { return of == session }) }

// DropOf drops all texts of the sessions for which is returns true.
func (s *pageStore[T]) DropOf(is func(session string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(func(k *kept[T]) bool { return is(k.session) })
}

// Sweep drops expired texts. Put and Get do so too; it frees memory while neither is called.
func (s *pageStore[T]) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(s.now())
}

func (s *pageStore[T]) sweep(now time.Time) {
	s.forget(func(k *kept[T]) bool {
		age := now.Sub(k.used)
		return age >= s.limits.Age || age < 0 // a clock that is set back prolongs nothing
	})
}

// forget drops the texts for which goes returns true, called in order of use.
func (s *pageStore[T]) forget(goes func(*kept[T]) bool) {
	s.texts = slices.DeleteFunc(s.texts, func(k *kept[T]) bool {
		if !goes(k) {
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
	s.forget(func(*kept[T]) bool { return true })
}

const (
	idLength  = 26 // of crypto/rand.Text: 130 random bits
	idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	// maxOffset is the length of the longest text that a cursor can point into.
	maxOffset = 1 << 30
	maxCursor = idLength + 2*len(".1073741824")
)

// cursorAt returns a position in a kept text as at most 48 letters, digits and
// full stops: the id of [pageStore.Put], and the position of a page.
func cursorAt(id string, at pagePosition) string {
	cursor := id + "." + strconv.Itoa(at.At)
	if at.Until > 0 {
		cursor += "." + strconv.Itoa(at.Until)
	}
	return cursor
}

// parseCursor reads what [cursorAt] wrote, and nothing else. It does not check the id, and
// [cutForJSON] checks the position. The error is a [*failure.RequestError].
func parseCursor(cursor string) (id string, at pagePosition, err error) {
	bad := failure.New(failure.CodeBadValue, sendAsItWas, "cursor %s is not one of an answer", quoted(cursor))
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

// offset reads a number. Text that is none becomes 0, which is written differently.
func offset(s string) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxOffset {
		return 0
	}
	return int(n)
}

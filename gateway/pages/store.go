package pages

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"
)

// Limits bound what a [Store] keeps. One that is not above zero means nothing.
type Limits struct {
	PerSession int           // texts of one session
	Total      int           // texts of all sessions, some hundreds at most
	Bytes      int64         // of all texts, with the names of their sessions
	Age        time.Duration // since a text was last put or got
}

// Store keeps texts until their rest is fetched, in memory, each for one session.
// Where room is needed the text goes first that was not used for the longest
// time. It is safe for use by several goroutines; the zero Store keeps nothing.
//
// T is what the caller wants to know about a text again. It is not counted, so
// it has to be small.
type Store[T any] struct {
	limits Limits
	now    func() time.Time

	mu    sync.Mutex
	texts []*kept[T] // the one that was not used for the longest time first
	bytes int64
}

type kept[T any] struct {
	id, session, text string
	about             T
	used              time.Time
}

func (k *kept[T]) size() int64 { return int64(len(k.text)) + int64(len(k.session)) }

// NewStore makes an empty store. A nil clock is the system's.
func NewStore[T any](limits Limits, now func() time.Time) *Store[T] {
	if now == nil {
		now = time.Now
	}
	return &Store[T]{limits: limits, now: now}
}

// Put keeps a text and returns the id under which its session finds it: 26
// letters and digits that nobody can guess. It is not ok if the text is too large
// to be kept at all.
func (s *Store[T]) Put(session, text string, about T) (id string, ok bool) {
	fresh := &kept[T]{id: rand.Text(), session: session, text: text, about: about}
	if !s.put(fresh, false) {
		return "", false
	}
	return fresh.id, true
}

// Replace puts another text in the place of one that is kept. It is not ok, and the one before
// stays, if there is none, or if the text is too large to be kept.
func (s *Store[T]) Replace(session, id, text string, about T) (ok bool) {
	return s.put(&kept[T]{id: id, session: session, text: text, about: about}, true)
}

func (s *Store[T]) put(fresh *kept[T], replaces bool) (ok bool) {
	if l := s.limits; l.PerSession <= 0 || l.Total <= 0 || l.Age <= 0 || fresh.size() > l.Bytes {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh.used = s.now()
	s.sweep(fresh.used)
	found := false
	s.forget(func(k *kept[T]) bool {
		same := k.id == fresh.id && k.session == fresh.session
		found = found || same
		return same
	})
	if replaces && !found {
		return false // it was dropped, or had to make room
	}
	s.evictFor(fresh)
	s.texts = append(s.texts, fresh)
	s.bytes += fresh.size()
	return true
}

// Get returns a text and what was said about it, and keeps it for longer. The
// error is a *[Gone], also for the id of another session.
func (s *Store[T]) Get(session, id string) (text string, about T, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) == 0 { // there may be no clock
		return "", about, &Gone{}
	}
	now := s.now()
	s.sweep(now)
	for i, k := range s.texts {
		if k.id == id && k.session == session {
			k.used = now
			s.texts = append(slices.Delete(s.texts, i, i+1), k)
			return k.text, k.about, nil
		}
	}
	return "", about, &Gone{}
}

// Drop forgets all texts of a session.
func (s *Store[T]) Drop(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(func(k *kept[T]) bool { return k.session == session })
}

// Sweep forgets what is past its age. Put and Get do so too; it is for a caller
// that wants the memory back although nobody asks for anything.
func (s *Store[T]) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) > 0 {
		s.sweep(s.now())
	}
}

func (s *Store[T]) sweep(now time.Time) {
	s.forget(func(k *kept[T]) bool {
		age := now.Sub(k.used)
		return age >= s.limits.Age || age < 0 // a clock that was put back prolongs nothing
	})
}

// evictFor forgets what has to go so that a text can be kept.
func (s *Store[T]) evictFor(fresh *kept[T]) {
	ofSession := 0
	for _, k := range s.texts {
		if k.session == fresh.session {
			ofSession++
		}
	}
	s.forget(func(k *kept[T]) bool {
		surplus := k.session == fresh.session && ofSession >= s.limits.PerSession
		if surplus {
			ofSession--
		}
		return surplus
	})
	count := len(s.texts)
	s.forget(func(k *kept[T]) bool {
		surplus := count >= s.limits.Total || s.bytes+fresh.size() > s.limits.Bytes
		if surplus {
			count--
		}
		return surplus
	})
}

// forget drops the texts for which the answer is yes, asked in order of use.
func (s *Store[T]) forget(goes func(*kept[T]) bool) {
	s.texts = slices.DeleteFunc(s.texts, func(k *kept[T]) bool {
		if !goes(k) {
			return false
		}
		s.bytes -= k.size()
		return true
	})
}

// Clear forgets everything.
func (s *Store[T]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(func(*kept[T]) bool { return true })
}

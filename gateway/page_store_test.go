package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// clock is a clock that stands still until it is put.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)} }

// put puts a text that has to be kept.
func put(t *testing.T, s *pageStore[int], session, text string, about int) string {
	t.Helper()
	id, ok := s.Put(session, text, about)
	require.That(t, ok, "Put(%s, %s) = %s, %v", session, text, id, ok)
	require.Equal(t, len(id), idLength, "Put(%s, %s) = %s", session, text, id)
	require.Equal(t, strings.Trim(id, idLetters), "", "Put(%s, %s) = %s", session, text, id)
	return id
}

// has reports whether a text is kept.
func has(t *testing.T, s *pageStore[int], session, id string) bool {
	t.Helper()
	_, _, err := s.Get(session, id)
	require.That(t, err == nil || errors.Is(err, ErrPageGone), "Get(%s, %s): %v", session, id, err)
	return err == nil
}

func TestShelfForgetsWhatWasNotUsedForLong(t *testing.T) {
	clock := newClock()
	s := newPageStore[int](pageStoreLimits{9, 9, 100, time.Minute}, clock.now, nil)
	a, b := put(t, s, "s", "a", 1), put(t, s, "s", "b", 2)
	clock.at = clock.at.Add(time.Minute - 1)
	require.That(t, has(t, s, "s", a), "a text is gone before its time")
	clock.at = clock.at.Add(1)
	assert.That(t, has(t, s, "s", a), "want the text that was used and not the other one")
	assert.That(t, !has(t, s, "s", b), "want the text that was used and not the other one")
	clock.at = clock.at.Add(-time.Second)
	assert.That(t, !has(t, s, "s", a), "a clock that was put back keeps a text for longer")
	put(t, s, "s", "c", 3)
	clock.at = clock.at.Add(time.Minute)
	put(t, s, "s", "d", 4)
	assert.That(t, len(s.texts) == 1, "Put leaves %d texts", len(s.texts))
	clock.at = clock.at.Add(time.Minute)
	s.Sweep()
	assert.Equal(t, len(s.texts), 0, "%d texts, %d bytes are left", len(s.texts), s.bytes)
	assert.Equal(t, s.bytes, 0, "%d texts, %d bytes are left", len(s.texts), s.bytes)
}

func TestShelfReplacesAText(t *testing.T) {
	s := newPageStore[int](pageStoreLimits{2, 3, 100, time.Minute}, time.Now, nil)
	id, other := put(t, s, "s", "text", 7), put(t, s, "s", strings.Repeat("x", 60), 8)
	assert.That(t, s.Replace("s", id, "a longer text", 9), "not replaced")
	text, about, err := s.Get("s", id)
	assert.Equal(t, text, "a longer text")
	assert.Equal(t, about, 9)
	assert.NoError(t, err)
	if !has(t, s, "s", other) || len(s.texts) != 2 || s.bytes != 60+13+2 {
		t.Errorf("%d texts with %d bytes", len(s.texts), s.bytes)
	}
	for _, tt := range []struct{ session, id, text string }{{"s", someID, "x"}, {"other", id, "x"}, {"s", id, strings.Repeat("x", 100)}} {
		assert.That(t, !s.Replace(tt.session, tt.id, tt.text, 0), "%s of %s is replaced with %d bytes", tt.id, tt.session, len(tt.text))
	}
	text, _, err = s.Get("s", id)
	assert.Equal(t, text, "a longer text", "what cannot be replaced is now %q", text)
	assert.NoError(t, err, "what cannot be replaced is now %q", text)
	if !s.Replace("s", id, strings.Repeat("y", 90), 9) || has(t, s, "s", other) || !has(t, s, "s", id) {
		t.Error("a text that needs the room of another one does not get it")
	}
	s.Drop("s")
	assert.That(t, !s.Replace("s", id, "text", 7), "a session that is gone has a text again")
	assert.Equal(t, s.bytes, 0, "a session that is gone has a text again")
}

// TestShelfIsWithinItsLimits compares with a list that is searched in full.
func TestShelfIsWithinItsLimits(t *testing.T) {
	type text struct {
		session, id string
		size        int64
		used        time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		limits := pageStoreLimits{rapid.IntRange(0, 4).Draw(t, "session"), rapid.IntRange(0, 8).Draw(t, "total"),
			int64(rapid.IntRange(0, 60).Draw(t, "bytes")),
			rapid.SampledFrom([]time.Duration{10, 10, 10, 0}).Draw(t, "age")}
		none := limits.PerSession == 0 || limits.Total == 0 || limits.Age == 0
		clock := newClock()
		s := newPageStore[int](limits, clock.now, nil)
		var model []text
		sessions := rapid.SampledFrom([]string{"a", "b", "c"})
		drop := func(goes func(text) bool) { model = slices.DeleteFunc(model, goes) }
		first := func(session string) {
			i := slices.IndexFunc(model, func(m text) bool { return session == "" || m.session == session })
			model = slices.Delete(model, i, i+1)
		}
		sum := func(session string) (count int, bytes int64) {
			for _, m := range model {
				if session == "" || m.session == session {
					count, bytes = count+1, bytes+m.size
				}
			}
			return count, bytes
		}
		aged := func() { drop(func(m text) bool { return clock.at.Sub(m.used) >= limits.Age }) }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				session, size := sessions.Draw(t, "session"), rapid.IntRange(0, 30).Draw(t, "size")
				id, ok := s.Put(session, strings.Repeat("x", size), size)
				m := text{session, id, int64(size) + 1, clock.at}
				require.Equal(t, ok, !none && m.size <= limits.Bytes, "Put of %d bytes", size)
				if !ok {
					return
				}
				aged()
				for count, _ := sum(session); count >= limits.PerSession; count-- {
					first(session)
				}
				for count, bytes := sum(""); count >= limits.Total || bytes+m.size > limits.Bytes; count, bytes = sum("") {
					first("")
				}
				model = append(model, m)
			},
			"get": func(t *rapid.T) {
				aged()
				if len(model) == 0 {
					return
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				m, session := model[i], sessions.Draw(t, "session")
				body, size, err := s.Get(session, m.id)
				if (err == nil) != (session == m.session) || err == nil && (len(body) != size || int64(size)+1 != m.size) {
					t.Fatalf("Get(%s) of %+v: %q, %d, %v", session, m, body, size, err)
				}
				if err == nil {
					m.used = clock.at
					model = append(slices.Delete(model, i, i+1), m)
				}
			},
			"wait":  func(t *rapid.T) { clock.at = clock.at.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "time"))) },
			"sweep": func(*rapid.T) { s.Sweep(); aged() },
			"drop": func(t *rapid.T) {
				session := sessions.Draw(t, "session")
				s.Drop(session)
				drop(func(m text) bool { return m.session == session })
			},
			"": func(t *rapid.T) {
				s.Sweep()
				aged()
				_, bytes := sum("")
				same := slices.EqualFunc(s.texts, model, func(k *storedPage[int], m text) bool { return k.id == m.id })
				require.That(t, same, "%d texts of %d bytes, want %+v", len(s.texts), s.bytes, model)
				require.Equal(t, bytes, s.bytes, "%d texts of %d bytes, want %+v", len(s.texts), s.bytes, model)
				require.That(t, bytes <= limits.Bytes, "%d texts of %d bytes, want %+v", len(s.texts), s.bytes, model)
				require.That(t, len(model) <= limits.Total, "%d texts of %d bytes, want %+v", len(s.texts), s.bytes, model)
			},
		})
	})
}

func TestShelfIsSafeForSeveralGoroutines(t *testing.T) {
	s := newPageStore[int](pageStoreLimits{3, 5, 200, time.Minute}, time.Now, nil)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			session := fmt.Sprint(worker % 3)
			for i := range 200 {
				id, ok := s.Put(session, session+strings.Repeat("x", i%40), worker)
				text, _, err := s.Get(session, id)
				assert.That(t, ok, "%s gets %q, %v", session, text, err)
				assert.That(t, err != nil || strings.HasPrefix(text, session), "%s gets %q, %v", session, text, err)
				if i%50 == 0 {
					s.Drop(session)
					s.Sweep()
				}
			}
		})
	}
	all.Wait()
	var bytes int64
	for _, k := range s.texts {
		bytes += k.size()
	}
	assert.That(t, len(s.texts) <= 5, "%d texts of %d bytes, counted %d", len(s.texts), bytes, s.bytes)
	assert.Equal(t, bytes, s.bytes, "%d texts of %d bytes, counted %d", len(s.texts), bytes, s.bytes)
	assert.That(t, bytes <= 200, "%d texts of %d bytes, counted %d", len(s.texts), bytes, s.bytes)
}

// TestWhoeverHasMostGivesWay: agents share the memory of one store, and the sessions of an agent are one.
func TestWhoeverHasMostGivesWay(t *testing.T) {
	s := newPageStore[int](pageStoreLimits{PerSession: 16, Total: 512, Bytes: 1 << 20, Age: time.Hour}, time.Now, nil)
	quiet, ok := s.Put("quiet/session", strings.Repeat("q", 100<<10), 0)
	require.That(t, ok, "a text is not kept")
	for n := range 200 {
		s.Put(fmt.Sprintf("loud/session-%d", n), strings.Repeat("l", 90<<10), 0)
	}
	_, _, err := s.Get("quiet/session", quiet)
	assert.NoError(t, err)
	whole, ok := s.Put("new/session", strings.Repeat("n", 400<<10), 0)
	require.That(t, ok, "a text is not kept")
	_, _, err = s.Get("new/session", whole)
	assert.NoError(t, err)
	assert.That(t, s.bytes <= 1<<20, "%d bytes are kept", s.bytes)
}

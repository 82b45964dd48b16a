package kept

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func put(t *testing.T, s *Store, size int) (id string) {
	t.Helper()
	id, ok := s.Put([][]byte{make([]byte, size/2), make([]byte, size-size/2)})
	if !ok || len(id) != 26 {
		t.Fatalf("%d bytes are not kept: %q", size, id)
	}
	return id
}

// has reports whether an answer is kept, and does not use it.
func has(s *Store, id string) bool {
	return slices.ContainsFunc(s.answers, func(k kept) bool { return k.id == id })
}

func TestAnAnswerIsHadInParts(t *testing.T) {
	var s Store
	id, _ := s.Put([][]byte{[]byte("one\n"), []byte("three\n"), []byte("four\n")})
	tests := []struct {
		id            string
		from, atLeast int
		want          string
	}{
		{id, 0, 1, "one\n"}, {id, 0, 4, "one\n"}, {id, 0, 5, "one\nthree\n"}, {id, 4, 0, "three\n"},
		{id, 4, 100, "three\nfour\n"}, {id, 10, 1, "four\n"}, {id, 0, MaxBytes, "one\nthree\nfour\n"},
		{id, 3, 1, ""}, {id, 15, 1, ""}, {id, 16, 1, ""}, {"another", 0, 1, ""},
	}
	for range 2 { // whoever was cut off asks again
		for _, tt := range tests {
			if pieces, ok := s.Get(tt.id, tt.from, tt.atLeast); ok != (tt.want != "") || string(bytes.Join(pieces, nil)) != tt.want {
				t.Errorf("%d bytes from %d: %q, %v; want %q", tt.atLeast, tt.from, pieces, ok, tt.want)
			}
		}
	}
}

func TestWhatWasHadToItsEndIsSwept(t *testing.T) {
	var s Store
	ended, begun, untouched := put(t, &s, 10), put(t, &s, 10), put(t, &s, 10)
	s.Get(ended, 5, 1)
	s.Get(begun, 0, 1)
	s.Sweep()
	if has(&s, ended) || !has(&s, begun) || !has(&s, untouched) || s.bytes != 20 {
		t.Errorf("after a sweep there are %d answers with %d bytes", len(s.answers), s.bytes)
	}
}

func TestAnswersAreFewAndSmall(t *testing.T) {
	var s Store
	if _, ok := s.Put([][]byte{make([]byte, MaxBytes), make([]byte, 1)}); ok || s.bytes != 0 {
		t.Error("what is too large is kept")
	}
	oldest, used, ended := put(t, &s, 2), put(t, &s, 2), put(t, &s, 2)
	s.Get(used, 0, 1)
	s.Get(ended, 1, 1)
	for range maxCount - 3 {
		put(t, &s, 2)
	}
	for _, goes := range []string{ended, oldest} {
		put(t, &s, 2)
		if has(&s, goes) || len(s.answers) != maxCount {
			t.Errorf("%d are kept; what was had goes first, and then the oldest", len(s.answers))
		}
	}
	if !has(&s, used) {
		t.Error("what was used last is gone")
	}
	last := put(t, &s, MaxBytes)
	if len(s.answers) != 1 || !has(&s, last) || s.bytes != MaxBytes {
		t.Errorf("%d answers with %d bytes are kept beside one that fills the store", len(s.answers)-1, s.bytes-MaxBytes)
	}
}

func TestAnswersGetOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		id := put(t, &s, 4)
		time.Sleep(maxAge - time.Second)
		if _, ok := s.Get(id, 0, 1); !ok {
			t.Error("it went too early")
		}
		time.Sleep(maxAge - time.Second)
		s.Sweep()
		if !has(&s, id) {
			t.Error("it went too early behind its last use")
		}
		time.Sleep(time.Second)
		if _, ok := s.Get(id, 0, 1); ok {
			t.Error("it can be had for too long")
		}
		s.Sweep()
		if has(&s, id) || s.bytes != 0 {
			t.Error("it is kept for ever")
		}
	})
}

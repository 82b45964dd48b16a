package answer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// longListing has rows of about 40 bytes, and some that are longer than a chunk.
func longListing(rows int) Listing {
	return Listing{Columns: []string{"name", "text"}, Rows: rows, Cell: func(b []byte, row, column int) []byte {
		if column == 0 {
			return fmt.Appendf(b, "note %06d.md", row)
		}
		if row%1000 == 999 {
			return append(b, strings.Repeat("long ", chunkSize/4)...)
		}
		return append(b, "some \"text\" of it"...)
	}}
}

// A part is the start of the answer up to the end of a row, and the whole is kept.
func TestAPartIsOfWholeRows(t *testing.T) {
	lines := longListing(4000)
	text := printed(t, lines.Reply(FormatTSV))
	tests := map[string]struct {
		reply func() Reply
		lines bool
		end   string // of the part, without the line break
	}{
		"tsv":                   {func() Reply { return lines.Reply(FormatTSV) }, true, ""},
		"csv":                   {func() Reply { return lines.Reply(FormatCSV) }, false, ""},
		"json":                  {func() Reply { return lines.Reply(FormatJSON) }, false, "}"},
		"text":                  {func() Reply { return Text(text) }, true, ""},
		"text without its end":  {func() Reply { return Text(strings.TrimSuffix(text, "\n")) }, true, ""},
		"text with empty lines": {func() Reply { return Text(text + "\n\n") }, true, ""},
	}
	for name, tt := range tests {
		whole := printed(t, tt.reply())
		for _, first := range []int{1, 100, 33 << 10, 200 << 10} {
			said := tt.reply()
			kept, ok := said.Divide(protocol.Part{Bytes: first, Lines: tt.lines})
			require.That(t, ok && kept.Size == len(bytes.Join(kept.Pieces, nil)), "%s: not divided at %d: %d bytes", name, first, kept.Size)
			part := printed(t, said)
			if tt.end != "" {
				part = strings.TrimSuffix(part, "\n")
			}
			if len(part) < first || len(part) == len(whole) || !strings.HasPrefix(whole, part) || !strings.HasSuffix(part, cmp.Or(tt.end, "\n")) {
				t.Errorf("%s: the part of at least %d bytes has %d and ends with %q", name, first, len(part), part[max(0, len(part)-20):])
			}
			got := printed(t, TextOfPieces(kept.Pieces))
			assert.Equal(t, got, whole, "%s: what is kept is not the answer: %d bytes, not %d", name, len(got), len(whole))
			want := 4000
			if tt.lines {
				want = strings.Count(whole, "\n")
			}
			assert.That(t, kept.Rows == want, "%s: %d rows, want %d", name, kept.Rows, want)
		}
	}
}

// What is not divided is printed as it would be anyway.
func TestWhatIsNotDivided(t *testing.T) {
	short, tooLarge := longListing(5), longListing(1000)
	tooLarge.Rows = 1000 * (MaxBytes/(chunkSize/4*5) + 2)
	for name, tt := range map[string]struct {
		reply func() Reply
		part  protocol.Part
	}{
		"nothing is asked for":        {func() Reply { return longListing(100).Reply(FormatTSV) }, protocol.Part{Lines: true}},
		"a short listing":             {func() Reply { return short.Reply(FormatJSON) }, protocol.Part{Bytes: 1000}},
		"one that ends with the part": {func() Reply { return short.Reply(FormatTSV) }, protocol.Part{Bytes: 140, Lines: true}},
		"a listing that is too large": {func() Reply { return tooLarge.Reply(FormatTSV) }, protocol.Part{Bytes: 1000, Lines: true}},
		"a text that is too large":    {func() Reply { return Text(strings.Repeat("x\n", MaxBytes)) }, protocol.Part{Bytes: 1000, Lines: true}},
		"text without rows":           {func() Reply { return Text(strings.Repeat("x\n", 1000)) }, protocol.Part{Bytes: 10}},
		"one long line":               {func() Reply { return Text(strings.Repeat("x", 1000) + "\n") }, protocol.Part{Bytes: 10, Lines: true}},
		"a failure":                   {func() Reply { return Reply{Status: ExitFailed, Text: strings.Repeat("x\n", 1000)} }, protocol.Part{Bytes: 10, Lines: true}},
		"an image":                    {func() Reply { return Reply{Image: "image/png", Text: "x\n" + strings.Repeat("y\n", 1000)} }, protocol.Part{Bytes: 1, Lines: true}},
		"a note":                      {func() Reply { return Reply{Body: &disk.File{}, Text: strings.Repeat("x\n", 1000)} }, protocol.Part{Bytes: 10, Lines: true}},
	} {
		said := tt.reply()
		whole, ok := said.Divide(tt.part)
		assert.That(t, !ok, "%s: divided, and %d bytes are kept", name, whole.Size)
		if said.Body != nil {
			continue
		}
		got, want := printed(t, said), printed(t, tt.reply())
		assert.Equal(t, got, want, "%s: %d bytes are printed, not %d", name, len(got), len(want))
	}
}

func printed(t *testing.T, r Reply) string {
	t.Helper()
	var out strings.Builder
	require.Equal(t, r.Print(&out), r.Status, "printing ends with status")
	return out.String()
}

func put(t *testing.T, s *Store, size int) (id string) {
	t.Helper()
	id, ok := s.Put([][]byte{make([]byte, size/2), make([]byte, size-size/2)})
	require.That(t, ok && len(id) == 26, "%d bytes are not kept: %q", size, id)
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
	for range 2 { // the one that was cut off asks again
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
	_, ok := s.Put([][]byte{make([]byte, MaxBytes), make([]byte, 1)})
	assert.That(t, !ok && s.bytes == 0, "what is too large is kept")
	oldest, used, ended := put(t, &s, 2), put(t, &s, 2), put(t, &s, 2)
	s.Get(used, 0, 1)
	s.Get(ended, 1, 1)
	for range maxCount - 3 {
		put(t, &s, 2)
	}
	for _, goes := range []string{ended, oldest} {
		put(t, &s, 2)
		assert.That(t, !has(&s, goes) && len(s.answers) == maxCount, "%d are kept; what was had goes first, and then the oldest", len(s.answers))
	}
	assert.That(t, has(&s, used), "what was used last is gone")
	last := put(t, &s, MaxBytes)
	if len(s.answers) != 1 || !has(&s, last) || s.bytes != MaxBytes {
		t.Errorf("%d answers with %d bytes are kept with one that fills the store", len(s.answers)-1, s.bytes-MaxBytes)
	}
}

func TestAnswersGetOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Store
		id := put(t, &s, 4)
		time.Sleep(maxAge - time.Second)
		_, ok := s.Get(id, 0, 1)
		assert.That(t, ok, "it went too early")
		time.Sleep(maxAge - time.Second)
		s.Sweep()
		assert.That(t, has(&s, id), "it was removed too early after its last use")
		time.Sleep(time.Second)
		_, ok = s.Get(id, 0, 1)
		assert.That(t, !ok, "it can be had for too long")
		s.Sweep()
		assert.That(t, !has(&s, id) && s.bytes == 0, "it is kept for ever")
	})
}

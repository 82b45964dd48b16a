package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"vaultwicket/tests/require"
)

// FuzzOpen takes arbitrary text for a state. It opens nothing but what was
// sealed, once, and what has the form of a state has it in one way only.
func FuzzOpen(f *testing.F) {
	// Always the same key, so that a state that was found stays one.
	fresh := func(t testing.TB) (s *Sealer, state string) {
		s, err := NewSealer(bytes.NewReader(make([]byte, 32+16)), newClock().now)
		require.NoError(t, err)
		return s, seal(t, s, bound)
	}
	_, state := fresh(f)
	f.Add(state)
	f.Add(state[:len(state)-1] + "_")
	f.Add(state + "=")
	f.Add("")
	f.Add(ticket{expiry: 1<<63 - 1}.encode())
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := fresh(t)
		if spent, opened := s.Spend(text) == nil, s.Open(text, bound) == nil; spent != (text == state) || opened {
			t.Fatalf("%q: spent %v, opened %v", text, spent, opened)
		}
		made, ok := decodeTicket(text)
		if !ok {
			return
		}
		require.Equal(t, made.encode(), text, "%q", text)
		// With a seal that is right, or nothing but that would be tried, it opens
		// for one call, once, until it expires.
		s, _ = fresh(t)
		made.call = s.callTag(made, bound)
		made.seal = s.sealTag(made)
		other := bound
		other.Digest = Digest{2}
		want := made.expiry > 0
		wrong, first, second := s.Open(made.encode(), other), s.Open(made.encode(), bound), s.Open(made.encode(), bound)
		require.That(t, wrong != nil && (first == nil) == want && second != nil, "%+v: %v, %v, %v", made, wrong, first, second)
	})
}

// FuzzQuestion takes arbitrary bytes for the file of a question, and the same
// with a sum that is right. What is read of it is a question that could have
// been asked, and is written again to the byte.
func FuzzQuestion(f *testing.F) {
	d, _ := newStore(f)
	for n, act := range []func(string) (StoredQuestion, error){d.Approve, d.Deny, nil} {
		q := ask(f, d, about(byte(n+1)))
		if act != nil {
			_, err := act(q.Code)
			require.NoError(f, err)
		}
		path, data := fileOf(f, d, q)
		code, _ := parseCode(q.Code)
		require.NoError(f, os.Remove(path))
		f.Add(code, data)
		f.Add("22222222", data)
	}
	f.Add("22222222", []byte(`{"sum":"","code":"22222222","state":"approved"}`))
	f.Fuzz(func(t *testing.T, code string, data []byte) {
		checkParsed(t, code, data)
		checkParsed(t, code, resummed(data))
	})
}

// resummed writes data as a record again, with a sum that is right.
func resummed(data []byte) []byte {
	var r record
	_ = json.Unmarshal(data, &r)
	r.Sum = ""
	text, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(text)
	r.Sum = hex.EncodeToString(sum[:])
	text, _ = json.Marshal(r)
	return append(text, '\n')
}

func checkParsed(t *testing.T, code string, data []byte) {
	q, ok := parseQuestion(code, data)
	if !ok {
		return
	}
	require.That(t, q.check() == nil && q.Code == displayCode(code) && q.State >= Pending && q.State <= Denied && q.Expires.Sub(q.Made) <= maxLife, "%+v", q)
	if again, err := q.encode(); err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%q, %v, was %q", again, err, data)
	}
	require.That(t, !q.isLive(q.Made.Add(maxLife)) && !q.isLive(q.Expires) && q.isLive(q.Made), "made %v, expires %v", q.Made, q.Expires)
}

// FuzzCode takes arbitrary text for a code. What is read of it names one file,
// and reads the same however it is written.
func FuzzCode(f *testing.F) {
	f.Add("ABCD-2345")
	f.Add("abcd2345")
	f.Add("ſſſſſſſſ")
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := parseCode(typed)
		if !ok {
			return
		}
		if again, ok := parseCode(displayCode(code)); !ok || again != code || len(code) != codeLength {
			t.Fatalf("%q is %q, and then %q", typed, code, again)
		}
	})
}

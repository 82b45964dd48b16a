package consent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

var bound = Bound{Vault: "Notes", Digest: Digest{1}, Caller: "session-1"}

func newSealer(t testing.TB) (*Sealer, *clock) {
	t.Helper()
	c := newClock()
	return NewSealer(c.now), c
}

func seal(t testing.TB, s *Sealer, b Bound) string {
	t.Helper()
	return require.Value(s.Seal(b, time.Minute))(t)
}

func TestAYesWorksOnce(t *testing.T) {
	s, _ := newSealer(t)
	state := seal(t, s, bound)
	assert.Equal(t, s.Open(state, bound), nil)
	assert.Equal(t, s.Open(state, bound), errUsed)
	assert.Equal(t, s.Spend(state), errUsed)
}

func TestANoUsesTheStateUp(t *testing.T) {
	s, _ := newSealer(t)
	state := seal(t, s, bound)
	require.NoError(t, s.Spend(state))
	assert.Equal(t, s.Open(state, bound), errUsed)
	assert.Equal(t, s.Spend(state), errUsed)
}

func TestAStateIsShortAndSafeInAnAddress(t *testing.T) {
	s, _ := newSealer(t)
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	long := Bound{strings.Repeat("v", 1<<16), Digest{1}, strings.Repeat("c", 1<<16)}
	state := seal(t, s, long)
	assert.That(t, len(state) < 256, "%d bytes: %q", len(state), state)
	assert.Equal(t, strings.Trim(state, safe), "")
	assert.Equal(t, s.Open(state, long), nil)
	assert.That(t, seal(t, s, long) != state, "two states are the same")
}

func TestAStateIsForOneCallOnly(t *testing.T) {
	s, _ := newSealer(t)
	for name, other := range map[string]Bound{
		"another vault":             {"Other", bound.Digest, bound.Caller},
		"another call":              {bound.Vault, Digest{2}, bound.Caller},
		"a bit of the digest":       {bound.Vault, Digest{1, 31: 1}, bound.Caller},
		"another caller":            {bound.Vault, bound.Digest, "session-2"},
		"vault and caller swapped":  {bound.Caller, bound.Digest, bound.Vault},
		"the border moved":          {bound.Vault + "s", bound.Digest, bound.Caller[1:]},
		"no vault":                  {"", bound.Digest, bound.Caller},
		"no caller":                 {bound.Vault, bound.Digest, ""},
		"nothing":                   {},
		"a vault with a zero added": {bound.Vault + "\x00", bound.Digest, bound.Caller},
	} {
		state := seal(t, s, bound)
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, s.Open(state, other), errOtherCall)
			// It was not used up by that.
			assert.Equal(t, s.Open(state, bound), nil)
		})
	}
}

func TestTheBordersOfACallAreSealed(t *testing.T) {
	s, _ := newSealer(t)
	border := strings.Repeat("\x00", 8)
	a := Bound{"v", Digest{1}, "c" + border + "d"}
	b := Bound{"v" + border + "c", Digest{1}, "d"}
	assert.Equal(t, s.Open(seal(t, s, a), b), errOtherCall)
	assert.Equal(t, s.Open(seal(t, s, b), a), errOtherCall)
}

func TestNoTwoCallsShareAState(t *testing.T) {
	s, _ := newSealer(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 12, -1)
		digest := rapid.Custom(func(t *rapid.T) Digest { return sha256.Sum256(rapid.SliceOfN(rapid.Byte(), 0, 1).Draw(t, "of")) })
		a := Bound{text.Draw(t, "vault"), digest.Draw(t, "digest"), text.Draw(t, "caller")}
		b := Bound{text.Draw(t, "vault"), digest.Draw(t, "digest"), text.Draw(t, "caller")}
		state := require.Value(s.Seal(a, time.Minute))(t)
		require.Equal(t, (s.Open(state, b) == nil), (a == b), "sealed for %+v, opened for %+v", a, b)
	})
}

func TestNoBitOfAStateCanBeChanged(t *testing.T) {
	s, _ := newSealer(t)
	state := seal(t, s, bound)
	data := require.Value(stateText.DecodeString(state))(t)
	for bit := range len(data) * 8 {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		text := stateText.EncodeToString(changed)
		want := errChanged
		if bit < 8 {
			want = errForged // the version
		}
		assert.Equal(t, s.Open(text, bound), want)
		assert.Equal(t, s.Spend(text), want)
	}
	assert.Equal(t, s.Open(state, bound), nil)
}

func TestNoByteOfAStateCanBeChanged(t *testing.T) {
	s, _ := newSealer(t)
	state := seal(t, s, bound)
	for i := range state {
		for c := range 256 {
			for _, text := range []string{
				state[:i] + string([]byte{byte(c)}) + state[i+1:],
				state[:i] + string([]byte{byte(c)}) + state[i:], // as well as one too many
			} {
				require.That(t, text == state || s.Open(text, bound) != nil, "opened with byte %d as %d", i, c)
			}
		}
		for _, text := range []string{state[:i], state[i+1:], state[:i] + state[i+1:]} {
			assert.Equal(t, s.Open(text, bound), errForged)
		}
	}
	for _, text := range []string{"", state + "=", state + state, " " + state, state + "\n", strings.Repeat("A", len(state)), strings.Repeat("\n", len(state))} {
		assert.Equal(t, s.Open(text, bound), errForged)
	}
	assert.Equal(t, s.Open(state, bound), nil)
}

func TestPartsOfStatesCannotBeSwapped(t *testing.T) {
	s, _ := newSealer(t)
	mine := require.Value(decode(seal(t, s, bound)))(t)
	other := bound
	other.Digest = Digest{2}
	theirs := require.Value(decode(seal(t, s, other)))(t)
	for name, change := range map[string]func(t *ticket){
		"nonce":          func(t *ticket) { t.nonce = theirs.nonce },
		"expiry":         func(t *ticket) { t.expiry += time.Hour },
		"call":           func(t *ticket) { t.call = theirs.call },
		"seal":           func(t *ticket) { t.seal = theirs.seal },
		"call and seal":  func(t *ticket) { t.call, t.seal = theirs.call, theirs.seal },
		"call for seal":  func(t *ticket) { t.seal = t.call },
		"tags exchanged": func(t *ticket) { t.call, t.seal = t.seal, t.call },
	} {
		changed := mine
		change(&changed)
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, s.Open(changed.encode(), bound), errChanged)
			assert.Equal(t, s.Open(changed.encode(), other), errChanged)
		})
	}
}

func decode(state string) (ticket, error) {
	t, ok := decodeTicket(state)
	if !ok {
		return t, errors.New("no state")
	}
	return t, nil
}

func TestAStateOfAnotherRunIsRefused(t *testing.T) {
	s, _ := newSealer(t)
	again, _ := newSealer(t)
	assert.Equal(t, again.Open(seal(t, s, bound), bound), errChanged)
	assert.Equal(t, again.Spend(seal(t, s, bound)), errChanged)
}

func TestALateAnswerIsRefused(t *testing.T) {
	s, c := newSealer(t)
	for _, test := range []struct {
		name string
		pass []time.Duration
		want error
	}{
		{"in time", []time.Duration{time.Minute - 1}, nil},
		{"to the moment", []time.Duration{time.Minute}, errExpired},
		{"late", []time.Duration{time.Hour}, errExpired},
		{"a clock put forward and back", []time.Duration{time.Hour, -time.Hour}, errExpired},
		{"a clock put back", []time.Duration{-time.Hour, time.Minute - 1}, nil},
		{"late by a clock put back", []time.Duration{-time.Hour, time.Minute}, errExpired},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := seal(t, s, bound)
			for _, d := range test.pass {
				c.pass(d)
				s.watch.elapsed() // as any other call would
			}
			assert.Equal(t, s.Open(state, bound), test.want)
		})
	}
}

// A state that was used stays used, whatever becomes of the clock and of the
// memory for it.
func TestAUsedStateNeverComesBack(t *testing.T) {
	s, c := newSealer(t)
	state := seal(t, s, bound)
	require.NoError(t, s.Open(state, bound))
	c.pass(2 * time.Minute)
	for range maxSpent {
		require.NoError(t, s.Open(seal(t, s, bound), bound))
	}
	c.pass(-2 * time.Minute)
	assert.That(t, s.Open(state, bound) != nil, "opened again")
}

func TestMemoryIsBounded(t *testing.T) {
	s, c := newSealer(t)
	early := seal(t, s, bound)
	for i := range maxSpent {
		state := seal(t, s, bound)
		if i%2 == 0 {
			require.NoError(t, s.Open(state, bound))
		} else {
			require.NoError(t, s.Spend(state))
		}
	}
	_, err := s.Seal(bound, time.Minute)
	assert.Equal(t, err, errFull)
	assert.Equal(t, s.Open(early, bound), errFull)
	assert.That(t, len(s.used) <= maxSpent, "%d are remembered", len(s.used))
	c.pass(time.Minute)
	assert.Equal(t, s.Open(seal(t, s, bound), bound), nil)
	assert.That(t, len(s.used) == 1, "%d are remembered", len(s.used))
}

func TestANoIsHeardWithoutRoomForIt(t *testing.T) {
	s, c := newSealer(t)
	declined := require.Value(s.Seal(bound, 10*time.Minute))(t)
	open := require.Value(s.Seal(bound, 11*time.Minute))(t)
	for range maxSpent {
		require.NoError(t, s.Open(seal(t, s, bound), bound))
	}
	require.NoError(t, s.Spend(declined))
	c.pass(time.Minute) // there is room again
	assert.Equal(t, s.Open(declined, bound), errFull)
	assert.Equal(t, s.Open(open, bound), nil)
	// What is made now would not be taken, and so no one is asked.
	_, err := s.Seal(bound, time.Minute)
	assert.Equal(t, err, errFull)
	c.pass(9 * time.Minute)
	assert.Equal(t, s.Open(declined, bound), errExpired)
	assert.Equal(t, s.Open(seal(t, s, bound), bound), nil)
}

func TestAThousandAtOnceAndOneIsTaken(t *testing.T) {
	s, _ := newSealer(t)
	for _, open := range map[string]func(state string, n int) error{
		"open":          func(state string, _ int) error { return s.Open(state, bound) },
		"open or spend": func(state string, n int) error { return either(n, s, state) },
	} {
		state := seal(t, s, bound)
		var taken, used atomic.Int32
		var ready, done sync.WaitGroup
		start := make(chan struct{})
		for n := range 1000 {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-start
				switch open(state, n) {
				case nil:
					taken.Add(1)
				case errUsed:
					used.Add(1)
				}
			})
		}
		ready.Wait()
		close(start)
		done.Wait()
		assert.Equal(t, taken.Load(), 1, "%d were taken, %d were used", taken.Load(), used.Load())
		assert.Equal(t, used.Load(), 999, "%d were taken, %d were used", taken.Load(), used.Load())
	}
}

func either(n int, s *Sealer, state string) error {
	if n%2 == 0 {
		return s.Open(state, bound)
	}
	return s.Spend(state)
}

func TestWhatCannotBeSealed(t *testing.T) {
	s, _ := newSealer(t)
	for name, test := range map[string]struct {
		b   Bound
		ttl time.Duration
	}{
		"no vault":      {Bound{"", bound.Digest, "c"}, time.Minute},
		"no digest":     {Bound{"v", Digest{}, "c"}, time.Minute},
		"no caller":     {Bound{"v", bound.Digest, ""}, time.Minute},
		"no time":       {bound, 0},
		"time gone by":  {bound, -1},
		"too long":      {bound, time.Hour + 1},
		"for all times": {bound, 1<<63 - 1},
	} {
		var invalid *Invalid
		state, err := s.Seal(test.b, test.ttl)
		assert.Equal(t, state, "", "%s", name)
		assert.That(t, errors.As(err, &invalid), "%s: %q, %v", name, state, err)
	}
}

func TestTheZeroSealerTakesNothing(t *testing.T) {
	var zero Sealer
	state, err := zero.Seal(bound, time.Minute)
	assert.That(t, err != nil, "made %q", state)
	// One with the key that the zero Sealer would have.
	s := NewSealer(newClock().now)
	s.key = [sha256.Size]byte{}
	state = seal(t, s, bound)
	assert.Equal(t, zero.Open(state, bound), errForged)
	assert.Equal(t, zero.Spend(state), errForged)
}

func TestNothingOfTheCallIsInAState(t *testing.T) {
	s, _ := newSealer(t)
	b := Bound{"Notes", sha256.Sum256([]byte("call")), "session-1"}
	data := require.Value(stateText.DecodeString(seal(t, s, b)))(t)
	for _, secret := range [][]byte{b.Digest[:], []byte(b.Vault), []byte(b.Caller), s.key[:]} {
		assert.That(t, !bytes.Contains(data, secret), "%q is in it", secret)
	}
}

func TestTheStopwatchRunsForwardOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		w := newStopwatch(c.now)
		want := time.Duration(0)
		for _, step := range rapid.SliceOf(rapid.Int64Range(-int64(time.Hour), int64(time.Hour))).Draw(t, "steps") {
			c.pass(time.Duration(step))
			want += max(0, time.Duration(step))
			require.Equal(t, w.elapsed(), want)
		}
	})
}

func TestTheStopwatchTakesTimesWithAndWithoutAMonotonicClock(t *testing.T) {
	monotonic := time.Now()
	times := []time.Time{monotonic, monotonic.Round(0).Add(time.Hour)}
	w := newStopwatch(func() time.Time {
		next := times[0]
		times = times[1:]
		return next
	})
	assert.Equal(t, w.elapsed(), time.Hour)
}

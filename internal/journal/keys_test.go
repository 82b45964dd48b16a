package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAKeyHasOneCall(t *testing.T) {
	j := newJournal(t, Limits{})
	now := time.Now()
	one, other := [32]byte{1}, [32]byte{2}
	id := NewID(now)
	recall := func(digest [32]byte, now time.Time) (string, bool, error) {
		answer, found, err := again(j).Keys("").Recall("../a key", digest, now)
		return string(answer), found, err
	}
	answer, found, err := recall(one, now)
	assert.Equal(t, answer, "", "a new key")
	assert.That(t, !found, "a new key: %q, %v, %v", answer, found, err)
	assert.NoError(t, err, "a new key")
	var unknown *Unknown
	err = j.Keys("").Remember("../a key", one, nil, now)
	assert.That(t, errors.As(err, &unknown), "an answer without a claim: %v", err)
	require.NoError(t, j.Keys("").Claim("../a key", one, id, now))
	var unfinished *Unfinished
	_, _, err = recall(one, now)
	require.That(t, errors.As(err, &unfinished), "%v", err)
	assert.Equal(t, unfinished.ID, id)
	err = again(j).Keys("").Claim("../a key", one, id, now)
	assert.That(t, errors.As(err, &unfinished), "%v", err)
	var reused *KeyReused
	for _, err := range []error{
		func() error { _, _, err := recall(other, now); return err }(),
		j.Keys("").Claim("../a key", other, id, now),
		j.Keys("").Remember("../a key", other, nil, now),
	} {
		require.That(t, errors.As(err, &reused), "%v", err)
		assert.Equal(t, reused.ID, id)
	}
	require.NoError(t, j.Keys("").Remember("../a key", one, []byte("the answer"), now))
	for _, at := range []time.Time{now, now.Add(23 * time.Hour), now.Add(-time.Hour)} {
		answer, found, err := recall(one, at)
		assert.Equal(t, answer, "the answer")
		assert.That(t, found, "%q, %v, %v", answer, found, err)
		assert.NoError(t, err)
	}
	assert.That(t, j.Keys("").Claim("../a key", one, id, now) != nil, "an answered key is claimed")
	for _, at := range []time.Time{now.Add(25 * time.Hour), now.Add(-25 * time.Hour)} {
		_, found, err := recall(other, at)
		assert.That(t, !found, "%v, %v", found, err)
		assert.NoError(t, err)
	}
	require.NoError(t, j.Keys("").Claim("../a key", other, id, now.Add(25*time.Hour)))
	require.NoError(t, j.Keys("").Forget("../a key", id))
	_, found, err = recall(one, now)
	assert.That(t, !found, "a key that was forgotten: %v, %v", found, err)
	assert.NoError(t, err, "a key that was forgotten")
}

func TestOldKeysAreRemovedAndYoungOnesAreNot(t *testing.T) {
	j := newJournal(t, Limits{})
	now, k := time.Now(), j.Keys("")
	for i := 19; i >= 0; i-- {
		require.NoError(t, k.Claim(fmt.Sprint(i), [32]byte{}, NewID(now), now.Add(-time.Duration(i)*2*time.Hour)))
	}
	require.NoError(t, k.Claim("one more", [32]byte{}, NewID(now), now))
	names, _ := filepath.Glob(filepath.Join(k.folder(), "*"))
	assert.That(t, len(names) == 14, "%d keys are left", len(names))
	err := k.Remember("one more", [32]byte{}, make([]byte, maxAnswer+1), now)
	assert.That(t, isTyped(err), "%v", err)
	answer := bytes.Repeat([]byte("x"), maxAnswer)
	require.NoError(t, k.Remember("one more", [32]byte{}, answer, now))
	got, _, err := k.Recall("one more", [32]byte{}, now)
	require.Equal(t, err, nil, "%d bytes, %v", len(got), err)
	assert.That(t, bytes.Equal(got, answer), "%d bytes, %v", len(got), err)
	for i := range maxKeys {
		require.NoError(t, os.WriteFile(filepath.Join(k.folder(), fmt.Sprint(i)+keySuffix), nil, 0o600))
	}
	var large *TooLarge
	err = k.Claim("one too many", [32]byte{}, NewID(now), now)
	assert.That(t, errors.As(err, &large), "%v", err)
}

func TestACallerHasAShareOfTheKeys(t *testing.T) {
	j := newJournal(t, Limits{})
	now := time.Now()
	k := j.Keys("one")
	require.NoError(t, k.Claim("first", [32]byte{}, NewID(now), now))
	for i := range keysOfFirst - 1 {
		require.NoError(t, k.put(fmt.Sprintf("%064x", i), keyRecord{ID: NewID(now), Digest: strings.Repeat("0", 64), Time: now, Caller: k.caller}))
	}
	var large *TooLarge
	err := k.Claim("one more", [32]byte{}, NewID(now), now)
	require.That(t, errors.As(err, &large), "above its share: %v", err)
	assert.Equal(t, large.Limit, keysOfFirst, "above its share")
	require.NoError(t, j.Keys("another").Claim("one more", [32]byte{}, NewID(now), now))
}

func TestADamagedKeyIsNoNewOne(t *testing.T) {
	j := newJournal(t, Limits{})
	now, k := time.Now(), j.Keys("")
	require.NoError(t, k.Claim("key", [32]byte{}, NewID(now), now))
	names, _ := filepath.Glob(filepath.Join(k.folder(), "*"))
	data := require.Value(os.ReadFile(names[0]))(t)
	for at := range data {
		for _, changed := range [][]byte{data[:at], append(append(bytes.Clone(data[:at]), data[at]^4), data[at+1:]...)} {
			require.NoError(t, os.WriteFile(names[0], changed, 0o600))
			var damaged *Damaged
			_, _, err := k.Recall("key", [32]byte{}, now)
			require.That(t, errors.As(err, &damaged), "byte %d: %v", at, err)
			err = k.Claim("key", [32]byte{}, NewID(now), now)
			require.That(t, errors.As(err, &damaged), "byte %d: %v", at, err)
		}
	}
}

func TestOfManyClaimsOneIsGranted(t *testing.T) {
	j := newJournal(t, Limits{})
	now := time.Now()
	var mu sync.Mutex
	granted := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if again(j).Keys("").Claim("key", [32]byte{}, NewID(now), now) == nil {
				mu.Lock()
				defer mu.Unlock()
				granted++
			}
		})
	}
	all.Wait()
	assert.That(t, granted == 1, "%d claims were granted", granted)
}

func TestEveryFaultOfAKey(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for n := 1; ; n++ {
			j := newJournal(t, Limits{})
			now, digest := time.Now(), [32]byte{1}
			sys := &fake.FailingDisk{N: n, Lasting: killed}
			j.sys = sys
			claimed := j.Keys("").Claim("key", digest, NewID(now), now) == nil
			answered := claimed && j.Keys("").Remember("key", digest, []byte("answer"), now) == nil
			answer, found, err := again(j).Keys("").Recall("key", digest, now)
			var unfinished *Unfinished
			switch {
			case answered && (!found || string(answer) != "answer"):
				t.Errorf("call %d: %q, %v, %v", n, answer, found, err)
			case claimed && !found && !errors.As(err, &unfinished):
				t.Errorf("call %d: %v", n, err)
			case err != nil && !errors.As(err, &unfinished):
				t.Errorf("call %d: %v", n, err)
			}
			if sys.Calls < n {
				break
			}
		}
	}
}

package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// wantDamaged fails unless the file of q is told as damaged, and is no answer.
func wantDamaged(t *testing.T, d *Store, q StoredQuestion, name string) {
	t.Helper()
	list, damaged := listed(t, d)
	assert.Equal(t, len(list), 0, "%+v, %v", list, damaged)
	require.Equal(t, len(damaged), 1, "%+v, %v", list, damaged)
	assert.Equal(t, damaged[0].Name, name, "%+v, %v", list, damaged)
	wantUngranted(t, d, q, Unasked)
}

func approved(t *testing.T) (d *Store, q StoredQuestion, path string, data []byte) {
	t.Helper()
	d, _ = newStore(t)
	q = ask(t, d, about(1))
	require.Value(d.Approve(q.Code))(t)
	path, data = fileOf(t, d, q)
	return d, q, path, data
}

func TestNoBitOfAFileCanBeChanged(t *testing.T) {
	_, q, _, data := approved(t)
	code, _ := parseCode(q.Code)
	_, ok := parseQuestion(code, data)
	require.That(t, ok, "as it was written")
	for bit := range len(data) * 8 {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		got, ok := parseQuestion(code, changed)
		require.That(t, !ok, "bit %d: %+v", bit, got)
	}
	for n := range data {
		_, ok := parseQuestion(code, data[:n])
		require.That(t, !ok, "cut to %d bytes", n)
	}
}

func TestADamagedFileIsNoYes(t *testing.T) {
	for name, spoil := range map[string]func(data []byte) []byte{
		"empty":              func([]byte) []byte { return nil },
		"garbage":            func([]byte) []byte { return []byte("}{") },
		"null":               func([]byte) []byte { return []byte("null\n") },
		"an empty object":    func([]byte) []byte { return []byte("{}\n") },
		"half of it":         func(data []byte) []byte { return data[:len(data)/2] },
		"twice":              func(data []byte) []byte { return append(data, data...) },
		"something behind":   func(data []byte) []byte { return append(data, ' ') },
		"another call":       func(data []byte) []byte { return bytes.Replace(data, []byte("0101"), []byte("0102"), 1) },
		"an answer by hand":  func(data []byte) []byte { return bytes.Replace(data, []byte("approved"), []byte("pending"), 1) },
		"a field twice":      func(data []byte) []byte { return bytes.Replace(data, []byte(`{`), []byte(`{"state":"denied",`), 1) },
		"an unknown field":   func(data []byte) []byte { return bytes.Replace(data, []byte(`{`), []byte(`{"a":1,`), 1) },
		"another letter":     func(data []byte) []byte { return bytes.Replace(data, []byte(`"state"`), []byte(`"State"`), 1) },
		"white space":        func(data []byte) []byte { return bytes.Replace(data, []byte(`,`), []byte(`, `), 1) },
		"longer life":        func(data []byte) []byte { return bytes.Replace(data, []byte("T09:10"), []byte("T09:50"), 1) },
		"a mark of UTF-8":    func(data []byte) []byte { return append([]byte("\xef\xbb\xbf"), data...) },
		"oversize":           func(data []byte) []byte { return append(data, bytes.Repeat([]byte(" "), maxRecord)...) },
		"deep":               func([]byte) []byte { return bytes.Repeat([]byte("["), maxRecord) },
		"a state of our own": func(data []byte) []byte { return bytes.Replace(data, []byte("approved"), []byte("expired"), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			d, q, path, data := approved(t)
			require.NoError(t, os.WriteFile(path, spoil(bytes.Clone(data)), 0o600))
			wantDamaged(t, d, q, filepath.Base(path))
			var damaged *Damaged
			_, err := d.Approve(q.Code)
			assert.That(t, errors.As(err, &damaged), "approve: %v", err)
			// It is in no one's way, and is left for the user to look at.
			next := ask(t, d, about(1))
			assert.Equal(t, next.State, Pending)
			assert.That(t, next.Code != q.Code, "%+v", next)
			_, err = os.Stat(path)
			assert.NoError(t, err)
		})
	}
}

// What is well made but says what is never written is no question either.
func TestARecordThatSaysTooMuchIsDamaged(t *testing.T) {
	for name, spoil := range map[string]func(*StoredQuestion){
		"a life too long":    func(q *StoredQuestion) { q.Expires = q.Made.Add(maxLife + 1) },
		"no life":            func(q *StoredQuestion) { q.Expires = q.Made },
		"a text too long":    func(q *StoredQuestion) { q.Text = strings.Repeat("a", maxText+1) },
		"an escape sequence": func(q *StoredQuestion) { q.Text = "\x1b[2J" },
		"no session":         func(q *StoredQuestion) { q.Session = "" },
		"unasked":            func(q *StoredQuestion) { q.State = Unasked },
		"another code":       func(q *StoredQuestion) { q.Code = "2222-2223" },
		"another time zone":  func(q *StoredQuestion) { q.Made = q.Made.In(time.FixedZone("", 3600)) },
	} {
		t.Run(name, func(t *testing.T) {
			d, q, path, _ := approved(t)
			spoiled := q
			spoiled.State = Approved
			spoil(&spoiled)
			data := require.Value(spoiled.encode())(t)
			require.NoError(t, os.WriteFile(path, data, 0o600))
			wantDamaged(t, d, q, filepath.Base(path))
		})
	}
}

func TestAFileOfAnotherNameIsDamaged(t *testing.T) {
	for _, name := range []string{"22222222.json", "evil.json", ".json", "2222-2222.json", "aaaaaaaa.json", strings.Repeat("2", 200) + ".json"} {
		t.Run(name, func(t *testing.T) {
			d, q, path, _ := approved(t)
			require.NoError(t, os.Rename(path, filepath.Join(d.dir, name)))
			wantDamaged(t, d, q, name)
		})
	}
}

// Nor is a name that is no code, if the record says the same.
func TestARecordOfNoCodeIsDamaged(t *testing.T) {
	_, q, _, data := approved(t)
	code, _ := parseCode(q.Code)
	for _, bad := range []string{"", "evil", "22222220", "../../22", "222222222", "abcdefgh"} {
		got, ok := parseQuestion(bad, resummed(bytes.Replace(data, []byte(code), []byte(bad), 1)))
		assert.That(t, !ok, "%q: %+v", bad, got)
	}
	_, ok := parseQuestion(code, resummed(data))
	assert.That(t, ok, "as it was written")
}

func TestACopyIsNoSecondYes(t *testing.T) {
	d, q, _, data := approved(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "22222222.json"), data, 0o600))
	require.Value(redeem(d, q))(t)
	wantUngranted(t, d, q, Unasked)
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	d, q, _, data := approved(t)
	for _, name := range []string{"note.txt", "22222222", "22222222.json.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), data, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "22222222"+temporarySuffix), data, 0o600))
	list, damaged := listed(t, d)
	assert.Equal(t, len(list), 1)
	assert.Equal(t, len(damaged), 0)
	require.Value(redeem(d, q))(t)
	entries := require.Value(os.ReadDir(d.dir))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	assert.That(t, strings.Join(names, " ") == "22222222 22222222.json.bak desk.lock note.txt", "%v", names)
}

func TestAFolderOfTooManyFilesIsRefused(t *testing.T) {
	d, q, path, _ := approved(t)
	for n := range maxFiles {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, strings.Repeat("x", n%200+1)+string(rune('a'+n/200))), nil, 0o600))
	}
	var unusable *Unusable
	grant, err := redeem(d, q)
	assert.That(t, grant.State != Approved, "%v", err)
	assert.That(t, errors.As(err, &unusable), "%v", err)
	_, err = os.Stat(path)
	assert.NoError(t, err)
}

// storeCalls is how many calls to the disk a question takes until it is redeemed.
func storeCalls(t *testing.T, answer func(*Store, string) (StoredQuestion, error)) int {
	t.Helper()
	d, _ := newStore(t)
	counted := &fake.FailingDisk{}
	d.system = counted
	q := ask(t, d, about(1))
	require.Value(answer(d, q.Code))(t)
	_, _ = redeem(d, q)
	return counted.Calls
}

// Whatever call to the disk fails, a yes is granted at most once, a no is never
// a yes, and what was told to have failed is no yes.
func TestAnyCallToTheDiskMayFail(t *testing.T) {
	for name, answer := range map[string]func(*Store, string) (StoredQuestion, error){"approve": (*Store).Approve, "deny": (*Store).Deny} {
		calls := storeCalls(t, answer)
		require.That(t, calls >= 10, "%d calls", calls)
		for n := 1; n <= calls; n++ {
			for _, broken := range []bool{false, true} {
				d, c := newStore(t)
				d.system = &fake.FailingDisk{N: n, Lasting: broken}
				grants, isYes := 0, false
				for range 2 { // the second time the fault is over, unless broken
					q, err := d.Ask(about(1))
					wantTyped(t, err)
					if err != nil {
						continue
					}
					_, err = answer(d, q.Code)
					wantTyped(t, err)
					isYes = isYes || err == nil && name == "approve"
					grant, err := redeem(d, q)
					wantTyped(t, err)
					if grant.State == Approved {
						grants++
						assert.NoError(t, err, "%s, call %d, broken %v: granted, yes %v", name, n, broken, isYes)
						assert.That(t, isYes, "%s, call %d, broken %v: granted, yes %v, %v", name, n, broken, isYes, err)
						break
					}
				}
				// Another process looks at it on a disk that works.
				again := OpenStore(d.dir, c.now)
				_, damaged := listed(t, again)
				assert.Equal(t, len(damaged), 0, "%s, call %d, broken %v: %v", name, n, broken, damaged)
				if grant, _ := redeem(again, about(1)); grant.State == Approved {
					grants++
				}
				assert.That(t, grants <= 1, "%s, call %d, broken %v: granted %d times", name, n, broken, grants)
				assert.That(t, grants <= 0 || name != "deny", "%s, call %d, broken %v: granted %d times", name, n, broken, grants)
			}
		}
	}
}

func wantTyped(t *testing.T, err error) {
	t.Helper()
	var unusable *Unusable
	var damaged *Damaged
	var unknown *Unknown
	var ungranted *Ungranted
	var answered *Answered
	if err != nil && !errors.As(err, &unusable) && !errors.As(err, &answered) && !errors.As(err, &damaged) &&
		!errors.As(err, &unknown) && !errors.As(err, &ungranted) {
		t.Errorf("%v has no type", err)
	}
}

// A yes that was taken is gone even if it cannot be told whether that will last.
func TestATakenYesIsGoneWhateverTheDiskSays(t *testing.T) {
	d, q, _, _ := approved(t)
	d.system = &fake.FailingDisk{N: 2} // remove, sync of the folder
	var unusable *Unusable
	grant, err := redeem(d, q)
	assert.That(t, grant.State != Approved, "%v", err)
	assert.That(t, errors.As(err, &unusable), "%v", err)
	d.system = ownerfiles.Disk{}
	wantUngranted(t, d, q, Unasked)
}

// Where the lock does not hold others off, taking still works once.
func TestTwoThatTakeAtOnceInSpiteOfTheLock(t *testing.T) {
	d, q, path, _ := approved(t)
	d.system = &fake.FailingDisk{N: 1, Before: func() { require.NoError(t, ownerfiles.Disk{}.Remove(path)) }}
	grant, _ := redeem(d, q)
	assert.That(t, grant.State != Approved, "granted")
	d, q, _, _ = approved(t)
	require.NoError(t, d.remove(q))
	var ungranted *Ungranted
	err := d.remove(q)
	assert.That(t, errors.As(err, &ungranted), "%v", err)
	assert.That(t, filepath.Dir(path) != d.dir, "the desks are one")
}

// FuzzOpen takes arbitrary text for a state. It opens nothing but what was
// sealed, once, and what has the form of a state has it in one way only.
func FuzzOpen(f *testing.F) {
	// Always the same key, so that a state that was found stays one.
	fresh := func(t testing.TB) (s *Sealer, state string) {
		s = NewSealer(newClock().now)
		s.key = [sha256.Size]byte{}
		made := ticket{expiry: time.Minute}
		made.call = s.callTag(made, bound)
		made.seal = s.sealTag(made)
		return s, made.encode()
	}
	_, state := fresh(f)
	f.Add(state)
	f.Add(state[:len(state)-1] + "_")
	f.Add(state + "=")
	f.Add("")
	f.Add(ticket{expiry: 1<<63 - 1}.encode())
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := fresh(t)
		spent, opened := s.Spend(text) == nil, s.Open(text, bound) == nil
		require.Equal(t, spent, text == state, "%q: spent %v, opened %v", text, spent, opened)
		require.That(t, !opened, "%q: spent %v, opened %v", text, spent, opened)
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
		require.That(t, wrong != nil, "%+v: %v, %v, %v", made, wrong, first, second)
		require.Equal(t, first == nil, want, "%+v", made)
		require.That(t, second != nil, "%+v: %v, %v, %v", made, wrong, first, second)
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
			require.Value(act(q.Code))(f)
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
	require.That(t, q.check() == nil, "%+v", q)
	require.Equal(t, q.Code, displayCode(code))
	require.That(t, q.State >= Pending, "%+v", q)
	require.That(t, q.State <= Denied, "%+v", q)
	require.That(t, q.Expires.Sub(q.Made) <= maxLife, "%+v", q)
	again, err := q.encode()
	require.Equal(t, err, nil, "%q, %v, was %q", again, err, data)
	require.That(t, bytes.Equal(again, data), "%q, %v, was %q", again, err, data)
	require.That(t, !q.isLive(q.Made.Add(maxLife)), "made %v, expires %v", q.Made, q.Expires)
	require.That(t, !q.isLive(q.Expires), "made %v, expires %v", q.Made, q.Expires)
	require.That(t, q.isLive(q.Made), "made %v, expires %v", q.Made, q.Expires)
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
		again, ok := parseCode(displayCode(code))
		require.That(t, ok, "%q is %q, and then %q", typed, code, again)
		require.Equal(t, again, code, "%q is %q, and then %q", typed, code, again)
		require.Equal(t, len(code), codeLength, "%q is %q, and then %q", typed, code, again)
	})
}

package consent

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// wantDamaged fails unless the file of q is told as damaged, and is no answer.
func wantDamaged(t *testing.T, d *Store, q StoredQuestion, name string) {
	t.Helper()
	list, damaged := listed(t, d)
	assert.That(t, len(list) == 0 && len(damaged) == 1 && damaged[0].Name == name, "%+v, %v", list, damaged)
	wantUngranted(t, d, q, Unasked)
}

func approved(t *testing.T) (d *Store, q StoredQuestion, path string, data []byte) {
	t.Helper()
	d, _ = newStore(t)
	q = ask(t, d, about(1))
	_, err := d.Approve(q.Code)
	require.NoError(t, err)
	path, data = fileOf(t, d, q)
	return d, q, path, data
}

func TestNoBitOfAFileCanBeChanged(t *testing.T) {
	_, q, _, data := approved(t)
	code, _ := parseCode(q.Code)
	if _, ok := parseQuestion(code, data); !ok {
		t.Fatal("as it was written")
	}
	for bit := range len(data) * 8 {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		if got, ok := parseQuestion(code, changed); ok {
			t.Fatalf("bit %d: %+v", bit, got)
		}
	}
	for n := range data {
		if _, ok := parseQuestion(code, data[:n]); ok {
			t.Fatalf("cut to %d bytes", n)
		}
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
			if _, err := d.Approve(q.Code); !errors.As(err, &damaged) {
				t.Errorf("approve: %v", err)
			}
			// It is in no one's way, and is left for the user to look at.
			next := ask(t, d, about(1))
			assert.That(t, next.State == Pending && next.Code != q.Code, "%+v", next)
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is well made but says what is never written is no question either.
func TestARecordThatSaysTooMuchIsDamaged(t *testing.T) {
	for name, spoil := range map[string]func(*StoredQuestion){
		"a life too long":      func(q *StoredQuestion) { q.Expires = q.Made.Add(maxLife + 1) },
		"no life":              func(q *StoredQuestion) { q.Expires = q.Made },
		"a text too long":      func(q *StoredQuestion) { q.Text = strings.Repeat("a", maxText+1) },
		"an escape sequence":   func(q *StoredQuestion) { q.Text = "\x1b[2J" },
		"no session":           func(q *StoredQuestion) { q.Session = "" },
		"a state that is none": func(q *StoredQuestion) { q.State = Expired },
		"unasked":              func(q *StoredQuestion) { q.State = Unasked },
		"another code":         func(q *StoredQuestion) { q.Code = "2222-2223" },
		"another time zone":    func(q *StoredQuestion) { q.Made = q.Made.In(time.FixedZone("", 3600)) },
	} {
		t.Run(name, func(t *testing.T) {
			d, q, path, _ := approved(t)
			spoiled := q
			spoiled.State = Approved
			spoil(&spoiled)
			data, err := spoiled.encode()
			require.NoError(t, err)
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
		changed := resummed(bytes.Replace(data, []byte(code), []byte(bad), 1))
		if got, ok := parseQuestion(bad, changed); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	if _, ok := parseQuestion(code, resummed(data)); !ok {
		t.Error("as it was written")
	}
}

func TestACopyIsNoSecondYes(t *testing.T) {
	d, q, _, data := approved(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "22222222.json"), data, 0o600))
	_, err := redeem(d, q)
	require.NoError(t, err)
	wantUngranted(t, d, q, Unasked)
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	d, q, _, data := approved(t)
	for _, name := range []string{"note.txt", "22222222", "22222222.json.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), data, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "22222222"+temporarySuffix), data, 0o600))
	if list, damaged := listed(t, d); len(list) != 1 || len(damaged) != 0 {
		t.Errorf("%v, %v", list, damaged)
	}
	_, err := redeem(d, q)
	require.NoError(t, err)
	names, err := d.names()
	require.NoError(t, err)
	assert.That(t, strings.Join(names, " ") == "22222222 22222222.json.bak desk.lock note.txt", "%v", names)
}

func TestAFolderOfTooManyFilesIsRefused(t *testing.T) {
	d, q, path, _ := approved(t)
	for n := range maxFiles {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, strings.Repeat("x", n%200+1)+string(rune('a'+n/200))), nil, 0o600))
	}
	var unusable *Unusable
	if grant, err := redeem(d, q); grant.Valid() || !errors.As(err, &unusable) {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

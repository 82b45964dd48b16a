package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// Keys stores the answers to calls with an idempotency key, so that a repeated call is not carried out twice,
// even after a restart. Each key has a file in the folder of the journal.
type Keys struct {
	journal *Journal
	caller  string
}

// Keys returns the keys of j's vault on behalf of a caller. A caller can claim a quarter of the keys that
// others leave; "" can claim all.
func (j *Journal) Keys(caller string) Keys {
	k := Keys{journal: j}
	if caller != "" {
		sum := sha256.Sum256([]byte(shares.Agent(caller)))
		k.caller = hex.EncodeToString(sum[:8])
	}
	return k
}

const (
	keysFolder = "keys"
	keySuffix  = ".key"

	keyAge    = 24 * time.Hour
	maxKey    = 512
	maxKeys   = 4096     // a call with a key every twenty seconds for a whole day
	maxAnswer = 1 << 20  // an answer is short enough for an agent to read
	maxStored = 64 << 20 // bytes of all answers; above it, keys are refused until some have expired
)

// keyShare is the share of the keys, and of the bytes of their answers, that one caller can have of what others
// leave.
var keyShare = shares.Part{Of: 1, Parts: 4}

// keysOfFirst is the number of keys that a caller can have while there is no other caller.
const keysOfFirst = maxKeys / 4

// keyRecord is the record of a key.
type keyRecord struct {
	Key    string    `json:"key"` // SHA-256 of the key
	Digest string    `json:"digest"`
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Done   bool      `json:"done"`
	Caller string    `json:"caller,omitempty"` // digest of the caller
	Answer []byte    `json:"answer,omitempty"`
}

// Recall returns the answer to a call with this key and digest in the last 24 hours; isAnswered is false if
// there was none. The error is a *[KeyReused] if the key was used with another digest, an *[Unfinished] if the
// call was begun and has no answer, a *[Damaged] or an *[Unusable].
func (k Keys) Recall(key string, digest [sha256.Size]byte, now time.Time) (answer []byte, isAnswered bool, err error) {
	name, err := nameOf(key)
	if err != nil {
		return nil, false, err
	}
	if exists, err := k.journal.folder.exists(); err != nil || !exists {
		return nil, false, err
	}
	if exists, err := isFolder(k.folder()); err != nil || !exists {
		return nil, false, err
	}
	r, known, err := k.read(name)
	if err != nil || !known || isExpired(r.Time, now) {
		return nil, false, err
	}
	if err := r.refuse(digest); err != nil {
		return nil, false, err
	}
	return r.Answer, true, nil
}

// refuse returns an error unless the record has the answer to the call with the digest.
func (r keyRecord) refuse(digest [sha256.Size]byte) error {
	if r.Digest != hex.EncodeToString(digest[:]) {
		return &KeyReused{r.ID}
	}
	if !r.Done {
		return &Unfinished{r.ID}
	}
	return nil
}

// Claim records that the call with this key is about to begin, with id as its entry. A key that was claimed in
// the last 24 hours is refused, with the errors of [Keys.Recall] or, if it has an answer, an *[Invalid]. Of two
// concurrent claims, one is refused.
func (k Keys) Claim(key string, digest [sha256.Size]byte, id string, now time.Time) error {
	if _, err := ParseID(id); err != nil {
		return err
	}
	return k.locked(key, func(name string, r keyRecord, known bool) error {
		if known && !isExpired(r.Time, now) {
			return cmp.Or(r.refuse(digest), error(&Invalid{"key", key, "has an answer"}))
		}
		if err := k.sweep(now); err != nil {
			return err
		}
		return k.put(name, keyRecord{Digest: hex.EncodeToString(digest[:]), ID: id, Time: now.UTC(), Caller: k.caller})
	})
}

// Remember stores the answer to the call that claimed the key.
func (k Keys) Remember(key string, digest [sha256.Size]byte, answer []byte, now time.Time) error {
	if len(answer) > maxAnswer {
		return &TooLarge{"the answer to a call", maxAnswer}
	}
	return k.locked(key, func(name string, r keyRecord, known bool) error {
		switch {
		case !known:
			return &Unknown{"idempotency key"}
		case r.Digest != hex.EncodeToString(digest[:]):
			return &KeyReused{r.ID}
		}
		r.Done = true
		r.Answer = answer
		r.Time = now.UTC()
		return k.put(name, r)
	})
}

// Forget withdraws a claim: the call was refused before it changed anything.
func (k Keys) Forget(key string, id string) error {
	return k.locked(key, func(name string, r keyRecord, known bool) error {
		if !known || r.Done || r.ID != id {
			return nil
		}
		return unusable(k.path(name), k.journal.sys.Remove(k.path(name)))
	})
}

// isExpired reports whether a time is too long ago or, after the clock was set back, too far in the future.
func isExpired(then, now time.Time) bool { return now.Sub(then).Abs() > keyAge }

// nameOf returns the file name of a key. It is a digest, so no key can select another file.
func nameOf(key string) (string, error) {
	if key == "" || len(key) > maxKey {
		return "", &Invalid{"key", key, "is empty or too long"}
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]), nil
}

func (k Keys) folder() string          { return k.journal.folder.file(keysFolder) }
func (k Keys) path(name string) string { return filepath.Join(k.folder(), name+keySuffix) }

// locked calls do with the file name and the record of a key, while it holds the append lock.
func (k Keys) locked(key string, do func(name string, r keyRecord, known bool) error) error {
	name, err := nameOf(key)
	if err != nil {
		return err
	}
	j := k.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.prepare(); err != nil {
		return err
	}
	if err := j.makeFolder(k.folder()); err != nil {
		return err
	}
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	r, known, err := k.read(name)
	if err != nil {
		return err
	}
	return do(name, r, known)
}

// read reads the record of a key; known is false if there is none.
func (k Keys) read(name string) (r keyRecord, known bool, err error) {
	data, err := ownerfiles.Read(k.path(name), 2*maxAnswer)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, unusable(k.path(name), err)
	}
	line, hasEnd := strings.CutSuffix(string(data), "\n")
	record, ok := unwrap([]byte(line))
	isWhole := ok && hasEnd && json.Unmarshal(record, &r) == nil
	isOfKey := r.Key == name && isID(r.ID) && isHash(r.Digest)
	if !isWhole || !isOfKey {
		return r, false, &Damaged{keysFolder + "/" + name + keySuffix, "cannot be read"}
	}
	return r, true, nil
}

// put replaces the record of a key atomically.
func (k Keys) put(name string, r keyRecord) error {
	r.Key = name
	record, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temporary := filepath.Join(k.folder(), name+temporarySuffix)
	line := appendLine(nil, record)
	_, err = ownerfiles.Replace(k.journal.sys, temporary, k.path(name), line, r.Time) // sweep uses the time of the file
	return unusable(k.path(name), err)
}

// sweep removes expired keys, and returns an error if there is no space for one more. Removing a younger key
// would allow its call to be repeated.
func (k Keys) sweep(now time.Time) error {
	entries, err := os.ReadDir(k.folder())
	if err != nil {
		return unusable(k.folder(), err)
	}
	count := 0
	stored := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		name, isKey := strings.CutSuffix(e.Name(), keySuffix)
		if !isKey {
			if strings.HasSuffix(e.Name(), temporarySuffix) {
				_ = k.journal.sys.Remove(filepath.Join(k.folder(), e.Name()))
			}
			continue
		}
		// The file has the time of its record. A damaged record has no other time.
		if isExpired(info.ModTime(), now) {
			if err := k.journal.sys.Remove(k.path(name)); err != nil {
				return unusable(k.path(name), err)
			}
			continue
		}
		count++
		stored += info.Size()
	}
	if count >= maxKeys || stored > maxStored {
		return &TooLarge{"the number or size of answers that are remembered", maxKeys}
	}
	isFree := count < keysOfFirst/2 && stored < maxStored/8 // with so few in total, no share can be too large
	if k.caller == "" || isFree {
		return nil
	}
	own := int64(0)
	ownStored := int64(0)
	for _, e := range entries {
		name, isKey := strings.CutSuffix(e.Name(), keySuffix)
		if !isKey {
			continue
		}
		if r, _, err := k.read(name); err == nil && r.Caller == k.caller {
			own++
			ownStored += int64(len(r.Answer))
		}
	}
	fits := keyShare.Allows(maxKeys, int64(count), own, 1) && keyShare.Allows(maxStored, stored, ownStored, 0)
	if !fits {
		return &TooLarge{"the number or size of answers that are remembered for one caller", keysOfFirst}
	}
	return nil
}

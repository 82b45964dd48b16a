package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"vaultwicket/gateway/state/private"
)

// head says where the log ends, and where what is kept of it begins. It is written in place, with
// a fixed length, after every line.
type head struct {
	number uint64 // that the present file gets when it is rotated
	size   int64  // of the present file
	last   int64  // where its last line begins
	end    point  // the last line of the log
	synced uint64 // the last line that was made durable
	first  uint64 // the number of the oldest file that is kept
	start  point  // the line before the first one that is kept
	broken uint64 // the line that records the first break, 0 if there is none
	key    string // tells which key the digests are made with
}

// headSize is a sector of a disk: it is written as a whole or not at all.
const headSize = 512

func newHead(key string) head { return head{number: 1, first: 1, key: key} }

// headRecord is a head as it is written, but for the checksum at the end.
type headRecord struct {
	Version   uint64 `json:"version"`
	File      uint64 `json:"file"`
	Size      int64  `json:"size"`
	Last      int64  `json:"last"`
	Seq       uint64 `json:"seq"`
	Hash      string `json:"hash"`
	Synced    uint64 `json:"synced"`
	First     uint64 `json:"first"`
	FirstSeq  uint64 `json:"firstSeq"`
	FirstPrev string `json:"firstPrev"`
	Broken    uint64 `json:"broken"`
	Key       string `json:"key"`
}

const headVersion = 1

func (h head) encode() (out [headSize]byte) {
	text, _ := json.Marshal(headRecord{headVersion, h.number, h.size, h.last, h.end.seq, h.end.prev(), h.synced, h.first, h.start.seq + 1, h.start.prev(), h.broken, h.key})
	text = text[:len(text)-1]
	sum := sha256.Sum256(text)
	text = append(hex.AppendEncode(append(text, `,"sum":"`...), sum[:digestLength/2]), `"}`...)
	for i := copy(out[:], text); i < headSize-1; i++ {
		out[i] = ' '
	}
	out[headSize-1] = '\n'
	return out
}

// parseHead reads what encode has made, and nothing else.
func parseHead(text []byte) (head, bool) {
	var r headRecord
	if len(text) != headSize || json.Unmarshal(text, &r) != nil || r.Size < 0 || r.Last < 0 || r.FirstSeq == 0 {
		return head{}, false
	}
	end, ok1 := hashOf(r.Hash)
	start, ok2 := hashOf(r.FirstPrev)
	if !ok1 || !ok2 || r.Version != headVersion || !isHex(r.Key, digestLength, digestLength) {
		return head{}, false
	}
	h := head{r.File, r.Size, r.Last, point{r.Seq, end}, r.Synced, r.First, point{r.FirstSeq - 1, start}, r.Broken, r.Key}
	again := h.encode()
	return h, bytes.Equal(again[:], text)
}

func hashOf(text string) (hash [sha256.Size]byte, ok bool) {
	if !isHex(text, hashLength, hashLength) {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(text))
	return hash, err == nil
}

// readHead returns the head, or why there is none: one of two sentences, "" if there is one.
func (p folder) readHead() (h head, why string, err error) {
	text, err := private.Read(p.file(headFile), headSize)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, headMissing, nil
	}
	if err != nil {
		return head{}, "", unusable(p.file(headFile), err)
	}
	h, ok := parseHead(text)
	if !ok {
		return head{}, headUnreadable, nil
	}
	return h, "", nil
}

const keyFile = "audit.key"

// key is the key of digests: random, made once for each log, stored in hexadecimal with a
// checksum.
type key [sha256.Size]byte

const keyFileSize = hashLength + 1 + digestLength + 1

// Digest returns the first 16 hexadecimal digits of the HMAC-SHA-256 of a text, which replace it
// in the log. The same text has the same digest in all of the log; without the key a guess cannot
// be tested. It is "" if the key can be neither read nor made; [Log.Write] then returns the error.
func (l *Log) Digest(text string) string {
	k, err := l.knownKey()
	if err != nil {
		return ""
	}
	return k.digest(text)
}

// knownKey returns the key, which it makes if there is none.
func (l *Log) knownKey() (*key, error) {
	if k := l.key.Load(); k != nil {
		return k, nil
	}
	l.mu.Lock() // the lock of the file does not keep goroutines apart
	defer l.mu.Unlock()
	if k := l.key.Load(); k != nil {
		return k, nil
	}
	unlock, err := l.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	return l.findKey()
}

// findKey reads the key, under the lock. If it is missing or damaged, it writes the one that this
// process knows, or else a new one, which the head shows.
func (l *Log) findKey() (*key, error) {
	k, err := l.folder.readKey()
	var damaged *badKey
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &damaged) {
		if k = l.key.Load(); k == nil {
			k = &key{}
			_, _ = rand.Read(k[:]) // it never fails
		}
		err = l.replace(keyFile, k.text())
	}
	if err != nil {
		return nil, unusable(l.folder.file(keyFile), err)
	}
	l.key.Store(k)
	return k, nil
}

// badKey says that the file of the key has something else.
type badKey struct{}

func (*badKey) Error() string { return "is not the key of a log" }

func (p folder) readKey() (*key, error) {
	text, err := private.Read(p.file(keyFile), keyFileSize)
	if err != nil {
		return nil, err
	}
	k := &key{}
	if len(text) == keyFileSize {
		_, err = hex.Decode(k[:], text[:hashLength])
	}
	if err != nil || string(text) != string(k.text()) {
		return nil, &badKey{}
	}
	return k, nil
}

func (k *key) text() []byte { return []byte(hex.EncodeToString(k[:]) + " " + k.print() + "\n") }

// print returns what tells keys apart and does not give them away.
func (k *key) print() string { return k.digest("vaultwicket audit key") }

func (k *key) digest(text string) string {
	sum := hmac.New(sha256.New, k[:])
	_, _ = io.WriteString(sum, text) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)[:digestLength/2])
}

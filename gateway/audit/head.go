package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"strconv"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// head stores where the log ends, and where its retained part begins. It has a fixed length and is
// overwritten in place after every write.
type head struct {
	fileNumber uint64 // number that the current file gets when it is rotated
	size       int64  // size of the current file in bytes
	lastOffset int64  // offset of its last line
	end        point  // the last line of the log
	synced     uint64 // number of the last line that was made durable
	firstFile  uint64 // number of the oldest retained file
	start      point  // the line before the oldest retained one
	firstBreak uint64 // number of the line that records the first break, 0 if there is none
	key        string // fingerprint of the key of the digests
}

// headSize is the size of a disk sector, which is written completely or not at all.
const headSize = 512

// headRecord is the JSON form of a head, for parsing. [head.encode] writes the same fields.
type headRecord struct {
	Version, File uint64
	Size, Last    int64
	Seq           uint64
	Hash          string
	Synced, First uint64
	FirstSeq      uint64
	FirstPrev     string
	Broken        uint64
	Key           string
}

const headVersion = 1

// encode returns the head as JSON, padded to headSize. It runs after every line, so it avoids
// allocations.
func (h head) encode() (out [headSize]byte) {
	b := append(out[:0], `{"version":`...)
	b = strconv.AppendUint(b, headVersion, 10)
	appendNumber := func(name string, value uint64) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strconv.AppendUint(b, value, 10)
	}
	appendNumber("file", h.fileNumber)
	appendNumber("size", uint64(h.size))
	appendNumber("last", uint64(h.lastOffset))
	appendNumber("seq", h.end.seq)
	b = append(hex.AppendEncode(append(b, `,"hash":"`...), h.end.hash[:]), '"')
	appendNumber("synced", h.synced)
	appendNumber("first", h.firstFile)
	appendNumber("firstSeq", h.start.seq+1)
	b = append(hex.AppendEncode(append(b, `,"firstPrev":"`...), h.start.hash[:]), '"')
	appendNumber("broken", h.firstBreak)
	b = append(append(append(b, `,"key":"`...), h.key...), '"')
	sum := sha256.Sum256(b)
	b = append(hex.AppendEncode(append(b, `,"sum":"`...), sum[:digestLength/2]), `"}`...)
	for i := len(b); i < headSize-1; i++ {
		out[i] = ' '
	}
	out[headSize-1] = '\n'
	return out
}

// parseHead parses the output of encode. ok is false for any other text, even if it is equivalent.
func parseHead(text []byte) (head, bool) {
	var r headRecord
	if len(text) != headSize || json.Unmarshal(text, &r) != nil {
		return head{}, false
	}
	isNegative := r.Size < 0 || r.Last < 0
	if isNegative || r.Version != headVersion || r.FirstSeq == 0 {
		return head{}, false
	}
	end, hasEnd := hashOf(r.Hash)
	start, hasStart := hashOf(r.FirstPrev)
	if !hasEnd || !hasStart || !isHex(r.Key, digestLength, digestLength) {
		return head{}, false
	}
	h := head{
		fileNumber: r.File,
		size:       r.Size,
		lastOffset: r.Last,
		end:        point{r.Seq, end},
		synced:     r.Synced,
		firstFile:  r.First,
		start:      point{r.FirstSeq - 1, start},
		firstBreak: r.Broken,
		key:        r.Key,
	}
	reencoded := h.encode()
	return h, bytes.Equal(reencoded[:], text)
}

func hashOf(text string) (hash [sha256.Size]byte, ok bool) {
	if !isHex(text, hashLength, hashLength) {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(text))
	return hash, err == nil
}

// readHead reads the head. reason is headMissing or headUnreadable if there is no valid head, otherwise
// "".
func (p folder) readHead() (h head, reason string, err error) {
	text, err := ownerfiles.Read(p.file(headFile), headSize)
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

// key is the random key of the digests. Each log has one, stored in hexadecimal with a checksum.
type key struct {
	bytes [sha256.Size]byte
	mu    sync.Mutex
	sum   hash.Hash // HMAC with the key, reused; nil before the first digest
}

const keyFileSize = hashLength + 1 + digestLength + 1

// Digest returns the first 16 hexadecimal digits of the HMAC-SHA-256 of text, which stand for it in
// the log. The same text has the same digest throughout the log; nobody without the key can test a
// guess. The digest is "" if the key can be neither read nor created; [Log.Write] then returns the
// error.
func (l *Log) Digest(text string) string {
	if k := l.key.Load(); k != nil {
		return k.digest(text)
	}
	l.mu.Lock() // the file lock does not exclude other goroutines
	defer l.mu.Unlock()
	k := l.key.Load()
	if k == nil {
		unlock, err := l.lock()
		if err != nil {
			return ""
		}
		defer unlock()
		if k, err = l.loadKey(); err != nil {
			return ""
		}
	}
	return k.digest(text)
}

// loadKey reads the key; the caller holds the lock. If the file is missing or damaged, loadKey
// writes the key that this process has, or else a new one. The fingerprint in the head reveals a
// new key.
func (l *Log) loadKey() (*key, error) {
	k, err := l.folder.readKey()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBadKey) {
		if k = l.key.Load(); k == nil {
			k = &key{}
			_, _ = rand.Read(k.bytes[:]) // it never fails
		}
		err = l.replace(keyFile, k.text())
	}
	if err != nil {
		return nil, unusable(l.folder.file(keyFile), err)
	}
	l.key.Store(k)
	return k, nil
}

var errBadKey = errors.New("is not the key of a log")

func (p folder) readKey() (*key, error) {
	text, err := ownerfiles.Read(p.file(keyFile), keyFileSize)
	if err != nil {
		return nil, err
	}
	k := &key{}
	if len(text) == keyFileSize {
		_, err = hex.Decode(k.bytes[:], text[:hashLength])
	}
	if err != nil || string(text) != string(k.text()) {
		return nil, errBadKey
	}
	return k, nil
}

func (k *key) text() []byte {
	return []byte(hex.EncodeToString(k.bytes[:]) + " " + k.fingerprint() + "\n")
}

// fingerprint returns a fingerprint of the key, which does not reveal it.
func (k *key) fingerprint() string { return k.digest("vaultwicket audit key") }

func (k *key) digest(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sum == nil {
		k.sum = hmac.New(sha256.New, k.bytes[:])
	}
	k.sum.Reset()
	_, _ = io.WriteString(k.sum, text) // a hash never returns an error
	var buf [sha256.Size]byte
	return hex.EncodeToString(k.sum.Sum(buf[:0])[:digestLength/2])
}

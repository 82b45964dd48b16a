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

// headRecord is how a head is read. It is written by encode.
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

// encode writes what [headRecord] reads, for each line and so without an allocation.
func (h head) encode() (out [headSize]byte) {
	b := append(out[:0], `{"version":`...)
	b = strconv.AppendUint(b, headVersion, 10)
	number := func(name string, value uint64) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strconv.AppendUint(b, value, 10)
	}
	number("file", h.number)
	number("size", uint64(h.size))
	number("last", uint64(h.last))
	number("seq", h.end.seq)
	b = append(hex.AppendEncode(append(b, `,"hash":"`...), h.end.hash[:]), '"')
	number("synced", h.synced)
	number("first", h.first)
	number("firstSeq", h.start.seq+1)
	b = append(hex.AppendEncode(append(b, `,"firstPrev":"`...), h.start.hash[:]), '"')
	number("broken", h.broken)
	b = append(append(append(b, `,"key":"`...), h.key...), '"')
	sum := sha256.Sum256(b)
	b = append(hex.AppendEncode(append(b, `,"sum":"`...), sum[:digestLength/2]), `"}`...)
	for i := len(b); i < headSize-1; i++ {
		out[i] = ' '
	}
	out[headSize-1] = '\n'
	return out
}

// parseHead reads what encode has made, and nothing else.
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
		r.File,
		r.Size,
		r.Last,
		point{r.Seq, end},
		r.Synced,
		r.First,
		point{r.FirstSeq - 1, start},
		r.Broken,
		r.Key,
	}
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

// key is the key of digests: random, made once for each log, stored in hexadecimal with a
// checksum.
type key struct {
	bytes [sha256.Size]byte
	mu    sync.Mutex
	sum   hash.Hash // the HMAC with the key, nil before the first digest
}

const keyFileSize = hashLength + 1 + digestLength + 1

// Digest returns the first 16 hexadecimal digits of the HMAC-SHA-256 of a text, which replace it
// in the log. The same text has the same digest in all of the log; without the key a guess cannot
// be tested. It is "" if the key can be neither read nor made; [Log.Write] then returns the error.
func (l *Log) Digest(text string) string {
	if k := l.key.Load(); k != nil {
		return k.digest(text)
	}
	l.mu.Lock() // the lock of the file does not keep goroutines apart
	defer l.mu.Unlock()
	k := l.key.Load()
	if k == nil {
		unlock, err := l.lock()
		if err != nil {
			return ""
		}
		defer unlock()
		if k, err = l.findKey(); err != nil {
			return ""
		}
	}
	return k.digest(text)
}

// findKey reads the key, under the lock. If it is missing or damaged, it writes the one that this
// process knows, or else a new one, which the head shows.
func (l *Log) findKey() (*key, error) {
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

func (k *key) text() []byte { return []byte(hex.EncodeToString(k.bytes[:]) + " " + k.print() + "\n") }

// print returns what tells keys apart and does not give them away.
func (k *key) print() string { return k.digest("vaultwicket audit key") }

func (k *key) digest(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sum == nil {
		k.sum = hmac.New(sha256.New, k.bytes[:])
	}
	k.sum.Reset()
	_, _ = io.WriteString(k.sum, text) // a hash takes everything
	var of [sha256.Size]byte
	return hex.EncodeToString(k.sum.Sum(of[:0])[:digestLength/2])
}

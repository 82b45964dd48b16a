package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"

	"vaultwicket/gateway/state/private"
)

const keyFile = "audit.key"

// key is what digests are made with. It is random, made once for each log, and
// kept as hexadecimal with a checksum behind it.
type key [sha256.Size]byte

const keyFileSize = hashLength + 1 + digestLength + 1

// Digest returns what replaces a text in the log: the first 16 hexadecimal
// digits of its HMAC-SHA-256. The same text has the same digest in all of the
// log, and who does not have the key cannot try out what it may be of. It is ""
// if the key can be neither read nor made, in which case [Log.Write] returns an
// error that says why.
func (l *Log) Digest(text string) string {
	k, err := l.knownKey()
	if err != nil {
		return ""
	}
	return l.digest(k, text)
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

// findKey reads the key, under the lock. Where there is none, or what is no key,
// it puts back the one that this process knows, or else another, which the head
// gives away.
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

func (k *key) digest(text string) string { return digestWith(hmac.New(sha256.New, k[:]), text) }

func digestWith(sum hash.Hash, text string) string {
	_, _ = io.WriteString(sum, text) // a hash takes everything
	var of [sha256.Size]byte
	return hex.EncodeToString(sum.Sum(of[:0])[:digestLength/2])
}

// digester makes digests with a key, one after the other.
type digester struct {
	key *key
	sum hash.Hash
}

// digest is that of the key, without what has to be computed of the key each time.
func (l *Log) digest(k *key, text string) string {
	d, ok := l.digesters.Get().(*digester)
	if !ok || d.key != k {
		d = &digester{k, hmac.New(sha256.New, k[:])}
	}
	defer l.digesters.Put(d)
	d.sum.Reset()
	return digestWith(d.sum, text)
}

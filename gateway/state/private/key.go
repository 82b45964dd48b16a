package private

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// keySize is the size of a key in bytes.
const keySize = 16

// Key returns the random key in a file of a folder of this user, which it makes if there is none.
// One that can be neither read nor kept is that of this process alone.
func Key(dir, name string) []byte {
	name = filepath.Join(dir, name)
	if key := readKey(name); key != nil {
		return key
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	if !EnsureFolder(dir) {
		return key
	}
	file, err := os.CreateTemp(dir, ".key-") // mode 0600
	if err != nil {
		return key
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(hex.EncodeToString(key))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		_ = os.Link(file.Name(), name) // never over the key that another process has just made
	}
	if kept := readKey(name); kept != nil {
		return kept
	}
	return key
}

func readKey(name string) []byte {
	file, err := OpenLinked(name) // Key gives it two names for a moment
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 2*keySize+1))
	if key, err := hex.DecodeString(string(text)); err == nil && len(key) == keySize {
		return key
	}
	return nil
}

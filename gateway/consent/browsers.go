package consent

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	// PairedLife is how long a browser stays paired.
	PairedLife = 90 * 24 * time.Hour
	// MaxPaired is how many browsers can be paired at once. Pairing one more ends the oldest pairing.
	MaxPaired = 16

	browsersFile    = "browsers.json"
	browsersLock    = "browsers.lock"
	maxBrowsersSize = 64 << 10 // bytes of the file
)

// Browsers are the browsers that the owner has paired. They are kept in the state folder, with the digest of the
// secret that each one holds. A paired browser can answer the questions behind links, on the pages of all servers.
type Browsers struct {
	State string
	Now   func() time.Time
}

// pairedBrowser is a browser in the file.
type pairedBrowser struct {
	Digest string    `json:"digest"` // the SHA-256 of its secret, in hexadecimal
	Paired time.Time `json:"paired"`
}

// read returns the browsers whose pairing has not expired; none if the file is missing.
func (b Browsers) read() (browsers []pairedBrowser, err error) {
	data, err := ownerfiles.Read(filepath.Join(b.State, browsersFile), maxBrowsersSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &browsers); err != nil {
		return nil, err
	}
	isExpired := func(browser pairedBrowser) bool { return !b.Now().Before(browser.Paired.Add(PairedLife)) }
	return slices.DeleteFunc(browsers, isExpired), nil
}

// Pair adds a browser and returns its secret. The errors are those of the state folder.
func (b Browsers) Pair() (secret string, err error) {
	secret = rand.Text()
	digest := sha256.Sum256([]byte(secret))
	err = ownerfiles.UpdateJSON(b.State, browsersFile, browsersLock, func() (any, error) {
		browsers, err := b.read()
		if err != nil {
			return nil, err
		}
		if len(browsers) >= MaxPaired {
			browsers = browsers[len(browsers)-MaxPaired+1:] // the oldest come first
		}
		return append(browsers, pairedBrowser{hex.EncodeToString(digest[:]), b.Now().UTC().Truncate(time.Second)}), nil
	})
	if err != nil {
		return "", err // a secret that is not stored pairs no browser
	}
	return secret, nil
}

// Find returns the digest of the first secret that belongs to a paired browser. ok is false if none does.
func (b Browsers) Find(secrets ...string) (found Digest, ok bool) {
	if len(secrets) == 0 {
		return Digest{}, false
	}
	browsers, _ := b.read() // an unreadable file counts as no browsers
	for _, secret := range secrets {
		given := sha256.Sum256([]byte(secret))
		text := hex.EncodeToString(given[:])
		for _, browser := range browsers {
			if subtle.ConstantTimeCompare([]byte(text), []byte(browser.Digest)) == 1 {
				return given, true
			}
		}
	}
	return Digest{}, false
}

// Count returns how many browsers are paired. An unreadable file counts as no browsers.
func (b Browsers) Count() int {
	browsers, _ := b.read()
	return len(browsers)
}

// Forget ends the pairing of all browsers. The errors are those of the state folder.
func (b Browsers) Forget() error {
	return ownerfiles.UpdateJSON(b.State, browsersFile, browsersLock, func() (any, error) {
		return []pairedBrowser{}, nil
	})
}

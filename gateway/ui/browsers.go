package ui

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	// pairedLife is how long a browser stays paired.
	pairedLife = 90 * 24 * time.Hour
	// maxPaired browsers are paired at once. One more ends the oldest pairing.
	maxPaired = 16

	browsersFile = "browsers.json"
	browsersLock = "browsers.lock"
	// ownerCookie is sent to the paths of questions alone.
	ownerCookie = "vaultwicket-owner"
)

// browsers are those that the owner has paired, in the state folder: each has a cookie, of which the file has the
// digest. They decide about questions behind links, on the pages of all servers.
type browsers struct {
	state string
	now   func() time.Time
}

// pairedBrowser is a browser in the file.
type pairedBrowser struct {
	Digest string    `json:"digest"` // the SHA-256 of its cookie, in hexadecimal
	Paired time.Time `json:"paired"`
}

// read returns the browsers whose pairing lasts. A missing file has none.
func (b browsers) read() (all []pairedBrowser, err error) {
	data, err := ownerfiles.Read(filepath.Join(b.state, browsersFile), bodyLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	hasEnded := func(one pairedBrowser) bool { return !b.now().Before(one.Paired.Add(pairedLife)) }
	return slices.DeleteFunc(all, hasEnded), nil
}

// pair sets the cookie of the owner in the browser that gets an answer. The errors are those of the state folder.
func (b browsers) pair(w http.ResponseWriter) error {
	secret := random()
	digest := sha256.Sum256([]byte(secret))
	err := ownerfiles.UpdateJSON(b.state, browsersFile, browsersLock, func() (any, error) {
		all, err := b.read()
		if err != nil {
			return nil, err
		}
		all = all[max(0, len(all)+1-maxPaired):]
		return append(all, pairedBrowser{hex.EncodeToString(digest[:]), b.now().UTC().Truncate(time.Second)}), nil
	})
	if err != nil {
		return err
	}
	// It is of this host on every port, because each server has a port of its own.
	http.SetCookie(w, &http.Cookie{
		Name:     ownerCookie,
		Value:    secret,
		Path:     consent.LinkPath,
		MaxAge:   int(pairedLife / time.Second),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
	return nil
}

// of returns the digest of the cookie of a paired browser that sends a request. ok is false for any other.
func (b browsers) of(r *http.Request) (found digest, ok bool) {
	cookies := r.CookiesNamed(ownerCookie) // other programs on this machine can set some, too
	if len(cookies) == 0 {
		return digest{}, false
	}
	all, _ := b.read() // what cannot be read pairs none
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		given := digest(sha256.Sum256([]byte(cookie.Value)))
		text := hex.EncodeToString(given[:])
		for _, one := range all {
			if subtle.ConstantTimeCompare([]byte(text), []byte(one.Digest)) == 1 {
				return given, true
			}
		}
	}
	return digest{}, false
}

// forget ends the pairing of all browsers.
func (b browsers) forget() error {
	return ownerfiles.UpdateJSON(b.state, browsersFile, browsersLock, func() (any, error) {
		return []pairedBrowser{}, nil
	})
}

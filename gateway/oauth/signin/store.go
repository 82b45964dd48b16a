package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"vaultwicket/gateway/state/private"
)

const (
	fileName = "signin.json"
	lockName = "signin.lock"
	maxFile  = 4 << 20

	setupFor    = 15 * time.Minute    // how long the link for a passkey is valid
	refreshFor  = 30 * 24 * time.Hour // without a use
	maxPasskeys = 20
	maxClients  = 200
	maxGrants   = 200
)

// Store is the file of passkeys, registered clients and grants in a state folder. Of tokens and codes
// it keeps hashes. It is safe for concurrent use, also by several processes.
type Store struct{ state string }

// OpenStore returns the store in a state folder, which is created with the first change.
func OpenStore(state string) *Store { return &Store{state} }

// Passkey is a passkey of the owner.
type Passkey struct {
	ID         string              `json:"id"`
	Added      time.Time           `json:"added"`
	Credential webauthn.Credential `json:"credential"`
}

// Grant is what the owner has granted a client. A refresh replaces its token; a token of the grant
// that was replaced before ends it, because two parties have had it.
type Grant struct {
	ID      string    `json:"id"`
	Client  Client    `json:"client"`
	Agent   string    `json:"agent"`
	Scope   string    `json:"scope"`
	Made    time.Time `json:"made"`
	Used    time.Time `json:"used"`
	Refresh string    `json:"refresh,omitempty"` // the hash of the valid token
}

// Client is a client of OAuth. It is public: it has no secret.
type Client struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Redirects []string  `json:"redirects"`
	Added     time.Time `json:"added"`
}

// content is the file.
type content struct {
	User     []byte    `json:"user"` // the handle of the owner in passkeys
	Setup    string    `json:"setup,omitempty"`
	SetupEnd time.Time `json:"setupEnd,omitzero"`
	Passkeys []Passkey `json:"passkeys"`
	Clients  []Client  `json:"clients"`
	Grants   []Grant   `json:"grants"`
}

func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// read returns the file, the zero content if there is none.
func (s *Store) read() (c content, err error) {
	text, err := private.Read(filepath.Join(s.state, fileName), maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	case len(text) > maxFile || json.Unmarshal(text, &c) != nil:
		return content{}, fmt.Errorf("%q is not a file of sign-ins", filepath.Join(s.state, fileName))
	}
	return c, nil
}

// change replaces the file by what edit makes of it, unless edit returns an error.
func (s *Store) change(edit func(*content) error) error {
	return private.UpdateJSON(s.state, fileName, lockName, func() (any, error) {
		c, err := s.read()
		if err != nil {
			return nil, err
		}
		if c.User == nil {
			c.User = make([]byte, 32)
			rand.Read(c.User)
		}
		err = edit(&c)
		return c, err
	})
}

// NewSetup returns a code with which one passkey can be added for 15 minutes. It replaces an earlier
// one.
func (s *Store) NewSetup(now time.Time) (code string, err error) {
	code = rand.Text()
	return code, s.change(func(c *content) error {
		c.Setup, c.SetupEnd = hashed(code), now.Add(setupFor)
		return nil
	})
}

// List returns the passkeys and the grants.
func (s *Store) List() ([]Passkey, []Grant, error) {
	c, err := s.read()
	return c.Passkeys, c.Grants, err
}

// Remove removes the passkey or the grant with an id, and reports whether there was one.
func (s *Store) Remove(id string) (had bool, err error) {
	err = s.change(func(c *content) error {
		before := len(c.Passkeys) + len(c.Grants)
		c.Passkeys = slices.DeleteFunc(c.Passkeys, func(p Passkey) bool { return p.ID == id })
		c.Grants = slices.DeleteFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		had = len(c.Passkeys)+len(c.Grants) < before
		return nil
	})
	return had, err
}

// live returns the grants that have not expired.
func live(grants []Grant, now time.Time) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return now.Sub(g.Used) >= refreshFor })
}

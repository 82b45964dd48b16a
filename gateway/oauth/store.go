package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	oautherrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	fileName = "signin.json"
	lockName = "signin.lock"
	maxFile  = 4 << 20

	setupFor    = 15 * time.Minute    // validity of the link for adding a passkey
	refreshFor  = 30 * 24 * time.Hour // validity of a grant since its last use
	maxPasskeys = 20
	maxClients  = 200
	maxGrants   = 200
)

// SignInStore stores passkeys, registered clients and grants in a file in a state folder. It stores
// tokens and codes only as hashes. It is safe for concurrent use, also by several processes.
type SignInStore struct{ state string }

// OpenSignInStore returns the store in a state folder. The file is created on the first change.
func OpenSignInStore(state string) *SignInStore { return &SignInStore{state} }

// Passkey is a passkey of the owner.
type Passkey struct {
	ID         string              `json:"id"`
	Added      time.Time           `json:"added"`
	Credential webauthn.Credential `json:"credential"`
}

// Grant records the rights that the owner granted to a client. Each refresh replaces the refresh
// token. If a replaced token is used again, the grant is revoked, because two parties have had it.
type Grant struct {
	ID     string `json:"id"`
	Client Client `json:"client"`
	Agent  string `json:"agent"`
	// Generation identifies the credentials of the agent that were valid when the owner decided, see
	// [ServerConfig.Generation].
	Generation string    `json:"generation,omitempty"`
	Scope      string    `json:"scope"`
	Made       time.Time `json:"made"`
	Used       time.Time `json:"used"`
	Refresh    string    `json:"refresh,omitempty"` // hash of the valid refresh token
}

// Client is a public OAuth client, which has no secret.
type Client struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Redirects []string  `json:"redirects"`
	Added     time.Time `json:"added"`
}

// content is the content of the file.
type content struct {
	User     []byte    `json:"user"` // the user handle of the owner in passkeys
	Setup    string    `json:"setup,omitempty"`
	SetupEnd time.Time `json:"setupEnd,omitzero"`
	Passkeys []Passkey `json:"passkeys"`
	Clients  []Client  `json:"clients"`
	Grants   []Grant   `json:"grants"`
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// read returns the content of the file, the zero content if there is none.
func (s *SignInStore) read() (c content, err error) {
	text, err := ownerfiles.Read(filepath.Join(s.state, fileName), maxFile)
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

// change applies edit to the content and replaces the file. If edit returns an error, the file is left
// unchanged.
func (s *SignInStore) change(edit func(*content) error) error {
	return ownerfiles.UpdateJSON(s.state, fileName, lockName, func() (any, error) {
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

// NewSetup returns a code with which one passkey can be added within 15 minutes. It invalidates any
// earlier code.
func (s *SignInStore) NewSetup(now time.Time) (code string, err error) {
	code = rand.Text()
	return code, s.change(func(c *content) error {
		c.Setup = hashOf(code)
		c.SetupEnd = now.Add(setupFor)
		return nil
	})
}

// List returns the passkeys and the grants.
func (s *SignInStore) List() ([]Passkey, []Grant, error) {
	c, err := s.read()
	return c.Passkeys, c.Grants, err
}

// Remove removes the passkey or the grant with an id. had reports whether there was one.
func (s *SignInStore) Remove(id string) (isRemoved bool, err error) {
	err = s.change(func(c *content) error {
		before := len(c.Passkeys) + len(c.Grants)
		c.Passkeys = slices.DeleteFunc(c.Passkeys, func(p Passkey) bool { return p.ID == id })
		c.Grants = slices.DeleteFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		isRemoved = len(c.Passkeys)+len(c.Grants) < before
		return nil
	})
	return isRemoved, err
}

// RemoveAgent removes all grants of the rights of an agent. had reports whether there were any.
func (s *SignInStore) RemoveAgent(agent string) (isRemoved bool, err error) {
	isOf := func(g Grant) bool { return g.Agent == agent }
	c, err := s.read()
	if err != nil || !slices.ContainsFunc(c.Grants, isOf) {
		return false, err
	}
	err = s.change(func(c *content) error {
		before := len(c.Grants)
		c.Grants = slices.DeleteFunc(c.Grants, isOf)
		isRemoved = len(c.Grants) < before
		return nil
	})
	return isRemoved, err
}

// unexpired returns the grants that have not expired.
func unexpired(grants []Grant, now time.Time) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return now.Sub(g.Used) >= refreshFor })
}

const (
	accessPrefix  = "vwt_"
	refreshPrefix = "vwr_" // followed by the id of the grant, a dot and the secret

	maxCodes  = 100
	maxAccess = 1000
)

// tokens stores codes and access tokens in memory, and grants in the file: after a restart clients
// refresh their tokens. It is the token store, the client store and the code generator of go-oauth2.
type tokens struct {
	store *SignInStore
	now   func() time.Time

	mu       sync.Mutex
	codes    map[string]*code
	access   map[[sha256.Size]byte]access
	fileInfo fs.FileInfo // of the file when it was last read
	file     content     // its content then
}

// code is an authorization code, stored under its hash. If it is used twice, the grant for which it was
// exchanged is revoked.
type code struct {
	info   oauth2.TokenInfo
	client Client
	until  time.Time
	used   bool
	grant  string

	generation string // see [Grant]
}

// access is an access token.
type access struct {
	grant string
	until time.Time
}

// codeField is the extension field in which a token info has the hash of its code.
const codeField = "code"

// generationKey is the context key of the generation of the agent's credentials in a decision.
type generationKey struct{}

// clientKey is the context key of the client of a request.
type clientKey struct{}

// GetByID returns the client of the request.
func (t *tokens) GetByID(ctx context.Context, id string) (oauth2.ClientInfo, error) {
	if c, ok := ctx.Value(clientKey{}).(Client); ok && c.ID == id {
		return &models.Client{ID: id, Public: true}, nil
	}
	return nil, oautherrors.ErrInvalidClient
}

// Token returns a new code.
func (t *tokens) Token(context.Context, *oauth2.GenerateBasic) (string, error) {
	return rand.Text(), nil
}

// accessTokens generates access and refresh tokens. A refresh token contains the id of its grant.
type accessTokens struct{}

// Token returns a new access and a new refresh token.
func (accessTokens) Token(_ context.Context, data *oauth2.GenerateBasic, _ bool) (string, string, error) {
	grant := grantOf(data.TokenInfo.GetRefresh())
	if grant == "" {
		grant = rand.Text()
	}
	return accessPrefix + rand.Text() + rand.Text(), refreshPrefix + grant + "." + rand.Text(), nil
}

// grantOf returns the grant id in a refresh token, "" for any other text.
func grantOf(refresh string) string {
	rest, hasPrefix := strings.CutPrefix(refresh, refreshPrefix)
	id, _, hasSecret := strings.Cut(rest, ".")
	if !hasPrefix || !hasSecret {
		return ""
	}
	return id
}

// current returns the current content of the file, without expired grants. It is empty if the file
// cannot be read.
func (t *tokens) current() content {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Lstat(filepath.Join(t.store.state, fileName))
	if err != nil {
		t.fileInfo = nil
		t.file = content{}
		return t.file
	}
	if t.fileInfo != nil && ownerfiles.IsUntouched(t.fileInfo, info) {
		return t.file
	}
	t.fileInfo = info
	t.file, _ = t.store.read()
	t.file.Grants = unexpired(t.file.Grants, t.now())
	return t.file
}

// Create stores a code, or the tokens of a grant.
func (t *tokens) Create(ctx context.Context, info oauth2.TokenInfo) error {
	now := t.now()
	client, _ := ctx.Value(clientKey{}).(Client)
	if issued := info.GetCode(); issued != "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		for key, old := range t.codes {
			if !now.Before(old.until) || len(t.codes) >= maxCodes {
				delete(t.codes, key)
			}
		}
		if extendable, ok := info.(oauth2.ExtendableTokenInfo); ok {
			extendable.SetExtension(url.Values{codeField: {hashOf(issued)}})
		}
		generation, _ := ctx.Value(generationKey{}).(string)
		t.codes[hashOf(issued)] = &code{info: info, client: client, generation: generation, until: now.Add(codeFor)}
		return nil
	}
	generation := "" // of a new grant
	fromCode, hasCode := info.(oauth2.ExtendableTokenInfo)
	if hasCode {
		t.mu.Lock()
		if known := t.codes[fromCode.GetExtension().Get(codeField)]; known != nil {
			generation = known.generation
		}
		t.mu.Unlock()
	}
	id := grantOf(info.GetRefresh())
	err := t.store.change(func(c *content) error {
		c.Grants = unexpired(c.Grants, now)
		i := slices.IndexFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		if i < 0 {
			if len(c.Grants) >= maxGrants {
				return errors.New("too many grants")
			}
			i = len(c.Grants)
			c.Grants = append(
				c.Grants,
				Grant{
					ID:         id,
					Client:     client,
					Agent:      info.GetUserID(),
					Generation: generation,
					Scope:      info.GetScope(),
					Made:       now,
				},
			)
		}
		c.Grants[i].Used = now
		c.Grants[i].Refresh = hashOf(info.GetRefresh())
		return nil
	})
	if err != nil {
		return err
	}
	t.mu.Lock() // not during the change above: every call takes this lock to look up its token
	defer t.mu.Unlock()
	if hasCode {
		if known := t.codes[fromCode.GetExtension().Get(codeField)]; known != nil {
			known.grant = id
		}
	}
	for key, old := range t.access {
		if old.grant == id || !now.Before(old.until) || len(t.access) >= maxAccess {
			delete(t.access, key)
		}
	}
	t.access[sha256.Sum256([]byte(info.GetAccess()))] = access{id, now.Add(accessFor)}
	return nil
}

// GetByCode returns the info of a code and marks it as used, whether or not the rest of the request is
// valid.
func (t *tokens) GetByCode(_ context.Context, text string) (oauth2.TokenInfo, error) {
	t.mu.Lock()
	used := t.codes[hashOf(text)]
	isReused := false
	grant := ""
	if used != nil {
		isReused = used.used
		grant = used.grant
		used.used = true
	}
	t.mu.Unlock()
	switch {
	case used == nil, !t.now().Before(used.until), isReused && grant == "":
		return nil, nil
	case isReused:
		_, err := t.store.Remove(grant)
		return nil, err
	}
	return used.info, nil
}

// GetByRefresh returns the info of a refresh token and invalidates it. A token that was used before
// revokes its grant.
func (t *tokens) GetByRefresh(_ context.Context, text string) (info oauth2.TokenInfo, err error) {
	id := grantOf(text)
	err = t.store.change(func(c *content) error {
		c.Grants = unexpired(c.Grants, t.now())
		i := slices.IndexFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		switch {
		case i < 0:
		case c.Grants[i].Refresh != hashOf(text):
			c.Grants = slices.Delete(c.Grants, i, i+1)
		default:
			g := &c.Grants[i]
			g.Refresh = ""
			info = &models.Token{
				ClientID:         g.Client.ID,
				UserID:           g.Agent,
				Scope:            g.Scope,
				Refresh:          text,
				RefreshCreateAt:  g.Used,
				RefreshExpiresIn: refreshFor,
			}
		}
		return nil
	})
	return info, err
}

// The Remove methods do nothing: a code or token that go-oauth2 removes was already invalidated, or will be
// replaced.

// RemoveByCode does nothing.
func (t *tokens) RemoveByCode(context.Context, string) error { return nil }

// RemoveByAccess does nothing.
func (t *tokens) RemoveByAccess(context.Context, string) error { return nil }

// RemoveByRefresh does nothing.
func (t *tokens) RemoveByRefresh(context.Context, string) error { return nil }

// GetByAccess returns nothing. Use [AuthorizationServer.Holder].
func (t *tokens) GetByAccess(context.Context, string) (oauth2.TokenInfo, error) { return nil, nil }

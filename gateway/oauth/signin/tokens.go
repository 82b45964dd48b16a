package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
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
)

const (
	accessPrefix  = "vwt_"
	refreshPrefix = "vwr_" // before the id of the grant, a dot and the secret

	maxCodes  = 100
	maxAccess = 1000
)

// tokens keeps codes and access tokens in memory and grants in the file: after a restart a client
// refreshes its token. It is what go-oauth2 stores with, and generates codes.
type tokens struct {
	store *Store
	now   func() time.Time

	mu     sync.Mutex
	codes  map[string]*code
	access map[[sha256.Size]byte]access
	seen   fs.FileInfo // of the file when it was read
	file   content
}

// code is an authorization code by its hash. One that comes a second time ends the grant that it was
// exchanged for.
type code struct {
	info   oauth2.TokenInfo
	client Client
	until  time.Time
	used   bool
	grant  string
}

// access is an access token.
type access struct {
	grant string
	until time.Time
}

// codeField is what the tokens of a code have of it.
const codeField = "code"

// clientKey is where the context of a request has its client, for the store.
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

// accessTokens makes access and refresh tokens. A refresh token has the id of its grant.
type accessTokens struct{}

// Token returns a new access and a new refresh token.
func (accessTokens) Token(_ context.Context, data *oauth2.GenerateBasic, _ bool) (string, string, error) {
	grant := grantOf(data.TokenInfo.GetRefresh())
	if grant == "" {
		grant = rand.Text()
	}
	return accessPrefix + rand.Text() + rand.Text(), refreshPrefix + grant + "." + rand.Text(), nil
}

// grantOf returns the id of the grant of a refresh token, "" for another text.
func grantOf(refresh string) string {
	rest, ours := strings.CutPrefix(refresh, refreshPrefix)
	id, _, whole := strings.Cut(rest, ".")
	if !ours || !whole {
		return ""
	}
	return id
}

// current returns the file as it is now, nothing if it cannot be used.
func (t *tokens) current() content {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, err := os.Lstat(filepath.Join(t.store.state, fileName))
	if err != nil {
		t.seen, t.file = nil, content{}
		return t.file
	}
	if t.seen != nil && os.SameFile(t.seen, now) && t.seen.ModTime().Equal(now.ModTime()) && t.seen.Size() == now.Size() && t.seen.Mode() == now.Mode() {
		return t.file
	}
	t.seen = now
	t.file, _ = t.store.read()
	t.file.Grants = live(t.file.Grants, t.now())
	return t.file
}

// Create keeps a code, or the tokens of a grant.
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
		if to, ok := info.(oauth2.ExtendableTokenInfo); ok {
			to.SetExtension(url.Values{codeField: {hashed(issued)}})
		}
		t.codes[hashed(issued)] = &code{info: info, client: client, until: now.Add(codeFor)}
		return nil
	}
	id := grantOf(info.GetRefresh())
	err := t.store.change(func(c *content) error {
		c.Grants = live(c.Grants, now)
		i := slices.IndexFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		if i < 0 {
			if len(c.Grants) >= maxGrants {
				return errors.New("too many grants")
			}
			i = len(c.Grants)
			c.Grants = append(c.Grants, Grant{ID: id, Client: client, Agent: info.GetUserID(), Scope: info.GetScope(), Made: now})
		}
		c.Grants[i].Used, c.Grants[i].Refresh = now, hashed(info.GetRefresh())
		return nil
	})
	if err != nil {
		return err
	}
	t.mu.Lock() // not before: every call asks whose its token is
	defer t.mu.Unlock()
	if from, ok := info.(oauth2.ExtendableTokenInfo); ok {
		if known := t.codes[from.GetExtension().Get(codeField)]; known != nil {
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

// GetByCode uses a code up, whether the rest of the request is right or not.
func (t *tokens) GetByCode(_ context.Context, text string) (oauth2.TokenInfo, error) {
	t.mu.Lock()
	known := t.codes[hashed(text)]
	again, grant := false, ""
	if known != nil {
		again, grant = known.used, known.grant
		known.used = true
	}
	t.mu.Unlock()
	switch {
	case known == nil, !t.now().Before(known.until), again && grant == "":
		return nil, nil
	case again:
		_, err := t.store.Remove(grant)
		return nil, err
	}
	return known.info, nil
}

// GetByRefresh uses a refresh token up. One that was used before ends its grant.
func (t *tokens) GetByRefresh(_ context.Context, text string) (info oauth2.TokenInfo, err error) {
	id := grantOf(text)
	err = t.store.change(func(c *content) error {
		c.Grants = live(c.Grants, t.now())
		i := slices.IndexFunc(c.Grants, func(g Grant) bool { return g.ID == id })
		switch {
		case i < 0:
		case c.Grants[i].Refresh != hashed(text):
			c.Grants = slices.Delete(c.Grants, i, i+1)
		default:
			g := &c.Grants[i]
			g.Refresh = ""
			info = &models.Token{ClientID: g.Client.ID, UserID: g.Agent, Scope: g.Scope, Refresh: text, RefreshCreateAt: g.Used, RefreshExpiresIn: refreshFor}
		}
		return nil
	})
	return info, err
}

// What go-oauth2 removes was used up, or is replaced with what follows it.

// RemoveByCode does nothing.
func (t *tokens) RemoveByCode(context.Context, string) error { return nil }

// RemoveByAccess does nothing.
func (t *tokens) RemoveByAccess(context.Context, string) error { return nil }

// RemoveByRefresh does nothing.
func (t *tokens) RemoveByRefresh(context.Context, string) error { return nil }

// GetByAccess returns nothing: see [Server.Holder].
func (t *tokens) GetByAccess(context.Context, string) (oauth2.TokenInfo, error) { return nil, nil }

package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"sync"
	"time"
)

// CodeLife is how long a link can be opened.
const CodeLife = 15 * time.Minute

// maxSessions is how many browsers can have the page open. One more ends the oldest.
const maxSessions = 16

// sessions are the browsers that have the page open, and the code for the next one.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex
	code  digest // the zero digest for none
	until time.Time
	all   []*session
}

// digest is what is kept of a secret. Digests are compared because a comparison in
// constant time needs equal lengths.
type digest [sha256.Size]byte

// session is one browser. Its cookie is good under the host at which the link was opened.
type session struct {
	cookie digest
	host   string
	key    [sha256.Size]byte // of its tokens
}

func newSessions(now func() time.Time) *sessions { return &sessions{now: now} }

// newCode returns a code, and forgets the one before it.
func (s *sessions) newCode() string {
	code := random()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.until = sha256.Sum256([]byte(code)), s.now().Add(CodeLife)
	return code
}

// redeem trades a code for a cookie, once. It returns "" for a wrong code.
func (s *sessions) redeem(code, host string) (cookie string) {
	given := digest(sha256.Sum256([]byte(code)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == (digest{}) || subtle.ConstantTimeCompare(given[:], s.code[:]) != 1 || !s.now().Before(s.until) {
		return ""
	}
	s.code = digest{}
	cookie = random()
	made := &session{cookie: sha256.Sum256([]byte(cookie)), host: host, key: sha256.Sum256([]byte(random()))}
	if len(s.all) >= maxSessions {
		s.all = slices.Delete(s.all, 0, 1)
	}
	s.all = append(s.all, made)
	return cookie
}

// of returns the session of a request, nil if it has none.
func (s *sessions) of(r *http.Request) *session {
	cookies := r.CookiesNamed(cookieName) // servers on other ports of this host can set some, too
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		given := digest(sha256.Sum256([]byte(cookie.Value)))
		for _, one := range s.all {
			if subtle.ConstantTimeCompare(given[:], one.cookie[:]) == 1 && one.host == r.Host {
				return one
			}
		}
	}
	return nil
}

// maxCookies of the name are looked at in a request.
const maxCookies = 16

// token returns the token of a page in the session.
func (s *session) token(page string) string {
	mac := hmac.New(sha256.New, s.key[:])
	_, _ = mac.Write([]byte(page)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// isToken reports whether a token is that of a page.
func (s *session) isToken(page, token string) bool {
	return hmac.Equal([]byte(token), []byte(s.token(page)))
}

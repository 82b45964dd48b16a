package oauth

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	strict "github.com/go-jose/go-jose/v4/json" // a key twice, or in another case, is not one
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	asksAtOnce = 8
	maxOpaque  = 4 << 10 // bytes of a token
)

// introspected returns what the issuer says of a token that it calls active (RFC 7662). The error is
// an [*Invalid] or an [*Unavailable]. What the issuer leaves out of the issuer and the expiry it has
// checked itself; the audience has to be there.
func (v *Verifier) introspected(ctx context.Context, text string, standard *jwt.Claims, all *map[string]any) error {
	v.keys.mu.Lock()
	err := v.keys.refresh(ctx, func() bool { return v.keys.place != "" })
	place := v.keys.place
	v.keys.mu.Unlock()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	select {
	case v.asks <- struct{}{}:
		defer func() { <-v.asks }()
	case <-limited.Done():
		return &Unavailable{limited.Err()}
	}
	r, err := http.NewRequestWithContext(limited, http.MethodPost, place, strings.NewReader(url.Values{"token": {text}, "token_type_hint": {"access_token"}}.Encode()))
	if err != nil {
		return &Unavailable{err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(v.ClientID), url.QueryEscape(v.Secret)) // RFC 6749, 2.3.1
	answer, err := v.keys.do(r)
	if err == nil {
		err = strict.Unmarshal(answer, all)
	}
	if err == nil && (*all)["active"] == true {
		err = strict.Unmarshal(answer, standard)
	}
	if err != nil {
		return &Unavailable{err}
	}
	if (*all)["active"] != true {
		return &Invalid{"the issuer says that it is not active"}
	}
	for name, is := range map[string]string{"token_type": "bearer", "token_use": "access_token", "typ": "bearer jwt at+jwt"} {
		if kind, given := (*all)[name].(string); given && !slices.Contains(strings.Fields(is), strings.ToLower(kind)) {
			return &Invalid{"it is not a bearer access token"}
		}
	}
	standard.Issuer = cmp.Or(standard.Issuer, v.Issuer)
	if standard.Expiry == nil {
		standard.Expiry = jwt.NewNumericDate(v.Now().Add(introspectFor + time.Second))
	}
	return nil
}

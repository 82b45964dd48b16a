package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	// The keys of an issuer are fetched again after refreshInterval, so that withdrawn keys stop being valid,
	// and when a token names an unknown key, but at most once per retryInterval. If the issuer does not
	// answer, its keys remain valid for maxKeyAge.
	refreshInterval = 10 * time.Minute
	retryInterval   = 10 * time.Second
	maxKeyAge       = 24 * time.Hour

	fetchLimit   = 5 * time.Second // for fetching the documents of the issuer
	maxFetched   = 1 << 20         // bytes of a document
	maxKeysTried = 20              // keys to try for a token
)

// keys caches the public keys of an issuer or, with introspects, the URL at which it can be asked about tokens.
type keys struct {
	issuer      string
	now         func() time.Time
	client      *http.Client
	introspects bool

	mu       sync.Mutex // held while the keys are fetched, so that concurrent tokens wait for one request
	set      jose.JSONWebKeySet
	endpoint string    // URL for introspection
	fetched  time.Time // when fetching last succeeded, zero before
	tried    time.Time // when fetching was last tried
	err      error     // error of the last try
}

// refresh fetches the keys or the URL of the issuer if that is due, or if enough reports that something is missing. The
// error is an [*Unavailable]. The caller holds mu.
func (k *keys) refresh(ctx context.Context, hasEnough func() bool) error {
	now := k.now()
	isDue := !hasEnough() || now.Sub(k.fetched) >= refreshInterval
	if isDue && now.Sub(k.tried) >= retryInterval {
		// Others may wait for this fetch, so it must not be cancelled with the request of one client.
		fetchCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
		defer cancel()
		set, endpoint, err := k.fetch(fetchCtx)
		k.tried = now
		k.err = err
		if err == nil {
			k.set = set
			k.endpoint = endpoint
			k.fetched = now
		}
	}
	isTooOld := k.fetched.IsZero() || now.Sub(k.fetched) >= maxKeyAge
	isMissing := k.err != nil && !hasEnough()
	if isTooOld || isMissing {
		return &Unavailable{k.err}
	}
	return nil
}

// fetch fetches the metadata of the issuer, and then its keys. With introspects it returns the URL for introspection
// instead of the keys.
func (k *keys) fetch(ctx context.Context) (set jose.JSONWebKeySet, endpoint string, err error) {
	var metadata struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
		Asks   string `json:"introspection_endpoint"`
	}
	for _, place := range MetadataURLs(k.issuer) {
		if err = k.get(ctx, place, &metadata); err == nil {
			break
		}
	}
	name := "jwks_uri"
	endpoint = metadata.Keys
	if k.introspects {
		name = "introspection_endpoint"
		endpoint = metadata.Asks
	}
	switch {
	case err != nil:
		return set, "", err
	case metadata.Issuer != k.issuer: // required by RFC 8414, section 3.3
		return set, "", fmt.Errorf("its metadata is of the issuer %q", metadata.Issuer)
	}
	if err := httpguard.CheckURL(endpoint); err != nil {
		return set, "", fmt.Errorf("%s %w", name, err)
	}
	if k.introspects {
		return set, endpoint, nil
	}
	var raw struct{ Keys []json.RawMessage }
	if err := k.get(ctx, endpoint, &raw); err != nil {
		return set, "", err
	}
	for _, encoded := range raw.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(encoded) == nil { // skip unsupported kinds of keys
			set.Keys = append(set.Keys, key)
		}
	}
	return set, endpoint, nil
}

// MetadataURLs returns the URLs at which the metadata of an issuer may be: that of RFC 8414, and those of
// openid-configuration.
func MetadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	origin := u.Scheme + "://" + u.Host
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	list := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + path + "/.well-known/openid-configuration",
	}
	if path != "" {
		list = append(list, origin+"/.well-known/openid-configuration"+path)
	}
	return list
}

func (k *keys) get(ctx context.Context, address string, to any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	text, err := k.do(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s is not valid JSON: %w", address, err)
	}
	return nil
}

// do sends a request and returns the body of the response. A status other than 200 is an error.
func (k *keys) do(r *http.Request) ([]byte, error) {
	r.Header.Set("Accept", "application/json")
	answer, err := k.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxFetched+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", r.URL, answer.Status)
	case len(text) > maxFetched:
		return nil, fmt.Errorf("%s is longer than %d bytes", r.URL, maxFetched)
	}
	return text, nil
}

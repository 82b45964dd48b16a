package oauth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	maxName          = 80 // bytes of a client name
	maxRedirects     = 10
	maxURI           = 512
	maxDocument      = 16 << 10 // bytes of a client metadata document or a registration
	clientFetchLimit = 5 * time.Second
)

// metadata is the description of a client (RFC 7591) in a registration, or in a document at the URL that is its id.
type metadata struct {
	ID        string   `json:"client_id,omitempty"`
	Name      string   `json:"client_name,omitempty"`
	Redirects []string `json:"redirect_uris"`
	Auth      string   `json:"token_endpoint_auth_method,omitempty"`
	Grants    []string `json:"grant_types,omitempty"`
	Responses []string `json:"response_types,omitempty"`
}

// client validates m and returns the client that it describes.
func (m metadata) client(id string, now time.Time) (Client, error) {
	switch {
	case len(m.Redirects) == 0 || len(m.Redirects) > maxRedirects:
		return Client{}, fmt.Errorf("a client has 1 to %d redirect_uris", maxRedirects)
	case m.Auth != "" && m.Auth != "none":
		return Client{}, errors.New("token_endpoint_auth_method must be none: clients here have no secrets")
	}
	for _, uri := range m.Redirects {
		if err := checkRedirect(uri); err != nil {
			return Client{}, err
		}
	}
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(m.Name, ""))
	for len(name) > maxName {
		name = name[:strings.LastIndexFunc(name[:len(name)-1], func(rune) bool { return true })]
	}
	return Client{ID: id, Name: strings.TrimSpace(name), Redirects: m.Redirects, Added: now}, nil
}

// refusedSchemes are schemes that run or show something in a browser, or that other programs handle.
var refusedSchemes = []string{
	"javascript",
	"data",
	"vbscript",
	"file",
	"blob",
	"about",
	"view-source",
	"ftp",
	"ws",
	"wss",
	"mailto",
	"tel",
	"chrome",
	"filesystem",
	"intent",
}

// checkRedirect returns an error unless uri is a valid address to send codes to: https, http on the user's machine, or
// the scheme of an app.
func checkRedirect(uri string) error {
	u, err := url.Parse(uri)
	switch {
	case err != nil,
		u.Scheme == "",
		u.User != nil,
		strings.ContainsAny(uri, "#\\ \t\r\n"),
		len(uri) > maxURI,
		strings.ContainsFunc(uri, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("a redirect_uri is not valid")
	case u.Scheme == "https" && u.Hostname() != "", httpguard.IsLoopback(u):
		return nil
	case u.Scheme == "http", u.Scheme == "https", slices.Contains(refusedSchemes, u.Scheme):
		return errors.New("a redirect_uri must have https, http on this machine, or the scheme of an app")
	}
	return nil
}

// hasRedirect reports whether uri is a redirect address of the client. The match is exact, except for the port of an
// address on the user's machine, which programs cannot choose (RFC 8252, section 7.3).
func (c Client) hasRedirect(uri string) bool {
	requested, err := url.Parse(uri)
	if err != nil || checkRedirect(uri) != nil {
		return false
	}
	return slices.ContainsFunc(c.Redirects, func(own string) bool {
		if own == uri {
			return true
		}
		registered, err := url.Parse(own)
		if err != nil || !httpguard.IsLoopback(registered) || !httpguard.IsLoopback(requested) {
			return false
		}
		registered.Host = registered.Hostname()
		withoutPort := *requested
		withoutPort.Host = requested.Hostname()
		return registered.String() == withoutPort.String()
	})
}

// register registers a client (RFC 7591). At the limit it removes a client that has no grant.
func (s *AuthorizationServer) register(r *http.Request) (status int, answer any) {
	invalid := func(err error) (int, any) {
		return http.StatusBadRequest, map[string]string{
			"error":             "invalid_client_metadata",
			"error_description": err.Error(),
		}
	}
	var m metadata
	if err := decode(r.Body, maxDocument, &m); err != nil {
		return invalid(errors.New("the body must be a JSON object with redirect_uris"))
	}
	client, err := m.client("client-"+rand.Text(), s.Now())
	if err != nil {
		return invalid(err)
	}
	err = s.store.change(func(c *content) error {
		if len(c.Clients) >= maxClients {
			unused := slices.IndexFunc(c.Clients, func(old Client) bool {
				return !slices.ContainsFunc(c.Grants, func(g Grant) bool { return g.Client.ID == old.ID })
			})
			if unused < 0 {
				return errors.New("too many clients")
			}
			c.Clients = slices.Delete(c.Clients, unused, unused+1)
		}
		c.Clients = append(c.Clients, client)
		return nil
	})
	if err != nil {
		s.Log.Warn("a client was not registered: " + err.Error())
		return http.StatusServiceUnavailable, map[string]string{"error": "temporarily_unavailable"}
	}
	return http.StatusCreated, metadata{
		ID:        client.ID,
		Name:      client.Name,
		Redirects: client.Redirects,
		Auth:      "none",
		Grants:    []string{"authorization_code", "refresh_token"},
		Responses: []string{"code"},
	}
}

// clientOf returns the client with an id: a registered one, or one whose id is the URL of its metadata document.
func (s *AuthorizationServer) clientOf(ctx context.Context, id string) (Client, error) {
	c, err := s.store.read()
	if err != nil {
		return Client{}, err
	}
	for _, client := range c.Clients {
		if client.ID == id {
			return client, nil
		}
	}
	if !isMetadataAddress(id) {
		return Client{}, errors.New("unknown client")
	}
	limited, cancel := context.WithTimeout(ctx, clientFetchLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(limited, http.MethodGet, id, nil)
	if err != nil {
		return Client{}, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := s.fetcher.Do(r)
	if err != nil {
		return Client{}, fmt.Errorf("the metadata of the client cannot be read: %w", err)
	}
	defer answer.Body.Close()
	var m metadata
	if err := decode(answer.Body, maxDocument, &m); err != nil || answer.StatusCode != http.StatusOK || m.ID != id {
		return Client{}, errors.New("the metadata of the client is not that of its id")
	}
	return m.client(id, s.Now())
}

// publicOnly is the Control function of a dialer. It refuses addresses of this machine and its networks, because
// whoever chooses a client id must not reach them through this server (SSRF).
func publicOnly(_, address string, _ syscall.RawConn) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := addrPort.Addr().Unmap()
	isSpecial := slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
	isPublic := ip.IsGlobalUnicast() && !ip.IsPrivate() && !isSpecial
	if !isPublic || addrPort.Port() != 443 {
		return fmt.Errorf("%s is not a public address", address)
	}
	return nil
}

// notPublic lists networks that are globally unicast but not public, such as those of carriers, and IPv6 networks that
// map to IPv4 addresses.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("0.0.0.0/8"),
}

// decode decodes a JSON document of up to limit bytes.
func decode(in io.Reader, limit int64, to any) error {
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > limit {
		return errors.New("too long")
	}
	return json.Unmarshal(text, to)
}

// isMetadataAddress reports whether a client id is the URL of a metadata document (OAuth Client ID Metadata Document).
func isMetadataAddress(id string) bool {
	u, err := url.Parse(id)
	if err != nil || len(id) > maxURI || strings.ContainsAny(id, "#?\\") {
		return false
	}
	if u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	return len(u.Path) >= 2 && !strings.Contains(u.Path, "/.")
}

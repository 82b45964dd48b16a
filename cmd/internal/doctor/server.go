package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/oauth"
)

const (
	clockDifference = 30 * time.Second    // the tolerance of the server for access tokens
	certificateLeft = 14 * 24 * time.Hour // time to renew a certificate by hand
)

// CheckServer checks a server over HTTP from the point of view of a client.
func CheckServer(ctx context.Context, s *bootstrap.RemoteServer, now time.Time) *Report {
	r := &Report{}
	u, _ := url.Parse(s.URL) // valid: it was checked before
	origin := u.Scheme + "://" + u.Host
	p, err := s.Probe(ctx, "POST", s.URL)
	if err != nil {
		r.problem(
			"server-reach",
			fmt.Sprintf("%s cannot be reached: %v", s.URL, err),
			"no client can connect",
			"check the address, the name in the DNS, the proxy and its certificate",
		)
		return r
	}
	r.ok("server-reach", fmt.Sprintf("%s answers", s.URL))
	switch left := p.Until.Sub(now); {
	case p.Until.IsZero():
		r.ok("server-tls", "no TLS, on this machine only")
	case left < certificateLeft && left < p.Until.Sub(p.From)/4: // automatic renewal happens when a third is left
		r.warn(
			"server-tls",
			"the certificate expires at "+p.Until.Local().Format(time.DateTime),
			"clients stop connecting then",
			"renew it",
		)
	default:
		r.ok("server-tls", "TLS, the certificate is valid until "+p.Until.Local().Format(time.DateTime))
	}
	if difference := p.Date.Sub(now).Abs(); !p.Date.IsZero() && difference > clockDifference {
		r.problem(
			"server-clock",
			fmt.Sprintf("the clocks differ by %s", difference.Round(time.Second)),
			"access tokens are refused before they begin or after they have expired",
			"synchronize the clocks",
		)
	} else {
		r.ok("server-clock", "the clocks agree")
	}
	if p.Status != 401 {
		r.problem(
			"server-token",
			fmt.Sprintf("a request without a token is answered with %d", p.Status),
			"a client needs 401 to sign in, and nobody else should get an answer",
			"check that the proxy passes requests on to vaultwicket unchanged",
		)
	} else {
		r.ok("server-token", "a request without a token is refused")
	}
	if p, err := s.Probe(ctx, "POST", s.URL, "Origin", "https://doctor.invalid"); err == nil && p.Status != 403 {
		r.problem(
			"server-origin",
			fmt.Sprintf("a request of an unknown web page is answered with %d", p.Status),
			"a page in a browser could call the server",
			"check that the proxy passes the header Origin on",
		)
	} else {
		r.ok("server-origin", "requests of unknown web pages are refused")
	}
	if metadata := regexp.MustCompile(`resource_metadata="([^"]+)"`).FindStringSubmatch(p.Challenge); metadata != nil {
		checkMetadata(ctx, s, r, metadata[1], origin)
	} else {
		r.ok("server-oauth", "no OAuth: clients need the token of an agent")
	}
	if s.Token == "" {
		return r
	}
	if version, err := s.Version(ctx); err != nil {
		r.problem(
			"server-call",
			err.Error(),
			"the token is of no use",
			cmp.Or(terminal.HintOf(err), "give a valid one with --token-file"),
		)
	} else {
		r.ok("server-call", "the token is accepted, version "+version)
	}
	return r
}

// checkMetadata checks the description of the server at the address place, and that of its authorization server.
func checkMetadata(ctx context.Context, s *bootstrap.RemoteServer, r *Report, address, origin string) {
	const why = "clients do not find out where to sign in"
	var description struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	p, err := s.Probe(ctx, "GET", address)
	if err == nil {
		err = json.Unmarshal(p.Body, &description)
	}
	switch {
	case !strings.HasPrefix(address, origin+"/"):
		r.problem("server-metadata", "the server describes itself at "+address, why, "set public-url to "+s.URL)
		return
	case err != nil || p.Status != 200:
		r.problem(
			"server-metadata",
			fmt.Sprintf("%s is answered with %d", address, p.Status),
			why,
			"have the proxy pass /.well-known/oauth-protected-resource on",
		)
		return
	case description.Resource != s.URL || len(description.Servers) == 0:
		r.problem(
			"server-metadata",
			fmt.Sprintf("the server says that it is %q", description.Resource),
			"clients refuse a description of another address",
			"set public-url to "+s.URL,
		)
		return
	}
	r.ok("server-metadata", "clients are told to sign in at "+description.Servers[0])
	for _, metadataURL := range oauth.MetadataURLs(description.Servers[0]) {
		var issuer struct{ Issuer string }
		if p, err := s.Probe(ctx, "GET", metadataURL); err == nil && p.Status == 200 &&
			json.Unmarshal(p.Body, &issuer) == nil &&
			issuer.Issuer == description.Servers[0] {
			r.ok("server-issuer", "the authorization server describes itself at "+metadataURL)
			return
		}
	}
	r.problem(
		"server-issuer",
		description.Servers[0]+" does not describe itself as that issuer",
		"neither clients nor the server find its keys",
		"set oauth-issuer to the issuer exactly as its metadata has it",
	)
}

package serving

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/gateway/oauth"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/policy"
)

const (
	tokenName     = "token" // the name of the token file in the state folder
	maxClientFile = 4 << 10 // in bytes
)

// serveHTTP serves MCP over HTTP until ctx is done.
func serveHTTP(ctx context.Context, o bootstrap.Opened, serverConfig mcpserver.Config) error {
	if err := outsideVaults(o, "tls-key", o.HTTP.Key); err != nil {
		return err
	}
	token, source, err := tokenOf(o)
	if err != nil {
		return err
	}
	listener, err := passedListener(o.Std.Getenv, os.Getpid())
	if err != nil {
		return err
	}
	config := transport.HTTPConfig{
		Addr:        o.HTTP.Addr,
		Listener:    listener,
		TLSCert:     o.HTTP.Cert,
		TLSKey:      o.HTTP.Key,
		Origins:     o.HTTP.Origins,
		Hosts:       o.HTTP.Hosts,
		Proxies:     o.HTTP.Proxies,
		Token:       token,
		MaxSessions: o.HTTP.MaxSessions,
	}
	if o.Metrics != nil {
		var sessions atomic.Int64
		config.Opened = func(string) { sessions.Add(1) }
		config.Ended = func(string) { sessions.Add(-1) }
		o.Follow(func() int { return int(sessions.Load()) })
		config.Metrics = o.Metrics.WriteFor
	}
	if err := o.HTTP.CheckOAuth(); err != nil {
		return err
	}
	resource := transport.Resource{
		URL:    o.HTTP.PublicURL,
		Issuer: o.HTTP.Issuer,
		Scopes: policy.ScopeNames(policy.ScopeDestructive),
	}
	gateways := agentGateways(o)
	standings := standingsOf(o)
	var signIn *oauth.AuthorizationServer
	if o.HTTP.SignIn {
		if signIn, err = openSignIn(o, gateways, standings); err != nil {
			return err
		}
		config.SignIn = signIn
		resource.Issuer = signIn.Issuer()
		page := ownerfiles.Server{
			Session:   bootstrap.Session(),
			PID:       os.Getpid(),
			Since:     time.Now().UTC(),
			Version:   release.Version,
			Transport: consent.RemotePage,
			URL:       signIn.Issuer() + oauth.SignInPages,
		}
		remove, err := ownerfiles.RegisterServer(consent.Pages(ownerfiles.StateFolder(o.Std.Getenv, "")), page)
		if err != nil {
			o.Log.Warn("links to questions cannot lead to the page of this server: " + err.Error())
		} else {
			defer remove()
		}
	}
	if resource.Issuer != "" {
		config.Resource = &resource
	}
	if serverConfig.HolderOf, err = holders(o, gateways, standings, signIn); err != nil {
		return err
	}
	return mcpserver.ServeHTTP(ctx, serverConfig, config, func(url string) {
		if o.LogJSON {
			o.Log.Info("serving", "url", url, "token", source)
			return
		}
		fmt.Fprintf(o.Std.Err, "vaultwicket: serving %s, the token is in %s\n", url, source)
	})
}

// tokenOf returns the bearer token of the server and a description of its source. It creates the token file if it is
// missing.
func tokenOf(o bootstrap.Opened) (token, source string, err error) {
	if text := o.Std.Getenv(settings.TokenVariable); text != "" {
		if o.HTTP.TokenFile != "" {
			return "", "", &terminal.UsageError{
				Reason: fmt.Sprintf(
					"the setting %q and the environment %q both give a token",
					"token-file",
					settings.TokenVariable,
				),
				Advice: "leave one of the two out",
			}
		}
		if reason := transport.Weakness(text); reason != "" {
			return "", "", &terminal.UsageError{
				Reason: fmt.Sprintf("environment %q: the token %s", settings.TokenVariable, reason),
				Advice: "use 32 random bytes, such as the token file that vaultwicket creates",
			}
		}
		return text, "the environment " + settings.TokenVariable, nil
	}
	file := o.HTTP.TokenFile
	if file == "" {
		state := ownerfiles.StateFolder(o.Std.Getenv, "")
		if state == "" {
			return "", "", &terminal.UsageError{Reason: "no location for the HTTP token", Advice: "set --token-file"}
		}
		if !ownerfiles.EnsureFolder(state) {
			return "", "", fmt.Errorf(
				"state folder %q: %s",
				state,
				cmp.Or(ownerfiles.WhyUnsafe(state), "cannot be made"),
			)
		}
		file = filepath.Join(state, tokenName)
	}
	if err := outsideVaults(o, "token-file", file); err != nil {
		return "", "", err
	}
	token, err = transport.Token(file)
	return token, terminal.Visible(file), err
}

// agentGateways returns a function that returns the gateway of an agent, nil if it cannot be opened. Each agent has
// its own gateway, opened on first use, so that agents share no state of a gateway.
func agentGateways(o bootstrap.Opened) func(agent string) *gateway.Gateway {
	var mu sync.Mutex
	opened := map[string]*gateway.Gateway{}
	return func(agent string) *gateway.Gateway {
		mu.Lock()
		defer mu.Unlock()
		g := opened[agent]
		if g == nil {
			var err error
			if g, err = o.OfAgent(agent); err != nil {
				o.Log.Error("an agent is not served: "+err.Error(), "agent", agent)
				return nil
			}
			opened[agent] = g
		}
		return g
	}
}

// standingsOf returns the user's decisions about the credentials of agents.
func standingsOf(o bootstrap.Opened) *admission.Standings {
	return admission.NewStandings(ownerfiles.StateFolder(o.Std.Getenv, ""))
}

// openSignIn returns the authorization server for signing in with a passkey.
func openSignIn(
	o bootstrap.Opened,
	gateways func(agent string) *gateway.Gateway,
	standings *admission.Standings,
) (*oauth.AuthorizationServer, error) {
	state, err := settings.StateFolder(o.Std)
	if err != nil {
		return nil, err
	}
	if err := outsideVaults(o, "state folder", state); err != nil {
		return nil, err
	}
	generation := func(agent string) (string, bool) {
		standing, err := standings.Of(agent)
		return standing.Generation, err == nil && !standing.Revoked
	}
	grantable := func(name string) bool {
		agent, defined := o.AgentsNow()[name]
		_, isValid := generation(name)
		return defined && isValid && agent.HasRightsAt(time.Now())
	}
	rights := func() (list []oauth.Agent) {
		for _, name := range slices.Sorted(maps.Keys(o.AgentsNow())) {
			if !grantable(name) {
				continue
			}
			g := gateways(name)
			if g == nil {
				continue
			}
			entry := oauth.Agent{Name: name, Vaults: g.VaultNames()}
			for _, view := range g.Policies() {
				if entry.Rights != "" {
					entry.Rights += "; "
				}
				values := map[string]any{}
				for _, setting := range view.Settings {
					values[setting.Name] = setting.Value
				}
				notes := "all notes"
				if view.Access.Rules {
					notes = "the notes that its access rules allow"
				}
				entry.Rights += rightsTo(notes, values)
			}
			list = append(list, entry)
		}
		return list
	}
	return oauth.NewServer(oauth.ServerConfig{
		Resource:   o.HTTP.PublicURL,
		Scopes:     policy.ScopeNames(policy.ScopeDestructive),
		Agents:     rights,
		Grantable:  grantable,
		Generation: generation,
		Style:      ui.Stylesheet(),
		Reads:      ui.ReadScript(),
		Question:   func(ref string) (string, func(bool) error) { return ui.Asked(state, bootstrap.Session(), ref) },
		Store:      oauth.OpenSignInStore(state),
		Log:        o.Log,
		Now:        time.Now,
	})
}

// holders returns a function that returns the holder of a token: the gateway of its agent, and the scopes of the token.
// An access token that was issued before the credentials of its agent were renewed is not valid.
func holders(
	o bootstrap.Opened,
	gatewayOf func(agent string) *gateway.Gateway,
	standings *admission.Standings,
	signIn *oauth.AuthorizationServer,
) (func(ctx context.Context, token string) (mcpserver.Holder, error), error) {
	state := ownerfiles.StateFolder(o.Std.Getenv, "")
	if o.VaultAround(o.Std, state) != "" {
		state = ""
	}
	tokens := admission.OpenAgentTokens(state)
	var verifier *oauth.Verifier
	if o.HTTP.Issuer != "" {
		var err error
		verifier, err = openVerifier(o)
		if err != nil {
			return nil, err
		}
	}
	access := accessTokens{opened: o, gatewayOf: gatewayOf, standings: standings, verifier: verifier}
	return func(ctx context.Context, token string) (holder mcpserver.Holder, err error) {
		if signIn != nil {
			if granted := signIn.Holder(token); granted.Agent != "" {
				return mcpserver.Holder{
					Gateway:  gatewayOf(granted.Agent),
					Scope:    policy.ParseScope(granted.Scopes),
					Identity: granted.Identity,
				}, nil
			}
		}
		if verifier != nil && verifier.Looks(token) {
			return access.holder(ctx, token)
		}
		if state == "" {
			return holder, nil
		}
		if name := tokens.AgentOf(sha256.Sum256([]byte(token))); name != "" {
			holder.Gateway = gatewayOf(name)
			holder.Scope = policy.ScopeAll
		}
		return holder, nil
	}, nil
}

// accessTokens finds the holders of access tokens of the issuer in the settings.
type accessTokens struct {
	opened    bootstrap.Opened
	gatewayOf func(agent string) *gateway.Gateway
	standings *admission.Standings
	verifier  *oauth.Verifier
}

// holder returns the holder of an access token. The holder of an invalid token has no gateway; the error is a
// [*transport.Refusal] for a valid token that is refused.
func (a accessTokens) holder(ctx context.Context, token string) (holder mcpserver.Holder, err error) {
	o := a.opened
	verified, err := a.verifier.Verify(ctx, token)
	var unavailable *oauth.Unavailable
	switch {
	case errors.As(err, &unavailable):
		o.Log.Warn(err.Error())
		return holder, &transport.Refusal{
			Status: http.StatusServiceUnavailable,
			Reason: "access tokens cannot be checked now",
		}
	case err != nil:
		o.Log.Info(err.Error())
		return holder, nil
	}
	holder.Scope = policy.ParseScope(verified.Scopes)
	if holder.Scope == policy.ScopeNone {
		return holder, &transport.Refusal{
			Status: http.StatusForbidden,
			Scopes: policy.ScopeRead.String(),
			Reason: "the access token has none of the scopes of this server",
		}
	}
	name := o.AgentOf(verified.Subjects)
	if name == "" {
		o.Log.Warn(
			"an access token does not belong to an agent",
			o.HTTP.Claim,
			excerpt.Short(strings.Join(verified.Subjects, ", ")),
		)
		return holder, &transport.Refusal{
			Status: http.StatusForbidden,
			Reason: "the access token does not belong to an agent of this server; its owner can add it with the key oauth of [agents.NAME]",
		}
	}
	standing, err := a.standings.Of(name)
	switch {
	case err != nil:
		return holder, &transport.Refusal{
			Status: http.StatusServiceUnavailable,
			Reason: "cannot tell whether the agent was revoked",
		}
	case standing.Revoked:
		return holder, &transport.Refusal{Status: http.StatusForbidden, Reason: policy.Revoked}
	case verified.Issued.Before(standing.Since):
		o.Log.Info(
			"an access token was issued before the credentials of its agent were renewed, or does not say when",
			"agent",
			name,
		)
		return mcpserver.Holder{}, nil
	}
	// The identity contains the agent and the generation of its credentials, so a session cannot continue as
	// another agent when the settings change, or after the credentials were renewed.
	holder.Gateway = a.gatewayOf(name)
	holder.Identity = sha256.Sum256(append(verified.Holder[:], name+"\x00"+standing.Generation...))
	return holder, nil
}

// openVerifier returns the verifier for access tokens of the issuer in the settings.
func openVerifier(o bootstrap.Opened) (*oauth.Verifier, error) {
	config := oauth.Config{Issuer: o.HTTP.Issuer, Resource: o.HTTP.PublicURL, Claim: o.HTTP.Claim}
	file := o.HTTP.ClientFile
	if file == "" {
		return oauth.New(config)
	}
	if err := outsideVaults(o, "oauth-client-file", file); err != nil {
		return nil, err
	}
	text, err := ownerfiles.Read(file, maxClientFile)
	id, secret, hasTwoLines := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if err == nil && (!hasTwoLines || strings.Contains(secret, "\n")) {
		err = errors.New("it has not two lines")
	}
	if err != nil {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("oauth-client-file %q cannot be used (%v)", file, err),
			Advice: "name a file that only you can read, with the id on the first line and the secret on the second",
		}
	}
	config.ClientID = strings.TrimSpace(id)
	config.Secret = secret
	return oauth.New(config)
}

// outsideVaults returns an error if a secret file is inside a vault, where an agent could read it. file may be "".
func outsideVaults(o bootstrap.Opened, setting, file string) error {
	if file == "" {
		return nil
	}
	vault := o.VaultAround(o.Std, file)
	if vault == "" {
		return nil
	}
	return &terminal.UsageError{
		Reason: fmt.Sprintf("%s %q is inside the vault %q, where an agent may read", setting, file, vault),
		Advice: "move it out of the vault",
	}
}

// rightsTo describes for the owner what an agent may do with notes under the given values of settings.
func rightsTo(notes string, values map[string]any) string {
	changes := values["allow-mutations"] == true
	text := "may read " + notes
	if changes {
		text = "may read and change " + notes
	}
	switch confirm := values["confirm"]; {
	case !changes:
	case confirm == "writes":
		text += ", with your approval for each change"
	case confirm == "destructive":
		text += ", with your approval where something is destroyed"
	}
	return text + fmt.Sprintf(" (commands up to tier %v)", values["tier"])
}

package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/mcpserver/streamable"
)

// HTTP are those of MCP over HTTP.
type HTTP struct {
	Addr        string // "" for standard input and output
	TokenFile   string
	Cert, Key   string
	Origins     []string
	Hosts       []string
	MaxSessions int
	// PublicURL is the address at which clients reach the endpoint, Issuer the authorization server
	// whose access tokens are accepted, "" for none, and Claim the one that names their agent.
	PublicURL, Issuer, Claim string
	ClientFile               string // has the id and the secret of this server at the issuer, on two lines; "" for none
	SignIn                   bool   // the server itself is the authorization server, for the passkeys of the owner
}

// What hosts and origins are written like in a settings file. The server takes some
// more: capitals, and an address of version 6 without brackets.
const (
	hostPattern   = `^` + hostForm + `$`
	originPattern = `^[a-z][a-z0-9+.-]*://` + hostForm + `(:` + portForm + `)?$`
	hostForm      = `([a-z0-9._-]{1,253}|\[(` + ip6Form + `)\])`
	portForm      = `([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])`
	// Eight groups, or fewer around two colons.
	ip6Form = `(` + ip6Group + `:){7}` + ip6Group + `|(` + ip6Group + `:){1,7}:|(` + ip6Group + `:){1,6}:` + ip6Group + `|` +
		`(` + ip6Group + `:){1,5}(:` + ip6Group + `){2}|(` + ip6Group + `:){1,4}(:` + ip6Group + `){3}|(` + ip6Group + `:){1,3}(:` + ip6Group + `){4}|` +
		`(` + ip6Group + `:){1,2}(:` + ip6Group + `){5}|` + ip6Group + `:(:` + ip6Group + `){6}|:((:` + ip6Group + `){1,7}|:)`
	ip6Group = `[0-9a-f]{1,4}`
)

const maxSessions = 100_000

// toolsets are the sets of tools that mcpserver.ToolsetNames returns. The settings list them
// themselves, so that a subcommand without a server does not import the server.
var toolsets = []string{"cli", "batch", "daily", "search", "notes", "tasks", "bases", "all"}

func setToolsets(s *Settings, text string) error {
	s.Toolsets = nil
	for _, name := range names(text) {
		if !slices.Contains(toolsets, name) {
			return fmt.Errorf("unknown toolset %q: want %s%s", quote.Short(name), strings.Join(toolsets, ", "), quote.DidYouMean(name, toolsets))
		}
		s.Toolsets = append(s.Toolsets, name)
	}
	return nil
}

// fromServer says in one line what the server has against a setting.
func fromServer(err error) error {
	if wrong, ok := errors.AsType[*streamable.SettingError](err); ok {
		return fmt.Errorf("%q %s; %s", quote.Short(wrong.Value), wrong.Reason, wrong.Hint())
	}
	return err
}

// absolute takes an absolute path: a client starts us where it likes.
func absolute(text string) (string, error) {
	if text != "" && !filepath.IsAbs(text) {
		return "", fmt.Errorf("%q is not an absolute path", quote.Short(text))
	}
	return text, nil
}

func webAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if err := httpguard.CheckURL(text); err != nil {
		return "", fmt.Errorf("%q %w", quote.Short(text), err)
	}
	return text, nil
}

// each returns what reads a list of names that the server checks.
func each(check func(string) error) func(string) ([]string, error) {
	return func(text string) ([]string, error) {
		list := names(text)
		for _, name := range list {
			if err := check(name); err != nil {
				return nil, fromServer(err)
			}
		}
		return list, nil
	}
}

// CheckOAuth refuses access tokens without the address that they are for, and two issuers.
func (h HTTP) CheckOAuth() error {
	name := "oauth-issuer"
	if h.SignIn {
		name = "sign-in"
	}
	switch {
	case (h.Issuer != "" || h.SignIn) && h.PublicURL == "":
		return &terminal.UsageError{Reason: fmt.Sprintf("setting %q requires %q", name, "public-url"), Advice: "set the address at which clients reach the server: access tokens are for it"}
	case h.ClientFile != "" && h.Issuer == "":
		return &terminal.UsageError{Reason: `setting "oauth-client-file" requires "oauth-issuer"`, Advice: "set the authorization server that is asked about tokens"}
	case h.Issuer != "" && h.SignIn:
		return &terminal.UsageError{Reason: `the settings "oauth-issuer" and "sign-in" cannot be combined`, Advice: "leave one of them out"}
	}
	return nil
}

// names returns the names of a list as a flag has it.
func names(text string) []string {
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// CheckWithoutHTTP refuses settings that only mean something over HTTP.
func (f *Flags) CheckWithoutHTTP() error {
	for _, name := range []string{"tls-cert", "tls-key", "token-file", "allow-origin", "allow-host", "max-sessions", "public-url", "oauth-issuer", "oauth-client-file", "oauth-claim", "sign-in"} {
		if r := f.raws[settingIndex(name)]; r.byFlag() && r.text != "" {
			return &terminal.UsageError{Reason: fmt.Sprintf("flag %q requires HTTP", "--"+name), Advice: "add --http ADDRESS"}
		}
	}
	return nil
}

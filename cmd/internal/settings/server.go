package settings

import (
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// TokenVariable is the environment variable with the bearer token for HTTP. It is for places where a file is
// inconvenient, such as containers.
const TokenVariable = "VAULTWICKET_TOKEN"

const maxTokenFile = 16 << 10

// Server is a server over HTTP: the URL of its endpoint, and a bearer token or "".
type Server struct{ URL, Token string }

// CallsServer adds the flag --url, with which a subcommand calls a server instead of a gateway of its own. The
// field Remote of an opened subcommand is set then.
func (f *Flags) CallsServer() {
	f.StringVar(&f.url, "url", "", "call this server over HTTP, with the token of --token-file or "+TokenVariable)
}

// Server returns the server to call, nil without --url, and the vault on it, "" for its default vault. The settings of
// this machine do not apply, so flags for them are errors. The token may be empty.
func (f *Flags) Server(std terminal.Streams) (server *Server, vault string, err error) {
	if f.url == "" {
		return nil, "", nil
	}
	usageError := func(reason, advice string) error { return &terminal.UsageError{Reason: reason, Advice: advice} }
	if err := httpguard.CheckURL(f.url); err != nil {
		return nil, "", usageError(
			fmt.Sprintf("flag \"--url\": %q %v", excerpt.Short(f.url), err),
			"use the address of the endpoint, such as https://notes.example/mcp",
		)
	}
	token := std.Getenv(TokenVariable)
	for _, r := range f.raws {
		if !r.byFlag() {
			continue
		}
		switch r.name {
		case "token-file":
			text, err := ownerfiles.Read(r.text, maxTokenFile)
			if err != nil {
				return nil, "", usageError(
					fmt.Sprintf("token-file %q: %v", excerpt.Short(r.text), err),
					"use a file that only you can read",
				)
			}
			token = strings.TrimSpace(string(text))
		case "vault":
			vault = r.text
		default:
			return nil, "", usageError(
				fmt.Sprintf("flag %q has no effect with --url", "--"+r.name),
				"the server has its own settings",
			)
		}
	}
	isInvalid := func(c rune) bool { return c <= ' ' || c > '~' }
	if strings.ContainsFunc(token, isInvalid) {
		return nil, "", usageError(
			"the token has characters that a header cannot carry",
			"give the file of the token with --token-file",
		)
	}
	return &Server{URL: f.url, Token: token}, vault, nil
}

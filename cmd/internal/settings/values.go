package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// parsed returns a set function for the table: it parses the text with parse and stores the result in field.
func parsed[T any](field func(*Settings) *T, parse func(string) (T, error)) func(*Settings, string) error {
	return func(s *Settings, text string) (err error) {
		*field(s), err = parse(text)
		return err
	}
}

// number returns a set function for a whole number from least to most.
func number(field func(*Settings) *int, least, most int) func(*Settings, string) error {
	return parsed(field, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("invalid number %q: want %d to %d", excerpt.Short(text), least, most)
		}
		if n < least || n > most {
			return 0, fmt.Errorf("%q is out of range: want %d to %d", excerpt.Short(text), least, most)
		}
		return n, nil
	})
}

func setCLI(s *Settings, text string) error {
	if text == "" {
		return fmt.Errorf("is empty")
	}
	if strings.ContainsAny(text, `/\`) && !filepath.IsAbs(text) {
		return fmt.Errorf("%q is a relative path; want a name to look up or an absolute path", text)
	}
	s.CLI = text
	return nil
}

func setBackend(s *Settings, text string) error {
	backend := Backend(text)
	switch backend {
	case Auto, App, Embedded:
		s.Backend = backend
		return nil
	}
	return fmt.Errorf("invalid backend %q: want auto, obsidian or embedded", text)
}

// setVault sets a folder if the text contains a separator: a name or an id never does.
func setVault(s *Settings, text string) error {
	if text == "" {
		return nil
	}
	if why := appvaults.ForeignHere(text); why != "" {
		return errors.New(why)
	}
	if strings.ContainsAny(text, `/\`) || text == "." || text == ".." {
		folder, err := filepath.Abs(text)
		if err != nil {
			return err
		}
		s.Vault = Vault{Folder: folder}
		return nil
	}
	if err := checkName(text); err != nil {
		return err
	}
	if appvaults.IsID(text) {
		s.Vault = Vault{ID: text}
		return nil
	}
	s.Vault = Vault{Name: text}
	return nil
}

// commandList parses a list of commands. An unknown name is an error: otherwise a misspelt command would silently
// stay enabled.
func commandList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for i, name := range list {
		list[i] = strings.TrimSpace(name)
		if _, err := allowlist.Describe(list[i]); err != nil {
			return nil, fmt.Errorf("unknown command %q%s", list[i], excerpt.DidYouMean(list[i], allowlist.Names()))
		}
	}
	return list, nil
}

// nameFields splits a text at commas, and keeps empty names and spaces.
func nameFields(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// choice returns a parser that accepts only the given words. what is the name of the setting and want the list of
// choices in the error.
func choice(choices []string, what, want string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", fmt.Errorf(
				"invalid %s %q: want %s%s",
				what,
				excerpt.Short(text),
				want,
				excerpt.DidYouMean(text, choices),
			)
		}
		return text, nil
	}
}

// parseBool accepts only true and false: "1", "yes" or "on" may be a mistake, and the setting may allow something
// dangerous.
func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("invalid value %q: want true or false", text)
}

const (
	minTimeout = time.Second
	MaxTimeout = 55 * time.Second // several MCP clients give up after 60 s

	// timeoutPattern matches the usual notations: seconds, also with a fraction, and milliseconds.
	timeoutPattern = `^(([1-9]|[1-4][0-9]|5[0-4])(\.[0-9]+)?s|55(\.0+)?s|([1-9][0-9]{3}|[1-4][0-9]{4}|5[0-4][0-9]{3}|55000)ms)$`
)

func setTimeout(s *Settings, text string) error {
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout < minTimeout || timeout > MaxTimeout {
		return fmt.Errorf("invalid duration %q: want %v to %v", text, minTimeout, MaxTimeout)
	}
	s.Timeout = timeout
	return nil
}

const (
	minOutput = 1 << 10
	maxOutput = 1 << 20 // more would not fit into the context of a model

	autoOutput = "auto" // depends on the client

	sizePattern = `^(auto|([1-9][0-9]{0,2}|10[01][0-9]|102[0-4])KiB|1MiB|` + // with a unit, or in bytes: 1024 to 1048576
		`102[4-9]|10[3-9][0-9]|1[1-9][0-9]{2}|[2-9][0-9]{3}|[1-9][0-9]{4,5}|10[0-3][0-9]{4}|104[0-7][0-9]{3}|1048[0-4][0-9]{2}|10485[0-6][0-9]|104857[0-6])$`
)

func setMaxOutput(s *Settings, text string) error {
	if text == autoOutput {
		s.MaxOutput = 0
		return nil
	}
	digits := text
	unit := uint64(1)
	if rest, ok := strings.CutSuffix(text, "KiB"); ok {
		digits = rest
		unit = 1 << 10
	} else if rest, ok := strings.CutSuffix(text, "MiB"); ok {
		digits = rest
		unit = 1 << 20
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	size := n * unit
	if err != nil || size < minOutput || size > maxOutput {
		return fmt.Errorf("invalid size %q: want 1KiB to 1MiB, or auto", text)
	}
	s.MaxOutput = int(size)
	return nil
}

// versionPattern matches tiers.MinimumFloor, later releases and their pre-releases.
const versionPattern = `^v?(1\.12\.2|(1\.12\.([3-9]|[1-9][0-9]{1,3})` +
	`|1\.(1[3-9]|[2-9][0-9]|[1-9][0-9]{2,3})(\.(0|[1-9][0-9]{0,3}))?` +
	`|([2-9]|[1-9][0-9]{1,3})(\.(0|[1-9][0-9]{0,3})){1,2})(-[a-z]+(\.[0-9]{1,4})?)?)$`

func setMinVersion(s *Settings, text string) error {
	v, err := tiers.ParseVersion(text)
	if err != nil {
		return err
	}
	if v.Before(tiers.MinimumFloor) {
		return fmt.Errorf("version %s is below %s, the oldest supported release", v, tiers.MinimumFloor)
	}
	s.Policy.MinVersion = v
	return nil
}

const (
	maxParallel = 64
	maxRate     = 100_000 // more than any client needs; a larger number is a mistake
)

const latestDayStart = 12

func setEmbeddings(s *Settings, text string) (err error) {
	var endpoint ranking.Endpoint
	if text != "" {
		endpoint, err = ranking.ParseEndpoint(text, "any")
	}
	s.Embeddings.Address = text
	s.Embeddings.Elsewhere = endpoint.Elsewhere() != ""
	return err
}

// HTTP contains the settings of MCP over HTTP.
type HTTP struct {
	Addr        string // "" for standard input and output
	TokenFile   string
	Cert, Key   string
	Origins     []string
	Hosts       []string
	Proxies     []string
	MaxSessions int
	PublicURL   string // address at which clients reach the endpoint
	Issuer      string // authorization server whose access tokens are accepted, "" for none
	Claim       string // claim of access tokens that identifies the agent
	ClientFile  string // file with the id and the secret of this server at the issuer, on two lines; "" for none
	SignIn      bool   // this server is the authorization server; the owner signs in with a passkey
}

// Patterns for hosts and origins in a settings file. The server accepts more: capital letters, and IPv6 addresses
// without brackets.
const (
	hostPattern   = `^` + hostForm + `$`
	originPattern = `^[a-z][a-z0-9+.-]*://` + hostForm + `(:` + portForm + `)?$`
	hostForm      = `([a-z0-9._-]{1,253}|\[(` + ip6Form + `)\])`
	portForm      = `([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])`
	// An IPv4 or IPv6 address or network, or "unix" for a Unix socket.
	proxyPattern = `^(unix|` + ip4Part + `(\.` + ip4Part + `){3}(/(3[0-2]|[12]?[0-9]))?|(` + ip6Form + `)(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`
	ip4Part      = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	// An IPv6 address: eight groups, or fewer with "::".
	ip6Form = `(` + ip6Group + `:){7}` + ip6Group + `|(` + ip6Group + `:){1,7}:|(` + ip6Group + `:){1,6}:` + ip6Group + `|` +
		`(` + ip6Group + `:){1,5}(:` + ip6Group + `){2}|(` + ip6Group + `:){1,4}(:` + ip6Group + `){3}|(` + ip6Group + `:){1,3}(:` + ip6Group + `){4}|` +
		`(` + ip6Group + `:){1,2}(:` + ip6Group + `){5}|` + ip6Group + `:(:` + ip6Group + `){6}|:((:` + ip6Group + `){1,7}|:)`
	ip6Group = `[0-9a-f]{1,4}`
)

const maxSessions = 100_000

// toolsets are the names that mcpserver.ToolsetNames returns. They are repeated here so that subcommands without a
// server do not import package mcpserver.
var toolsets = []string{"cli", "batch", "daily", "search", "notes", "tasks", "bases", "all"}

// fromServer turns an error of the server about a setting into a message of one line.
func fromServer(err error) error {
	if wrong, ok := errors.AsType[*transport.SettingError](err); ok {
		return fmt.Errorf("%q %s; %s", excerpt.Short(wrong.Value), wrong.Reason, wrong.Hint())
	}
	return err
}

// absolute accepts an absolute path or "". A client can start us in any working folder, so a relative path would be
// ambiguous.
func absolute(text string) (string, error) {
	if text != "" && !filepath.IsAbs(text) {
		return "", fmt.Errorf("%q is not an absolute path", excerpt.Short(text))
	}
	return text, nil
}

// webAddress accepts a URL that httpguard allows, or "".
func webAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if err := httpguard.CheckURL(text); err != nil {
		return "", fmt.Errorf("%q %w", excerpt.Short(text), err)
	}
	return text, nil
}

// each returns a parser for a list of names that checks every name.
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

// CheckOAuth returns an error if OAuth settings lack a setting that they require, or exclude each other.
func (h HTTP) CheckOAuth() error {
	name := "oauth-issuer"
	if h.SignIn {
		name = "sign-in"
	}
	switch {
	case (h.Issuer != "" || h.SignIn) && h.PublicURL == "":
		return &terminal.UsageError{
			Reason: fmt.Sprintf("setting %q requires %q", name, "public-url"),
			Advice: "set the address at which clients reach the server: access tokens are for it",
		}
	case h.ClientFile != "" && h.Issuer == "":
		return &terminal.UsageError{
			Reason: `setting "oauth-client-file" requires "oauth-issuer"`,
			Advice: "set the authorization server that is asked about tokens",
		}
	case h.Issuer != "" && h.SignIn:
		return &terminal.UsageError{
			Reason: `the settings "oauth-issuer" and "sign-in" cannot be combined`,
			Advice: "leave one of them out",
		}
	}
	return nil
}

// names splits the text of a list at commas, and drops spaces and empty names.
func names(text string) []string {
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			list = append(list, name)
		}
	}
	return list
}

// settingsOfHTTP are the settings that only have an effect over HTTP.
var settingsOfHTTP = []string{
	"tls-cert",
	"tls-key",
	"token-file",
	"allow-origin",
	"allow-host",
	"trusted-proxies",
	"max-sessions",
	"public-url",
	"oauth-issuer",
	"oauth-client-file",
	"oauth-claim",
	"sign-in",
}

// CheckWithoutHTTP returns an error if a flag was given that only has an effect over HTTP.
func (f *Flags) CheckWithoutHTTP() error {
	for _, name := range settingsOfHTTP {
		if r := f.raws[settingIndex(name)]; r.byFlag() && r.text != "" {
			return &terminal.UsageError{
				Reason: fmt.Sprintf("flag %q requires HTTP", "--"+name),
				Advice: "add --http ADDRESS",
			}
		}
	}
	return nil
}

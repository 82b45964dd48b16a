// Package settings reads the settings: flags, environment variables, and the settings
// file with its profiles and vaults. It records where each value comes from, implements the
// subcommand "config", and applies stricter settings to a running server. Package bootstrap
// builds the gateway from them.
//
// Every setting is one row of a table. An unknown, duplicate or invalid setting is an error: ignoring a
// typing error could leave something enabled. A settings file that an agent or another user could write is rejected.
//
//go:generate go test -run TestThePageHoldsTheSettings -update .
package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Settings are the user's settings, parsed and checked.
type Settings struct {
	CLI           string
	Backend       Backend
	Vault         Vault         // the default one
	Export        []string      // addresses that the audit log is also sent to
	Checkpoints   string        // [SignedByState], the path of a command, or "" for no checkpoints
	Policy        policy.Policy // the policy of a vault without restrictions of its own
	Timeout       time.Duration
	MaxOutput     int
	ResultFormat  string // json or text
	DayStart      int    // hour at which a day begins, 0 to 12
	Embeddings    Embeddings
	MarkUntrusted bool // note text is put between delimiters; comes from the policy, see bindServer
	Limits        Limits
	Enabled       bool
	LogLevel      slog.Level
	LogJSON       bool
	Toolsets      []string
	HTTP          HTTP
	// Agent is the agent whose rights apply, "" for the owner of the notes or if no agent is
	// defined. Agents are all defined agents.
	Agent    string
	Agents   policy.Agents
	Reviewed string               // the agent whose history is shown, "" for all agents, see [Flags.Reviews]
	Notify   consent.NotifyConfig // how the owner is notified of approval requests

	tables []vaultTable // the tables [[vaults]] of the file
	Served []Served     // every served vault, the default one first
}

// Vault identifies a vault by its name, its id or its folder, each "" if it is not given.
type Vault struct {
	Name   string // its name in the app
	ID     string // its id in the app, 16 hex digits
	Folder string // an absolute path
	Pinned bool   // the vault with this name or id must be in this folder
}

// Served is a served vault with its policy.
type Served struct {
	Vault
	Policy policy.Policy
}

// Backend selects the program that runs commands.
type Backend string

// The backends. Auto is the Obsidian CLI if it is usable, otherwise the embedded CLI.
const (
	Auto     Backend = "auto"
	App      Backend = "obsidian"
	Embedded Backend = "embedded"
)

// Limits bound the number of calls. A rate of zero means no limit.
type Limits struct {
	Parallel      int // calls that run at the same time
	Calls         int // calls per minute
	Mutations     int // changes per minute
	MutationsHour int // changes per hour
}

// Embeddings is a server that computes embeddings of texts. The zero Embeddings means no server.
type Embeddings struct {
	Address   string
	Model     string
	KeyFile   string // the file with the API key, "" for none
	Elsewhere bool   // it is on another machine
}

// setting is one row of the table of settings. Its name is used everywhere: as the flag --name, as the
// environment variable VAULTWICKET_NAME (with underscores), and as the key in the settings file.
type setting struct {
	name, fallback, usage string
	example               string // a value other than the default, for settings of kind textual or list
	kind                  kind
	form                  form   // the form of its value, for the schema
	fixed                 bool   // a change of the file only takes effect when the server is restarted
	connects              string // whom it connects to, and what is sent; "" if it opens no connection
	set                   func(s *Settings, text string) error
}

// kind is the TOML type of a setting in the settings file.
type kind uint8

const (
	textual kind = iota
	boolean
	numeric
	list // a list of names
)

// form describes the syntax of a value for editors, as part of the schema. Whether a value is valid is
// decided by the function set of the setting.
type form struct {
	choices     []string
	pattern     string
	least, most int
}

// table lists every setting. The order is that of the help text.
var table = [...]setting{
	{
		name:     "cli",
		example:  "/usr/local/bin/obsidian",
		fallback: "obsidian",
		usage:    "name or absolute path of the Obsidian CLI",
		form:     form{pattern: `^[^/\\]+$|` + absolutePattern},
		fixed:    true,
		set:      setCLI,
	},
	{
		name:     "backend",
		fallback: "auto",
		usage:    "backend: auto, obsidian or embedded",
		form:     form{choices: []string{"auto", "obsidian", "embedded"}},
		fixed:    true,
		set:      setBackend,
	},
	{
		name:    "vault",
		example: "Notes",
		usage:   "vault name, id or folder (a folder needs a slash: ./Notes). In the file: default of [[vaults]]. As a flag: the only vault",
		fixed:   true,
		set:     setVault,
	},
	{
		name:     "tier",
		fallback: "v0",
		usage:    "highest enabled tier: v0, v1, v2 or v3",
		form:     form{choices: tierNames},
		set:      parsed(func(s *Settings) *tiers.Tier { return &s.Policy.Ceiling }, tiers.ParseTier),
	},
	{
		name:    "disable",
		example: "delete",
		usage:   "commands to disable (flag: comma-separated)",
		kind:    list,
		set:     parsed(func(s *Settings) *[]string { return &s.Policy.Disable }, commandList),
	},
	{
		name:    "enable-only",
		example: "read",
		usage:   "the only commands to enable (default: all)",
		kind:    list,
		set:     parsed(func(s *Settings) *[]string { return &s.Policy.EnableOnly }, commandList),
	},
	{
		name:     "allow-mutations",
		fallback: "false",
		kind:     boolean,
		usage:    "allow changes to notes",
		set:      parsed(func(s *Settings) *bool { return &s.Policy.Mutations }, parseBool),
	},
	{
		name:     "allow-publish",
		fallback: "false",
		kind:     boolean,
		connects: "Obsidian's services, and addresses that the app opens: what the call gives them",
		usage:    "allow commands that send text off the machine",
		set:      parsed(func(s *Settings) *bool { return &s.Policy.Publish }, parseBool),
	},
	{
		name:     "allow-ui",
		fallback: "true",
		kind:     boolean,
		usage:    "allow commands that open notes or switch panes in the app",
		set:      parsed(func(s *Settings) *bool { return &s.Policy.UI }, parseBool),
	},
	{
		name:     "confirm",
		fallback: "destructive",
		usage:    "calls that require user approval: never, destructive or writes",
		form:     form{choices: []string{"never", "destructive", "writes"}},
		set:      parsed(func(s *Settings) *policy.Confirm { return &s.Policy.Confirm }, policy.ParseConfirm),
	},
	{
		name:     "ask",
		fallback: "auto",
		usage:    "how you are asked for approval: auto (a form of the client if it shows everything and nothing is destroyed, otherwise a page or the terminal), page, terminal or client (forms for everything)",
		form:     form{choices: []string{"auto", "page", "terminal", "client"}},
		set:      parsed(func(s *Settings) *policy.Asking { return &s.Policy.Asking }, policy.ParseAsking),
	},
	{
		name:     "min-answer-time",
		example:  "2s",
		fallback: "1s",
		usage:    "answers to a form that come sooner do not count, 0s to 60s (0s: all count)",
		form: form{
			pattern: `^([1-5]?[0-9](\.[0-9]+)?s|60(\.0+)?s|([0-9]|[1-9][0-9]{1,3}|[1-5][0-9]{4}|60000)ms|1m(0s)?)$`,
		},
		set: parsed(func(s *Settings) *time.Duration { return &s.Policy.MinAnswer }, policy.ParseMinAnswer),
	},
	{
		name:     "max-grant",
		example:  "2h",
		fallback: "744h",
		usage:    "longest time of a grant, with which you allow an agent changes in advance: none, or 1m to 744h",
		form:     form{pattern: `^(none|[1-9][0-9]?m|[1-9][0-9]?h([1-5]?[0-9]m)?|[1-6][0-9]{2}h|7[0-3][0-9]h|74[0-4]h)$`},
		set:      parsed(func(s *Settings) *time.Duration { return &s.Policy.MaxGrant }, policy.ParseMaxGrant),
	},
	{
		name:     "secrets",
		fallback: "redact",
		usage:    "keys, tokens and passwords in answers: redact, strict (numbers of cards and accounts, too), block or allow",
		form:     form{choices: []string{"redact", "strict", "block", "allow"}},
		set:      parsed(func(s *Settings) *policy.Secrets { return &s.Policy.Secrets }, policy.ParseSecrets),
	},
	{
		name:     "suspicious",
		fallback: "notice",
		usage:    "what to do about suspected prompt injection: notice (warn), ask (from then on approve every change) or off",
		form:     form{choices: []string{"notice", "ask", "off"}},
		set:      parsed(func(s *Settings) *policy.Suspicious { return &s.Policy.Suspicious }, policy.ParseSuspicious),
	},
	{
		name:     "remote-links",
		fallback: "ask",
		usage:    "new links that contain text of another note: ask (always needs approval) or allow",
		form:     form{choices: []string{"ask", "allow"}},
		set: func(s *Settings, text string) error {
			if text != "ask" && text != "allow" {
				return fmt.Errorf("invalid value %q for remote-links: want ask or allow", excerpt.Short(text))
			}
			s.Policy.RemoteLinks = text == "allow"
			return nil
		},
	},
	{
		name:    "shadow",
		example: "suspicious",
		kind:    list,
		usage:   "content rules in test mode: logged, not enforced (flag: comma-separated)",
		form:    form{choices: policy.TextRules()},
		set: func(s *Settings, text string) (err error) {
			s.Policy.AnyShadow = false
			s.Policy.Shadow, err = each(checkTextRule)(text)
			return err
		},
	},
	{
		name:     "private-property",
		example:  "hidden-from",
		fallback: "private,agent",
		kind:     list,
		usage:    "properties with which a note restricts access to itself: true/none hides it, r/rw limit it (flag: comma-separated)",
		form:     form{pattern: namePattern},
		set: func(s *Settings, text string) error {
			private, err := access.NewPrivate(nameFields(text), nil)
			s.Policy.Private.Properties = private.Properties
			return err
		},
	},
	{
		name:     "private-tags",
		example:  "confidential",
		fallback: "private",
		kind:     list,
		usage:    "tags that hide a note (flag: comma-separated)",
		form:     form{pattern: namePattern},
		set: func(s *Settings, text string) error {
			private, err := access.NewPrivate(nil, nameFields(text))
			s.Policy.Private.Tags = private.Tags
			return err
		},
	},
	{
		name:    "exceptions",
		example: "secrets Docs/Samples # keys of the documentation",
		kind:    list,
		usage:   "exceptions to content rules, each \"RULE PATH # REASON\" (no commas; flag: comma-separated)",
		form:    form{pattern: `^(` + strings.Join(policy.TextRules(), "|") + `) \w[^,]* # \w[^,]*$`},
		set: func(s *Settings, text string) (err error) {
			s.Policy.AnyException = false
			s.Policy.Exceptions, err = access.ParseExceptions(strings.Split(text, ","), policy.TextRules()...)
			return err
		},
	},
	{
		name:     "timeout",
		example:  "30s",
		fallback: "15s",
		usage:    "time limit of a call or a batch, 1s to 55s",
		form:     form{pattern: timeoutPattern},
		fixed:    true,
		set:      setTimeout,
	},
	{
		name:     "max-output",
		example:  "64KiB",
		fallback: autoOutput,
		usage:    "maximum output in one MCP answer: 1KiB to 1MiB, or auto (10,000 bytes for Codex, which cuts longer answers, and 25,000 for other clients)",
		form:     form{pattern: sizePattern},
		fixed:    true,
		set:      setMaxOutput,
	},
	{
		name:     "result-format",
		fallback: "json",
		usage:    "MCP answers of obsidianCli: json (structured) or text (the output itself, which costs fewer tokens)",
		form:     form{choices: resultFormats},
		fixed:    true,
		set: parsed(
			func(s *Settings) *string { return &s.ResultFormat },
			choice(resultFormats, "result format", "json or text"),
		),
	},
	{
		name:     "mark-untrusted",
		fallback: "false",
		kind:     boolean,
		usage:    "wrap all note text in random delimiters (except path, files and argv)",
		fixed:    true,
		set:      parsed(func(s *Settings) *bool { return &s.Policy.Marks }, parseBool),
	},
	{
		name:     "min-cli-version",
		example:  "1.13.0",
		fallback: "1.12.7",
		usage:    "minimum Obsidian version, never below 1.12.2",
		form:     form{pattern: versionPattern},
		set:      setMinVersion,
	},
	{
		name:     "day-start",
		fallback: "0",
		kind:     numeric,
		usage:    "hour at which a new day begins for daily and periodic notes and tasks, 0 to 12",
		form:     form{most: latestDayStart},
		fixed:    true,
		set:      number(func(s *Settings) *int { return &s.DayStart }, 0, latestDayStart),
	},
	{
		name:     "embeddings-url",
		example:  "http://127.0.0.1:11434/v1",
		connects: "the server that it names (another machine also needs allow-publish): parts of notes, and what is searched",
		usage:    "server that makes vectors of texts for find, such as http://127.0.0.1:11434/v1 (default: none); another machine requires allow-publish, and https beyond a private network",
		fixed:    true,
		set:      setEmbeddings,
	},
	{
		name:     "embeddings-model",
		example:  "mxbai-embed-large",
		fallback: "nomic-embed-text",
		usage:    "model of that server",
		fixed:    true,
		set: func(s *Settings, text string) error {
			if strings.TrimSpace(text) == "" {
				return errors.New("the model has no name")
			}
			s.Embeddings.Model = text
			return nil
		},
	},
	{
		name:    "embeddings-key-file",
		example: "/home/me/.config/vaultwicket/embeddings-key",
		usage:   "private file with a key for that server (default: none)",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.Embeddings.KeyFile }, absolute),
	},
	{
		name:     "max-parallel",
		fallback: "4",
		kind:     numeric,
		usage:    "maximum parallel calls, 1 to 64",
		form:     form{least: 1, most: maxParallel},
		fixed:    true,
		set:      number(func(s *Settings) *int { return &s.Limits.Parallel }, 1, maxParallel),
	},
	{
		name:     "rate",
		fallback: "120",
		kind:     numeric,
		usage:    "calls per minute, up to 100000 (0: no limit)",
		form:     form{most: maxRate},
		set:      number(func(s *Settings) *int { return &s.Policy.Rates.Calls }, 0, maxRate),
	},
	{
		name:     "rate-mutations",
		fallback: "30",
		kind:     numeric,
		usage:    "changes per minute (0: no limit)",
		form:     form{most: maxRate},
		set:      number(func(s *Settings) *int { return &s.Policy.Rates.Mutations }, 0, maxRate),
	},
	{
		name:     "rate-mutations-hour",
		fallback: "300",
		kind:     numeric,
		usage:    "changes per hour (0: no limit)",
		form:     form{most: maxRate},
		set:      number(func(s *Settings) *int { return &s.Policy.Rates.MutationsHour }, 0, maxRate),
	},
	{
		name:     "export",
		example:  "https://collector.example:4318/v1/logs",
		kind:     list,
		connects: "the collector or log server that it names: lines of the audit log, with commands, paths and decisions, and no text of notes",
		usage:    "where a server sends the lines of the audit log: https://HOST:4318/v1/logs (OTLP), syslog+tcp://, syslog+tls://HOST:PORT, syslog+unix:///PATH, file:///PATH (flag: comma-separated)",
		form:     form{pattern: targetPattern},
		fixed:    true,
		set:      parsed(func(s *Settings) *[]string { return &s.Export }, each(checkExportTarget)),
	},
	{
		name:    "checkpoints",
		example: "state",
		usage:   "sign where the audit log ends, every hour and when a server ends, with a key in the state folder (state) or by an absolute path of a command (default: state with export, else none)",
		form:    form{pattern: `^$|^state$|` + absolutePattern},
		fixed:   true,
		set: func(s *Settings, text string) error {
			isKeyword := text == "" || text == SignedByState
			if !isKeyword && !filepath.IsAbs(text) {
				return fmt.Errorf("%q is neither %q nor an absolute path", excerpt.Short(text), SignedByState)
			}
			s.Checkpoints = text
			return nil
		},
	},
	{
		name:     "log-level",
		fallback: "warn",
		usage:    "minimum log level: debug, info, warn or error",
		form:     form{choices: logLevels},
		fixed:    true,
		set: func(s *Settings, text string) error {
			name, err := choice(logLevels, "log level", "debug, info, warn or error")(text)
			s.LogLevel = levels[name]
			return err
		},
	},
	{
		name:     "log-format",
		fallback: "text",
		usage:    "log format: text or json",
		form:     form{choices: logFormats},
		fixed:    true,
		set: func(s *Settings, text string) error {
			name, err := choice(logFormats, "log format", "text or json")(text)
			s.LogJSON = name == "json"
			return err
		},
	},
	{
		name:     "max-sessions",
		fallback: "1000",
		kind:     numeric,
		usage:    "maximum HTTP sessions, 1 to 100000",
		form:     form{least: 1, most: maxSessions},
		fixed:    true,
		set:      number(func(s *Settings) *int { return &s.HTTP.MaxSessions }, 1, maxSessions),
	},
	{
		name:     "toolsets",
		example:  "notes",
		fallback: "cli",
		kind:     list,
		usage:    "additional toolsets: cli, batch, daily, search, notes, tasks, bases, all (flag: comma-separated)",
		form:     form{choices: toolsets},
		fixed:    true,
		set:      parsed(func(s *Settings) *[]string { return &s.Toolsets }, each(checkToolset)),
	},
	{
		name:    "http",
		example: "127.0.0.1:8765",
		usage:   "address for MCP over HTTP, such as 127.0.0.1:8765 or unix:/path/socket (default: stdio)",
		fixed:   true,
		set: func(s *Settings, text string) error {
			s.HTTP.Addr = text
			if text == "" {
				return nil
			}
			return fromServer(transport.CheckAddr(text))
		},
	},
	{
		name:    "token-file",
		example: "/home/me/.config/vaultwicket/token",
		usage:   "private file with the bearer token for HTTP, created if missing (default: token in the state folder)",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.HTTP.TokenFile }, absolute),
	},
	{
		name:    "tls-cert",
		example: "/etc/ssl/notes.pem",
		usage:   "TLS certificate for HTTP (PEM file), required beyond loopback",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.HTTP.Cert }, absolute),
	},
	{
		name:    "tls-key",
		example: "/etc/ssl/notes.key",
		usage:   "private key of the TLS certificate (PEM file)",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.HTTP.Key }, absolute),
	},
	{
		name:    "allow-origin",
		example: "https://app.example",
		kind:    list,
		usage:   "web origins allowed to call over HTTP, such as https://app.example (flag: comma-separated)",
		form:    form{pattern: originPattern},
		fixed:   true,
		set:     parsed(func(s *Settings) *[]string { return &s.HTTP.Origins }, each(transport.CheckOrigin)),
	},
	{
		name:    "allow-host",
		example: "notes.example",
		kind:    list,
		usage:   "additional allowed Host headers, for a proxy in front (flag: comma-separated)",
		form:    form{pattern: hostPattern},
		fixed:   true,
		set:     parsed(func(s *Settings) *[]string { return &s.HTTP.Hosts }, each(transport.CheckHost)),
	},
	{
		name:    "trusted-proxies",
		example: "127.0.0.1",
		kind:    list,
		usage:   "proxies whose X-Forwarded-For header says whom a request is from: addresses, networks such as 10.0.0.0/8, or unix (flag: comma-separated)",
		form:    form{pattern: proxyPattern},
		fixed:   true,
		set:     parsed(func(s *Settings) *[]string { return &s.HTTP.Proxies }, each(transport.CheckProxy)),
	},
	{
		name:    "public-url",
		example: "https://notes.example/mcp",
		usage:   "address at which clients reach the server over HTTP, such as https://notes.example/mcp; access tokens are for it",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.HTTP.PublicURL }, webAddress),
	},
	{
		name:     "oauth-issuer",
		example:  "https://login.example",
		connects: "the authorization server: nothing of the vault; its keys are read, or with oauth-client-file a token is asked about",
		usage:    "authorization server whose access tokens are accepted over HTTP, such as https://login.example",
		fixed:    true,
		set:      parsed(func(s *Settings) *string { return &s.HTTP.Issuer }, webAddress),
	},
	{
		name:    "oauth-client-file",
		example: "/home/me/.config/vaultwicket/client",
		usage:   "private file with the id and the secret of the server at oauth-issuer, on two lines: the issuer is asked about access tokens (default: they are signed JWTs)",
		fixed:   true,
		set:     parsed(func(s *Settings) *string { return &s.HTTP.ClientFile }, absolute),
	},
	{
		name:     "sign-in",
		connects: "the address that a client gives for its own metadata: nothing of the vault",
		usage:    "how the owner signs in to give clients access over HTTP: passkey (default: not at all)",
		form:     form{choices: []string{"", "passkey"}},
		fixed:    true,
		set: func(s *Settings, text string) error {
			if text != "" && text != "passkey" {
				return fmt.Errorf("invalid value %q: want passkey", excerpt.Short(text))
			}
			s.HTTP.SignIn = text == "passkey"
			return nil
		},
	},
	{
		name:     "oauth-claim",
		example:  "azp",
		fallback: "sub",
		usage:    "claim of access tokens whose value says which agent a client is (key oauth of [agents.NAME])",
		fixed:    true,
		set: func(s *Settings, text string) error {
			if text == "" {
				return errors.New("is empty")
			}
			s.HTTP.Claim = text
			return nil
		},
	},
	{
		name:     "enabled",
		fallback: "true",
		kind:     boolean,
		usage:    "false hides the tools and denies every call",
		set: func(s *Settings, text string) error {
			enabled, err := parseBool(text)
			s.Policy.Disabled = !enabled
			return err
		},
	},
	{
		name:    "agent",
		example: "cursor",
		usage:   "agent whose rights apply: a table [agents.NAME] of the settings file",
		form:    form{pattern: `^$|` + agentPattern},
		fixed:   true,
		set: func(s *Settings, text string) error {
			s.Agent = text
			if text == "" {
				return nil // no agent
			}
			return CheckAgentName(text) // checkAgent checks that it is defined
		},
	},
	{
		name:    "profile",
		example: "work",
		usage:   "profile to apply: a table [profiles.NAME] of the settings file",
		set:     func(*Settings, string) error { return nil },
	}, // fromFile checks that the profile is defined
}

func checkTextRule(name string) error {
	if !slices.Contains(policy.TextRules(), name) {
		return fmt.Errorf(
			"unknown rule %q in shadow: want %s",
			excerpt.Short(name),
			strings.Join(policy.TextRules(), ", "),
		)
	}
	return nil
}

func checkExportTarget(address string) error {
	if err := audit.CheckTarget(address); err != nil {
		return fmt.Errorf("%q: %w", excerpt.Short(address), err)
	}
	return nil
}

func checkToolset(name string) error {
	if !slices.Contains(toolsets, name) {
		return fmt.Errorf(
			"unknown toolset %q: want %s%s",
			excerpt.Short(name),
			strings.Join(toolsets, ", "),
			excerpt.DidYouMean(name, toolsets),
		)
	}
	return nil
}

// namePattern matches common names of properties and tags.
const namePattern = `^#?[A-Za-z_À-ɏΑ-ωА-я一-鿿ぁ-ヺ가-힣][A-Za-z_À-ɏΑ-ωА-я一-鿿ぁ-ヺ가-힣0-9/-]{0,30}$`

// absolutePattern matches absolute paths of all operating systems.
const absolutePattern = `^(/|[A-Za-z]:[/\\]|\\\\)`

// targetPattern matches the addresses that audit.CheckTarget accepts, except those with an IPv6 address.
const targetPattern = `^(https?://[a-z0-9.-]*[a-z0-9](:[1-9][0-9]{0,4})?/[A-Za-z0-9/_.-]+|syslog\+(tcp|tls)://[a-z0-9.-]*[a-z0-9]:[1-9][0-9]{0,4}|(syslog\+unix|file):///[A-Za-z0-9/_. -]*[A-Za-z0-9_.-])$`

// SignedByState is the value of the setting checkpoints that signs with a key in the state folder.
const SignedByState = "state"

var tierNames = []string{"v0", "v1", "v2", "v3"}

var resultFormats = []string{"json", "text"}

// The values of the settings log-level and log-format.
var (
	logLevels  = []string{"debug", "info", "warn", "error"}
	logFormats = []string{"text", "json"}
)

// levels maps the values of log-level to levels of package slog.
var levels = map[string]slog.Level{
	"debug": slog.LevelDebug,
	"info":  slog.LevelInfo,
	"warn":  slog.LevelWarn,
	"error": slog.LevelError,
}

// settingOf returns the setting with this name.
func settingOf(name string) (setting, bool) {
	if i := settingIndex(name); i >= 0 {
		return table[i], true
	}
	return setting{}, false
}

// Names returns the names of the settings, in the order of the help text.
func Names() []string {
	var names []string
	for _, s := range table {
		names = append(names, s.name)
	}
	return names
}

package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Program is something a [Runner] can start. [Runner.App] and
// [Runner.Embedded] make one; the zero Program runs nothing.
type Program struct {
	backend backend
	path    string // absolute, links resolved
	name    string // what the program is told it was called as
	folder  string // the vault of the embedded program
	options protocol.Write
	version string // the text of the version that options say is restored
	batch   protocol.Batch
}

// WithOptions returns the program with options for the calls that change something. The app knows no such thing.
func (p Program) WithOptions(how protocol.Write) Program {
	p.options = how
	return p
}

// InBatch returns the program for the calls of a batch that is planned before it is made: they get the vault as the operations
// so far will leave it, and what they change is only planned. The zero Batch is none.
func (p Program) InBatch(batch protocol.Batch) Program {
	p.batch = batch
	return p
}

// Restoring returns the program with the text of a version that a call restores, which the app has kept; version says in
// words which one it is.
func (p Program) Restoring(version, text string) Program {
	p.options.Restores = version
	p.version = text
	return p
}

type backend uint8

const (
	_ backend = iota
	appBackend
	embeddedBackend
)

// Backend returns "obsidian" or "embedded", "" for the zero Program.
func (p Program) Backend() string {
	switch p.backend {
	case appBackend:
		return "obsidian"
	case embeddedBackend:
		return "embedded"
	}
	return ""
}

// Command is what a program is asked in a call.
type Command struct {
	Path string
	// Args are the arguments after the name of the program: of the app those that it is started with, of the
	// embedded program those with which a person asks the same. The first Prefix of them are not the call.
	Args   []string
	Prefix int
	// Stdin is the value of the parameter StdinParam. With an empty StdinParam nothing is sent.
	StdinParam, Stdin string

	request protocol.Request // of the embedded program
}

// Command returns what Run would ask for call, and starts nothing. The error is a
// [*allowlist.ParseError] if the call cannot be passed to the program, or [ErrNoProgram].
func (p Program) Command(call allowlist.Call) (Command, error) {
	switch p.backend {
	case appBackend:
		line, err := call.Line(allowlist.ToApp(runtime.GOOS))
		return Command{Path: p.path, Args: line.Argv}, err
	case embeddedBackend:
		var err error
		if call.Vault() != "" { // the app may know the same vault by an id, or by another name
			if call, err = call.In(filepath.Base(p.folder)); err != nil {
				return Command{}, err
			}
		}
		line, err := call.Line(allowlist.ToEmbedded(runtime.GOOS))
		if err != nil {
			return Command{}, err
		}
		c := Command{Path: p.path, StdinParam: line.StdinParam, Stdin: line.Stdin}
		if p.options.Restores != "" {
			c.StdinParam = protocol.VersionInput
			c.Stdin = p.version
		}
		c.request = protocol.Request{Input: c.StdinParam, Want: protocol.Want{Facts: true}}
		words := line.Argv
		if vault, named := strings.CutPrefix(words[0], "vault="); named {
			c.request.Vault = &vault
			words = words[1:]
		}
		c.request.Command = words[0]
		c.request.Args = words[1:]
		c.request.Batch = p.batch
		if call.Effect().Mutates() {
			c.request.Write = p.options
			c.request.Write.Allowed = p.options.Task.Makes()
		}
		c.Args = append(make([]string, 0, 16), "vault", p.folder)
		c.Args = append(c.Args, switches(c.request)...)
		c.Prefix = len(c.Args)
		c.Args = append(c.Args, line.Argv...)
		return c, nil
	}
	return Command{}, ErrNoProgram
}

// switches returns the switches before a command with which a person asks for the same.
func switches(q protocol.Request) (args []string) {
	if q.Input != "" {
		args = append(args, "--stdin", q.Input)
	}
	if q.Write.Allowed {
		args = append(args, "--write")
	}
	return append(args, "--facts")
}

func invalidVault(folder, reason string, cause error) *Unavailable {
	return &Unavailable{code: CodeVaultNotFound, reason: fmt.Sprintf("vault %q: %s", folder, reason), cause: cause,
		hint: "the user can set vault to the folder of an existing vault"}
}

// unseenVault says why a folder cannot be looked at on the system goos: only one that is not there is to be replaced by
// another one.
func unseenVault(goos, folder string, err error) *Unavailable {
	if errors.Is(err, fs.ErrNotExist) {
		return invalidVault(folder, "not found", err)
	}
	unseen := invalidVault(filepath.Base(folder), "cannot be looked at", err) // an agent need not know where it is
	unseen.code = protocol.CodeVaultUnreadable
	unseen.hint = "try again; if it stays so, the user can look at the disk of the vault, and at the rights of its folder"
	if protocol.IsClosedByMacOS(goos, err) {
		unseen.reason += ": macOS does not allow it"
		unseen.hint = protocol.HintPrivacy
	}
	return unseen
}

func selfNotAbsolute(path string) *Unavailable {
	return &Unavailable{code: CodeNotFound, program: path, reason: "the path of the gateway itself is not absolute",
		hint: "the user can start the gateway by its full path"}
}

// sharedVariables reach every child: who the user is, where their files are and which language they
// speak. Without HOME and XDG_RUNTIME_DIR (USERNAME on Windows) the client does not find the socket of
// the app. Variables that load code into a process (LD_, DYLD_, NODE_, ELECTRON_) are on no list.
var sharedVariables = []string{
	"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot",
	"LANG", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_MONETARY",
	"TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// appVariables reach the official client only: the desktop it belongs to, and inside of WSL the socket
// by which a program of Windows is started.
var appVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "WSL_INTEROP"}

// embeddedVariables reach our own program only: its clock, its time zone, its
// focused note, and where its cache and its journal are.
var embeddedVariables = []string{"VAULTWICKET_NOW", "VAULTWICKET_ACTIVE", "TZ", "XDG_CACHE_HOME", "XDG_STATE_HOME"}

const (
	sessionVariable = "VAULTWICKET_SESSION"
	// parentVariable is the number of the gateway that has started our own program:
	// one that was typed by hand has another parent.
	parentVariable     = "VAULTWICKET_GATEWAY"
	accessVariable     = "VAULTWICKET_ACCESS"
	exceptionsVariable = "VAULTWICKET_EXCEPTIONS"
	dayStartVariable   = "VAULTWICKET_DAY_START"  // the hour at which a day begins
	embeddingsVariable = "VAULTWICKET_EMBEDDINGS" // the server and the model that make vectors of texts
	embeddingsKeyFile  = "VAULTWICKET_EMBEDDINGS_KEY_FILE"
)

// StartedByGateway reports whether this process is our own program as a [Runner] starts it: what was to
// be decided about its calls has been. It tells a slip from a call of the gateway, and is no defence
// against a user's own shell, which can change notes without us.
func StartedByGateway(getenv func(string) string) bool {
	parent, err := strconv.Atoi(getenv(parentVariable))
	return err == nil && parent > 0 && parent == os.Getppid()
}

// pick returns the variables that are set and not empty. It never returns nil, which os/exec
// would replace by the whole environment of the gateway.
func pick(getenv func(string) string, lists ...[]string) []string {
	env := []string{}
	for _, names := range lists {
		for _, name := range names {
			if value := getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
	}
	return env
}

// OwnersEnvironment returns the environment of a program that the owner of the notes has named,
// such as one that shows a message: that of the official client.
func OwnersEnvironment(getenv func(string) string) []string {
	return pick(getenv, sharedVariables, appVariables)
}

// absoluteEntries returns the folders of a PATH whose meaning does not depend on the working folder.
func absoluteEntries(path string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

type (
	unlessKey  struct{}
	compactKey struct{}
)

// UnlessState has the embedded program leave its answer out if it would make it from a
// state that an earlier [Outcome] has named. "" leaves nothing out.
func UnlessState(ctx context.Context, state string) context.Context {
	return context.WithValue(ctx, unlessKey{}, state)
}

// CompactJSON has the embedded program leave out the space between the tokens of a listing in
// JSON, for a caller who would do so himself. It is not promised that it does.
func CompactJSON(ctx context.Context) context.Context {
	return context.WithValue(ctx, compactKey{}, true)
}

// wanted adds to a request what the context asks for.
func wanted(ctx context.Context, q protocol.Request) protocol.Request {
	q.Want.Compact, _ = ctx.Value(compactKey{}).(bool)
	q.Want.Unless, _ = ctx.Value(unlessKey{}).(string)
	return q
}

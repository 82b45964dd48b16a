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

// Program is something that a [Runner] can start. [Runner.App] and [Runner.Embedded] return one; the zero Program
// runs nothing.
type Program struct {
	backend backend
	path    string // absolute, links resolved
	name    string // the name that the program is called by, as its argument 0
	folder  string // the vault of the embedded program
	options protocol.Write
	version string         // the text of the version that options.Restores names
	batch   protocol.Batch // the zero Batch if the call is not part of one
}

// WithOptions returns the program with options for the calls that change something. The app ignores them.
func (p Program) WithOptions(options protocol.Write) Program {
	p.options = options
	return p
}

// InBatch returns the program for the calls of a batch that is planned before it is made. They see the vault as the
// operations so far will leave it, and what they change is only planned. The zero Batch means none.
func (p Program) InBatch(batch protocol.Batch) Program {
	p.batch = batch
	return p
}

// Restoring returns the program with the text of the version that a call restores. The app has kept that text;
// version describes in words which version it is.
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

// Command is what a program is asked to run for a call.
type Command struct {
	Path string
	// Args are the arguments after the program name. For the app they are those that it is started with; for the
	// embedded program they are those that a user would type for the same call. The first Prefix of them precede the
	// call.
	Args   []string
	Prefix int
	// Stdin is the value of the parameter StdinParam. If StdinParam is empty, nothing is sent.
	StdinParam, Stdin string

	request protocol.Request // for the embedded program
}

// Command returns the command that Run would run for call. It starts nothing. The error is an
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
		if vault, ok := strings.CutPrefix(words[0], "vault="); ok {
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

// switches returns the switches that a user would type before the command for the same request.
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

// inaccessibleVault returns the error for a folder that cannot be inspected on the system goos. The advice to choose
// another folder is only for one that does not exist.
func inaccessibleVault(goos, folder string, err error) *Unavailable {
	if errors.Is(err, fs.ErrNotExist) {
		return invalidVault(folder, "not found", err)
	}
	unavailable := invalidVault(filepath.Base(folder), "cannot be looked at", err) // without its place, which agents need not know
	unavailable.code = protocol.CodeVaultUnreadable
	unavailable.hint = "try again; if it stays so, the user can look at the disk of the vault, and at the rights of its folder"
	if protocol.IsClosedByMacOS(goos, err) {
		unavailable.reason += ": macOS does not allow it"
		unavailable.hint = protocol.HintPrivacy
	}
	return unavailable
}

func selfNotAbsolute(path string) *Unavailable {
	return &Unavailable{code: CodeNotFound, program: path, reason: "the path of the gateway itself is not absolute",
		hint: "the user can start the gateway by its full path"}
}

// sharedVariables are passed to every child: who the user is, where their files are, and their language. Without
// HOME and XDG_RUNTIME_DIR (USERNAME on Windows) the Obsidian CLI does not find the socket of the app. Variables
// that load code into a process (LD_, DYLD_, NODE_, ELECTRON_) are never passed on.
var sharedVariables = []string{
	"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot",
	"LANG", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_MONETARY",
	"TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// appVariables are passed to the Obsidian CLI only: those of the desktop session, and in WSL the socket by which
// Windows programs are started.
var appVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "WSL_INTEROP"}

// embeddedVariables are passed to the embedded program only: its clock, its time zone, its focused note, and where
// its cache and its journal are.
var embeddedVariables = []string{"VAULTWICKET_NOW", "VAULTWICKET_ACTIVE", "TZ", "XDG_CACHE_HOME", "XDG_STATE_HOME"}

const (
	sessionVariable = "VAULTWICKET_SESSION"
	// parentVariable is the process id of the gateway that started the embedded program. If a user starts it by hand,
	// its parent has another id.
	parentVariable     = "VAULTWICKET_GATEWAY"
	accessVariable     = "VAULTWICKET_ACCESS"
	exceptionsVariable = "VAULTWICKET_EXCEPTIONS"
	dayStartVariable   = "VAULTWICKET_DAY_START"  // the hour at which a day begins
	embeddingsVariable = "VAULTWICKET_EMBEDDINGS" // the server and the model that compute embedding vectors
	embeddingsKeyFile  = "VAULTWICKET_EMBEDDINGS_KEY_FILE"
)

// StartedByGateway reports whether a [Runner] started this process as the embedded program, so that its calls have
// been decided already. It only guards against mistakes: a user's own shell can change notes without the gateway
// anyway.
func StartedByGateway(getenv func(string) string) bool {
	parent, err := strconv.Atoi(getenv(parentVariable))
	return err == nil && parent > 0 && parent == os.Getppid()
}

// pick returns the variables that are set and not empty. It never returns nil, which os/exec would replace by the
// whole environment of the gateway.
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

// OwnersEnvironment returns the environment for a program that the owner of the notes has chosen, such as one that
// shows notifications: that of the Obsidian CLI.
func OwnersEnvironment(getenv func(string) string) []string {
	return pick(getenv, sharedVariables, appVariables)
}

// absoluteEntries returns the absolute folders of a PATH: the others depend on the working folder.
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

// UnlessState makes the embedded program leave out its answer if the answer would be based on the given state of an
// earlier [Outcome]. "" never leaves it out.
func UnlessState(ctx context.Context, state string) context.Context {
	return context.WithValue(ctx, unlessKey{}, state)
}

// CompactJSON asks the embedded program to leave out the space between the tokens of a JSON listing, for a caller
// that would remove it anyway. The program need not comply.
func CompactJSON(ctx context.Context) context.Context {
	return context.WithValue(ctx, compactKey{}, true)
}

// withWants returns the request with what the context asks for.
func withWants(ctx context.Context, q protocol.Request) protocol.Request {
	q.Want.Compact, _ = ctx.Value(compactKey{}).(bool)
	q.Want.Unless, _ = ctx.Value(unlessKey{}).(string)
	return q
}

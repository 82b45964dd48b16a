package exec

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// sharedVariables reach every child: who the user is, where their files are and which language they
// speak. Without HOME and XDG_RUNTIME_DIR (USERNAME on Windows) the client does not find the socket of
// the app. Variables that load code into a process (LD_, DYLD_, NODE_, ELECTRON_) are on no list.
var sharedVariables = []string{
	"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot",
	"LANG", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_MONETARY",
	"TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
}

// appVariables reach the official client only: the desktop it belongs to.
var appVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"}

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
	partKey    struct{}
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

// Part is how much of a long answer is asked for.
type Part struct {
	Bytes int  // at least so much; the part ends with a row. 0 is all
	Lines bool // every line is a row
}

// FirstPart has a resident embedded program send the first part of a listing and keep the
// whole, of which the [Outcome] then tells. It is not promised that it does: what is no listing,
// or not much longer, comes as a whole.
func FirstPart(ctx context.Context, part Part) context.Context {
	return context.WithValue(ctx, partKey{}, part)
}

// withSwitches adds the switches that the context requests to a command of the embedded program.
func (c Command) withSwitches(ctx context.Context) Command {
	var switches []string
	if compact, _ := ctx.Value(compactKey{}).(bool); compact {
		switches = append(switches, "--compact")
	}
	if state, _ := ctx.Value(unlessKey{}).(string); state != "" {
		switches = append(switches, "--unless", state)
	}
	if part, _ := ctx.Value(partKey{}).(Part); part.Bytes > 0 {
		size := strconv.Itoa(part.Bytes)
		if part.Lines {
			size = "lines:" + size
		}
		switches = append(switches, "--part", size)
	}
	if len(switches) == 0 {
		return c
	}
	c.Args = slices.Insert(slices.Clone(c.Args), c.Prefix-1, switches...) // before --facts
	c.Prefix += len(switches)
	return c
}

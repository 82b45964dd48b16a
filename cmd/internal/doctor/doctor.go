// Package doctor checks an installation: settings, vaults, the app and its CLI, the state folder, MCP over
// HTTP, the clients and the machine. Each finding describes what was found, why it matters and how to fix it.
//
// It also compares the installed app with this program: its commands with the allowlist, and
// its answers with those of the embedded CLI.
//
// The checks change nothing, except that an interrupted change of notes is completed or undone. They run other
// programs only through the functions of a [Machine].
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Machine is the machine to check, with the functions that run its programs. Functions must not be nil unless their
// comment allows it.
type Machine struct {
	Remote *bootstrap.RemoteServer // a server to check instead of the machine, nil for the machine; see [CheckServer]

	OS      string // a value of runtime.GOOS
	Getenv  func(string) string
	Now     func() time.Time
	Version string    // the version of this program
	Built   time.Time // the commit time of the source of this program, zero if that is unknown

	Settings settings.Settings
	Invalid  error            // why the settings are invalid, nil if they are valid; checks that need them are skipped
	Known    []string         // the folders of the vaults that the app lists
	Nearest  string           // the vault around the working folder, "" for none
	System   appvaults.System // translates the paths that the app reports

	// State is the state folder, "" for none. StateUnsafe is why it cannot be used at all, nil if it can;
	// StateReadOnly is why changes cannot be recorded in it, "" if they can.
	State         string
	StateUnsafe   error
	StateReadOnly string
	Paused        func() (bool, error)
	// Settle completes or undoes an interrupted change. The error means that the change is still unfinished.
	Settle  func(ctx context.Context, v settings.Vault) error
	Journal func(v settings.Vault) (*journal.Journal, error)

	// App asks the Obsidian CLI for the version of the app.
	App func(ctx context.Context) (version string, failed *failure.Error)
	// AppFolder asks the Obsidian CLI for the folder of the vault with a name or id, "" for the vault that the app
	// chooses.
	AppFolder func(ctx context.Context, vault string) (folder string, failed *failure.Error)
	// Embedded asks the embedded CLI for its sandbox on a vault.
	Embedded func(ctx context.Context, folder string) (sandbox string, err error)

	Clients clients.Installer
	// Start starts the command of a client's entry and returns the name and version in the server's
	// answer to initialize.
	Start func(ctx context.Context, command []string) (name, version string, err error)

	Listen  func(ctx context.Context, addr string) error // reports whether a server can listen on a TCP address
	TryRead func(name string) error                      // reads the beginning of a file; nil skips this check
	List    func(folder string) ([]fs.DirEntry, error)   // lists a folder of a vault; nil is [os.ReadDir]
	// Elsewhere reports whether reading a file or folder of a vault would download it from a cloud; nil asks the
	// system.
	Elsewhere func(info fs.FileInfo) bool
	Free      func(folder string) (bytes uint64, known bool) // returns the free bytes in the file system of a folder
	Elevated  func() bool                                    // reports whether this process has the rights of an administrator
}

// Check runs all checks. It stops early when ctx is done.
func Check(ctx context.Context, m Machine) *Report {
	r := &Report{}
	checks := []func(context.Context, *Report){
		m.settings,
		m.vaults,
		m.backends,
		m.state,
		m.logs,
		m.http,
		m.clients,
		m.system,
	}
	for _, check := range checks {
		if ctx.Err() == nil {
			check(ctx, r)
		}
	}
	return r
}

// Level is the severity of a finding.
type Level string

// The levels, the lowest first.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, but maybe not as the user expects
	Problem Level = "problem" // something does not work until it is fixed
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"` // a stable name, such as vault-missing
	Level Level  `json:"level"`
	What  string `json:"what"`
	Why   string `json:"why,omitempty"` // why it matters, "" for the level OK
	Fix   string `json:"fix,omitempty"` // what to do, "" for the level OK
}

// Report contains the findings of all checks in the order in which they ran.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Worst returns the highest level of the findings, OK if there are none.
func (r *Report) Worst() Level {
	worst := OK
	for _, f := range r.Findings {
		if f.Level == Problem || worst == OK {
			worst = f.Level
		}
	}
	return worst
}

// Count returns the number of findings with a level.
func (r *Report) Count(level Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

func (r *Report) ok(check, what string) {
	r.Findings = append(r.Findings, Finding{check, OK, what, "", ""})
}

func (r *Report) warn(check, what, why, fix string) {
	r.Findings = append(r.Findings, Finding{check, Warning, what, why, fix})
}

func (r *Report) problem(check, what, why, fix string) {
	r.Findings = append(r.Findings, Finding{check, Problem, what, why, fix})
}

var (
	marks       = map[Level]string{OK: "ok", Warning: "warning", Problem: "PROBLEM"}
	levelStyles = map[Level]terminal.Style{OK: terminal.Good, Warning: terminal.Alert, Problem: terminal.Bad}
)

const markWidth = 8

// Print writes a report as text. Findings that are not OK include why they matter and how to fix them. Control
// characters are escaped.
func (r *Report) Print(out io.Writer, s terminal.Screen) error {
	for _, f := range r.Findings {
		text := fmt.Sprintf("%-*s %s\n", markWidth, marks[f.Level], terminal.Visible(f.What))
		if f.Level != OK {
			text += fmt.Sprintf(
				"         why: %s\n         fix: %s  (%s)\n",
				terminal.Visible(f.Why),
				terminal.Visible(f.Fix),
				f.Check,
			)
		}
		_, rest, _ := strings.Cut(terminal.Fit(out, text), marks[f.Level])
		if err := terminal.Write(out, s.Paint(levelStyles[f.Level], marks[f.Level])+rest); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(
		out,
		"\n%s, %s\n",
		sanitize.Counted(r.Count(Problem), "problem"),
		sanitize.Counted(r.Count(Warning), "warning"),
	)
	return err
}

// JSON writes a report as one line of JSON.
func (r *Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		OK       bool `json:"ok"` // there are no problems
		Problems int  `json:"problems"`
		Warnings int  `json:"warnings"`
		*Report
	}{r.Worst() != Problem, r.Count(Problem), r.Count(Warning), r})
}

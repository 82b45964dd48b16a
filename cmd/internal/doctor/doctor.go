// Package doctor checks an installation: settings, vaults, the app and its CLI, the state folder, MCP over
// HTTP, the clients and the machine. Each finding says what was found, why it matters and what to do about it.
//
// It also compares the installed app with what this program knows: its commands with the table, and
// its answers with those of the embedded CLI.
//
// It reads and changes nothing. Whatever it has to ask another program goes through the
// functions of a [Machine], which the caller provides.
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

// Machine is the machine to check, and the functions that ask its programs. They must not be nil.
type Machine struct {
	Remote *bootstrap.RemoteServer // a server to check in place of the machine, nil for the machine; see [CheckServer]

	OS      string // as runtime.GOOS
	Getenv  func(string) string
	Now     func() time.Time
	Version string    // of this program
	Built   time.Time // when the source of this program was committed, zero if that is unknown

	Settings settings.Settings
	Invalid  error            // why the settings cannot be used. Then nothing is checked that depends on them.
	Known    []string         // the folders of the vaults that the app lists
	Nearest  string           // the vault around the working folder, "" for none
	System   appvaults.System // in which the folders are that the app names

	// State is the state folder, "" for none; StateUnsafe and StateReadOnly say why it
	// cannot be used for anything, or for changes.
	State         string
	StateUnsafe   error
	StateReadOnly string
	Paused        func() (bool, error)
	// Settle has a change that was broken off be completed or taken back; the error says that it stays as it is.
	Settle  func(ctx context.Context, v settings.Vault) error
	Journal func(v settings.Vault) (*journal.Journal, error)

	// App asks the Obsidian CLI for the version of the app. Embedded returns what the
	// embedded CLI says it is locked into for a vault.
	App func(ctx context.Context) (version string, failed *failure.Error)
	// AppFolder asks the Obsidian CLI for the folder of a vault, by its name or id, "" for the app's choice.
	AppFolder func(ctx context.Context, vault string) (folder string, failed *failure.Error)
	Embedded  func(ctx context.Context, folder string) (sandbox string, err error)

	Clients clients.Installer
	// Start starts the command of a client's entry and returns the name and version that
	// the server tells in its answer to initialize.
	Start func(ctx context.Context, command []string) (name, version string, err error)

	Listen  func(ctx context.Context, addr string) error // tries whether a server can listen on an address of TCP
	TryRead func(name string) error                      // reads the beginning of a file; nil reads none
	List    func(folder string) ([]fs.DirEntry, error)   // lists a folder of a vault; nil is [os.ReadDir]
	// Elsewhere reports whether what is in a file or folder of a vault is fetched from a cloud when it is read; nil asks the
	// system.
	Elsewhere func(info fs.FileInfo) bool
	Free      func(folder string) (bytes uint64, known bool) // returns how many bytes can be written to the file system of a folder
	Elevated  func() bool                                    // reports whether this process has the rights of an administrator
}

// Check runs all checks. It ends early with ctx.
func Check(ctx context.Context, m Machine) *Report {
	r := &Report{}
	for _, check := range []func(context.Context, *Report){m.settings, m.vaults, m.backends, m.state, m.logs, m.http, m.clients, m.system} {
		if ctx.Err() == nil {
			check(ctx, r)
		}
	}
	return r
}

// Level says how much a finding matters.
type Level string

// The levels, the least first.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, though not as a user may expect
	Problem Level = "problem" // something does not work until it is mended
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"` // a name that stays the same, such as vault-missing
	Level Level  `json:"level"`
	What  string `json:"what"`
	Why   string `json:"why,omitempty"` // why it matters; "" where all is well
	Fix   string `json:"fix,omitempty"` // what to do
}

// Report has the findings of all checks, in the order in which they ran.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Worst returns the highest level of the findings, OK without any.
func (r *Report) Worst() Level {
	worst := OK
	for _, f := range r.Findings {
		if f.Level == Problem || worst == OK {
			worst = f.Level
		}
	}
	return worst
}

// Count returns how many findings have a level.
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

// Print writes a report as text: problems first, each finding with why it matters and how to fix
// it. Text from outside has no control characters.
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
		_, told, _ := strings.Cut(terminal.Fit(out, text), marks[f.Level])
		if err := terminal.Write(out, s.Paint(levelStyles[f.Level], marks[f.Level])+told); err != nil {
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

// JSON writes a report for programs, in one line.
func (r *Report) JSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		OK       bool `json:"ok"` // no problem
		Problems int  `json:"problems"`
		Warnings int  `json:"warnings"`
		*Report
	}{r.Worst() != Problem, r.Count(Problem), r.Count(Warning), r})
}

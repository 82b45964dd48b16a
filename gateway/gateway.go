// Package gateway carries out requests: package allowlist parses them, package policy decides,
// package exec runs them, and a [Result] reports what happened.
//
// [Gateway.Do] runs one request, [Gateway.DoBatch] several. [Gateway.DryRun] makes the
// same plan and prints it: there is no second path on which a request could be decided
// differently. The stages of a request are in process.go.
//
// What a request needs besides is here too: the catalog of the commands that are enabled (catalog.go), the pages of long
// answers (page.go), and what the gateway itself sees of the notes (note_rules.go).
package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Vault identifies a vault. The zero Vault is the one that the app chooses.
type Vault struct {
	Name   string // as the app knows it
	ID     string // the app's id, 16 hex digits
	Folder string // absolute; lets the embedded program serve the vault
	// Pinned makes the first call ask the app for the folder of its vault of that name or id,
	// and refuses calls if that is not Folder.
	Pinned bool
}

// Served is a vault with its policy.
type Served struct {
	Vault
	Policy policy.Policy
}

// Config is the configuration of a [Gateway].
type Config struct {
	// Policy is that of Vault. Vaults are several vaults in place of the two; the
	// first is the one of a request that names none.
	Policy policy.Policy
	Vault  Vault
	Vaults []Served

	Runner  *exec.Runner
	Backend Backend
	Limits  admission.Limits
	// Disabled refuses every request.
	Disabled bool
	// OwnDay says that a day begins at another hour than that of the app, so that calls
	// about today's note are carried out by the embedded backend where it can.
	OwnDay bool
	// Agent is the agent that every request is of, "" where no agent is defined. What a caller
	// has is then also bound to the agent: changes, keys, questions, stored answers, rates.
	Agent string
	// Session names what this process does, for the audit log and for questions.
	Session string
	// Getenv returns the variables that locate the app's list of vaults, the journal, the
	// audit log and approvals; nil means none of them. Without a folder for the audit log
	// nothing is changed.
	Getenv func(string) string
	// Log gets internal errors, at [telemetry.LevelBug], and one line a call at the level
	// info, without anything that a caller sent or a note contains; nil discards them.
	Log *slog.Logger
	// Notify tells the owner of each question that is left for them, see [consent.New]; it may be
	// nil.
	Notify func(text, link string)
	// Observe is notified of every call; it may be nil.
	Observe telemetry.Observer
	// Common is what all gateways of the process have together; nil for one that is alone.
	Common *Common
}

// Gateway runs requests. It is safe for concurrent use.
type Gateway struct {
	*shared
	vaults []*vaultGateway
}

// shared is common to all vaults of a gateway.
type shared struct {
	runner    *exec.Runner
	backend   Backend
	ownDay    bool
	running   *shares.Line
	admission *admission.Controller
	consent   *consent.Approvals
	grants    *consent.Grants    // nil where there is no folder for it
	proposals *consent.Proposals // as well
	records   *audit.Records
	answers   *pageStore[storedAnswer]
	suspects  sync.Map // what sessions have read, by their callers, see hasRead
	flows     flows
	agent     string
	session   string
	log       *slog.Logger
	observer  telemetry.Observer
	getenv    func(string) string
	watches   conc.WaitGroup // of notes behind the answers to calls, see watchOn
}

// vaultGateway carries out the requests for one vault.
type vaultGateway struct {
	*shared
	vault Vault
	rules *NoteRules
	// writing is held by calls that change a note, one of each caller, and changingMany by one that looks for the notes that
	// it changes. They take the lock of the journal only when the change is worked out, so that a long search or a very
	// large note of one caller does not keep the others. A batch has both.
	writing, changingMany *shares.Line

	target         func() appvaults.Place
	kept           *atomic.Pointer[keptJournal]     // the journal, once it was asked
	found          *atomic.Pointer[appvaults.Place] // by [vaultGateway.findFolder], in place of what the list of the app has
	noFolder       *atomic.Bool                     // the app has named none that this machine has
	folderIdentity func() string                    // the identity of the folder of the target
	pinned         struct {
		sync.Mutex
		confirmed bool // the app means the vault that was configured
	}
	today dailyPath
}

// writersAtOnce bounds the changes of notes that are worked out at once: a very large note is in memory several times.
const writersAtOnce = 3

// New returns a gateway. It only allocates: the Obsidian CLI is located and the app's list of
// vaults is read when the first call needs them.
func New(c Config) *Gateway {
	if c.Backend == "" {
		c.Backend = Auto
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Limits.Parallel <= 0 {
		c.Limits.Parallel = admission.DefaultParallel
	}
	if c.Vaults == nil {
		c.Vaults = []Served{{c.Vault, c.Policy}}
	}
	common := cmp.Or(c.Common, NewCommon(c.Limits.Parallel))
	state := ownerfiles.StateFolder(c.Getenv, "")
	for _, served := range c.Vaults {
		if served.Folder != "" && ownerfiles.StateFolder(c.Getenv, served.Folder) == "" {
			state = "" // it would be in that vault
		}
	}
	g := &Gateway{shared: &shared{
		runner: c.Runner, backend: c.Backend, ownDay: c.OwnDay, running: common.running, agent: c.Agent, session: c.Session, log: c.Log, getenv: c.Getenv,
		observer: telemetry.All(c.Observe, telemetry.NewCallLog(c.Log, c.Session)),
		admission: admission.New(
			c.Agent,
			c.Limits,
			ownerfiles.StateFolder(c.Getenv, ""),
			c.Runner.Timeout,
		), consent: consent.New(state, c.Notify), records: audit.NewRecords(state, c.Agent, c.Session),
		answers: common.answers,
	}}
	if c.Disabled {
		g.admission.Disable()
	}
	g.admission.OnRenewal(func() {
		g.dropAnswers()
		g.consent.Void(c.Agent)
	})
	if state != "" {
		g.grants = consent.OpenGrants(state, time.Now)
		g.proposals = consent.OpenProposals(state, time.Now)
	}
	for _, served := range c.Vaults {
		d := &vaultGateway{
			shared:       g.shared,
			vault:        served.Vault,
			writing:      shares.NewQueues(writersAtOnce),
			changingMany: shares.NewLine(1),
			found:        &atomic.Pointer[appvaults.Place]{},
			noFolder:     &atomic.Bool{},
			kept:         &atomic.Pointer[keptJournal]{},
		}
		listed := sync.OnceValue(func() appvaults.Place {
			return appvaults.Locate(
				appvaults.Read(g.getenv),
				appvaults.Wanted{Name: served.Name, ID: served.ID, Folder: served.Folder},
			)
		})
		d.target = func() appvaults.Place {
			if at := d.found.Load(); at != nil {
				return *at
			}
			return listed()
		}
		d.folderIdentity = sync.OnceValue(func() string { return filenames.Identity(d.target().Folder) })
		d.rules = NewNoteRules(
			served.Policy,
			func() string { return d.target().Folder },
			func(p policy.Policy, question protocol.Ask, words []string) ([]string, error) {
				program, err := d.embedded()
				if err != nil {
					return nil, err
				}
				return d.runner.Ask(context.Background(), p.Question(), program, question, words)
			},
		)
		g.vaults = append(g.vaults, d)
	}
	return g
}

// Scoped returns the gateway for requests whose access tokens have a scope. It is the same one
// otherwise: both have their limits, records and questions together.
func (g *Gateway) Scoped(scope policy.Scope) *Gateway {
	scoped := &Gateway{shared: g.shared}
	for _, d := range g.vaults {
		scoped.vaults = append(scoped.vaults, &vaultGateway{
			shared: d.shared, vault: d.vault, rules: d.rules.Scoped(scope), writing: d.writing, changingMany: d.changingMany,
			target: d.target, found: d.found, noFolder: d.noFolder, kept: d.kept, folderIdentity: d.folderIdentity,
		})
	}
	return scoped
}

// vaultNamed returns the vault of a request: the one of that name, id or folder, or
// the first for a request that names none.
func (g *Gateway) vaultNamed(name string) (*vaultGateway, error) {
	if name == "" {
		return g.vaults[0], nil
	}
	var names, quoted []string
	for _, d := range g.vaults {
		isFolder := filepath.IsAbs(name) && d.vault.Folder != "" && appvaults.SameFolder(name, d.vault.Folder)
		if name == d.name() || name == d.vault.ID || isFolder {
			return d, nil
		}
		names = append(names, d.name())
		quoted = append(quoted, excerpt.Quoted(d.name()))
	}
	hint := "the vaults are " + strings.Join(quoted, ", ")
	if near := excerpt.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, failure.New(failure.CodeVaultNotFound, hint, "unknown vault %q", excerpt.Short(name))
}

// Tighten intersects the policies in force with further ones, for the vaults in their
// order, and the limits with stricter ones. It never loosens either. Kept answers are
// dropped if a policy becomes another one, and where it forbids to send texts of notes to
// another machine, programs that were allowed to are ended.
func (g *Gateway) Tighten(policies []policy.Policy, limits admission.Limits) {
	tightened := false
	for i, p := range policies[:min(len(policies), len(g.vaults))] {
		before := g.vaults[i].rules.Policy()
		sent := before.Sends()
		if g.vaults[i].rules.Tighten(p) {
			tightened = true
		}
		if len(before.Stricter(g.vaults[i].rules.Policy())) > 0 {
			g.vaults[i].endNarrowedGrants()
		}
		if sent && !g.vaults[i].rules.Policy().Sends() {
			g.runner.StopSending()
		}
	}
	g.admission.Tighten(limits)
	if tightened { // a file that was saved without a change voids no cursor
		g.dropAnswers()
	}
}

// Disable refuses every call from now on, and drops kept answers.
func (g *Gateway) Disable() {
	g.admission.Disable()
	g.dropAnswers()
}

// Agent returns the name of the agent that every request is of, "" where no agent is defined.
func (g *Gateway) Agent() string { return g.agent }

// Ended reports whether the agent of the calls has no rights any more: it was revoked, has expired,
// or is not defined.
func (g *Gateway) Ended() bool { return g.WhyEnded() != "" }

// Load counts the calls. Those that wait for approval are neither running nor waiting.
func (g *Gateway) Load() telemetry.Load {
	load := telemetry.Load{Running: g.running.Running(), Waiting: g.running.Waiting()}
	for _, v := range g.vaults {
		load.Waiting += v.writing.Waiting() + v.changingMany.Waiting()
	}
	return load
}

// Flush waits until no change of the app is watched any more, for two seconds at most, and writes the lines of the audit log
// that were only counted so far. It is for the end of a program; the gateway can be used afterwards.
func (g *Gateway) Flush() {
	g.watches.Wait()
	g.records.Flush()
}

// AuditMissed returns how many lines of the audit log this process could not write.
func (g *Gateway) AuditMissed() uint64 { return g.records.Missed() }

// VaultNames returns the display names of the vaults, the default one first; "" for the app's
// choice.
func (g *Gateway) VaultNames() []string {
	var names []string
	for _, d := range g.vaults {
		names = append(names, d.name())
	}
	return names
}

// VaultName returns the display name of the default vault, "" for the app's choice.
func (g *Gateway) VaultName() string { return g.vaults[0].name() }

func (g *vaultGateway) name() string {
	switch v := g.vault; {
	case v.Name != "":
		return v.Name
	case v.Folder != "":
		return filepath.Base(v.Folder)
	default:
		return v.ID
	}
}

// identity is different for every vault, also for two of the same name.
func (g *vaultGateway) identity() string {
	at := g.target()
	if at.Folder == "" {
		return "app:" + at.App
	}
	return "folder:" + g.folderIdentity()
}

// ofAgent returns the name of a caller with the agent, if requests have one. It is for the
// beginning of a request.
func (g *shared) ofAgent(caller string) string { return ownerfiles.CallerOf(g.agent, caller) }

// accountOf returns whose rate limits a request of a caller counts against: those of the agent,
// whichever of its sessions sends it.
func (g *shared) accountOf(caller string) string { return cmp.Or(g.agent, caller) }

// ShowQuestionsOn has questions shown on a page of this process where no other page is open, see
// [consent.Approvals.ShowOn]. It is called before the first request.
func (g *Gateway) ShowQuestionsOn(open func() string) { g.consent.ShowOn(open) }

// callerOf names the caller, also for the journal: this process where it has only one.
func (g *shared) callerOf(req Request) string {
	if session := ownerfiles.SessionOf(req.Caller); session != "" {
		return req.Caller
	}
	return g.ofAgent(cmp.Or(g.session, "gateway"))
}

// Package gateway carries out requests: package allowlist parses them, package policy decides on them, package exec
// runs them, and a [Result] reports what happened.
//
// [Gateway.Do] runs one request, [Gateway.DoBatch] several. [Gateway.DryRun] makes the same plan and returns it:
// there is no second path on which a request could be decided differently. The stages of a request are in
// process.go.
//
// The package also has what requests depend on: the catalog of enabled commands (catalog.go), the pages of long
// answers (page.go), and what the gateway itself reads from the notes (note_rules.go).
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
	Name   string // the name in the app
	ID     string // the app's id, 16 hex digits
	Folder string // absolute; with it the embedded program can serve the vault
	// Pinned makes the first call ask the app for the folder of its vault with that name or id. Calls are refused if
	// it is not Folder.
	Pinned bool
}

// Served is a vault with its policy.
type Served struct {
	Vault
	Policy policy.Policy
}

// Config is the configuration of a [Gateway].
type Config struct {
	// Policy applies to Vault. Vaults replaces the two if there are several vaults; the first is the default of
	// requests that name none.
	Policy policy.Policy
	Vault  Vault
	Vaults []Served

	Runner  *exec.Runner
	Backend Backend
	Limits  admission.Limits
	// Disabled makes the gateway refuse every request.
	Disabled bool
	// OwnDay means that a day begins at another hour than in the app. Calls about today's note are then carried out
	// by the embedded backend if possible.
	OwnDay bool
	// Agent is the agent that sends all requests, "" if no agent is defined. Everything that belongs to a caller is
	// then also bound to the agent: changes, keys, questions, stored answers, rate limits.
	Agent string
	// Session identifies this process in the audit log and in questions.
	Session string
	// Getenv returns the variables that locate the app's list of vaults, the journal, the audit log and approvals;
	// nil means that none is set. Without a folder for the audit log, nothing can be changed.
	Getenv func(string) string
	// Log gets internal errors, at [telemetry.LevelBug], and one line per call at level info, without anything that a
	// caller sent or a note contains. nil discards them.
	Log *slog.Logger
	// Notify tells the owner about each question that waits for them, see [consent.New]. It may be nil.
	Notify func(text, link string)
	// Observe is notified of every call. It may be nil.
	Observe telemetry.Observer
	// Common is shared by all gateways of the process; nil for a gateway of its own.
	Common *Common
}

// Gateway runs requests. It is safe for concurrent use.
type Gateway struct {
	*shared
	vaults []*vaultGateway
}

// shared has what all vaults of a gateway use together.
type shared struct {
	runner    *exec.Runner
	backend   Backend
	ownDay    bool
	running   *shares.Line
	admission *admission.Controller
	consent   *consent.Approvals
	grants    *consent.Grants    // nil if there is no state folder
	proposals *consent.Proposals // nil if there is no state folder
	records   *audit.Records
	answers   *pageStore[storedAnswer]
	suspects  sync.Map // suspected prompt injection that sessions have read, by caller, see hasRead
	flows     flows
	agent     string
	session   string
	log       *slog.Logger
	observer  telemetry.Observer
	getenv    func(string) string
	watches   conc.WaitGroup // notes that are polled after their calls were answered, see watchInBackground
}

// vaultGateway carries out the requests for one vault.
type vaultGateway struct {
	*shared
	vault Vault
	rules *NoteRules
	// writing admits calls that change a note, one of each caller; changingMany admits one call that searches for the
	// notes that it changes. They acquire the lock of the journal only when the change is worked out, so that a long
	// search or a very large note of one caller does not block the others. A batch acquires both.
	writing, changingMany *shares.Line

	target         func() appvaults.Place
	kept           *atomic.Pointer[keptJournal]     // the journal, once it was opened
	found          *atomic.Pointer[appvaults.Place] // the result of [vaultGateway.findFolder], which replaces that of the app's list
	noFolder       *atomic.Bool                     // the app named no folder that exists on this machine
	folderIdentity func() string                    // returns the identity of the folder of the target
	pinned         struct {
		sync.Mutex
		confirmed bool // the app uses the configured vault
	}
	today dailyPath
}

// writersAtOnce is the maximum number of changes that are worked out at once. A very large note is in memory several
// times.
const writersAtOnce = 3

// New returns a gateway. It only allocates: the Obsidian CLI is searched for, and the app's list of vaults is read,
// when the first call needs them.
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
			state = "" // the state folder would be inside that vault
		}
	}
	g := &Gateway{shared: &shared{
		runner:    c.Runner,
		backend:   c.Backend,
		ownDay:    c.OwnDay,
		running:   common.running,
		agent:     c.Agent,
		session:   c.Session,
		log:       c.Log,
		getenv:    c.Getenv,
		observer:  telemetry.All(c.Observe, telemetry.NewCallLog(c.Log, c.Session)),
		admission: admission.New(c.Agent, c.Limits, ownerfiles.StateFolder(c.Getenv, ""), c.Runner.Timeout),
		consent:   consent.New(state, c.Notify),
		records:   audit.NewRecords(state, c.Agent, c.Session),
		answers:   common.answers,
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
		g.vaults = append(g.vaults, newVaultGateway(g.shared, served))
	}
	return g
}

// newVaultGateway returns the gateway for one vault.
func newVaultGateway(s *shared, served Served) *vaultGateway {
	d := &vaultGateway{
		shared:       s,
		vault:        served.Vault,
		writing:      shares.NewQueues(writersAtOnce),
		changingMany: shares.NewLine(1),
		found:        &atomic.Pointer[appvaults.Place]{},
		noFolder:     &atomic.Bool{},
		kept:         &atomic.Pointer[keptJournal]{},
	}
	listed := sync.OnceValue(func() appvaults.Place {
		return appvaults.Locate(
			appvaults.Read(s.getenv),
			appvaults.Wanted{Name: served.Name, ID: served.ID, Folder: served.Folder},
		)
	})
	d.target = func() appvaults.Place {
		if place := d.found.Load(); place != nil {
			return *place
		}
		return listed()
	}
	d.folderIdentity = sync.OnceValue(func() string { return filenames.Identity(d.target().Folder) })
	askEmbedded := func(p policy.Policy, question protocol.Ask, words []string) ([]string, error) {
		program, err := d.embedded()
		if err != nil {
			return nil, err
		}
		return d.runner.Ask(context.Background(), p.Question(), program, question, words)
	}
	d.rules = NewNoteRules(served.Policy, func() string { return d.target().Folder }, askEmbedded)
	return d
}

// Scoped returns a gateway for requests whose access tokens have a scope. It shares everything else with g,
// including limits, records and questions.
func (g *Gateway) Scoped(scope policy.Scope) *Gateway {
	scoped := &Gateway{shared: g.shared}
	for _, d := range g.vaults {
		scoped.vaults = append(scoped.vaults, &vaultGateway{
			shared:         d.shared,
			vault:          d.vault,
			rules:          d.rules.Scoped(scope),
			writing:        d.writing,
			changingMany:   d.changingMany,
			target:         d.target,
			found:          d.found,
			noFolder:       d.noFolder,
			kept:           d.kept,
			folderIdentity: d.folderIdentity,
		})
	}
	return scoped
}

// vaultNamed returns the vault with the given name, id or folder, or the default vault if name is "".
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

// Tighten intersects the policies in force with further ones, for the vaults in their order, and the limits with
// stricter ones. It never loosens either. Stored answers are dropped if a policy changes. Programs that may send
// texts of notes to another machine are ended if a policy no longer permits that.
func (g *Gateway) Tighten(policies []policy.Policy, limits admission.Limits) {
	tightened := false
	for i, p := range policies[:min(len(policies), len(g.vaults))] {
		before := g.vaults[i].rules.Policy()
		couldSend := before.Sends()
		if g.vaults[i].rules.Tighten(p) {
			tightened = true
		}
		if len(before.Stricter(g.vaults[i].rules.Policy())) > 0 {
			g.vaults[i].endNarrowedGrants()
		}
		if couldSend && !g.vaults[i].rules.Policy().Sends() {
			g.runner.StopSending()
		}
	}
	g.admission.Tighten(limits)
	if tightened { // saving a file without a change invalidates no cursor
		g.dropAnswers()
	}
}

// Disable makes the gateway refuse every call from now on, and drops stored answers.
func (g *Gateway) Disable() {
	g.admission.Disable()
	g.dropAnswers()
}

// Agent returns the name of the agent that sends all requests, "" if no agent is defined.
func (g *Gateway) Agent() string { return g.agent }

// Ended reports whether the agent has no rights any more: it was revoked, has expired, or is not defined.
func (g *Gateway) Ended() bool { return g.WhyEnded() != "" }

// Load counts the running and waiting calls. Calls that wait for approval count as neither.
func (g *Gateway) Load() telemetry.Load {
	load := telemetry.Load{Running: g.running.Running(), Waiting: g.running.Waiting()}
	for _, v := range g.vaults {
		load.Waiting += v.writing.Waiting() + v.changingMany.Waiting()
	}
	return load
}

// Flush waits, for up to two seconds, until no change of the app is being polled, and writes the lines of the audit
// log that were only counted so far. It is called at the end of a program, but the gateway can still be used
// afterwards.
func (g *Gateway) Flush() {
	g.watches.Wait()
	g.records.Flush()
}

// AuditMissed returns how many lines this process could not write to the audit log.
func (g *Gateway) AuditMissed() uint64 { return g.records.Missed() }

// VaultNames returns the display names of the vaults, the default one first. A name is "" if the app chooses the
// vault.
func (g *Gateway) VaultNames() []string {
	var names []string
	for _, d := range g.vaults {
		names = append(names, d.name())
	}
	return names
}

// VaultName returns the display name of the default vault, "" if the app chooses it.
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

// identity returns a text that is different for every vault, even for vaults with the same name.
func (g *vaultGateway) identity() string {
	at := g.target()
	if at.Folder == "" {
		return "app:" + at.App
	}
	return "folder:" + g.folderIdentity()
}

// ofAgent returns the name of a caller, qualified with the agent if there is one. It is called once, at the start of
// a request.
func (g *shared) ofAgent(caller string) string { return ownerfiles.CallerOf(g.agent, caller) }

// accountOf returns the name whose rate limits a request of a caller counts against: the agent, whichever of its
// sessions sends the request, or else the caller.
func (g *shared) accountOf(caller string) string { return cmp.Or(g.agent, caller) }

// ShowQuestionsOn makes questions appear on a page of this process if no other page is open, see
// [consent.Approvals.ShowOn]. It must be called before the first request.
func (g *Gateway) ShowQuestionsOn(open func() string) { g.consent.ShowOn(open) }

// callerOf returns the name of the caller for approvals, keys and the journal. It is this process if it has only one
// caller.
func (g *shared) callerOf(req Request) string {
	if session := ownerfiles.SessionOf(req.Caller); session != "" {
		return req.Caller
	}
	return g.ofAgent(cmp.Or(g.session, "gateway"))
}

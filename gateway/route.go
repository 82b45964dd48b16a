package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Backend is the setting that chooses the program that answers.
type Backend string

const (
	// Auto is the Obsidian CLI if it is usable, otherwise the embedded program if the folder of the vault is known.
	// The zero value means the same.
	Auto Backend = "auto"
	// App is the Obsidian CLI only.
	App Backend = "obsidian"
	// Embedded is the embedded CLI only.
	Embedded Backend = "embedded"
)

// app returns the Obsidian CLI for the vault, or an error if it cannot be used.
func (g *vaultGateway) app() (exec.Program, error) {
	program, err := g.runner.App()
	if err != nil {
		return program, err
	}
	if at := g.target(); at.Unlisted {
		return program, failure.New(
			failure.CodeVaultNotFound,
			"the user can open the folder as a vault in Obsidian, or set backend to embedded",
			"the app does not know a vault in the folder %q",
			at.Folder,
		)
	}
	return program, nil
}

// errNoFolder says why the embedded program cannot be used.
var errNoFolder = failure.New(
	failure.CodeVaultNotFound,
	"the user can set vault to the folder of the vault",
	"the embedded backend needs the folder of the vault",
)

// embedded returns the embedded CLI for the vault, or an error if it cannot be used.
func (g *vaultGateway) embedded() (exec.Program, error) {
	folder := g.target().Folder
	if folder == "" {
		return exec.Program{}, errNoFolder
	}
	return g.runner.Embedded(folder)
}

// Plan is a parsed request with the decision on it and the programs that can run it.
type Plan struct {
	call     allowlist.Call
	decision policy.Decision // on call
	refusal  error           // of decision; nil once the user has approved
	routes   []route         // the first is used; each further one only if nothing ran on those before
	notices  []string
	answer   string // of the gateway itself; then there are no routes
	unread   int    // see [Result], of that answer
	hidden   bool   // a path leads to a hidden note, see [NoteRules.Named]
	expect   string
	policy   policy.Policy // that judged it, with the facts
	facts    policy.Facts
	place    appvaults.Place
	// caller is the sender, client is its program, and batch is the batch that it belongs to.
	caller, client, batch string
	alone                 bool              // the batch holds the lock of the journal
	planning              *planning         // of the batch, see [Request]
	asking                time.Duration     // for how long the user was asked for approval
	part                  int               // see [reported]
	findings              findings          // what the content rules found in the change
	change                *plannedChange    // what it would do to notes, nil if that was not worked out
	grant                 string            // the grant that allows it, "" for none
	use                   *consent.GrantUse // the use of that grant, nil for none
	because               []flowRead        // what the session has read, if flow rules apply to the call
}

// backend returns the backend that is used first, "" if there is none.
func (p Plan) backend() string {
	if len(p.routes) == 0 {
		return ""
	}
	return p.routes[0].program.Backend()
}

// route is one way to carry out a call. Without a valid permit it can only be shown.
type route struct {
	program  exec.Program
	call     allowlist.Call
	command  exec.Command
	decision policy.Decision // on call
	permit   policy.Permit   // with which the call is run
	expect   string          // the hash that the note must have
	entry    string          // id of the journal entry, "" for a new one
	policy   policy.Policy
	facts    policy.Facts
	change   *plannedChange   // of the plan
	approved bool             // the user has approved the call
	shown    consent.Question // the question that the user approved; zero if there was none
	// caller, client and batch are those of the plan, for the journal.
	caller, client, batch string
	alone                 bool      // the batch holds the lock of the journal
	grant                 string    // the grant of the owner that allows the call, "" for none
	proposal              string    // the proposal that the owner applies, "" for none
	planning              *planning // of the batch, see [Request]
	hidden                bool      // a path leads to a hidden note, see [NoteRules.Named]
}

// replaced returns a route whose call was replaced, with the decision of the policy on the new call. The error is a
// [*policy.Denial], or says that the app cannot be asked.
func (g *vaultGateway) replaced(r route) (route, error) {
	r.decision = r.policy.Decide(r.call, r.facts)
	r, err := r.permitted()
	if err == nil && r.permit.Confined() {
		err = g.accessError(r.call)
	}
	return r, err
}

// permitted returns the route with the permit that its decision grants.
func (r route) permitted() (permitted route, err error) {
	if r.approved {
		r.permit, err = r.decision.Approved()
	} else {
		r.permit, err = r.decision.Permit()
	}
	return r, err
}

// inVault returns the decision for its call in the given vault. "" leaves the choice to the app.
func inVault(d policy.Decision, vault string) (policy.Decision, error) {
	if vault == "" {
		return d, nil
	}
	return d.In(vault)
}

// needsApproval reports whether an error is a denial that the approval of the user overrides.
func needsApproval(err error) bool {
	if err == nil {
		return false // the usual case, without an allocation
	}
	var denial *policy.Denial
	return errors.As(err, &denial) && denial.NeedsApproval()
}

// changesNotes reports whether the call changes files of the vault, as opposed to published notes or the settings of
// the app.
func (r route) changesNotes() bool { return r.call.Effect().ChangesNotes() }

// changesNotes reports whether the call of a plan changes notes on its first route. A plan without a route changes
// none.
func (p *Plan) changesNotes() bool { return len(p.routes) > 0 && p.routes[0].changesNotes() }

// argument returns the name of a caller as an argument for a program, or its digest if the name is not suitable.
func argument(caller string) string {
	if len(caller) <= maxCallerArgument && sanitize.Line(caller) == caller {
		return caller
	}
	sum := sha256.Sum256([]byte(caller))
	return "caller-" + hex.EncodeToString(sum[:16])
}

// maxCallerArgument is the maximum length in bytes of a caller's name in the journal.
const maxCallerArgument = 256

// isHidden reports whether the app would be asked for a hidden note. The answer is then that the note is missing.
func (r route) isHidden() bool {
	mayBeHidden := r.hidden || r.permit.Confined()
	return r.program.Backend() == string(App) && mayBeHidden && r.call.TouchesOneNote()
}

// outcomeNotRun returns the outcome of a call that did not run, with the duration and the notices of a question that
// did.
func outcomeNotRun(question exec.Outcome) exec.Outcome {
	return exec.Outcome{ExitCode: -1, Duration: question.Duration, Notices: question.Notices}
}

// digestOf returns the digest of the call of a plan, including the hash that the caller expects.
func digestOf(plan Plan) [sha256.Size]byte {
	return digest(append(plan.call.Items(), plan.expect)...)
}

// digest returns the SHA-256 of a list of texts. Different lists have different digests.
func digest(items ...string) [sha256.Size]byte {
	hash := sha256.New()
	for _, item := range items {
		fmt.Fprintf(hash, "%d:%s", len(item), item)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// bindToSender binds a digest to the sender of the request, so that nobody else gets the answer. The sender is the
// session and the name of the client, because on standard input and output every client is the only caller of its
// server. All sessions of one agent count as the same sender: its client may have lost the connection.
func (g *shared) bindToSender(req Request, call [sha256.Size]byte) [sha256.Size]byte {
	return digest("key", cmp.Or(g.agent, req.Caller), req.Client, string(call[:]))
}

// noticeNotJournaled begins the notice of a change that undo cannot undo.
const noticeNotJournaled = "not in the journal"

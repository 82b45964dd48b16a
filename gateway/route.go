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

// Backend is the setting for the program that answers.
type Backend string

const (
	// Auto is the Obsidian CLI where it is usable, otherwise the embedded program
	// where the folder of the vault is known. The zero value means the same.
	Auto Backend = "auto"
	// App is the Obsidian CLI only.
	App Backend = "obsidian"
	// Embedded is the embedded CLI only.
	Embedded Backend = "embedded"
)

// app returns the Obsidian CLI as the program for the vault, or why it cannot be used.
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

// embedded returns the embedded CLI as the program for the vault, or why it cannot be used.
func (g *vaultGateway) embedded() (exec.Program, error) {
	folder := g.target().Folder
	if folder == "" {
		return exec.Program{}, errNoFolder
	}
	return g.runner.Embedded(folder)
}

// Plan is a parsed request with the decision about it and the programs that can run it.
type Plan struct {
	call     allowlist.Call
	decision policy.Decision // about call
	refusal  error           // of decision, nil once the user approved
	routes   []route         // the first is taken; the next one when nothing ran on it
	notices  []string
	answer   string // of the gateway itself; then there are no routes
	hidden   bool   // a path leads to a hidden note, see [NoteRules.Named]
	expect   string
	policy   policy.Policy // by which it was judged, with the facts
	facts    policy.Facts
	place    appvaults.Place
	// caller is on whose behalf it is carried out, batch what it is part of.
	caller, client, batch string
	alone                 bool              // the batch has the lock of the journal
	planning              *planning         // of the batch, see [Request]
	asking                time.Duration     // how long the user was asked for approval
	part                  int               // see [reported]
	findings              findings          // of the rules about texts in the change
	change                *plannedChange    // what it would do to notes, nil where that is not worked out
	grant                 string            // that allows it, "" for none
	use                   *consent.GrantUse // of the grant, nil for none
	because               []flowRead        // what the session has read, where flow rules are about the call
}

// backend returns the backend that is asked first, "" where none is.
func (p Plan) backend() string {
	if len(p.routes) == 0 {
		return ""
	}
	return p.routes[0].program.Backend()
}

// route is one way to carry out a call. Without a valid permit it is only shown.
type route struct {
	program  exec.Program
	call     allowlist.Call
	command  exec.Command
	decision policy.Decision // about call
	permit   policy.Permit   // that the call is run with
	expect   string          // the hash that the note must have
	entry    string          // of the journal, "" for a new one
	policy   policy.Policy
	facts    policy.Facts
	change   *plannedChange   // of the plan
	approved bool             // by the user
	shown    consent.Question // that the user approved; the zero Question is about any notes
	// caller and batch are those of the plan, for the journal.
	caller, client, batch string
	alone                 bool      // the batch has the lock of the journal
	grant                 string    // of the owner that allows the call, "" for none
	proposal              string    // that the owner has taken the call from, "" for none
	planning              *planning // of the batch, see [Request]
	hidden                bool      // a path leads to a hidden note, see [NoteRules.Named]
}

// replaced returns a route with its call, which was replaced, judged by the policy. The error is a
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

// inVault returns a decision about its call in a vault, "" for the app's choice.
func inVault(d policy.Decision, vault string) (policy.Decision, error) {
	if vault == "" {
		return d, nil
	}
	return d.In(vault)
}

// needsApproval reports whether an error is a denial that the approval of the user lifts.
func needsApproval(err error) bool {
	if err == nil {
		return false // of most calls, for which nothing is allocated
	}
	var denial *policy.Denial
	return errors.As(err, &denial) && denial.NeedsApproval()
}

// changesNotes reports whether the call changes files of the vault, not published notes or the
// settings of the app.
func (r route) changesNotes() bool { return r.call.Effect().ChangesNotes() }

// changesNotes reports whether the call of a plan changes notes on the route that is tried first. A plan that has no
// route changes none.
func (p *Plan) changesNotes() bool { return len(p.routes) > 0 && p.routes[0].changesNotes() }

// argument returns the name of a caller as an argument of a program, or its digest where the
// name cannot be one.
func argument(caller string) string {
	if len(caller) <= maxCallerArgument && sanitize.Line(caller) == caller {
		return caller
	}
	sum := sha256.Sum256([]byte(caller))
	return "caller-" + hex.EncodeToString(sum[:16])
}

// maxCallerArgument is the longest name of a caller that the journal keeps.
const maxCallerArgument = 256

// isHidden reports whether the app would be asked for a hidden note. The answer is that of a
// missing one.
func (r route) isHidden() bool {
	mayBeHidden := r.hidden || r.permit.Confined()
	return r.program.Backend() == string(App) && mayBeHidden && r.call.TouchesOneNote()
}

// nothingRan is the outcome of a call of which only a question was run.
func nothingRan(question exec.Outcome) exec.Outcome {
	return exec.Outcome{ExitCode: -1, Duration: question.Duration, Notices: question.Notices}
}

// digestOf is the digest of the call of a plan with the hash that it expects.
func digestOf(plan Plan) [sha256.Size]byte {
	return digest(append(plan.call.Items(), plan.expect)...)
}

// digest returns the SHA-256 of a list of texts, which no other list has.
func digest(items ...string) [sha256.Size]byte {
	hash := sha256.New()
	for _, item := range items {
		fmt.Fprintf(hash, "%d:%s", len(item), item)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// boundTo binds a digest to the sender of the request, so that no other one gets the answer:
// to the session and to the name of the client, because over standard input and output every
// client is the only caller of its server. The sessions of one agent are one sender: its client may
// have lost the connection.
func (g *shared) boundTo(req Request, call [sha256.Size]byte) [sha256.Size]byte {
	return digest("key", cmp.Or(g.agent, req.Caller), req.Client, string(call[:]))
}

// notKept begins the notice of a change that undo cannot take back.
const notKept = "not in the journal"

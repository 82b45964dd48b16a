package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vaultwicket/exec"
	"vaultwicket/gateway/approvals"
	"vaultwicket/gateway/clean"
	"vaultwicket/tiers"
)

// Question is what a person is asked before a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if it is not known.
	Path string
	// Text is the whole question, fit to be shown: rows from notes begin with a
	// bar, so that nothing in them can pose as ours.
	Text string
	// Digest is that of the exact call, and of the notes as they were when it was
	// asked about. A yes is good for nothing else.
	Digest [sha256.Size]byte
	// Destructive says that the call removes, replaces or publishes: a yes to it
	// stands for no other call.
	Destructive bool
	Caller      string
}

// Reply is what came of a question.
type Reply uint8

const (
	// NoWay is the zero value: the person cannot be asked in this way.
	NoWay Reply = iota
	// No: the person declined, or did not answer, or the answer was none.
	No
	// Later: the person is being asked, and the caller sends the call again with
	// the answer.
	Later
	// Yes to this call.
	Yes
	// YesHere to this call, and to those that change notes in the same folder
	// until the session ends, but for destructive ones.
	YesHere
)

// Asker asks a person and waits for the answer, no longer than ctx lasts.
type Asker func(ctx context.Context, q Question) Reply

// ApprovalsFolder returns where questions wait in the state folder for a person
// who answers them in a terminal.
func ApprovalsFolder(state string) string { return filepath.Join(state, "approvals") }

// consent is how a person is asked.
type consent struct {
	desk     *approvals.Desk // nil where there is no place for it
	standing *approvals.Standing
}

func newConsent(state string) *consent {
	c := &consent{standing: approvals.NewStanding(time.Now)}
	if state != "" {
		c.desk = approvals.Open(ApprovalsFolder(state), time.Now)
	}
	return c
}

// standingYes is how long a yes for a folder lasts at most, should the session.
const standingYes = 8 * time.Hour

// agree asks a person about a plan that only they can allow. It returns the plan
// as it may be carried out, or why it may not.
func (g *door) agree(ctx context.Context, req Request, plan Plan, refusal error) (Plan, error) {
	q, before, err := g.question(ctx, req, plan)
	if err != nil {
		return plan, err
	}
	if err := g.ask(ctx, req, q, refusal); err != nil {
		return plan, err
	}
	return plan.agreed(before)
}

// agreed returns a plan to which a person said yes. before is the hash that the
// note had when they were asked, "" if it is not known.
func (p Plan) agreed(before string) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i := range p.routes {
		r := &p.routes[i]
		r.agreed = true
		var err error
		if r.permit, err = r.decide(r.call); err != nil {
			return p, err
		}
		if r.expect == "" {
			r.expect = before
		}
	}
	p.refusal = nil
	return p, nil
}

// ask returns nil if a person said yes, else the error for the caller.
func (g *door) ask(ctx context.Context, req Request, q Question, refusal error) error {
	vault := cmp.Or(q.Vault, "the app's choice")
	standing := vault + "\x00" + req.Caller
	if q.Path != "" && g.consent.standing.Covers(standing, q.Path, q.Destructive) {
		return nil
	}
	caller := cmp.Or(req.Caller, g.session, "gateway")
	pending, err := g.redeem(vault, q, caller)
	if pending == nil && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	reply := NoWay
	if req.Ask != nil {
		reply = req.Ask(ctx, q)
	}
	switch reply {
	case YesHere:
		if folder := folderOfNote(q.Path); !q.Destructive && folder != "" {
			_ = g.consent.standing.Grant(standing, folder, time.Now().Add(standingYes)) // a yes to this call it is anyway
		}
		return nil
	case Yes:
		return nil
	case No:
		return refuse(codeUnconfirmed, "ask the person what they want instead", "command %q: the person did not say yes", q.Command)
	case Later:
		return refuse(codeUnconfirmed, "send the call again with the answer of the person", "command %q: the person is being asked", q.Command)
	}
	if pending.State == approvals.Pending {
		return waiting(q, pending.Question)
	}
	return g.leaveQuestion(vault, q, caller, req, refusal)
}

// redeem takes a yes that was given in a terminal. Without one it says what
// became of the question; an error is the answer to the call.
func (g *door) redeem(vault string, q Question, caller string) (*approvals.Ungranted, error) {
	if g.consent.desk == nil {
		return &approvals.Ungranted{}, nil
	}
	grant, err := g.consent.desk.Redeem(vault, q.Digest, caller)
	var ungranted *approvals.Ungranted
	switch {
	case err == nil && grant.Valid():
		return nil, nil
	case errors.As(err, &ungranted) && ungranted.State == approvals.Denied:
		return nil, refuse(codeUnconfirmed, "ask the person what they want instead", "command %q: the person said no", q.Command)
	case errors.As(err, &ungranted):
		return ungranted, nil
	}
	return nil, refuse(codeUnconfirmed, `"vaultwicket approvals" says more`, "command %q: the answers of the person cannot be read: %v", q.Command, err)
}

// leaveQuestion puts a question where a person finds it in a terminal.
func (g *door) leaveQuestion(vault string, q Question, caller string, req Request, refusal error) error {
	if g.consent.desk == nil {
		return refusal
	}
	asked, err := g.consent.desk.Ask(approvals.Question{
		Session: caller, Client: clean.Line(clip(req.Client)), Vault: clean.Line(vault), Command: q.Command, Text: q.Text, Digest: q.Digest,
	})
	if err != nil {
		return refuse(codeUnconfirmed, errorOf(refusal).Hint, "command %q: nobody can be asked: %v", q.Command, err)
	}
	return waiting(q, asked.Code)
}

func waiting(q Question, code string) error {
	return refuse(codeUnconfirmed,
		fmt.Sprintf("a person can allow it in a terminal with \"vaultwicket approve %s\"; then send the same call again", code),
		"command %q needs the yes of a person", q.Command)
}

// question makes the question about a plan. before is the hash of the note that
// the plan starts from, "" if it is not known. An error is the answer to the
// call: nobody is asked about one that would fail.
func (g *door) question(ctx context.Context, req Request, plan Plan) (q Question, before string, err error) {
	call := plan.call
	q = Question{
		Vault: g.name(), Command: call.Name(), Caller: req.Caller,
		Destructive: call.Effect().WorseThan(tiers.Writes),
	}
	var files []PlannedFile
	shown := ""
	if own := g.keeper(); own != nil && len(plan.routes) > 0 && plan.routes[0].changesNotes() {
		r := plan.routes[0]
		planned, failure, err := g.planned(ctx, r, *own)
		switch {
		case err != nil:
			return q, "", err
		case failure != nil && failure.Code() != codeNeedsApp:
			return q, "", failure
		}
		files, shown = planned.Files, planned.Diff
	}
	if len(files) > 0 {
		q.Path, before = files[0].Path, files[0].Before
	} else if spelled := call.Spells(); len(spelled) > 0 {
		q.Path = spelled[0].Path
	}
	q.Text = questionText(q, plan, files, shown)
	q.Digest = digestOfQuestion(plan, req.Caller, files)
	return q, before, nil
}

// planned has the embedded program work out what a call would change.
func (g *door) planned(ctx context.Context, r route, own exec.Program) (plannedChange, *exec.Failure, error) {
	out, err := g.runner.Run(ctx, r.preview, own.Acting(exec.Manner{Task: exec.Plan, Expect: r.expect}))
	if err != nil || out.Failure != nil {
		return plannedChange{}, out.Failure, err
	}
	return readPlanned(out.Stdout), nil, nil
}

// How much a person is shown before they decide. More is not read.
const (
	maxShownLines = 24
	maxShownBytes = 2 << 10
	maxShownFiles = 8
)

// questionText writes a question. Everything that did not come from us stands
// in quotation marks on one line, or behind bars.
func questionText(q Question, plan Plan, files []PlannedFile, diff string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %q in the vault %s?\n", q.Command, quoted(cmp.Or(q.Vault, "of the app")))
	fmt.Fprintf(&b, "It %s.\n", whatItDoes(plan.call.Effect()))
	for i, f := range files {
		if i == maxShownFiles {
			fmt.Fprintf(&b, "and %d more files\n", len(files)-i)
			break
		}
		b.WriteString(f.line() + "\n")
	}
	if len(files) == 0 && q.Path != "" {
		fmt.Fprintf(&b, "path: %s\n", quoted(q.Path))
	}
	params := plan.call.Params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := plan.call.Param(name)
		switch {
		case value == "":
			fmt.Fprintf(&b, "%s\n", name)
		case value == q.Path:
		case len(value) > 80 || strings.ContainsAny(value, "\r\n"):
			fmt.Fprintf(&b, "%s: %d bytes\n", name, len(value))
			if diff == "" {
				b.WriteString(clean.Excerpt(value, maxShownLines, maxShownBytes))
			}
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, quoted(value))
		}
	}
	if diff != "" {
		b.WriteString(clean.Excerpt(diff, maxShownLines, maxShownBytes))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f PlannedFile) line() string {
	switch {
	case f.From != "":
		return fmt.Sprintf("moves: %s to %s", quoted(f.From), quoted(f.Path))
	case f.Before == "":
		return "makes: " + quoted(f.Path)
	case f.After == "":
		return "removes: " + quoted(f.Path)
	}
	return "changes: " + quoted(f.Path)
}

func whatItDoes(e tiers.Effect) string {
	switch e {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "removes or replaces what is there"
	case tiers.Publishes:
		return "changes what is published"
	}
	return "changes the app"
}

// quoted shows a name or a short value on one line.
func quoted(s string) string { return `"` + strings.ReplaceAll(clean.Line(clip(s)), `"`, `'`) + `"` }

// digestOfQuestion binds a yes to the call, to who asked, and to the notes as
// they are: after another change the person has to be shown it again.
func digestOfQuestion(plan Plan, caller string, files []PlannedFile) [sha256.Size]byte {
	hash := sha256.New()
	call := digestOf(plan)
	fmt.Fprintf(hash, "question;%x;%d:%s;", call, len(caller), caller)
	for _, r := range plan.routes {
		fmt.Fprintf(hash, "%d:%s;%d:%s;", len(r.program.Backend()), r.program.Backend(), len(r.call.Vault()), r.call.Vault())
	}
	for _, f := range files {
		fmt.Fprintf(hash, "%d:%s;%d:%s;%s;", len(f.Path), f.Path, len(f.From), f.From, f.Before)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// folderOfNote returns the folder of a note, "" for one in the root: a yes for
// the root would be one for everything.
func folderOfNote(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

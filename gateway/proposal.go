package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// A proposal is a batch that an agent plans and leaves for the owner. It is planned like a dry run. What the owner
// accepts of it is carried out like an atomic batch: checked against the policy again, rehearsed, and applied as one
// change, provided that the notes are as they were shown. The process in which the owner decides carries it out; that
// of the agent may have ended.

// Proposed is the answer to a proposed batch.
type Proposed struct {
	OK       bool                  `json:"ok"` // the proposal waits for the user; otherwise see Error
	Proposal *ProposalReceipt      `json:"proposal,omitempty"`
	Files    []consent.PlannedFile `json:"files,omitempty"` // the files that would change, as in [DryRun]
	Notices  []string              `json:"notices,omitempty"`
	ClientID string                `json:"clientId,omitempty"` // the operation that Error is about, "" for the batch
	Command  string                `json:"command,omitempty"`  // the command of that operation
	Error    *failure.Error        `json:"error,omitempty"`
}

// ProposalReceipt is what an agent learns about its proposal.
type ProposalReceipt struct {
	ID         string              `json:"id"`
	Expires    time.Time           `json:"expires"`
	Ways       []string            `json:"ways"`            // ways to reach the user, such as "page" and "terminal"
	Operations int                 `json:"operations"`      // number of operations
	Needs      map[string][]string `json:"needs,omitempty"` // the operations that an operation depends on, by name
}

// RejectProposal returns the answer to a batch that cannot be proposed, see [RejectBatch].
func RejectProposal(clientID string, err error) Proposed {
	refused := RejectBatch(clientID, err)
	return Proposed{ClientID: refused.ClientID, Error: refused.Error}
}

// ProposeBatch plans all operations of a batch as an atomic one, and leaves them for the owner as one proposal.
// Nothing is changed, and the user is not asked now. replaces is the id of an earlier proposal of the same agent, ""
// for a new one; a batch without operations then takes those of that proposal, planned again. What the policy denies
// is refused immediately.
func (g *Gateway) ProposeBatch(ctx context.Context, b Batch, replaces string) (p Proposed) {
	if b.Taken.IsZero() {
		b.Taken = time.Now()
	}
	b.Caller = g.ofAgent(b.Caller)
	b.Command = telemetry.BatchCommand
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.OnlyPlanned, telemetry.BatchCommand, b.Surface, g.agent)
	defer func() { observed.Ended(telemetry.CallOutcome{OK: p.OK, Error: p.Error}) }()
	var err error
	fault := g.guard(telemetry.BatchCommand, func() {
		var at *vaultGateway
		if at, err = g.vaultNamed(b.Vault); err == nil {
			p = at.propose(ctx, b, replaces)
		}
	})
	if err = cmp.Or(fault, err); err != nil {
		return RejectProposal("", err)
	}
	return p
}

// propose is [Gateway.ProposeBatch] in one vault.
func (g *vaultGateway) propose(ctx context.Context, b Batch, replaces string) Proposed {
	refuse := func(clientID string, err error) Proposed {
		refused := g.refuseBatch(ctx, b, clientID, err)
		return Proposed{ClientID: refused.ClientID, Command: refused.Command, Error: refused.Error}
	}
	if err := g.admission.Open(); err != nil {
		return refuse("", err)
	}
	ctx, end := g.admission.Follow(ctx, g.rules.Ended)
	defer end()
	if g.proposals == nil {
		return refuse("", errNoPlaceForProposals())
	}
	if b.IdempotencyKey != "" {
		return refuse("", failure.New(failure.CodeBadRequest, "leave it out", "a proposal takes no idempotencyKey: nothing is made"))
	}
	if replaces != "" {
		before, operations, err := g.earlierProposal(b, replaces)
		if err != nil {
			return refuse("", err)
		}
		if len(b.Operations) == 0 {
			b.Operations = operations
		}
		b.flowed = g.flowsOf(before) // what the earlier session had read still counts
	}
	b.flowed = joinFlows(b.flowed, g.flows.recent(time.Now()))
	id := cmp.Or(replaces, consent.NewProposalID())
	if err := g.admission.Batch(g.accountOf(b.Caller), len(b.Operations), 0); err != nil {
		return refuse("", err)
	}
	d, clientID, err := g.draft(ctx, b, id)
	if err != nil {
		return refuse(clientID, err)
	}
	head, body, err := g.proposalOf(d, b)
	if err != nil {
		return refuse("", err)
	}
	head.ID = id
	var stored consent.Proposal
	if replaces == "" {
		stored, err = g.proposals.Keep(head, body, consent.NewCode)
	} else {
		stored, err = g.proposals.Replace(g.proposer(b.Request), head, body, consent.NewCode)
	}
	if err != nil {
		return refuse("", proposalError(err))
	}
	g.consent.Announce(g.requester(b.Request), d.question)
	return g.receipt(d, stored)
}

// Marked returns the answer with text of notes marked in its sentences.
func (p Proposed) Marked() Proposed {
	p.Notices, p.Error = markedSentences(p.Notices, p.Error)
	return p
}

func errNoPlaceForProposals() error {
	return failure.New(
		failure.CodeState,
		"the user can set XDG_STATE_HOME to a folder outside of the vault",
		"no folder for proposals outside the vault",
	)
}

// proposer identifies the sender of a request for the store of proposals.
func (g *vaultGateway) proposer(req Request) consent.ProposalHolder {
	h := consent.ProposalHolder{Caller: g.callerOf(req), Identity: g.identity()}
	if g.agent != "" {
		h.Generation = g.admission.Generation()
	}
	return h
}

// earlierProposal returns a proposal of the sender of b, with its operations.
func (g *vaultGateway) earlierProposal(b Batch, id string) (before consent.Proposal, operations []Operation, err error) {
	list, err := g.proposals.Of(g.proposer(b.Request))
	if err != nil {
		return before, nil, proposalError(err)
	}
	i := slices.IndexFunc(list, func(p consent.Proposal) bool { return p.ID == id })
	if i < 0 {
		return before, nil, proposalError(&consent.UnknownProposal{What: id})
	}
	before = list[i]
	body, err := g.proposals.Body(before)
	if err != nil {
		return before, nil, proposalError(err)
	}
	return before, operationsOf(body.Calls, nil), nil
}

// flowsOf returns what the session that made a proposal had read under flow rules, with today's version of those
// rules.
func (g *vaultGateway) flowsOf(p consent.Proposal) (reads []flowRead) {
	for _, flow := range p.Flows {
		reads = append(reads, flowRead{g.flowRule(flow.Rule), flow.Note, flow.Vault, time.Now()})
	}
	return reads
}

// joinFlows adds to reads those of others whose rule and vault reads does not have yet.
func joinFlows(reads, others []flowRead) []flowRead {
	for _, other := range others {
		isSame := func(r flowRead) bool { return r.rule.Name == other.rule.Name && r.vault == other.vault }
		if !slices.ContainsFunc(reads, isSame) {
			reads = append(reads, other)
		}
	}
	return reads
}

// proposalError turns an error of the proposal store into one for the agent or the owner.
func proposalError(err error) error {
	var answered *consent.AnsweredProposal
	var replaced *consent.ReplacedProposal
	var unknown *consent.UnknownProposal
	var damaged *consent.DamagedProposal
	var refused *consent.RefusedProposal
	var repeated *consent.RepeatedProposal
	var invalid *consent.InvalidProposal
	var busy *consent.ProposalBusy
	switch {
	case errors.As(err, &answered):
		return failure.New(failure.CodeConflict, "the command approvals says what became of it", "%v", err)
	case errors.As(err, &replaced):
		return failure.New(failure.CodeConflict, "look at it again", "%v", err)
	case errors.As(err, &unknown), errors.As(err, &damaged):
		return failure.New(failure.CodeNotFound, "the command approvals lists those that wait", "no such proposal")
	case errors.As(err, &refused):
		return failure.New(
			failure.CodeUnconfirmed,
			"wait until the user has decided; the command approvals lists yours, and withdraws those that are not needed",
			"%v", err,
		)
	case errors.As(err, &repeated):
		return failure.New(
			failure.CodeUnconfirmed, "ask the user what they want instead", "%v less than ten minutes ago", err,
		).Declined()
	case errors.As(err, &invalid):
		return failure.New(failure.CodeBadRequest, "make it several proposals", "%v", err)
	case errors.As(err, &busy):
		return failure.New(failure.CodeConflict, "try again when it is done", "%v", err)
	}
	return failure.New(
		failure.CodeState, `the user can see more with "vaultwicket doctor"`, "the proposals cannot be read or written: %s",
		excerpt.Reason(err),
	)
}

// draft is the plan of a proposal, or of a part of one.
type draft struct {
	plan     *batchPlan
	whole    *plannedChange   // what all operations change together
	question consent.Question // the question about the proposal
	each     []consent.Question
	needs    [][]int // for each operation the indexes of those that it needs, for the owner
	visible  [][]int // the same, for the agent, without hidden files
}

// draft plans the operations of a proposal. With an error it returns the operation that the error is about, "" for
// the batch.
func (g *vaultGateway) draft(ctx context.Context, b Batch, id string) (d *draft, clientID string, err error) {
	b.Atomic = true
	b.Operations = slices.Clone(b.Operations)
	for i := range b.Operations {
		b.Operations[i].Request = b.Operations[i].withOneLimit()
	}
	plan, clientID, err := g.planBatch(b)
	if err != nil {
		return nil, clientID, err
	}
	if clientID, err := plan.checkProposable(); err != nil {
		return nil, clientID, err
	}
	plan.proposal = id
	ctx, cancel := g.admission.WithDeadline(ctx, b.Taken, 0)
	defer cancel()
	r := g.newRehearsal(ctx, plan)
	defer r.planning.drop(ctx, g)
	if i, err := r.rehearseAll(); err != nil {
		return nil, plan.steps[i].ClientID, err
	}
	d = &draft{plan: plan}
	if d.whole, err = r.planning.sum(ctx, g); err != nil {
		return nil, "", err
	}
	if clientID, err := g.judgeChanges(plan); err != nil {
		return nil, clientID, err
	}
	if err := plan.failure; err != nil { // its message names the operation
		return nil, "", err
	}
	for _, step := range plan.steps {
		if !step.plan.call.Effect().Mutates() {
			continue
		}
		if err := step.checkKnown(); err != nil {
			return nil, step.ClientID, err
		}
		change := step.plan.change
		if change == nil {
			return nil, step.ClientID, errNotPlanned(step.Command)
		}
		if change.failure != nil {
			return nil, step.ClientID, change.failure
		}
	}
	if d.whole == nil || d.whole.Nothing {
		return nil, "", failure.New(failure.CodeBadRequest, "there is nothing to propose", "the operations would change nothing")
	}
	if d.question, d.each, err = g.questionOfBatch(ctx, plan); err != nil {
		return nil, "", err
	}
	d.needs = r.needsOf(func(string) bool { return true })
	d.visible = r.needsOf(g.rules.Visible())
	g.fillQuestion(r, d)
	if d.question.Unshown != "" {
		return nil, "", failure.New(
			failure.CodeUnconfirmed, "make it several proposals that change less each",
			"the user cannot be shown all of the proposal: %s", d.question.Unshown,
		)
	}
	return d, "", nil
}

// checkProposable returns an error if the batch changes nothing, or if it is not known in advance what one of its
// operations does.
func (p *batchPlan) checkProposable() (clientID string, err error) {
	if !p.mutates() {
		return "", failure.New(failure.CodeBadRequest, "leave propose out", "the operations only read, so there is nothing to propose")
	}
	if p.planned < len(p.steps) {
		return p.steps[p.planned].ClientID, errNotPlanned(p.steps[p.planned].Command)
	}
	return "", nil
}

func errNotPlanned(command string) error {
	return failure.New(
		failure.CodeBadRequest, "leave it out, and send it alone",
		"command %q cannot be proposed: what it does is known only when it is done", excerpt.Short(command),
	)
}

// fillQuestion completes the question with what the owner is shown.
func (g *vaultGateway) fillQuestion(r *rehearsal, d *draft) {
	questions := map[string]*consent.Question{}
	for i, step := range d.plan.asked() {
		questions[step.ClientID] = &d.each[i]
	}
	isPermanent := false
	var operations []consent.ProposedOperation
	for i, step := range d.plan.steps {
		_, permanent := step.plan.call.Param("permanent")
		isPermanent = isPermanent || permanent
		path := r.results[i].Path
		if named := step.plan.call.NamedPaths(); path == "" && len(named) > 0 {
			path = named[0].Path
		}
		o := consent.ProposedOperation{
			Name:    step.ClientID,
			Command: step.plan.call.Name(),
			Path:    path,
			Asked:   questions[step.ClientID],
		}
		for _, need := range d.needs[i] {
			o.Needs = append(o.Needs, d.plan.steps[need].ClientID)
		}
		operations = append(operations, o)
	}
	d.question.Files = d.whole.files()
	d.question.Rest = d.whole.Rest
	d.question.Propose(operations, d.whole.changes(), isPermanent)
}

// proposalOf returns a draft in the form in which the store keeps it.
func (g *vaultGateway) proposalOf(d *draft, b Batch) (p consent.Proposal, body consent.ProposalBody, err error) {
	p = consent.Proposal{
		Sent:        hex.EncodeToString(d.plan.sent[:]),
		Caller:      g.callerOf(b.Request),
		Client:      sanitize.Line(excerpt.Short(b.Client)),
		Vault:       sanitize.Line(cmp.Or(g.name(), "the app's choice")),
		Identity:    g.identity(),
		Folder:      g.target().Folder,
		Text:        d.question.Text,
		Destructive: d.question.Destructive,
		Before:      d.plan.boundFiles(),
	}
	if g.agent != "" {
		p.Generation = g.admission.Generation()
	}
	for _, read := range b.flowed {
		p.Flows = append(p.Flows, consent.ProposalFlow{Rule: read.rule.Name, Note: read.note, Vault: read.vault})
	}
	if body.Lines, err = json.Marshal(d.question.Lines); err != nil {
		return p, body, err
	}
	actions := actionsOf(d.question.Lines)
	if len(actions) < len(d.plan.steps) {
		return p, body, fmt.Errorf("only %d of %d operations are shown", len(actions), len(d.plan.steps))
	}
	for i, step := range d.plan.steps {
		o := consent.ProposalOperation{
			ClientID: step.ClientID,
			Command:  step.plan.call.Name(),
			Act:      actions[i],
			Changes:  step.plan.call.Effect().Mutates(),
			Needs:    d.needs[i],
		}
		for _, f := range step.plan.change.files() {
			o.Paths = append(o.Paths, f.Path)
		}
		p.Operations = append(p.Operations, o)
		body.Calls = append(body.Calls, callOf(step.Operation))
	}
	return p, body, nil
}

// actionsOf returns what each operation does, one line each, from the lines that show the operations.
func actionsOf(lines []consent.Line) (actions []string) {
	for i, l := range lines {
		if i > 0 && l.Kind == consent.Act {
			actions = append(actions, l.Text)
		}
	}
	return actions
}

// callOf returns an operation in the form in which the store keeps it.
func callOf(o Operation) consent.ProposalCall {
	c := consent.ProposalCall{ClientID: o.ClientID, Command: o.Command, Params: o.Params, ExpectHash: o.ExpectHash}
	for key, ref := range o.From {
		if c.From == nil {
			c.From = map[string]consent.ProposalField{}
		}
		c.From[key] = consent.ProposalField(ref)
	}
	if o.HashFrom != (Reference{}) {
		from := consent.ProposalField(o.HashFrom)
		c.HashFrom = &from
	}
	return c
}

// operationsOf returns the operations at the chosen indexes; all if chosen is nil.
func operationsOf(calls []consent.ProposalCall, chosen []int) (operations []Operation) {
	for i, c := range calls {
		if chosen != nil && !slices.Contains(chosen, i) {
			continue
		}
		request := Request{Command: c.Command, Params: maps.Clone(c.Params), ExpectHash: c.ExpectHash}
		o := Operation{ClientID: c.ClientID, Request: request}
		for key, from := range c.From {
			if o.From == nil {
				o.From = map[string]Reference{}
			}
			o.From[key] = Reference(from)
		}
		if c.HashFrom != nil {
			o.HashFrom = Reference(*c.HashFrom)
		}
		operations = append(operations, o)
	}
	return operations
}

// receipt returns what the agent learns about its proposal.
func (g *vaultGateway) receipt(d *draft, p consent.Proposal) Proposed {
	answer := Proposed{OK: true, Proposal: &ProposalReceipt{
		ID:         p.ID,
		Expires:    p.Expires.UTC().Truncate(time.Second),
		Ways:       []string{"page", "terminal"},
		Operations: len(p.Operations),
	}}
	for i, needs := range d.visible {
		for _, need := range needs {
			if answer.Proposal.Needs == nil {
				answer.Proposal.Needs = map[string][]string{}
			}
			name := d.plan.steps[i].ClientID
			answer.Proposal.Needs[name] = append(answer.Proposal.Needs[name], d.plan.steps[need].ClientID)
		}
	}
	isVisible := g.rules.Visible()
	for _, f := range d.whole.files() {
		if isVisible(f.Path) && len(answer.Files) < maxFilesOfAgent {
			answer.Files = append(answer.Files, f)
		}
	}
	answer.Notices = []string{
		"nothing is changed: the user takes all of it, some operations, or none; the command approvals says what became of it",
	}
	return answer
}

// changedSince returns the files that a proposal depends on and that have changed since, sorted.
func (g *vaultGateway) changedSince(p consent.Proposal) (changed []string) {
	folder := g.target().Folder
	for _, path := range slices.Sorted(maps.Keys(p.Before)) {
		if hex.EncodeToString([]byte(HashOfNote(folder, path))) != p.Before[path] {
			changed = append(changed, path)
		}
	}
	return changed
}

// describeProposals returns the proposals of the sender of a request as text for the agent, one per line: the state
// of each, and which of the notes that it may see have changed since.
func (g *vaultGateway) describeProposals(req Request) (string, error) {
	if !g.proposals.MayHave() {
		return "", nil
	}
	h := g.proposer(req)
	list, err := g.proposals.Of(h)
	if err != nil {
		return "", proposalError(err)
	}
	if slices.ContainsFunc(list, func(p consent.Proposal) bool { return p.State == consent.ProposalMaking }) {
		g.proposals.Recover(list, g.wasTaken)
		if list, err = g.proposals.Of(h); err != nil {
			return "", proposalError(err)
		}
	}
	isVisible := g.rules.Visible()
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "proposal %s\t%s\t%s", p.ID, p.State, sanitize.Counted(len(p.Operations), "operation"))
		switch p.State {
		case consent.ProposalOpen:
			fmt.Fprintf(&b, "\tuntil %s", p.Expires.Local().Format(time.DateTime))
			changed := slices.DeleteFunc(g.changedSince(p), func(path string) bool { return !isVisible(path) })
			if len(changed) > 0 {
				b.WriteString("\tchanged since: " + joinNames(changed) + "; propose it again with its id")
			}
		case consent.ProposalTaken:
			taken, left := p.Names()
			b.WriteString("\ttaken: " + joinNames(taken))
			if len(left) > 0 {
				b.WriteString("\tdeclined: " + joinNames(left))
			}
		}
		if p.Says != "" {
			b.WriteString("\tthe user says: " + excerpt.Quoted(p.Says))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// maxNamed is the maximum number of notes or operations that are named in one line.
const maxNamed = 100

// joinNames joins up to maxNamed names, and says how many more there are.
func joinNames(names []string) string {
	head := names[:min(len(names), maxNamed)]
	shown := make([]string, 0, len(head))
	for _, name := range head {
		shown = append(shown, sanitize.Line(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// withdrawProposal withdraws waiting proposals of the sender of a request: the one with the given id, or all of them
// if wanted is "all". It returns one line for each.
func (g *vaultGateway) withdrawProposal(req Request, wanted string) (string, error) {
	if !g.proposals.MayHave() {
		return "", nil
	}
	list, err := g.proposals.Of(g.proposer(req))
	if err != nil {
		return "", proposalError(err)
	}
	var b strings.Builder
	for _, p := range list {
		isWanted := wanted == p.ID || wanted == "all" && p.State == consent.ProposalOpen
		if !isWanted {
			continue
		}
		_, err := g.proposals.Withdraw(g.proposer(req), p.ID)
		if wanted == "all" && wasDecided(err) {
			continue // it was decided after it was listed
		}
		if err != nil {
			return "", proposalError(err)
		}
		consent.LogProposal(ownerfiles.StateFolder(g.getenv, ""), p, "withdraw", "agent", g.session)
		fmt.Fprintf(&b, "Withdrawn: %s\t%s\n", p.ID, sanitize.Counted(len(p.Operations), "operation"))
	}
	return b.String(), nil
}

// wasDecided reports whether an error says that a proposal does not wait any more.
func wasDecided(err error) bool {
	var answered *consent.AnsweredProposal
	var unknown *consent.UnknownProposal
	return errors.As(err, &answered) || errors.As(err, &unknown)
}

// ProposalLines returns everything that the owner was shown of a proposal when it was made. The errors are those of
// [consent.Proposals.Body].
func ProposalLines(store *consent.Proposals, p consent.Proposal) (lines []consent.Line, err error) {
	body, err := store.Body(p)
	if err != nil {
		return nil, err
	}
	return lines, json.Unmarshal(body.Lines, &lines)
}

// WhoProposes returns who made a proposal, in words for the owner.
func WhoProposes(p consent.Proposal) string {
	switch agent := p.Agent(); {
	case agent != "":
		return "the agent " + agent
	case ownerfiles.SessionOf(p.Caller) == consent.Terminal:
		return "your terminal"
	case p.Client != "":
		return "a client that calls itself " + excerpt.Quoted(p.Client)
	}
	return "a client without a name"
}

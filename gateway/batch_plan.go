package gateway

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

const (
	maxClientID   = 64  // bytes; it is a short name that messages repeat
	minShare      = 128 // bytes of output; enough for a confirmation
	shareOverhead = 200 // bytes of the answer around each output, which the caller has to read, too
)

// batchPlan is a batch with the plans of its operations.
type batchPlan struct {
	batch    Batch
	steps    []batchStep
	share    int                // maximum bytes of output for each operation, 0 for no limit
	approved []consent.Question // the approved questions about operations, nil before the user has approved
	id       string             // of the batch in the journal
	planned  int                // how many operations are planned before they are made; the app carries out the rest
	isBegun  bool
	use      *consent.GrantUse // the use of the grant that answers all questions about the batch, nil for none
	// reads is what the operations read under flow rules. planning is nil if the operations are made one by one.
	reads    batchReads
	planning *planning
	// sent is the digest of the batch as it was sent, before values of results are known.
	sent [sha256.Size]byte
	// before has the hashes, in hexadecimal, of the files that the operations concern, by path, before the batch.
	before map[string]string
	// approvedFiles has the hashes of the files that the approved operations depend on, see [batchPlan.boundFiles].
	approvedFiles map[string]string
	// proposal is the id of the proposal that the batch applies, "" for none. In a proposal every change needs
	// approval.
	proposal string
	// failure is why an atomic batch would fail, nil if no reason is known.
	failure error
}

// batchStep is an operation of a batch with its plan.
type batchStep struct {
	Operation
	// plan has placeholders for values that are taken from results. Its refusal is set if the operation requires
	// approval.
	plan         Plan
	outputWanted bool // a later operation refers to its output
	// resolved is the request with the values of earlier results, as they were when the batch was rehearsed. It is
	// nil if the operation takes no values, or if they are not known.
	resolved *Request
	// origins are the paths before the batch of the files that the operation concerns.
	origins []string
	// unknown is why it is not known what the operation will do, nil if it is known.
	unknown error
	// approved is the question about the operation that the user approved, nil if the operation needs no approval.
	approved *consent.Question
	// record is the audit record of an operation that the user was asked about, nil for other operations.
	record     *audit.Record
	isRecorded bool // the record is ended, or will be
}

// checkKnown returns an error if the user cannot be shown what the operation will do.
func (s batchStep) checkKnown() error {
	if s.unknown == nil && len(s.references()) > 0 && s.resolved == nil {
		return s.errUnknownValue()
	}
	return s.unknown
}

// errUnknownValue returns the error for an operation that takes a value that is only known once the batch is made.
func (s batchStep) errUnknownValue() error {
	return failure.New(
		failure.CodeUnconfirmed,
		"send it alone, with the value itself",
		"operation %q requires user approval, and the user cannot be shown what it takes from another one",
		excerpt.Short(s.ClientID),
	)
}

// asked returns the operations that require approval.
func (p *batchPlan) asked() (steps []*batchStep) {
	for i := range p.steps {
		isProposed := p.proposal != "" && p.steps[i].plan.call.Effect().Mutates()
		if p.steps[i].plan.refusal != nil || isProposed {
			steps = append(steps, &p.steps[i])
		}
	}
	return steps
}

// BatchChanges reports whether an operation of b would change something, whether or not it is allowed.
func (g *Gateway) BatchChanges(b Batch) bool { return b.changes() }

// changes reports whether an operation would change something.
func (b Batch) changes() bool {
	return slices.ContainsFunc(b.Operations, func(o Operation) bool {
		request, err := o.withPlaceholders()
		return err == nil && request.changes()
	})
}

// LacksScope returns the scope that the access token of b lacks for its operations, ScopeNone if they are all
// allowed or denied for other reasons.
func (g *Gateway) LacksScope(b Batch) (lacks policy.Scope) {
	for _, o := range b.Operations {
		request, err := o.withPlaceholders()
		request.Vault = b.Vault
		var denial *policy.Denial
		if err == nil && errors.As(g.Permits(request), &denial) {
			lacks = max(lacks, denial.Scope)
		}
	}
	return lacks
}

// planBatch judges all operations. With an error it returns the operation that the error is about, "" for the batch.
func (g *vaultGateway) planBatch(b Batch) (plan *batchPlan, clientID string, err error) {
	if plan, clientID, err = g.newBatchPlan(b); err != nil {
		return nil, clientID, err
	}
	for i := range plan.steps {
		if err = g.decideStep(plan, i); err != nil && !needsApproval(err) {
			return nil, plan.steps[i].ClientID, err
		}
	}
	if clientID, err = g.joinOperations(plan); err != nil {
		return nil, clientID, err
	}
	return plan, "", nil
}

// checkOperation returns an error if the name or a reference of operation i is malformed.
func (p *batchPlan) checkOperation(i int) error {
	o := p.steps[i].Operation
	switch {
	case o.ClientID == "":
		return failure.New(
			failure.CodeBadRequest,
			"give every operation a short name",
			"operation %d of the batch has no clientId",
			i+1,
		)
	case len(o.ClientID) > maxClientID:
		return failure.New(
			failure.CodeBadRequest,
			fmt.Sprintf("use at most %d bytes", maxClientID),
			"the clientId is %d bytes long",
			len(o.ClientID),
		)
	case p.find(o.ClientID, i) >= 0:
		return failure.New(
			failure.CodeBadRequest,
			"give every operation a name of its own",
			"duplicate clientId in the batch",
		)
	}
	if err := p.batch.refuseLiteralReferences(o); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(o.From)) {
		if err := p.checkReference("parameter "+key, o.From[key], i); err != nil {
			return err
		}
	}
	if o.HashFrom != (Reference{}) {
		return p.checkReference("expectHash", o.HashFrom, i)
	}
	return nil
}

// newBatchPlan returns the plan of a batch on which nothing is decided yet. The error is that of a malformed batch.
func (g *vaultGateway) newBatchPlan(b Batch) (plan *batchPlan, clientID string, err error) {
	if n := len(b.Operations); n == 0 || n > MaxOperations {
		return nil, "", failure.New(
			failure.CodeBadRequest,
			fmt.Sprintf("send 1 to %d", MaxOperations),
			"a batch of %s",
			sanitize.Counted(n, "operation"),
		)
	}
	plan = &batchPlan{batch: b, id: journal.NewID(time.Now()), steps: make([]batchStep, len(b.Operations))}
	if b.MaxOutput > 0 {
		plan.share = max(b.MaxOutput/len(b.Operations)-shareOverhead, minShare)
	}
	for i, o := range b.Operations {
		plan.steps[i].Operation = o
		if err := plan.checkOperation(i); err != nil {
			return nil, o.ClientID, err
		}
	}
	plan.reads = g.readsOf(b)
	plan.reads.read = append(plan.reads.read, b.flowed...)
	if b.Atomic && g.embeddedProgram() != nil && b.changes() {
		plan.planning = &planning{} // empty, but it makes the decisions be about the programs that will plan
	}
	return plan, "", nil
}

// readsOf returns what the operations of a batch read under flow rules. All of it counts as read before every change.
func (g *vaultGateway) readsOf(b Batch) (reads batchReads) {
	for _, o := range b.Operations {
		request, err := o.withPlaceholders()
		if err != nil {
			continue
		}
		call, err := request.parse()
		if err != nil {
			continue
		}
		if takesNotes(call) {
			reads.taken = append(reads.taken, g.flowReads(g.rules.Policy(), call, readsNamed, Result{})...)
		}
		if call.Effect() == tiers.Reads || len(o.From) > 0 {
			if len(o.From) > 0 { // which note it reads is not known yet; the zero call stands for any note
				call = allowlist.Call{}
			}
			reads.read = append(reads.read, g.flowReads(g.rules.Policy(), call, readsAny, Result{})...)
		}
	}
	return reads
}

// decideStep judges operation i, with placeholders for the values that it takes from results.
func (g *vaultGateway) decideStep(p *batchPlan, i int) error {
	request, err := p.steps[i].withPlaceholders()
	if err != nil {
		return err
	}
	p.steps[i].plan, err = g.Plan(p.request(request))
	return err
}

// request completes a request so that it is judged together with the other operations.
func (p *batchPlan) request(r Request) Request {
	r.planning = p.planning
	r.Caller = p.batch.Caller
	r.reads = p.reads
	return r
}

// joinOperations determines how the operations are made together, once each of them is judged.
func (g *vaultGateway) joinOperations(p *batchPlan) (clientID string, err error) {
	p.sent = p.digest()
	if !p.isWhole() {
		return "", nil
	}
	if clientID, err := g.checkUndoable(p); err != nil {
		return clientID, err
	}
	return p.divide()
}

// checkReference checks a reference of operation i to an earlier one. where names the place of the reference in
// errors.
func (p *batchPlan) checkReference(where string, ref Reference, i int) error {
	from := p.find(ref.ClientID, i)
	if from < 0 {
		return failure.New(
			failure.CodeBadRequest,
			"refer to an earlier operation",
			"%s takes a field of %q, which is not an earlier operation",
			excerpt.Short(where),
			excerpt.Short(ref.ClientID),
		)
	}
	if !slices.Contains(fieldNames, ref.Field) {
		hint := "the fields are " + strings.Join(fieldNames, ", ")
		if near := excerpt.Nearest(ref.Field, fieldNames); near != "" {
			hint = fmt.Sprintf("write %q", near)
		}
		return failure.New(
			failure.CodeBadRequest,
			hint,
			"%s takes the field %q, which no result has",
			excerpt.Short(where),
			excerpt.Short(ref.Field),
		)
	}
	if ref.Field == fieldStdout {
		p.steps[from].outputWanted = true
	}
	return nil
}

// find returns the index of the operation with the given name among the first n, -1 if there is none.
func (p *batchPlan) find(clientID string, n int) int {
	return slices.IndexFunc(p.steps[:n], func(s batchStep) bool { return s.ClientID == clientID })
}

// fieldNames are the fields of a result that other operations can take.
var fieldNames = []string{"path", "hash", fieldStdout, "change.id", "vault"}

const fieldStdout = "stdout"

func (o Operation) references() []Reference {
	refs := slices.Collect(maps.Values(o.From))
	if o.HashFrom != (Reference{}) {
		refs = append(refs, o.HashFrom)
	}
	return refs
}

// withPlaceholders returns the request with a valid placeholder for every value that is not known yet. The decision
// depends on the command and on which parameters are given. It is made again with the true values.
func (o Operation) withPlaceholders() (Request, error) {
	if len(o.From) == 0 && o.HashFrom == (Reference{}) {
		return o.Request, nil
	}
	command, err := allowlist.Describe(o.Command)
	if err != nil {
		return Request{}, err
	}
	request := o.Request
	request.Params = make(allowlist.Params, len(o.Params)+len(o.From))
	maps.Copy(request.Params, o.Params)
	for key := range o.From {
		request.Params[key] = allowlist.Text("x") // Plan will refuse a parameter that the command does not have
		for _, p := range command.Params {
			if p.Name != key {
				continue
			}
			text := cmp.Or(placeholders[p.Kind], "x.md") // a path, a folder or the name of a note
			switch p.Kind {
			case "flag":
				return Request{}, failure.New(
					failure.CodeBadRequest,
					"write true or false",
					"parameter %q is a flag, which is never taken from a result",
					key,
				)
			case "choice":
				text = p.Choices[0]
			}
			request.Params[key] = allowlist.Text(text)
		}
	}
	if o.HashFrom != (Reference{}) {
		request.ExpectHash = strings.Repeat("0", 16)
	}
	return request, nil
}

// placeholders are valid parameter values by the kind of the parameter.
var placeholders = map[string]string{
	"number": "1", "age": "1", "date": "2026-11-21", "path:line": "x.md:1", "url": "https://example.org", "word": "version",
	"character": "x", "text": "x", "content": "x", "name": "x",
}

func (p *batchPlan) mutates() bool {
	return slices.ContainsFunc(p.steps, func(s batchStep) bool { return s.plan.call.Effect().Mutates() })
}

// stages groups the operations. Those of a group run concurrently, the groups one after the other. A call that
// changes something, or what the user sees, is in a group of its own.
func (p *batchPlan) stages() (stages [][]int) {
	var group []int
	closeGroup := func() {
		if len(group) > 0 {
			stages = append(stages, group)
		}
		group = nil
	}
	for i, step := range p.steps {
		isAlone := step.plan.call.Effect() != tiers.Reads || step.plan.call.Shows()
		isInGroup := func(ref Reference) bool { return slices.Contains(group, p.find(ref.ClientID, i)) }
		needsGroup := slices.ContainsFunc(step.references(), isInGroup)
		if isAlone || needsGroup || i == p.planned {
			closeGroup()
		}
		group = append(group, i)
		if isAlone {
			closeGroup()
		}
	}
	closeGroup()
	return stages
}

// resolve returns the request of operation i with the values that it takes from earlier results.
func (r *batchRun) resolve(i int) (Request, error) {
	step := r.steps[i]
	request := step.Request
	request.Params = make(allowlist.Params, len(step.Params)+len(step.From))
	maps.Copy(request.Params, step.Params)
	for _, key := range slices.Sorted(maps.Keys(step.From)) {
		text, err := r.field(step.From[key], i)
		if err != nil {
			return Request{}, err
		}
		request.Params[key] = allowlist.Text(text)
	}
	if step.HashFrom != (Reference{}) {
		var err error
		if request.ExpectHash, err = r.field(step.HashFrom, i); err != nil {
			return Request{}, err
		}
	}
	return request, nil
}

// field returns a field of an earlier result, unchanged and complete, or an error.
func (r *batchRun) field(ref Reference, i int) (text string, err error) {
	result := r.results[r.find(ref.ClientID, i)]
	switch ref.Field {
	case "path":
		text = result.Path
	case "hash":
		text = result.Hash
	case "vault":
		text = result.Vault
	case "change.id":
		if result.Change != nil {
			text = result.Change.ID
		}
	case fieldStdout:
		o := r.outputs[r.find(ref.ClientID, i)]
		switch {
		case o.bytes > int64(o.most):
			return "", failure.New(
				failure.CodeTooLong,
				fmt.Sprintf("refer to outputs of up to %d bytes in this batch, or read a part of the note", o.most),
				"the output of %q has %d bytes, which is too long to be referred to",
				excerpt.Short(ref.ClientID),
				o.bytes,
			)
		case o.gap != "":
			return "", failure.New(
				failure.CodeBadRequest,
				"ask for less",
				"the output of %q is not whole: %s",
				excerpt.Short(ref.ClientID),
				o.gap,
			)
		}
		text = strings.TrimSuffix(strings.TrimSuffix(o.text, "\n"), "\r") // without its last line break
	}
	if text == "" {
		return "", failure.New(
			failure.CodeBadRequest,
			"",
			"the result of %q has no %s",
			excerpt.Short(ref.ClientID),
			ref.Field,
		)
	}
	return text, nil
}

// digest returns a hash that differs between any two different batches, and from that of any single call.
func (p *batchPlan) digest() [sha256.Size]byte {
	hash, write := listDigest()
	write("batch", fmt.Sprint(p.batch.Atomic))
	for _, step := range p.steps {
		write(step.ClientID, step.ExpectHash, step.HashFrom.ClientID, step.HashFrom.Field)
		write(step.plan.call.Items()...)
		for _, key := range slices.Sorted(maps.Keys(step.From)) {
			write(key, step.From[key].ClientID, step.From[key].Field)
		}
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

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
	maxClientID = 64  // bytes: a name, and messages repeat it
	leastShare  = 128 // bytes of the output: enough for a confirmation
	aroundShare = 200 // bytes of an answer besides its output, which the caller has to read, too
)

// batchPlan is a batch with the plans of its operations.
type batchPlan struct {
	batch    Batch
	steps    []batchStep
	share    int                // bytes of output for each operation, 0 for any
	approved []consent.Question // about the operations that require approval, once the user gave it
	id       string             // of the batch in the journal
	planned  int                // how many operations are planned before they are made; those after them are of the app
	isBegun  bool
	use      *consent.GrantUse // of the grant that answers the questions about all of them, nil for none
	// reads are what the operations read from places of flow rules, over is nil if they are made one by one.
	reads batchReads
	over  *planning
	// sent is the digest of the batch as it was sent, before values of results are known.
	sent [sha256.Size]byte
	// before are the hashes, in hexadecimal, of files before the batch, by their paths, as far as its operations concern them.
	before map[string]string
	// approvedOn are those on which the approved operations rest, see [batchPlan.bound].
	approvedOn map[string]string
	// proposal is the id of the proposal that the batch is of, "" for none. Of one every change is asked about.
	proposal string
	// failure is why an atomic batch would fail, nil if that is not known.
	failure error
}

// batchStep is an operation that may be carried out.
type batchStep struct {
	Operation
	// plan has a placeholder for every value that is taken from a result. It has a refusal if
	// the operation requires approval.
	plan   Plan
	wanted bool // a later operation refers to its output
	// resolved has the values of earlier results, as they were when the batch was rehearsed; nil for an operation that takes
	// none, or of which they are not known.
	resolved *Request
	// origins are where the files that it concerns were before the batch.
	origins []string
	// unknown is why it is not known what the operation will do, nil if it is.
	unknown error
	// approved is the question about the operation that the user approved, nil
	// for one that needs no approval.
	approved *consent.Question
	// record is that of an operation that the user was asked about, nil for another one.
	record     *audit.Record
	isRecorded bool // the record has its end, or gets it
}

// isKnown returns why the user cannot be shown what the operation will do, nil if they can.
func (s batchStep) isKnown() error {
	if s.unknown == nil && len(s.references()) > 0 && s.resolved == nil {
		return s.takesUnknown()
	}
	return s.unknown
}

// takesUnknown is the error of an operation that takes a value from another one which is not known before the batch is made.
func (s batchStep) takesUnknown() error {
	return failure.New(
		failure.CodeUnconfirmed,
		"send it alone, with the value itself",
		"operation %q requires user approval, and the user cannot be shown what it takes from another one",
		excerpt.Short(s.ClientID),
	)
}

// asked are the operations that require approval.
func (p *batchPlan) asked() (steps []*batchStep) {
	for i := range p.steps {
		isProposed := p.proposal != "" && p.steps[i].plan.call.Effect().Mutates()
		if p.steps[i].plan.refusal != nil || isProposed {
			steps = append(steps, &p.steps[i])
		}
	}
	return steps
}

// BatchChanges reports whether an operation of b would change something, whether
// it is allowed or not.
func (g *Gateway) BatchChanges(b Batch) bool { return b.changes() }

// changes reports whether an operation would change something.
func (b Batch) changes() bool {
	return slices.ContainsFunc(b.Operations, func(o Operation) bool {
		request, err := o.withPlaceholders()
		return err == nil && request.changes()
	})
}

// LacksScope returns the scope that the access token of b would need for its operations, ScopeNone
// if each is allowed, or denied for another reason.
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

// planBatch judges all operations. clientID is the operation of an error, "" for the batch.
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

// checkOperation says why an operation of a batch does not have the form of one: its name, or a reference in it.
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

// newBatchPlan returns the plan of a batch of which nothing is decided yet. The error is that of a batch that does not have the form
// of one.
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
		plan.share = max(b.MaxOutput/len(b.Operations)-aroundShare, leastShare)
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
		plan.over = &planning{} // nothing is planned yet, but the programs are those that will plan
	}
	return plan, "", nil
}

// readsOf returns what the operations of a batch read from places of flow rules: it counts before every change.
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
			if len(o.From) > 0 { // which note it is is not known yet: of the zero call it may be any
				call = allowlist.Call{}
			}
			reads.read = append(reads.read, g.flowReads(g.rules.Policy(), call, readsAny, Result{})...)
		}
	}
	return reads
}

// decideStep judges an operation, with placeholders for the values that it takes from results.
func (g *vaultGateway) decideStep(p *batchPlan, i int) error {
	request, err := p.steps[i].withPlaceholders()
	if err != nil {
		return err
	}
	p.steps[i].plan, err = g.Plan(p.request(request))
	return err
}

// request returns a request as one of an operation that is judged with the others.
func (p *batchPlan) request(r Request) Request {
	r.planning = p.over
	r.Caller = p.batch.Caller
	r.reads = p.reads
	return r
}

// joinOperations settles how the operations belong together, once each is judged.
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
		p.steps[from].wanted = true
	}
	return nil
}

// find returns the operation of that name among the first n, else -1.
func (p *batchPlan) find(clientID string, n int) int {
	return slices.IndexFunc(p.steps[:n], func(s batchStep) bool { return s.ClientID == clientID })
}

// fieldNames are the fields of a result that an operation can take.
var fieldNames = []string{"path", "hash", fieldStdout, "change.id", "vault"}

const fieldStdout = "stdout"

func (o Operation) references() []Reference {
	refs := slices.Collect(maps.Values(o.From))
	if o.HashFrom != (Reference{}) {
		refs = append(refs, o.HashFrom)
	}
	return refs
}

// withPlaceholders returns the request with a valid placeholder for every value that is not known
// yet. The decision depends on the command and on which parameters it has, and is made again with
// the true values.
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
		request.Params[key] = allowlist.Text("x") // Plan refuses a parameter that the command does not have
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

// placeholders are valid values of parameters, by their kind.
var placeholders = map[string]string{
	"number": "1", "age": "1", "date": "2026-11-21", "path:line": "x.md:1", "url": "https://example.org", "word": "version",
	"character": "x", "text": "x", "content": "x", "name": "x",
}

func (p *batchPlan) mutates() bool {
	return slices.ContainsFunc(p.steps, func(s batchStep) bool { return s.plan.call.Effect().Mutates() })
}

// stages groups the operations: those of a group run concurrently, the groups one after the other.
// A call that changes something, or what the user sees, has a group of its own.
func (p *batchPlan) stages() (stages [][]int) {
	var group []int
	closeGroup := func() {
		if len(group) > 0 {
			stages = append(stages, group)
		}
		group = nil
	}
	for i, step := range p.steps {
		alone := step.plan.call.Effect() != tiers.Reads || step.plan.call.Shows()
		if alone || i == p.planned ||
			slices.ContainsFunc(
				step.references(),
				func(ref Reference) bool { return slices.Contains(group, p.find(ref.ClientID, i)) },
			) {
			closeGroup()
		}
		group = append(group, i)
		if alone {
			closeGroup()
		}
	}
	closeGroup()
	return stages
}

// resolve returns the request of an operation with the values of earlier results.
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

// field returns a field of an earlier result, byte for byte or not at all.
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

// digest is another one for every other batch, and for every single call.
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

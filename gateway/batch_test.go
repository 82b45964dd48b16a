package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func embeddedOnly(c *Config) { c.Backend = Embedded }

func operation(id, command string, pairs ...string) Operation {
	return Operation{ClientID: id, Request: Request{Command: command, Params: params(pairs...)}}
}

// taking adds a parameter that is a field of an earlier result.
func (o Operation) taking(param, from, field string) Operation {
	refs := map[string]Reference{param: {ClientID: from, Field: field}}
	for key, ref := range o.From {
		refs[key] = ref
	}
	o.From = refs
	return o
}

// outcome writes a batch result in one line: id=status(code), then the summary.
func outcome(r BatchResult) string {
	var b strings.Builder
	for _, done := range r.Results {
		fmt.Fprintf(&b, "%s=%s", done.ClientID, done.Status)
		if done.Result != nil && done.Result.Error != nil {
			fmt.Fprintf(&b, "(%s)", done.Result.Error.Code)
		}
		if done.Undone != nil {
			fmt.Fprintf(&b, "[undone %v]", *done.Undone)
		}
		b.WriteByte(' ')
	}
	if r.Error != nil {
		fmt.Fprintf(&b, "refused %s at %q", r.Error.Code, r.ClientID)
	}
	return strings.TrimSpace(b.String())
}

const (
	createsN = `--write --change ID --facts vault=Work create path=N.md => Created: N.md\n`
	appendsN = `--write --change ID --facts vault=Work append content=x path=N.md => Appended to: N.md\n`
	readsN   = `--facts vault=Work read path=N.md => text\n`
	readsGo  = `--facts vault=Work read path=gone.md => exit 1 not_found Error: File "gone.md" not found.\n`
)

func asked(answer string) string { return strings.SplitN(answer, " => ", 2)[0] }

func TestABatch(t *testing.T) {
	t.Parallel()
	closed := func(c *Config) { c.Backend, c.Policy.Mutations = Embedded, false }
	for _, test := range []struct {
		name     string
		change   func(*Config)
		embedded []string
		batch    Batch
		want     string
		called   []string // of the embedded program
	}{
		{
			name: "with a value that is not known yet too", change: closed,
			batch: Batch{Operations: []Operation{operation("c1", "read", "path", "N.md"), operation("c2", "append", "content", "x").taking("path", "c1", "path")}},
			want:  `refused mutations_off at "c2"`,
		},
		{
			name: "a value is judged when it is known", embedded: []string{`--facts vault=Work read path=N.md => ../out\n`},
			batch:  Batch{Operations: []Operation{operation("c1", "read", "path", "N.md"), operation("c2", "read").taking("path", "c1", "stdout")}},
			want:   "c1=ok c2=error(bad_value)",
			called: []string{asked(readsN)},
		},
		{
			name: "a field that the result does not have", embedded: []string{`--facts vault=Work tags => #a\n`},
			batch:  Batch{Operations: []Operation{operation("c1", "tags"), operation("c2", "read").taking("path", "c1", "path")}},
			want:   "c1=ok c2=error(bad_request)",
			called: []string{"--facts vault=Work tags"},
		},
		{
			name:  "an unknown parameter that is taken",
			batch: Batch{Operations: []Operation{operation("c1", "tags"), operation("c2", "tags").taking("pth", "c1", "stdout")}}, want: `refused unknown_param at "c2"`,
		},
		{
			name:  "a text that looks like a reference",
			batch: Batch{Operations: []Operation{operation("a", "read", "path", "N.md"), operation("b", "append", "path", "{{a.path}}", "content", "x")}}, want: `refused bad_request at "b"`,
		},
		{name: "too much", batch: Batch{Operations: make([]Operation, MaxOperations+1)}, want: `refused bad_request at ""`},
		{name: "without a name", batch: Batch{Operations: []Operation{operation("", "tags")}}, want: `refused bad_request at ""`},
		{
			name:  "a name that stands twice",
			batch: Batch{Operations: []Operation{operation("c1", "tags"), operation("c1", "tags")}}, want: `refused bad_request at "c1"`,
		},
		{
			name:  "itself",
			batch: Batch{Operations: []Operation{operation("c1", "read").taking("path", "c1", "path")}}, want: `refused bad_request at "c1"`,
		},
		{
			name:  "an unknown field",
			batch: Batch{Operations: []Operation{operation("c1", "tags"), operation("c2", "read").taking("path", "c1", "pth")}}, want: `refused bad_request at "c2"`,
		},
		{
			name:  "a flag that is taken",
			batch: Batch{Operations: []Operation{operation("c1", "tags"), operation("c2", "create", "path", "N.md").taking("overwrite", "c1", "stdout")}}, want: `refused bad_request at "c2"`,
		},
		{
			name: "a key without a change means nothing", embedded: []string{readsN},
			batch: Batch{Request: Request{IdempotencyKey: strings.Repeat("x", 9000)}, Operations: []Operation{operation("c1", "read", "path", "N.md")}},
			want:  "c1=ok", called: []string{asked(readsN)},
		},
		{
			name: "atomic without a folder", change: func(c *Config) { c.Vault.Folder = "" },
			batch: Batch{Atomic: true, Operations: []Operation{operation("c1", "append", "path", "N.md", "content", "x")}}, want: `refused bad_request at ""`,
		},
		{
			name: "atomic with what nothing takes back", change: func(c *Config) { c.Backend = Auto },
			batch: Batch{Atomic: true, Operations: []Operation{operation("c1", "publish:remove", "path", "N.md")}}, want: `refused bad_request at "c1"`,
		},
		{
			name: "atomic without undo", change: func(c *Config) { c.Backend, c.Policy.Disable = Embedded, []string{"undo"} },
			batch: Batch{Atomic: true, Operations: []Operation{operation("c1", "append", "path", "N.md", "content", "x")}}, want: `refused command_disabled at ""`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.change == nil {
				test.change = embeddedOnly
			}
			f := newFixture(t, test.change).embedded(test.embedded...).app(versionLine)
			got := f.gateway.DoBatch(context.Background(), test.batch)
			assert.That(t, outcome(got) == test.want, "got %s, want %s\n%+v", outcome(got), test.want, got.Error)
			ok := got.Error == nil && got.Summary.OK == len(test.batch.Operations)
			assert.Equal(t, got.OK, ok, "ok %v with %s", got.OK, outcome(got))
			assert.Equal(t, len(got.Failures()) == 0, ok, "ok %v with %s", got.OK, outcome(got))
			if _, own := f.called(); test.called != nil && !slices.Equal(own, test.called) || got.Error != nil && len(own) > 0 {
				t.Errorf("called %q, want %q", own, test.called)
			}
		})
	}
}

func TestFieldsOfResultsAreTakenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly)
	conditional := operation("c2", "append", "content", "x", "path", "N.md")
	conditional.HashFrom = Reference{"c1", "hash"}
	plan, at, err := f.gateway.vaults[0].planBatch(Batch{Operations: []Operation{operation("c1", "read", "path", "N.md"), conditional}})
	require.That(t, err == nil, "%v %v", at, err)
	r := batchRun{batchPlan: plan, results: []Result{{OK: true, Hash: "0123456789abcdef"}, {}}}
	request, err := r.resolve(1)
	require.NoError(t, err)
	assert.Equal(t, request.ExpectHash, "0123456789abcdef")
	plan.steps[0].outputWanted, r.outputs = true, make([]output, 2)
	take := func(result Result) { r.results[0], r.outputs[0] = result, r.referred(0, result) }
	take(Result{OK: true, raw: "a\nb\r\n", Vault: "Work", Change: &Change{ID: "20261121T083000.000000000Z-00aa"}})
	for field, want := range map[string]string{"stdout": "a\nb", "vault": "Work", "change.id": "20261121T083000.000000000Z-00aa", "hash": "", "path": ""} {
		got, err := r.field(Reference{"c1", field}, 1)
		assert.Equal(t, got, want, "%s", field)
		assert.Equal(t, err == nil, want != "", "%s", field)
	}
	take(Result{OK: true, raw: "half", missingPart: "the rest"})
	_, err = r.field(Reference{"c1", "stdout"}, 1)
	assert.That(t, err != nil, "half an output is taken for the whole")
	take(Result{OK: true, raw: strings.Repeat("x", maxReferred)})
	got, err := r.field(Reference{"c1", "stdout"}, 1)
	require.NoError(t, err)
	assert.Equal(t, len(got), maxReferred)
	take(Result{OK: true, raw: strings.Repeat("x", maxReferred+1)})
	if _, err := r.field(Reference{"c1", "stdout"}, 1); err == nil || failure.Of(err).Code != "content_too_long" || failure.Of(err).Hint == "" || len(r.outputs[0].text) > 0 {
		t.Errorf("%v, %d bytes are kept", err, len(r.outputs[0].text))
	}
}

// However many outputs are referred to, what is kept of all of them is bounded, and
// how long each may be does not depend on the others.
func TestReferredOutputsShareTheirRoom(t *testing.T) {
	t.Parallel()
	for _, wanted := range []int{1, 8, 9, 50, MaxOperations - 1} {
		p := &batchPlan{steps: make([]batchStep, MaxOperations)}
		for i := range wanted {
			p.steps[i].outputWanted = true
		}
		most := (&batchRun{batchPlan: p}).referred(0, Result{}).most
		assert.That(t, most*wanted <= maxAllReferred, "%d outputs of %d bytes each", wanted, most)
		assert.That(t, most <= maxReferred, "%d outputs of %d bytes each", wanted, most)
		assert.That(t, most >= maxAllReferred/MaxOperations, "%d outputs of %d bytes each", wanted, most)
	}
}

// Every parameter that can be taken from a result has a stand-in that the table
// takes, and the effect of a call does not depend on which value it is.
func TestEveryParameterHasAStandIn(t *testing.T) {
	t.Parallel()
	for c := range allowlist.Commands() {
		if c.Tier == tiers.Restricted {
			continue
		}
		for _, p := range c.Params {
			o := Operation{Request: Request{Command: c.Name}, From: map[string]Reference{p.Name: {"c1", "path"}}}
			request, err := o.withPlaceholders()
			assert.That(t, (err != nil) == (p.Kind == "flag"), "%s %s: the stand-in is %q, %v", c.Name, p.Name, request.Params[p.Name].Text(), err)
			if err != nil || p.Refused != "" {
				continue
			}
			_, err = allowlist.Parse(c.Name, request.Params)
			wrong, ok := err.(*allowlist.ParseError)
			assert.That(t, !ok || wrong.Code() != allowlist.CodeBadValue, "%s %s: %v", c.Name, p.Name, err)
		}
	}
}

func TestStages(t *testing.T) {
	t.Parallel()
	read := func(id string) Operation { return operation(id, "read", "path", "N.md") }
	f := newFixture(t, embeddedOnly)
	plan, at, err := f.gateway.vaults[0].planBatch(Batch{Operations: []Operation{
		read("0"), read("1"), operation("2", "append", "path", "N.md", "content", "x"), read("3"),
		operation("4", "read").taking("path", "3", "path"), operation("5", "read").taking("path", "0", "path"),
		operation("6", "create", "path", "N.md"), operation("7", "create", "path", "O.md"),
	}})
	require.That(t, err == nil, "%v %v", at, err)
	assert.Equal(t, fmt.Sprint(plan.stages()), "[[0 1] [2] [3] [4 5] [6] [7]]")
	app := newFixture(t, nil)
	plan, at, err = app.gateway.vaults[0].planBatch(Batch{Operations: []Operation{read("0"), operation("1", "open", "path", "N.md"), read("2")}})
	require.That(t, err == nil, "%v %v", at, err)
	assert.Equal(t, fmt.Sprint(plan.stages()), "[[0] [1] [2]]", "what moves the focus runs with a read")
}

func TestACancelledBatchBeginsNothingMore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(readsN)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := f.gateway.DoBatch(ctx, Batch{Operations: []Operation{operation("c1", "read", "path", "N.md"), operation("c2", "tags")}})
	require.That(t, !got.OK, "got %s", outcome(got))
	require.That(t, got.Error != nil, "got %s", outcome(got))
	assert.Equal(t, got.Error.Code, "cancelled", "got %s", outcome(got))
	assert.Equal(t, got.Summary.OK, 0, "got %s", outcome(got))
	_, own := f.called()
	assert.That(t, len(own) == 0, "called %q", own)
}

func TestACancelledBatchKeepsWhatIsDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(readsN, createsN)
	plan, at, err := f.gateway.vaults[0].planBatch(Batch{Operations: []Operation{operation("c1", "read", "path", "N.md"), operation("c2", "create", "path", "N.md")}})
	require.That(t, err == nil, "%v %v", at, err)
	ctx, cancel := context.WithCancel(t.Context())
	ctx = protocol.WithProgress(ctx, func(c protocol.Progress) {
		if c.Done == 1 {
			cancel()
		}
	})
	got := f.gateway.vaults[0].carryOutBatch(ctx, plan)
	require.Equal(t, outcome(got), `c1=ok c2=skipped refused cancelled at ""`)
	assert.Equal(t, got.Results[0].Result.Stdout, "text\n")
}

// expiring is a context whose time limit passes when it is told.
type expiring struct {
	context.Context
	passed chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.passed }

func (e expiring) Err() error {
	select {
	case <-e.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// The operations of a batch have one time limit together.
func TestABatchEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		atomic bool
		want   string
		told   string // at last; nothing is taken back
	}{
		{false, `c1=ok c2=skipped c3=skipped refused timeout at ""`, "3 of 3 operations"},
		{true, `c1=ok[undone true] c2=skipped c3=skipped refused timeout at ""`, "2 of 3 operations"},
	} {
		const id = "20261121T083000.000000000Z-00aa"
		f := newFixture(t, embeddedOnly).embedded(
			`--write --change ID --facts vault=Work create path=N.md => facts {"change":"`+id+`"} Created: N.md\n`, readsN)
		plan, at, err := f.gateway.vaults[0].planBatch(Batch{Atomic: test.atomic, Operations: []Operation{
			operation("c1", "create", "path", "N.md"), operation("c2", "create", "path", "O.md"), operation("c3", "read", "path", "N.md"),
		}})
		require.That(t, err == nil, "%v %v", at, err)
		limited := expiring{t.Context(), make(chan struct{})}
		var told []string
		ctx := protocol.WithProgress(limited, func(c protocol.Progress) {
			told = append(told, c.String())
			if c.Done == 1 && c.Of == protocol.Operations {
				close(limited.passed)
			}
		})
		got := f.gateway.vaults[0].carryOutBatch(ctx, plan)
		require.Equal(t, outcome(got), test.want)
		assert.That(t, got.Error.Hint != "", "want %s", test.want)
		require.That(t, slices.Contains(got.Failures(), "timeout"), "%+v", got)
		assert.That(t, got.Results[1].Notice != "", "%+v", got)
		assert.Equal(t, told[len(told)-1], test.told, "told at last")
	}
}

// A batch that comes to its turn after its limit begins nothing.
func TestABatchThatIsLateBeginsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(readsN)
	late := Request{Taken: time.Now().Add(-f.config.Runner.Timeout())}
	got := f.gateway.DoBatch(t.Context(), Batch{Request: late, Operations: []Operation{
		operation("c1", "read", "path", "N.md"), operation("c2", "read", "path", "N.md"),
	}})
	assert.Equal(t, outcome(got), `c1=skipped c2=skipped refused timeout at ""`)
	_, own := f.called()
	assert.That(t, len(own) == 0, "called %q", own)
}

func TestAnAtomicBatchStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(createsN, readsGo, readsN)
	got := f.gateway.DoBatch(context.Background(), Batch{Atomic: true, Operations: []Operation{
		operation("c1", "create", "path", "N.md"), operation("c2", "read", "path", "gone.md"), operation("c3", "read", "path", "N.md"), operation("c4", "create", "path", "O.md"),
	}})
	want := "c1=ok[undone true] c2=error(not_found) c3=skipped c4=skipped"
	assert.That(t, outcome(got) == want, "got %s, want %s", outcome(got), want)
	_, own := f.called()
	assert.That(t, !slices.ContainsFunc(own, func(line string) bool { return strings.Contains(line, "O.md") }), "called %q", own)
}

// TestABatchCountsItsOperations: the count is of those that are done, and what an operation
// counts is not told.
func TestABatchCountsItsOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(createsN, readsGo, readsN)
	var mu sync.Mutex
	var told []string
	ctx := protocol.WithProgress(t.Context(), func(c protocol.Progress) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, c.String())
	})
	f.gateway.DoBatch(ctx, Batch{Operations: []Operation{
		operation("c1", "create", "path", "N.md"), operation("c2", "read", "path", "gone.md"), operation("c3", "read", "path", "N.md"),
	}})
	slices.Sort(told) // two of them are done at the same time
	assert.That(t, slices.Equal(told, []string{"0 of 3 operations", "1 of 3 operations", "2 of 3 operations", "3 of 3 operations"}), "told %q", told)
}

// What became of the changes of a batch that failed is told for each of them.
func TestTakingBack(t *testing.T) {
	t.Parallel()
	const id = "20261121T083000.000000000Z-00aa"
	asked := `--write --end --change ID --facts vault=Work undo id=` + id + ` => `
	for name, test := range map[string]struct {
		answer string
		result Result
		want   string
	}{
		"taken back":       {asked + `{"state":"untouched"}\n`, Result{OK: true, Change: &Change{ID: id}}, "c1=ok[undone true]"},
		"changed since":    {asked + `{"state":"applied"}\n`, Result{OK: true, Change: &Change{ID: id}}, "c1=ok[undone false]"},
		"not looked at":    {asked + `exit 1 state_unavailable Error: a fault.\n`, Result{OK: true, Change: &Change{ID: id}}, "c1=ok[undone false]"},
		"not in a journal": {"", Result{OK: true, Notices: []string{noticeNotJournaled + ", because"}}, "c1=ok[undone false]"},
		"unknown":          {"", Result{Error: &failure.Error{Code: failure.CodeUnknown}}, "c1=ok[undone false]"},
		"nothing changed":  {"", Result{OK: true}, "c1=ok"},
	} {
		f := newFixture(t, embeddedOnly).embedded(test.answer)
		plan, at, err := f.gateway.vaults[0].planBatch(Batch{Atomic: true, Operations: []Operation{operation("c1", "create", "path", "N.md")}})
		require.That(t, err == nil, "%v %v", at, err)
		r := &batchRun{batchPlan: plan, ctx: context.Background(), gateway: f.gateway.vaults[0], results: []Result{test.result}, done: []OperationResult{{ClientID: "c1", Status: statusOK}}, failed: true}
		r.markUndone(context.Background(), 0)
		got := r.report()
		assert.Equal(t, outcome(got), test.want, "%s", name)
		failed := strings.Contains(test.want, "false")
		require.Equal(t, got.Summary.NotUndone == 1, failed, "%s", name)
		require.Equal(t, got.Results[0].Notice != "", failed, "%s", name)
		assert.Equal(t, len(got.Notices) == 1, failed, "%s", name)
	}
}

func TestABatchWithAKeyIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(createsN, readsN)
	batch := Batch{Request: Request{IdempotencyKey: "monday"}, Operations: []Operation{operation("c1", "create", "path", "N.md"), operation("c2", "read").taking("path", "c1", "path")}}
	first := f.gateway.DoBatch(context.Background(), batch)
	second := New(f.config).DoBatch(context.Background(), batch)
	if !first.OK || !second.OK || outcome(first) != outcome(second) || second.Results[1].Result.Stdout != "text\n" || len(second.Notices) != 1 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	_, own := f.called()
	assert.Equal(t, len(own), 2, "called %q", own)
	for name, change := range map[string]func(*Batch){
		"another order":     func(b *Batch) { b.Operations = append(b.Operations, operation("c3", "tags")) },
		"atomic":            func(b *Batch) { b.Atomic = true },
		"another name":      func(b *Batch) { b.Operations[0].ClientID, b.Operations[1] = "d", operation("c2", "tags") },
		"another reference": func(b *Batch) { b.Operations[1] = operation("c2", "read").taking("path", "c1", "stdout") },
		"a plain value":     func(b *Batch) { b.Operations[1] = operation("c2", "read", "path", "x.md") },
	} {
		other := batch
		other.Operations = slices.Clone(batch.Operations)
		change(&other)
		got := f.gateway.DoBatch(context.Background(), other)
		require.That(t, got.Error != nil, "%s with the key of another batch: %s", name, outcome(got))
		assert.Equal(t, got.Error.Code, "bad_request", "%s with the key of another batch: %s", name, outcome(got))
	}
	single := Request{Command: "create", Params: params("path", "N.md"), IdempotencyKey: "monday"}
	assert.Equal(t, code(f.gateway.Do(context.Background(), single)), "bad_request", "a single call with the key of a batch")
}

func TestABatchThatDidNothingMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(readsGo)
	batch := Batch{Request: Request{IdempotencyKey: "k"}, Operations: []Operation{
		operation("c1", "read", "path", "gone.md"), operation("c2", "append", "content", "x").taking("path", "c1", "path"),
	}}
	for range 2 {
		got := f.gateway.DoBatch(context.Background(), batch)
		assert.Equal(t, outcome(got), "c1=error(not_found) c2=skipped", "got %s %q", outcome(got), got.Notices)
		assert.Equal(t, len(got.Notices), 0, "got %s %q", outcome(got), got.Notices)
	}
}

func TestTheOutputOfABatchIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work read path=N.md => ` + strings.Repeat(`line\n`, 10000))
	var batch Batch
	for i := range 2 {
		batch.Operations = append(batch.Operations, operation(fmt.Sprint(i), "read", "path", "N.md"))
	}
	for limit, each := range map[int]int{0: 50000, 500: minShare, 1 << 20: 50000, 10000: 10000/2 - shareOverhead} {
		batch.MaxOutput = limit
		for _, done := range f.gateway.DoBatch(context.Background(), batch).Results {
			answer := done.Result
			if len(answer.Stdout) > each || len(answer.Stdout) < each-each/8 || (answer.Truncated != nil) != (each < 50000) {
				t.Fatalf("of %d: %d bytes, truncated %+v", limit, len(answer.Stdout), answer.Truncated)
			}
		}
	}
	long := BatchResult{Results: make([]OperationResult, 3)}
	for i := range long.Results {
		long.Results[i].Result = &Answer{Stdout: strings.Repeat("x", maxRemembered), Stderr: strings.Repeat("y", maxRemembered)}
	}
	text, err := json.Marshal(long.forRemembering())
	require.Equal(t, err, nil, "kept are %d bytes, %v", len(text), err)
	require.That(t, len(text) <= 10<<10, "kept are %d bytes, %v", len(text), err)
	assert.Equal(t, len(long.Results[0].Result.Stdout), maxRemembered, "kept are %d bytes, %v", len(text), err)
}

// Whatever the order of reads and writes, a batch answers as the same calls do
// one by one. The program here really keeps notes, so that a read which does not
// find what a write in front of it has done would be seen.
func TestABatchAnswersAsSingleCallsDo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testenv.Count(8, 100)) { // every call is a process
		random := rand.New(rand.NewPCG(seed, 4))
		batch, single := newVault(t), newVault(t)
		var b Batch
		for i := range 1 + random.IntN(12) {
			note := fmt.Sprintf("N%d.md", random.IntN(3))
			id := fmt.Sprintf("c%d", i)
			switch random.IntN(4) {
			case 0:
				b.Operations = append(b.Operations, operation(id, "append", "path", note, "content", id))
			case 1:
				b.Operations = append(b.Operations, operation(id, "create", "path", note, "content", id))
			default:
				o := operation(id, "read", "path", note)
				if i > 0 && random.IntN(2) == 0 {
					o = operation(id, "read").taking("path", fmt.Sprintf("c%d", random.IntN(i)), "path")
				}
				b.Operations = append(b.Operations, o)
			}
		}
		got := batch.DoBatch(context.Background(), b)
		for i, o := range b.Operations {
			want := oneByOne(single, b, i, o)
			done := got.Results[i]
			have := done.Status
			var fault *failure.Error
			if done.Result != nil {
				have += " " + done.Result.Stdout
				fault = done.Result.Error
			}
			require.Equal(t, have, want, "seed %d, %s %s: %+v", seed, o.ClientID, o.Command, fault)
		}
	}
}

// oneByOne runs one operation of b as a single call.
func oneByOne(g *modelVault, b Batch, i int, o Operation) string {
	request := o.Request
	for key, ref := range o.From {
		at := slices.IndexFunc(b.Operations, func(o Operation) bool { return o.ClientID == ref.ClientID })
		if !g.results[at].OK {
			g.results = append(g.results, Result{})
			return statusSkipped
		}
		request.Params = params(key, g.results[at].Path)
	}
	result := g.Do(context.Background(), request)
	g.results = append(g.results, result)
	status := statusError
	if result.OK {
		status = statusOK
	}
	return status + " " + result.Stdout
}

// modelVault is a gateway on a vault of playNotes, and what it has answered.
type modelVault struct {
	*Gateway
	results []Result
}

func newVault(t *testing.T) *modelVault {
	t.Helper()
	f := newFixture(t, func(c *Config) {
		embeddedOnly(c)
		// A batch of processes on a busy machine takes long.
		c.Runner = exec.New(exec.Config{Self: require.Value(os.Executable())(t), Timeout: time.Hour})
	})
	require.NoError(t, os.WriteFile(filepath.Join(f.vault, ".notes"), nil, 0o600))
	return &modelVault{Gateway: f.gateway}
}

// playNotes is an embedded program that keeps notes: a vault with a file .notes
// is one of it. It knows create, append and read, each with path=. It reports
// false for another vault.
func playNotes(vault string, q protocol.Request, out io.Writer) (status uint8, plays bool) {
	if _, err := os.Stat(filepath.Join(vault, ".notes")); err != nil {
		return 0, false
	}
	values := map[string]string{}
	for _, word := range q.Args {
		key, value, _ := strings.Cut(word, "=")
		values[key] = value
	}
	command := q.Command
	name := filepath.Join(vault, values["path"])
	text, err := os.ReadFile(name)
	switch {
	case command == "create" && err == nil:
		fmt.Fprintf(out, "Error: File \"%s\" already exists.\n", values["path"])
		return 1, true
	case command != "create" && err != nil:
		fmt.Fprintf(out, "Error: File \"%s\" not found.\n", values["path"])
		return 1, true
	case command == "read":
		_, _ = out.Write(text)
		return 0, true
	}
	if err := os.WriteFile(name, append(text, values["content"]+"\n"...), 0o600); err != nil {
		panic(err)
	}
	fmt.Fprintf(out, "%s%s\n", map[string]string{"create": "Created: ", "append": "Appended to: "}[command], values["path"])
	return 0, true
}

// logOf writes the log of a fixture for a test: what was decided about which
// command, by which rule and code.
func logOf(t *testing.T, f *fixture) string {
	t.Helper()
	var all []string
	for _, l := range auditOf(t, f) {
		what := l.Decision
		if l.Kind == "end" {
			what = "end"
		}
		all = append(all, strings.Join(strings.Fields(strings.Join([]string{what, l.Command, l.Rule, l.Code}, " ")), " "))
	}
	return strings.Join(all, "; ")
}

// What is decided about a batch before its first operation is in the log too.
func TestABatchThatIsNotBegunIsInTheLog(t *testing.T) {
	t.Parallel()
	publish := operation("p", "publish:add", "path", "a.md")
	for _, test := range []struct {
		name  string
		batch Batch
		want  string
	}{
		{"an operation is refused", Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), operation("b", "eval", "code", "1")}}, "deny eval restricted restricted_command"},
		{"an operation cannot be read", Batch{Operations: []Operation{operation("a", "read", "paht", "a.md")}}, "deny read unknown_param"},
		{"the batch itself", Batch{Operations: []Operation{operation("a", "files"), operation("a", "files")}}, "deny files bad_request"},
		{"an empty batch", Batch{}, "deny batch bad_request"},
		{"nobody can be asked", Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), publish}}, "ask publish:add confirm unconfirmed; deny publish:add confirm unconfirmed"},
		{"declined", Batch{Request: Request{Ask: replies(consent.No, new(consent.Question))}, Operations: []Operation{publish}}, "ask publish:add confirm unconfirmed; deny publish:add confirm unconfirmed"},
		{"too many questions", Batch{Operations: slicesOf(publish, 9)},
			strings.TrimSuffix(strings.Repeat("ask publish:add confirm unconfirmed; ", 9)+strings.Repeat("deny publish:add confirm unconfirmed; ", 9), "; ")},
		{"a yes", Batch{Request: Request{Ask: replies(consent.Yes, new(consent.Question))}, Operations: []Operation{publish}},
			"ask publish:add confirm unconfirmed; reply publish:add confirm; allow publish:add; end publish:add"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := openAsking(t, nil)
			f.gateway.DoBatch(t.Context(), test.batch)
			got := logOf(t, f)
			assert.That(t, got == test.want, "the log is\n%s\nwant\n%s", got, test.want)
		})
	}
}

// slicesOf returns operations that differ in their names alone.
func slicesOf(o Operation, n int) []Operation {
	var all []Operation
	for i := range n {
		o.ClientID = fmt.Sprint(i)
		all = append(all, o)
	}
	return all
}

// Of a value that is taken from a result nothing is known before, and what is
// in its place is not in the log.
func TestTheLogOfABatchHasNoStandIns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Mutations = Embedded, false }).embedded()
	f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{operation("a", "read", "path", "a.md"), operation("b", "append", "path", "b.md").taking("content", "a", "stdout")}})
	lines := auditOf(t, f)
	require.Equal(t, len(lines), 1)
	require.Equal(t, len(lines[0].Params), 2)
	content, path := lines[0].Params[0], lines[0].Params[1]
	if content != (audit.Param{Name: "content"}) || path.Name != "path" || path.Bytes != 4 || path.Digest == "" {
		t.Errorf("%+v", lines[0].Params)
	}
}

// While everything is refused no one is asked, and nothing is started.
func TestABatchWhilePaused(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	require.NoError(t, errors.Join(os.MkdirAll(f.state(), 0o700), os.WriteFile(admission.PauseFile(f.state()), nil, 0o600)))
	asked := false
	ask := func(context.Context, consent.Question) consent.Reply { asked = true; return consent.Yes }
	got := f.gateway.DoBatch(t.Context(), Batch{Request: Request{Ask: ask}, Operations: []Operation{operation("p", "publish:add", "path", "a.md")}})
	app, own := f.called()
	require.That(t, got.Error != nil, "%+v, asked: %v, started: %q %q", got.Error, asked, app, own)
	require.Equal(t, got.Error.Code, "paused", "%+v, asked: %v, started: %q %q", got.Error, asked, app, own)
	require.That(t, !asked, "%+v, asked: %v, started: %q %q", got.Error, asked, app, own)
	assert.Equal(t, len(app)+len(own), 0, "%+v, asked: %v, started: %q %q", got.Error, asked, app, own)
	assert.Equal(t, logOf(t, f), "deny batch paused", "the log")
}

// A batch that is refused, or about which the user is asked, is a call to the limits.
func TestABatchThatIsNotBegunCounts(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"refused": "eval", "asked about": "publish:add"} {
		f := openAsking(t, func(c *Config) { c.Limits.Calls = 2 })
		asked := 0
		batch := Batch{Request: Request{Ask: func(context.Context, consent.Question) consent.Reply { asked++; return consent.No }}, Operations: []Operation{operation("p", command, "path", "a.md")}}
		var codes []string
		for range 3 {
			codes = append(codes, f.gateway.DoBatch(t.Context(), batch).Error.Code)
		}
		require.Equal(t, codes[2], "rate_limited", "%s: %q, asked %d times", name, codes, asked)
		require.That(t, codes[1] != "rate_limited", "%s: %q, asked %d times", name, codes, asked)
		assert.That(t, asked <= 2, "%s: %q, asked %d times", name, codes, asked)
	}
}

// A batch that was done under its key is not asked about again.
func TestAnAnsweredBatchIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	asked := 0
	batch := Batch{
		Request: Request{IdempotencyKey: "monday", Ask: func(context.Context, consent.Question) consent.Reply { asked++; return consent.Yes }}, Operations: []Operation{operation("p", "publish:add", "path", "a.md")},
	}
	first, again := f.gateway.DoBatch(t.Context(), batch), f.gateway.DoBatch(t.Context(), batch)
	if !first.OK || !again.OK || asked != 1 || f.published() != 1 || len(again.Notices) == 0 {
		t.Errorf("asked %d times, published %d times: %+v, then %+v", asked, f.published(), first, again)
	}
	got := logOf(t, f)
	assert.That(t, strings.HasSuffix(got, "end publish:add; end batch"), "the log is %s", got)
	batch.Operations[0].ClientID = "other"
	if got := f.gateway.DoBatch(t.Context(), batch); got.OK || asked != 2 {
		t.Errorf("another batch under the key: %+v, asked %d times", got, asked)
	}
}

// A text that looks like a reference to an earlier result is refused, and one that only looks like one of another kind is
// not.
func TestTextsThatLookLikeReferences(t *testing.T) {
	batch := Batch{Operations: []Operation{operation("a", "read", "path", "N.md"), operation("c", "tags"), operation("x1", "read", "path", "N.md")}}
	for text, want := range map[string]string{
		"{{a.path}}": "{{a.path}} a path", "$c.stdout": "$c.stdout c stdout", "${a.hash}": "${a.hash} a hash", "see {{ a.path }} and": "{{ a.path }} a path",
		"${{ steps.a.outputs.path }}": "${{ steps.a.outputs.path }} a path", "{{a}}": "{{a}} a path", "$a": "$a a path", "{{x1.output}}": "{{x1.output}} x1 path", "{a.path}": "{a.path} a path",
		"<a.path>": "<a.path> a path", "{{previous.path}}": "{{previous.path}} previous path", "$0.stdout": "$0.stdout 0 stdout", "{{results[\"a\"].path}}": "{{results[\"a\"].path}} a path",
		"{{date}}": "", "{{title}} $5.00 a.path": "", "costs $a or {{a}} in a text": "", "$x^2$ {{b.path}} in a text": "", "a.path": "", "me@a.org": "", "N.md": "", "${HOME}": "", "<% tp.file.path %>": "", "{{date:YYYY}}": "",
	} {
		written, from, field := batch.literalReference(text)
		got := strings.TrimSpace(written + " " + from + " " + field)
		assert.Equal(t, got, want, "%q", text)
	}
}

// A rehearsal that panics leaves the place that it had among the running calls.
func TestARehearsalThatPanicsLeavesItsPlace(t *testing.T) {
	f := newFixture(t, embeddedOnly)
	g := f.gateway.vaults[0]
	plan, _, err := g.planBatch(Batch{Operations: []Operation{operation("c1", "append", "path", "N.md", "content", "x")}})
	require.NoError(t, err)
	r := g.newRehearsal(t.Context(), plan)
	r.gateway = &vaultGateway{shared: g.shared} // without a target: working out the change panics
	panicked := panics.Try(func() { _ = r.rehearse(0) })
	require.That(t, panicked != nil, "no panic")
	assert.Equal(t, g.running.Running(), 0, "the calls that are running")
}

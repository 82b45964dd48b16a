package gateway

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// once carries out a plan. With an idempotency key a call that changes something is
// carried out once: the same key with the same call gives the first answer again, also
// after a restart. A call of which nobody knows whether it was carried out is never
// carried out again.
func (g *vaultGateway) once(req Request, plan Plan, carryOut func(Plan) Result) Result {
	if req.IdempotencyKey == "" || !plan.call.Effect().Mutates() {
		return carryOut(plan)
	}
	name := plan.call.Name()
	claimed, answer, err := g.claim(req.IdempotencyKey, boundTo(req, digestOf(plan)))
	switch {
	case err != nil:
		return failed(name, err)
	case answer != nil:
		return g.firstAnswer(plan, answer)
	}
	for i := range plan.routes {
		plan.routes[i].entry = claimed.id
	}
	hidden := g.rules.Digest()
	result := carryOut(plan)
	if err := claimed.settle(dispositionOf(result.ExitCode, result.Error), rememberedResult{result, hidden}); err != nil {
		result.Notices = append(result.Notices, notRemembered+err.Error())
	}
	return result
}

// answered says that a call was carried out before, under its idempotency key.
type answered struct {
	plan   Plan
	answer []byte
}

func (a *answered) Error() string { return "the first answer is given again" }

// recalled returns the answer of the first time as an [*answered], nil if there is
// none: nobody is asked about a call that was made.
func (g *vaultGateway) recalled(req Request, plan Plan) error {
	if answer := g.recall(req.IdempotencyKey, boundTo(req, digestOf(plan))); answer != nil {
		return &answered{plan, answer}
	}
	return nil
}

// recall returns the answer that is kept under a key for what has that digest, nil
// if there is none. Why it cannot be told, the call itself will say.
func (g *vaultGateway) recall(key string, digest [sha256.Size]byte) []byte {
	folder := g.target().Folder
	if key == "" || folder == "" {
		return nil
	}
	kept, err := g.journal(folder)
	if err != nil {
		return nil
	}
	answer, state, err := kept.Keys().Recall(key, digest, time.Now())
	if err != nil || state != journal.KeyAnswered {
		return nil
	}
	return append([]byte{}, answer...)
}

// claim is the right to carry out what an idempotency key stands for.
type claim struct {
	keys   journal.Keys
	key    string
	digest [sha256.Size]byte
	id     string // the entry of the journal for it
}

// claim looks a key up. It returns the answer of the first time, where there is
// one, else the claim.
func (g *vaultGateway) claim(key string, digest [sha256.Size]byte) (c claim, answer []byte, err error) {
	folder := g.target().Folder
	if folder == "" {
		return claim{}, nil, failure.New(failure.CodeBadRequest, "the user can set vault to the folder of the vault", "idempotencyKey needs the folder of the vault, which is not known")
	}
	kept, err := g.journal(folder)
	if err != nil {
		return claim{}, nil, err
	}
	c = claim{kept.Keys(), key, digest, journal.NewID(time.Now())}
	answer, state, err := c.keys.Recall(key, digest, time.Now())
	switch {
	case err != nil:
		return claim{}, nil, keyError(err)
	case state == journal.KeyAnswered:
		return claim{}, append([]byte{}, answer...), nil
	}
	if err := c.keys.Claim(key, digest, c.id, time.Now()); err != nil {
		return claim{}, nil, keyError(err)
	}
	return c, nil, nil
}

// keyDisposition is what becomes of a key behind its call.
type keyDisposition uint8

const (
	keyStaysClaimed keyDisposition = iota // it stays claimed: nobody knows what the answer would be
	forgetKey                             // nothing was done: the same call may be tried again
	rememberAnswer                        // the answer is kept
)

func dispositionOf(exitCode int, cause *failure.Error) keyDisposition {
	switch {
	case cause != nil && cause.Code == failure.CodeUnknown:
		return keyStaysClaimed
	case cause != nil && (exitCode < 0 || cause.Code == failure.CodeCancelled):
		return forgetKey
	}
	return rememberAnswer
}

// settle ends a claim.
func (c claim) settle(f keyDisposition, answer any) error {
	switch f {
	case forgetKey:
		return c.keys.Forget(c.key, c.id)
	case rememberAnswer:
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return c.keys.Remember(c.key, c.digest, text, time.Now())
	}
	return nil
}

// What is said of an answer and its key.
const (
	firstTime     = "this is the answer of the first time; nothing was done now"
	notRemembered = "the answer could not be kept under its idempotency key: "
)

func (g *vaultGateway) firstAnswer(plan Plan, answer []byte) Result {
	name := plan.call.Name()
	var kept rememberedResult
	if err := json.Unmarshal(answer, &kept); err != nil {
		return failed(name, failure.New(failure.CodeUnknown, "look at the note", "the answer that was kept cannot be read"))
	}
	first := kept.Result
	if kept.Hidden != g.rules.Digest() {
		if err := g.mayBeSeen(plan.call, first.Path, first.Stdout); err != nil {
			return failed(name, err)
		}
	}
	first.raw = first.Stdout
	first.Notices = append(first.Notices, firstTime)
	return first
}

// keyError says in our codes what is wrong with a key.
func keyError(err error) error {
	var reused *journal.KeyReused
	var unfinished *journal.Unfinished
	var invalid *journal.Invalid
	switch {
	case errors.As(err, &reused):
		return failure.New(failure.CodeBadRequest, "use another key", "the idempotency key was used for another call, or by another session")
	case errors.As(err, &unfinished):
		return failure.New(failure.CodeUnknown, "look at the note before you try again with another key", "%v", err)
	case errors.As(err, &invalid):
		return failure.New(failure.CodeBadRequest, "a key is a short text", "%v", err)
	}
	return failure.New(failure.CodeConflict, "try again", "the idempotency key cannot be looked up: %v", err)
}

// rememberedResult is an answer as it is kept under a key, with what hid notes when it was
// made.
type rememberedResult struct {
	Result
	Hidden string `json:"hidden"`
}

// mayBeSeen refuses to give the first answer to a call again if what hides notes is
// another thing by now, and the answer is about one that is hidden, as if the note
// were missing. An answer that may be about any note is not given either. at is the
// note that the answer names, beside those in its text.
func (g *vaultGateway) mayBeSeen(call allowlist.Call, at, stdout string) error {
	if call.TouchesNoNote() {
		return nil
	}
	paths := confirmedPaths(call, stdout)
	if at != "" {
		paths = append(paths, at)
		if located, err := call.At(at); err == nil {
			call = located
		}
	}
	for _, s := range call.NamedPaths() {
		if s.Path != "" {
			paths = append(paths, s.Path)
		}
	}
	sees := g.rules.Visible()
	hidden := func(path string) bool { return !sees(path) }
	if len(paths) == 0 || !call.Effect().Mutates() && !call.TouchesOneNote() || slices.ContainsFunc(paths, hidden) {
		return missing(call)
	}
	return nil
}

// confirmedPaths reads the paths from a line such as "Moved: A.md -> B.md".
func confirmedPaths(call allowlist.Call, stdout string) (paths []string) {
	line, _, _ := strings.Cut(stdout, "\n")
	for _, start := range call.Reply().Confirms {
		if rest, ok := strings.CutPrefix(line, start); ok {
			paths = append(paths, strings.Split(strings.TrimRight(rest, "\r"), " -> ")...)
		}
	}
	return paths
}

// missing says that the note of a call is not found, by the words of the call.
func missing(call allowlist.Call) error {
	for _, s := range call.NamedPaths() {
		return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(s.Path))
	}
	if name, ok := call.Named(); ok {
		return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(name))
	}
	return failure.New(failure.CodeNotFound, "", "command %q: the note is not found", call.Name())
}

package gateway

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
)

// once carries out a plan. With an idempotency key a call that changes something is carried out
// once: the same key with the same call returns the first answer, even after a restart. A call
// with an unknown outcome is never repeated.
func (g *vaultGateway) once(req Request, plan Plan, carryOut func(Plan) Result) Result {
	if req.IdempotencyKey == "" || !plan.call.Effect().Mutates() {
		return carryOut(plan)
	}
	name := plan.call.Name()
	claimed, answer, err := g.claim(g.callerOf(req), req.IdempotencyKey, g.boundTo(req, digestOf(plan)))
	switch {
	case err != nil:
		return Reject(name, err)
	case answer != nil:
		return g.firstAnswer(plan, answer)
	}
	for i := range plan.routes {
		plan.routes[i].entry = claimed.ID
	}
	hidden := g.rules.Digest()
	result := carryOut(plan)
	if err := claimed.Settle(dispositionOf(result.Error, result.Change), rememberedResult{result, hidden}); err != nil {
		result.Notices = append(result.Notices, notRemembered+excerpt.Reason(err))
	}
	return result
}

// answered is the error of a call that was carried out before, under its idempotency key.
type answered struct {
	plan   Plan
	answer []byte
}

func (a *answered) Error() string { return "the first answer is given again" }

// recall returns the answer that is kept under a key for a call with that digest, nil
// if there is none or it cannot be read; [vaultGateway.claim] returns the error.
func (g *vaultGateway) recall(key string, digest keyDigest) []byte {
	if key == "" {
		return nil
	}
	_, answer, _ := g.answerUnder(key, digest)
	return answer
}

// answerUnder returns the journal with the keys, and the answer under one of them, nil if there is none.
func (g *vaultGateway) answerUnder(key string, digest keyDigest) (kept *journal.Journal, answer []byte, err error) {
	folder := g.target().Folder
	if folder == "" {
		return nil, nil, failure.New(
			failure.CodeBadRequest,
			"the user can set vault to the folder of the vault",
			"idempotencyKey needs the folder of the vault, which is not known",
		)
	}
	if kept, err = g.journal(folder); err != nil {
		return nil, nil, err
	}
	answer, answered, err := kept.Keys("").Recall(g.scoped(key), digest, time.Now())
	switch {
	case err != nil:
		return nil, nil, keyError(err)
	case !answered:
		return kept, nil, nil
	}
	return kept, append([]byte{}, answer...), nil // not nil, whatever it is
}

// scoped returns a key as the journal has it: each agent has keys of its own, and none of an earlier
// generation of its credentials.
func (g *vaultGateway) scoped(key string) string {
	if g.agent == "" || key == "" {
		return key
	}
	owner := g.agent
	if generation := g.admission.Generation(); generation != "" {
		owner += "\x1e" + generation
	}
	return owner + "\x1e" + key
}

// claim returns the first answer under a key of a caller, or the claim of it. The error is a
// [*failure.RequestError]: the key is invalid, belongs to another call, or to one with an unknown
// outcome.
func (g *vaultGateway) claim(caller, key string, digest keyDigest) (c keyClaim, answer []byte, err error) {
	kept, answer, err := g.answerUnder(key, digest)
	if err != nil || answer != nil {
		return c, answer, err
	}
	c = keyClaim{journal.NewID(time.Now()), kept.Keys(caller), g.scoped(key), digest}
	if err := c.keys.Claim(c.key, digest, c.ID, time.Now()); err != nil {
		return keyClaim{}, nil, keyError(err)
	}
	return c, nil, nil
}

// Notices about an answer and its key.
const (
	firstTime     = "this is the answer of the first time; nothing was done now"
	notRemembered = "the answer could not be kept under its idempotency key: "
)

func (g *vaultGateway) firstAnswer(plan Plan, answer []byte) Result {
	name := plan.call.Name()
	var kept rememberedResult
	if err := json.Unmarshal(answer, &kept); err != nil {
		return Reject(
			name,
			failure.New(failure.CodeUnknown, "look at the note", "the answer that was kept cannot be read"),
		)
	}
	first := kept.Result
	if kept.Hidden != g.rules.Digest() {
		if err := g.checkVisible(plan.call, first.Path, first.Stdout); err != nil {
			return Reject(name, err)
		}
	}
	first.raw = first.Stdout
	first.Notices = append(first.Notices, firstTime)
	return first
}

// rememberedResult is an answer as it is kept under a key, with the digest of the rules that
// hid notes then.
type rememberedResult struct {
	Result
	Hidden string `json:"hidden"`
}

// checkVisible refuses to return the first answer after the rules that hide notes have changed, if it
// is about a hidden note, or may be about any note. at is the note that the answer names, besides
// those in its text.
func (g *vaultGateway) checkVisible(call allowlist.Call, at, stdout string) error {
	if call.TouchesNoNote() {
		return nil
	}
	var paths []string // from a line such as "Moved: A.md -> B.md"
	line, _, _ := strings.Cut(stdout, "\n")
	for _, start := range call.Reply().Confirms {
		if rest, ok := strings.CutPrefix(line, start); ok {
			paths = append(paths, strings.Split(strings.TrimRight(rest, "\r"), " -> ")...)
		}
	}
	if at != "" {
		paths = append(paths, at)
		_, named := call.Named()
		if located, err := call.At(at); named && err == nil {
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
	isListing := !call.Effect().Mutates() && !call.TouchesOneNote()
	if len(paths) == 0 || isListing || slices.ContainsFunc(paths, hidden) {
		return missing(call)
	}
	return nil
}

// missing is the error that the note of a call is not found, by the name in the call.
func missing(call allowlist.Call) error {
	for _, s := range call.NamedPaths() {
		return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(s.Path))
	}
	if name, ok := call.Named(); ok {
		return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(name))
	}
	return failure.New(failure.CodeNotFound, "", "command %q: the note is not found", call.Name())
}

// keyDigest identifies a call of a caller.
type keyDigest = [sha256.Size]byte

// keyClaim is the right to carry out the call of an idempotency key. The keys are in the journal
// of the vault.
type keyClaim struct {
	ID string // of the entry of the journal that the call is to have

	keys   journal.Keys
	key    string
	digest keyDigest
}

// keyDisposition says what happens to a key after its call.
type keyDisposition uint8

const (
	keyStaysClaimed keyDisposition = iota // the outcome is unknown
	keyForget                             // nothing was done: the call can be repeated
	keyRemember                           // the answer is kept
)

// dispositionOf returns what happens to the key of a call, by its error and by what it has changed,
// nil for none.
func dispositionOf(cause *failure.Error, made *Change) keyDisposition {
	switch {
	case cause != nil && cause.Code == failure.CodeUnknown:
		return keyStaysClaimed
	case cause != nil && made == nil:
		return keyForget
	}
	return keyRemember
}

// Settle ends a claim. An answer that is remembered is kept as JSON.
func (c keyClaim) Settle(d keyDisposition, answer any) error {
	switch d {
	case keyForget:
		return c.keys.Forget(c.key, c.ID)
	case keyRemember:
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return c.keys.Remember(c.key, c.digest, text, time.Now())
	}
	return nil
}

// keyError returns the error with a code for an error of the journal about a key.
func keyError(err error) error {
	var reused *journal.KeyReused
	var unfinished *journal.Unfinished
	var invalid *journal.Invalid
	switch {
	case errors.As(err, &reused):
		return failure.New(
			failure.CodeBadRequest,
			"use another key",
			"the idempotency key was used for another call, or by another session",
		)
	case errors.As(err, &unfinished):
		return failure.New(failure.CodeUnknown, "look at the note before you try again with another key", "%v", err)
	case errors.As(err, &invalid):
		return failure.New(failure.CodeBadRequest, "a key is a short text", "%v", err)
	}
	return failure.New(failure.CodeConflict, "try again", "the idempotency key cannot be looked up: %s", excerpt.Reason(err))
}

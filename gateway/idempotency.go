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

// runOnce carries out a plan. With an idempotency key, a call that changes something is carried out only once: the
// same call with the same key returns the first answer, even after a restart. A call with an unknown outcome is
// never repeated.
func (g *vaultGateway) runOnce(req Request, plan Plan, carryOut func(Plan) Result) Result {
	if req.IdempotencyKey == "" || !plan.call.Effect().Mutates() {
		return carryOut(plan)
	}
	name := plan.call.Name()
	claimed, answer, err := g.claim(g.callerOf(req), req.IdempotencyKey, g.bindToSender(req, digestOf(plan)))
	switch {
	case err != nil:
		return Reject(name, err)
	case answer != nil:
		return g.replayAnswer(plan, answer)
	}
	for i := range plan.routes {
		plan.routes[i].entry = claimed.ID
	}
	digest := g.rules.Digest()
	result := carryOut(plan)
	if err := claimed.Settle(dispositionOf(result.Error, result.Change), rememberedResult{result, digest}); err != nil {
		result.Notices = append(result.Notices, notRemembered+excerpt.Reason(err))
	}
	return result
}

// answered is the error of a call that was carried out before with its idempotency key.
type answered struct {
	plan   Plan
	answer []byte
}

func (a *answered) Error() string { return "the first answer is given again" }

// recall returns the answer remembered under a key for the call with the given digest, nil if there is none or it
// cannot be read; in that case [vaultGateway.claim] returns the error.
func (g *vaultGateway) recall(key string, digest keyDigest) []byte {
	if key == "" {
		return nil
	}
	_, answer, _ := g.lookUpAnswer(key, digest)
	return answer
}

// lookUpAnswer returns the journal with the keys, and the answer remembered under one of them, nil if there is none.
func (g *vaultGateway) lookUpAnswer(key string, digest keyDigest) (undoJournal *journal.Journal, answer []byte, err error) {
	folder := g.target().Folder
	if folder == "" {
		return nil, nil, failure.New(
			failure.CodeBadRequest,
			"the user can set vault to the folder of the vault",
			"idempotencyKey needs the folder of the vault, which is not known",
		)
	}
	if undoJournal, err = g.journal(folder); err != nil {
		return nil, nil, err
	}
	answer, isRemembered, err := undoJournal.Keys("").Recall(g.scopedKey(key), digest, time.Now())
	switch {
	case err != nil:
		return nil, nil, keyError(err)
	case !isRemembered:
		return undoJournal, nil, nil
	}
	return undoJournal, append([]byte{}, answer...), nil // not nil, even if it is empty
}

// scopedKey returns a key in the form of the journal: each agent has its own keys, and a new generation of its
// credentials starts without any.
func (g *vaultGateway) scopedKey(key string) string {
	if g.agent == "" || key == "" {
		return key
	}
	owner := g.agent
	if generation := g.admission.Generation(); generation != "" {
		owner += "\x1e" + generation
	}
	return owner + "\x1e" + key
}

// claim returns the first answer to a call under a key, or claims the key for it. The error is a
// [*failure.RequestError]: the key is invalid, belongs to another call, or belongs to a call with an unknown
// outcome.
func (g *vaultGateway) claim(caller, key string, digest keyDigest) (c keyClaim, answer []byte, err error) {
	undoJournal, answer, err := g.lookUpAnswer(key, digest)
	if err != nil || answer != nil {
		return c, answer, err
	}
	c = keyClaim{journal.NewID(time.Now()), undoJournal.Keys(caller), g.scopedKey(key), digest}
	if err := c.keys.Claim(c.key, digest, c.ID, time.Now()); err != nil {
		return keyClaim{}, nil, keyError(err)
	}
	return c, nil, nil
}

// Notices about an answer with an idempotency key.
const (
	noticeReplayed = "this is the answer of the first time; nothing was done now"
	notRemembered  = "the answer could not be kept under its idempotency key: "
)

// replayAnswer returns the remembered first answer, unless what it is about is hidden by now.
func (g *vaultGateway) replayAnswer(plan Plan, answer []byte) Result {
	name := plan.call.Name()
	var remembered rememberedResult
	if err := json.Unmarshal(answer, &remembered); err != nil {
		return Reject(
			name,
			failure.New(failure.CodeUnknown, "look at the note", "the answer that was kept cannot be read"),
		)
	}
	first := remembered.Result
	if remembered.Hidden != g.rules.Digest() {
		if err := g.checkVisible(plan.call, first.Path, first.Stdout); err != nil {
			return Reject(name, err)
		}
	}
	first.raw = first.Stdout
	first.Notices = append(first.Notices, noticeReplayed)
	return first
}

// rememberedResult is an answer as it is stored under a key. Hidden is the digest of the rules that hid notes at
// that time.
type rememberedResult struct {
	Result
	Hidden string `json:"hidden"`
}

// checkVisible returns an error if a call must not get its first answer again, because the rules that hide notes
// have changed and the answer is about a hidden note, or may be about any note. at is the note that the answer names
// in addition to those in its text.
func (g *vaultGateway) checkVisible(call allowlist.Call, at, stdout string) error {
	if call.TouchesNoNote() {
		return nil
	}
	var paths []string // also from a line such as "Moved: A.md -> B.md"
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
	for _, spelled := range call.NamedPaths() {
		if spelled.Path != "" {
			paths = append(paths, spelled.Path)
		}
	}
	sight := g.rules.Sight()
	isHidden := func(path string) bool { return !sight.Sees(path) }
	isListing := !call.Effect().Mutates() && !call.TouchesOneNote()
	if len(paths) > 0 && slices.ContainsFunc(paths, isHidden) && sight.Unread() > 0 {
		return sight.Whole() // it is not missing
	}
	if len(paths) == 0 || isListing || slices.ContainsFunc(paths, isHidden) {
		return missing(call)
	}
	return nil
}

// missing returns the error that the note of a call was not found, with the name that the call uses.
func missing(call allowlist.Call) error {
	for _, spelled := range call.NamedPaths() {
		return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(spelled.Path))
	}
	if name, ok := call.Named(); ok {
		return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(name))
	}
	return failure.New(failure.CodeNotFound, "", "command %q: the note is not found", call.Name())
}

// keyDigest identifies a call of a caller.
type keyDigest = [sha256.Size]byte

// keyClaim is the right to carry out the call of an idempotency key. The keys are stored in the journal of the vault.
type keyClaim struct {
	ID string // of the journal entry for the call

	keys   journal.Keys
	key    string
	digest keyDigest
}

// keyDisposition tells what happens to a key after its call.
type keyDisposition uint8

const (
	keyStaysClaimed keyDisposition = iota // the outcome is unknown
	keyForget                             // nothing was done, so the call can be repeated
	keyRemember                           // the answer is remembered
)

// dispositionOf returns what happens to the key of a call with the given error and change, each nil if there is none.
func dispositionOf(cause *failure.Error, made *Change) keyDisposition {
	switch {
	case cause != nil && cause.Code == failure.CodeUnknown:
		return keyStaysClaimed
	case cause != nil && made == nil:
		return keyForget
	}
	return keyRemember
}

// Settle ends a claim. A remembered answer is stored as JSON.
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

// keyError converts an error of the journal about a key into one with a code.
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

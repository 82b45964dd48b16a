package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/idempotency"
)

// once carries out a plan. With an idempotency key a call that changes something is
// carried out once: the same key with the same call returns the first answer, also
// after a restart. A call with an unknown outcome is never carried out again.
func (g *vaultGateway) once(req Request, plan Plan, carryOut func(Plan) Result) Result {
	if req.IdempotencyKey == "" || !plan.call.Effect().Mutates() {
		return carryOut(plan)
	}
	name := plan.call.Name()
	claimed, answer, err := g.claim(g.callerOf(req), req.IdempotencyKey, boundTo(req, digestOf(plan)))
	switch {
	case err != nil:
		return failed(name, err)
	case answer != nil:
		return g.firstAnswer(plan, answer)
	}
	for i := range plan.routes {
		plan.routes[i].entry = claimed.ID
	}
	hidden := g.rules.Digest()
	result := carryOut(plan)
	if err := claimed.Settle(idempotency.DispositionOf(result.Error, result.Change != nil), rememberedResult{result, hidden}); err != nil {
		result.Notices = append(result.Notices, notRemembered+err.Error())
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
// if there is none. If the journal cannot be read, the call itself says why.
func (g *vaultGateway) recall(key string, digest idempotency.Digest) []byte {
	folder := g.target().Folder
	if key == "" || folder == "" {
		return nil
	}
	kept, err := g.journal(folder)
	if err != nil {
		return nil
	}
	return idempotency.Recall(kept, key, digest)
}

// claim takes a key of the vault, see [idempotency.Take].
func (g *vaultGateway) claim(caller, key string, digest idempotency.Digest) (c idempotency.Claim, answer []byte, err error) {
	folder := g.target().Folder
	if folder == "" {
		return c, nil, failure.New(failure.CodeBadRequest, "the user can set vault to the folder of the vault", "idempotencyKey needs the folder of the vault, which is not known")
	}
	kept, err := g.journal(folder)
	if err != nil {
		return c, nil, err
	}
	return idempotency.Take(kept, caller, key, digest)
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

// rememberedResult is an answer as it is kept under a key, with the digest of the rules that
// hid notes then.
type rememberedResult struct {
	Result
	Hidden string `json:"hidden"`
}

// mayBeSeen refuses to return the first answer to a call after the rules that hide notes have
// changed, if it is about a note that is hidden: such a note is missing. So does an answer that
// may be about any note. at is the note that the answer names, besides those in its text.
func (g *vaultGateway) mayBeSeen(call allowlist.Call, at, stdout string) error {
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

// missing is the error that the note of a call is not found, by the name in the call.
func missing(call allowlist.Call) error {
	for _, s := range call.NamedPaths() {
		return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(s.Path))
	}
	if name, ok := call.Named(); ok {
		return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(name))
	}
	return failure.New(failure.CodeNotFound, "", "command %q: the note is not found", call.Name())
}

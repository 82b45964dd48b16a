package gateway

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist"
)

// rememberedResult and rememberedBatch are answers as they are kept under a key,
// with what hid notes when they were made.
type (
	rememberedResult struct {
		Result
		Hidden string `json:"hidden"`
	}
	rememberedBatch struct {
		BatchResult
		Hidden string `json:"hidden"`
	}
)

// hidingDigest is a digest of all that hides notes of the vault.
func (g *door) hidingDigest() string {
	text, ok := patternsOf(g.target().folder)
	rules := g.policy.Load().Access.String()
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%t %d:%s%s", ok, len(rules), rules, text)))
}

// mayBeSeen refuses to give the first answer to a call again if what hides notes is
// another thing by now, and the answer is about one that is hidden, as if the note
// were missing. An answer that may be about any note is not given either. at is the
// note that the answer names, beside those in its text.
func (g *door) mayBeSeen(call allowlist.Call, at, stdout string) error {
	if call.Apart() {
		return nil
	}
	paths := confirmedPaths(call, stdout)
	if at != "" {
		paths = append(paths, at)
		if located, err := call.At(at); err == nil {
			call = located
		}
	}
	for _, s := range call.Spells() {
		if s.Path != "" {
			paths = append(paths, s.Path)
		}
	}
	sees := g.sight()
	hidden := func(path string) bool { return !sees(path) }
	if len(paths) == 0 || !call.Effect().Mutates() && !call.Alone() || slices.ContainsFunc(paths, hidden) {
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
	for _, s := range call.Spells() {
		return refuse(codeNotFound, "", "file %q not found", clip(s.Path))
	}
	if name, ok := call.Named(); ok {
		return refuse(codeNotFound, "", "file %q not found", clip(name))
	}
	return refuse(codeNotFound, "", "command %q: the note is not found", call.Name())
}

// hideInFirst takes out of the first answer to a batch what may not be seen by now.
func (g *door) hideInFirst(plan *batchPlan, first *BatchResult) {
	for i := range first.Results[:min(len(first.Results), len(plan.steps))] {
		done, step := &first.Results[i], plan.steps[i]
		if done.Result == nil {
			continue
		}
		err := g.mayBeSeen(step.call, done.Result.Path, done.Result.Stdout)
		if err == nil && len(step.From) > 0 && done.Result.Path == "" {
			err = missing(step.call) // of which note it was is not known
		}
		if err != nil {
			*done = OperationResult{ClientID: done.ClientID, Status: statusError, Result: failed(step.Command, err).answer()}
		}
	}
	first.count()
}

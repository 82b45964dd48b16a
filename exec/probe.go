package exec

import (
	"context"
	"errors"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/policy"
)

// ready makes sure that the app behind the client may run the call: the file is
// the one that was checked, and what it answered to the question for its
// version is new enough. The question is asked before the first call of a
// program and again after anything went wrong with the app. The remarks are
// about the answer, once for each time it was asked.
func (r *Runner) ready(ctx context.Context, permit policy.Permit, p Program) (remarks []string, err error) {
	if err := r.recheck(p); err != nil {
		return nil, err
	}
	if permit.Call().Name() == probeCommand {
		return nil, nil
	}
	known := r.knownRelease()
	fresh := known == nil
	if fresh {
		known, err = r.probe(ctx, permit, p)
		if err != nil {
			return nil, err
		}
		remarks = known.notice()
	}
	if err := known.check(p.path, permit.MinVersion()); err != nil {
		r.forgetRelease() // the app may be updated without a change to the client
		return nil, err
	}
	if fresh { // another call may have forgotten the one that was known
		r.learnRelease(known)
	}
	return remarks, nil
}

// probe asks the client for its version. Nothing of the call itself has been
// run when it fails.
func (r *Runner) probe(ctx context.Context, whole policy.Permit, p Program) (*release, error) {
	permit := whole.Probe()
	if !permit.Valid() {
		return nil, ErrNoPermit
	}
	command, err := p.Command(permit.Call())
	if err != nil {
		return nil, err
	}
	out, err := r.runWithRetry(ctx, permit, p, command, nil)
	if err != nil && !isForeign(out, err) {
		return nil, err
	}
	if known, ok := parseRelease(trimmed(out.Stdout)); ok && out.Failure == nil {
		return &known, nil
	}
	return nil, notTheCLI(p.path, whole.Guarded(), out)
}

// isForeign reports whether what was answered twice in place of a version is no
// error of the app either: then another program has its name.
func isForeign(out Outcome, err error) bool {
	var unavailable *Unavailable
	return errors.As(err, &unavailable) && unavailable.Code() == CodeVaultStarting && out.Stdout != "" && !strings.HasPrefix(out.Stdout, prefixError)
}

func notTheCLI(path string, guarded bool, out Outcome) *Unavailable {
	const reason = "is not the Obsidian CLI: asked for its version it "
	answered := "answered " + quote.Quoted(firstLine(trimmed(out.Stdout)))
	switch {
	case out.Stdout == "":
		answered = "printed nothing"
	case guarded:
		answered = "printed something else" // which could name a hidden note
	}
	return &Unavailable{code: CodeUnsuitable, program: path, reason: reason + answered,
		hint: "the user can set cli to the full path of the native client; on Windows that is Obsidian.com and never Obsidian.exe"}
}

func (r *Runner) knownRelease() *release {
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	return r.client.release
}

func (r *Runner) learnRelease(known *release) {
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	r.client.release = known
}

func (r *Runner) forgetRelease() { r.learnRelease(nil) }

package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// ready makes sure that the app may run the call: the file is the one that was checked, and its
// version is new enough. The version is asked for before the first call of a program and again
// after an error of the app. The remarks are about a fresh answer.
func (r *Runner) ready(ctx context.Context, permit policy.Permit, p Program) (remarks []string, err error) {
	if err := r.recheck(p); err != nil {
		return nil, err
	}
	if permit.Call().IsProbe() {
		return nil, nil
	}
	r.client.mu.Lock()
	known := r.client.release
	r.client.mu.Unlock()
	fresh := known == nil
	if fresh {
		known, err = r.probe(ctx, permit, p)
		if err != nil {
			return nil, err
		}
		// An old installer is not an error: the client that was found is not the Electron executable.
		native := tiers.DefaultMinimum // the first one with the native client
		if known.installer != (tiers.Version{}) && known.installer.Before(native) {
			remarks = []string{
				fmt.Sprintf("the Obsidian installer is %s; installers from %s on bring a faster client, "+
					"download the latest one and register the command line interface again", known.installer, native),
			}
		}
	}
	if minimum := permit.MinVersion(); known.app.Before(minimum) {
		r.learnRelease(nil) // the app may be updated without a change to the client
		return nil, &Unavailable{
			code: CodeTooOld, program: p.path,
			reason: fmt.Sprintf("belongs to Obsidian %s, and the call needs %s", known.app, minimum),
			hint:   "the user can update Obsidian to " + minimum.String() + " or newer",
		}
	}
	if fresh { // another call may have forgotten the one that was known
		r.learnRelease(known)
	}
	return remarks, nil
}

// probe asks the client for its version. If it fails, nothing of the call has run.
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
	// Another program has the name of the CLI if it answered twice with neither a version nor an
	// error of the app.
	unavailable := (*Unavailable)(nil)
	isStarting := errors.As(err, &unavailable) && unavailable.Code() == CodeVaultStarting
	foreign := isStarting && out.Stdout != "" && !strings.HasPrefix(out.Stdout, prefixError)
	if err != nil && !foreign {
		return nil, err
	}
	if known, ok := parseRelease(trimmed(out.Stdout)); ok && out.Failure == nil {
		return &known, nil
	}
	answered := "answered " + excerpt.Quoted(firstLine(trimmed(out.Stdout)))
	switch {
	case out.Stdout == "":
		answered = "printed nothing"
	case whole.Guarded():
		answered = "printed something else" // which could name a hidden note
	}
	return nil, &Unavailable{
		code:    CodeUnsuitable,
		program: p.path,
		reason:  "is not the Obsidian CLI: asked for its version it " + answered,
		hint:    "the user can set cli to the full path of the native client; on Windows that is Obsidian.com and never Obsidian.exe",
	}
}

// learnRelease keeps the answer of the client, nil to ask again.
func (r *Runner) learnRelease(known *release) {
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	r.client.release = known
}

// release is what the client answered to the question for its version. The app
// updates itself, the installer does not.
type release struct {
	app       tiers.Version
	installer tiers.Version // zero when the answer did not name one
}

// parseRelease accepts only the forms "1.12.7" and "1.12.7 (installer 1.12.4)", with versions as [tiers.ParseVersion]
// reads them.
func parseRelease(line string) (release, bool) {
	app, installer, hasInstaller := strings.Cut(line, " (installer ")
	first, err := tiers.ParseVersion(app)
	if err != nil {
		return release{}, false
	}
	if !hasInstaller {
		return release{app: first}, true
	}
	installer, closed := strings.CutSuffix(installer, ")")
	second, err := tiers.ParseVersion(installer)
	return release{app: first, installer: second}, err == nil && closed
}

// Watcher is notified of every program that answers for a [Runner], for traces, without the call
// or the answer. It must be safe for concurrent use and return immediately.
type Watcher interface {
	// BeginRun is called before a program is asked: "obsidian" or "embedded". The function it
	// returns, unless nil, is called at the end with the exit status, -1 if nothing ran, and the
	// code of the error or the failure, "" for none. ctx is the one of Run.
	BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string))
}

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

// ready makes sure that the app may run the call: the program file is the one that was checked, and its version is
// new enough. The version is asked before the first call of a program, and again after an error of the app. The
// remarks are those on a version that was just asked.
func (r *Runner) ready(ctx context.Context, permit policy.Permit, p Program) (remarks []string, err error) {
	if err := r.checkAgain(p); err != nil {
		return nil, err
	}
	if permit.Call().IsProbe() {
		return nil, nil
	}
	r.client.mu.Lock()
	current := r.client.release
	r.client.mu.Unlock()
	fresh := current == nil
	if fresh {
		current, err = r.probe(ctx, permit, p)
		if err != nil {
			return nil, err
		}
		// An old installer is not an error: the CLI that was found is not the Electron executable.
		native := tiers.DefaultMinimum // the first version with the native CLI
		if current.installer != (tiers.Version{}) && current.installer.Before(native) {
			remarks = []string{
				fmt.Sprintf("the Obsidian installer is %s; installers from %s on bring a faster client, "+
					"download the latest one and register the command line interface again", current.installer, native),
			}
		}
	}
	if minimum := permit.MinVersion(); current.app.Before(minimum) {
		r.learnRelease(nil) // the app may be updated while the CLI stays the same
		return nil, &Unavailable{
			code: CodeTooOld, program: p.path,
			reason: fmt.Sprintf("belongs to Obsidian %s, and the call needs %s", current.app, minimum),
			hint:   "the user can update Obsidian to " + minimum.String() + " or newer",
		}
	}
	if fresh { // another call may have dropped the cached version
		r.learnRelease(current)
	}
	return remarks, nil
}

// probe asks the Obsidian CLI for its version. If it fails, no part of the call has run.
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
	// If it answered twice with neither a version nor an error of the app, it is another program with the name of the
	// CLI.
	unavailable := (*Unavailable)(nil)
	isStarting := errors.As(err, &unavailable) && unavailable.Code() == CodeVaultStarting
	foreign := isStarting && out.Stdout != "" && !strings.HasPrefix(out.Stdout, prefixError)
	if err != nil && !foreign {
		return nil, err
	}
	if version, ok := parseRelease(trimmed(out.Stdout)); ok && out.Failure == nil {
		return &version, nil
	}
	complaint := "answered " + excerpt.Quoted(firstLine(trimmed(out.Stdout)))
	switch {
	case out.Stdout == "":
		complaint = "printed nothing"
	case whole.Guarded():
		complaint = "printed something else" // which could name a hidden note
	}
	return nil, &Unavailable{
		code:    CodeUnsuitable,
		program: p.path,
		reason:  "is not the Obsidian CLI: asked for its version it " + complaint,
		hint:    "the user can set cli to the full path of the native client; on Windows that is Obsidian.com and never Obsidian.exe",
	}
}

// learnRelease caches the version of the CLI; nil makes the next call ask again.
func (r *Runner) learnRelease(version *release) {
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	r.client.release = version
}

// release is the answer of the CLI to the version probe. The app updates itself, the installer does not.
type release struct {
	app       tiers.Version
	installer tiers.Version // zero if the answer does not name one
}

// parseRelease accepts only the forms "1.12.7" and "1.12.7 (installer 1.12.4)", with versions as in
// [tiers.ParseVersion].
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

// Watcher is notified of every program that a [Runner] runs, for traces. It gets neither the call nor the answer. It
// must be safe for concurrent use and return immediately.
type Watcher interface {
	// BeginRun is called before a program is run. backend is "obsidian" or "embedded". The returned function, unless
	// it is nil, is called at the end with the exit status, -1 if nothing ran, and the code of the error or the
	// failure, "" if there is none. ctx is the context of Run.
	BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string))
}

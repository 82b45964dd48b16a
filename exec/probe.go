package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goversion "github.com/hashicorp/go-version"

	"vaultwicket/allowlist/quote"
	"vaultwicket/policy"
	"vaultwicket/tiers"
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

// release is what the client answered to the question for its version. The app
// updates itself, the installer does not.
type release struct {
	app       tiers.Version
	installer tiers.Version // zero when the answer did not name one
}

// parseRelease accepts only the forms "1.12.7" and "1.12.7 (installer 1.12.4)".
func parseRelease(line string) (release, bool) {
	app, installer, two := strings.Cut(line, " (installer ")
	first, ok := parseVersion(app)
	if !ok || !two {
		return release{app: first}, ok
	}
	installer, closed := strings.CutSuffix(installer, ")")
	second, ok := parseVersion(installer)
	return release{app: first, installer: second}, ok && closed
}

// parseVersion takes three numbers. The library alone would take much more, a
// single number too.
func parseVersion(s string) (tiers.Version, bool) {
	if strings.Count(s, ".") != 2 || strings.Trim(s, "0123456789.") != "" {
		return tiers.Version{}, false
	}
	v, err := goversion.NewVersion(s)
	if err != nil {
		return tiers.Version{}, false
	}
	segments := v.Segments()
	return tiers.Version{segments[0], segments[1], segments[2]}, true
}

// check compares the app with the oldest one that may run a call.
func (r release) check(program string, minimum tiers.Version) error {
	if !r.app.Before(minimum) {
		return nil
	}
	return &Unavailable{
		code: CodeTooOld, program: program,
		reason: fmt.Sprintf("belongs to Obsidian %s, and the call needs %s", r.app, minimum),
		hint:   "the user can update Obsidian to " + minimum.String() + " or newer",
	}
}

// notice warns of an installer from before the native client. It is not an error: the client
// that was found is not the Electron executable.
func (r release) notice() []string {
	native := tiers.DefaultMinimum // the first one with the native client
	if r.installer == (tiers.Version{}) || !r.installer.Before(native) {
		return nil
	}
	return []string{fmt.Sprintf("the Obsidian installer is %s; installers from %s on bring a faster client, "+
		"download the latest one and register the command line interface again", r.installer, native)}
}

// Watcher is notified of every program that answers for a [Runner], for traces, without the call
// or the answer. It must be safe for concurrent use and return immediately.
type Watcher interface {
	// BeginRun is told that a program is going to be asked: "obsidian" or
	// "embedded". What it returns, unless nil, is told how that ended: the exit
	// status, -1 if nothing ran, and the code of the error or the failure, "" for
	// none. ctx is the one of Run.
	BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string))
}

// codeIn returns the code of an error, "" for nil. An error without one is an internal error.
func codeIn(out Outcome, err error) string {
	coded, ok := err.(interface{ Code() string })
	switch {
	case ok:
		return coded.Code()
	case err != nil:
		return codeFault
	case out.Failure != nil:
		return out.Failure.Code()
	}
	return ""
}

// codeFault is the code of an error that has none.
const codeFault = "internal"

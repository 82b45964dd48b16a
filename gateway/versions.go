package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// The app restores a version of a note by its number, which counts from the newest: by the time that a user has approved
// it, the same number may be that of another text. So the app is asked for the text, the embedded program plans the
// change from it, and writes that text: what is shown is what is approved, journaled and written.

// version is a version of a note that the app has kept.
type version struct {
	of   string // which one of which history, in words
	text string // with its secrets
}

// restoresVersion reports whether the text that the call writes is asked of the app.
func (r route) restoresVersion() bool {
	return r.program.Backend() == string(App) && r.call.HasStep(allowlist.StepVersion)
}

// versionOf asks the app for the text of the version that a call restores, and returns the route with the path of the
// note. A hidden note has none: then the embedded program says that it is missing. The error is an [*exec.Failure]
// where the app has no such version, and that of the environment where it cannot be asked.
func (g *vaultGateway) versionOf(ctx context.Context, r route) (route, *version, error) {
	number, _ := r.call.Param("version")
	kept := &version{of: "version " + number + " of " + r.call.VersionsOf()}
	if r.isHidden() {
		return r, kept, nil
	}
	var err error
	if r.permit, err = r.decision.Approved(); err != nil { // of which only questions are asked
		return r, nil, err
	}
	if err := g.checkPinnedVault(ctx, r); err != nil {
		return r, nil, err
	}
	if r.call.HasStep(allowlist.StepLocate) {
		located, asked, err := g.locate(ctx, r)
		switch {
		case err != nil && !needsApproval(err):
			return r, nil, err
		case asked.Failure != nil:
			return r, nil, asked.Failure
		}
		if r = located; r.isHidden() {
			return r, kept, nil
		}
		if r.permit, err = r.decision.Approved(); err != nil {
			return r, nil, err
		}
	}
	asked, err := g.runner.Run(ctx, r.permit.Version(), r.program)
	if err != nil {
		return r, nil, err
	}
	kept.text = asked.Stdout
	return r, kept, g.notVersion(r, kept, asked)
}

// notVersion returns why an answer of the app is not the text of a version, nil if it is. Nobody has published what the
// app answers in place of one, so what looks like a sentence of its own is taken for that.
func (g *vaultGateway) notVersion(r route, kept *version, asked exec.Outcome) error {
	sentence := strings.TrimSpace(asked.Stdout)
	isLine := !strings.Contains(sentence, "\n")
	isSentence := isLine && !asked.Headed && exec.LooksLikeRemark(sentence)
	isNoReason := asked.Failure == nil || asked.Failure.Code() == failure.CodeCLIError
	switch {
	case asked.Failure != nil && asked.Failure.Code() == failure.CodeNotFound, isNoReason && isSentence:
		return failure.New(
			failure.CodeNotFound,
			"history lists the versions of the app, sync:history those of Obsidian Sync",
			"%s: the app answered %q",
			kept.of,
			g.shownExcerpt(r, sentence),
		)
	case asked.Failure != nil:
		return failure.New(
			asked.Failure.Code(),
			asked.Failure.Hint(),
			"%s: %s",
			kept.of,
			g.shownExcerpt(r, asked.Failure.Error()),
		)
	case asked.Stdout == "":
		return failure.New(
			exec.CodeEmptyOutput,
			"the user can restore it in the app",
			"%s: the app printed nothing at all",
			kept.of,
		)
	case asked.Cut:
		return failure.New(
			exec.CodeOutputLimit,
			"the user can restore it in the app",
			"%s has %d bytes, more than are kept of an answer",
			kept.of,
			asked.Total,
		)
	}
	return nil
}

// shownExcerpt is the beginning of a text of the app in a sentence, without the secrets that the caller may not see.
func (g *vaultGateway) shownExcerpt(r route, text string) string {
	return excerpt.Short(string(g.runner.Marker(r.permit.Secrets()).Redact([]byte(text))))
}

// planRestore has the embedded program work out a change of which the app has the text.
func (g *vaultGateway) planRestore(
	ctx context.Context,
	r route,
	own exec.Program,
	in *planning,
) (*plannedChange, error) {
	at, kept, err := g.versionOf(ctx, r)
	if answered, ok := errors.AsType[*failure.RequestError](err); ok {
		return &plannedChange{failure: answered}, nil
	}
	if answered, ok := errors.AsType[*exec.Failure](err); ok {
		return &plannedChange{failure: answered}, nil
	}
	if err != nil {
		return nil, err
	}
	change, err := g.previewChange(ctx, at, own.Restoring(kept.of, kept.text), in)
	if err == nil {
		change.version = kept
	}
	return change, err
}

// restore writes the text of a version that the app has kept, as the change that it is. The text is that which the change
// was planned from.
func (g *vaultGateway) restore(
	ctx context.Context,
	r route,
	own exec.Program,
	options protocol.Write,
) (exec.Outcome, error) {
	var kept *version
	if r.change != nil {
		kept = r.change.version
	}
	if kept == nil {
		_, asked, err := g.versionOf(ctx, r)
		if err != nil {
			return exec.Outcome{ExitCode: -1}, err
		}
		kept = asked
	}
	r.program = own.WithOptions(options).Restoring(kept.of, kept.text)
	var out exec.Outcome
	var err error
	if r.planning != nil {
		out, err = r.planning.plan(ctx, g, r, r.planning.over(r.program))
	} else {
		out, err = g.runner.Run(ctx, r.permit, r.program)
	}
	switch {
	case err != nil && r.planning != nil:
		return out, err
	case err != nil:
		return g.settleOutcome(ctx, r, options.Entry, out, err)
	}
	if out.Failure == nil {
		out.Notices = append(out.Notices, "the text is "+kept.of)
	}
	return out, nil
}

// The notices about a change that only the app has made.
const (
	restoredByApp = "the app has restored it by itself: between the look at the version and the change another one may have become the one of this number"
)

// restoreByApp has the app restore a version where the folder of the vault is not known, and looks at the note before
// and after.
func (g *vaultGateway) restoreByApp(ctx context.Context, r route) (exec.Outcome, error) {
	_, kept, err := g.versionOf(ctx, r)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	before, err := g.printedNow(ctx, r)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	out, err := g.runner.Run(ctx, r.permit, r.program)
	if err != nil {
		return out, err
	}
	after, err := g.printedNow(context.WithoutCancel(ctx), r)
	switch {
	case err != nil:
		out.Notices = append(out.Notices, "the note could not be read back: "+excerpt.Reason(err))
	case after == kept.text && out.Failure != nil:
		out.Notices = append(out.Notices, out.Failure.Error()+", and the change is made")
		out.Failure = nil
	case after == kept.text:
	case out.Failure != nil && !isVague(out.Failure.Code()):
	case after == before:
		return out, failure.New(
			failure.CodeNotApplied,
			"look at the note",
			"the app was asked to restore %s, but the note is as it was",
			kept.of,
		)
	default:
		return out, failure.New(failure.CodeUnknown, "look at the note before you try again",
			"the app was asked to restore it, but the note does not have the text of %s", kept.of)
	}
	if out.Failure == nil {
		out.Notices = append(out.Notices, "the text is "+kept.of, restoredByApp)
	}
	return out, nil
}

// printedNow is the text of the note of a call as the app prints it.
func (g *vaultGateway) printedNow(ctx context.Context, r route) (string, error) {
	note, _ := r.call.Param("path")
	read, err := g.runner.Run(ctx, r.permit.ReadNote(), r.program)
	if err != nil {
		return "", err
	}
	if read.Failure != nil {
		return "", failure.New(
			read.Failure.Code(),
			read.Failure.Hint(),
			"the note %q: %s",
			excerpt.Short(note),
			read.Failure.Error(),
		)
	}
	return read.Stdout, nil
}

// whoseVersions is the notice that says to which history the numbers of versions in an answer belong.
func (r route) whoseVersions() string {
	if r.program.Backend() == string(App) {
		return "the versions are those of " + r.call.VersionsOf() + ", and not of the journal of vaultwicket"
	}
	return "the versions are those of the journal of vaultwicket, and not of " + r.call.VersionsOf()
}

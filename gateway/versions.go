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

// The app restores a version of a note by its number, which counts from the newest one. By the time that a user has
// approved it, the same number may mean another text. So the app is asked for the text, the embedded program plans
// the change from it, and writes that text: what is shown is what is approved, journaled and written.

// version is a version of a note that the app has kept.
type version struct {
	of   string // which version it is, in words
	text string // including secrets
}

// restoresVersion reports whether the call writes a text that the app is asked for.
func (r route) restoresVersion() bool {
	return r.program.Backend() == string(App) && r.call.HasStep(allowlist.StepVersion)
}

// versionOf asks the app for the text of the version that a call restores, and returns the route with the path of
// the note. For a hidden note the text is empty; the embedded program then reports that the note is missing. The
// error is a [*failure.RequestError] or an [*exec.Failure] if the app has no such version, or that of the
// environment if the app cannot be asked.
func (g *vaultGateway) versionOf(ctx context.Context, r route) (route, *version, error) {
	number, _ := r.call.Param("version")
	restored := &version{of: "version " + number + " of " + r.call.VersionsOf()}
	if r.isHidden() {
		return r, restored, nil
	}
	var err error
	if r.permit, err = r.decision.Approved(); err != nil { // it is only used for questions
		return r, nil, err
	}
	if err := g.checkPinnedVault(ctx, r); err != nil {
		return r, nil, err
	}
	if r.call.HasStep(allowlist.StepLocate) {
		located, answer, err := g.locate(ctx, r)
		switch {
		case err != nil && !needsApproval(err):
			return r, nil, err
		case answer.Failure != nil:
			return r, nil, answer.Failure
		}
		if r = located; r.isHidden() {
			return r, restored, nil
		}
		if r.permit, err = r.decision.Approved(); err != nil {
			return r, nil, err
		}
	}
	answer, err := g.runner.Run(ctx, r.permit.Version(), r.program)
	if err != nil {
		return r, nil, err
	}
	restored.text = answer.Stdout
	return r, restored, g.checkVersion(r, restored, answer)
}

// checkVersion returns an error if an answer of the app is not the text of a version. It is not documented what the
// app answers if there is none, so an answer that looks like a message counts as one.
func (g *vaultGateway) checkVersion(r route, restored *version, answer exec.Outcome) error {
	sentence := strings.TrimSpace(answer.Stdout)
	isLine := !strings.Contains(sentence, "\n")
	isSentence := isLine && !answer.Headed && exec.LooksLikeRemark(sentence)
	isNoReason := answer.Failure == nil || answer.Failure.Code() == failure.CodeCLIError
	switch {
	case answer.Failure != nil && answer.Failure.Code() == failure.CodeNotFound, isNoReason && isSentence:
		return failure.New(
			failure.CodeNotFound,
			"history lists the versions of the app, sync:history those of Obsidian Sync",
			"%s: the app answered %q",
			restored.of,
			g.redactedExcerpt(r, sentence),
		)
	case answer.Failure != nil:
		return failure.New(
			answer.Failure.Code(),
			answer.Failure.Hint(),
			"%s: %s",
			restored.of,
			g.redactedExcerpt(r, answer.Failure.Error()),
		)
	case answer.Stdout == "":
		return failure.New(
			exec.CodeEmptyOutput,
			"the user can restore it in the app",
			"%s: the app printed nothing at all",
			restored.of,
		)
	case answer.Cut:
		return failure.New(
			exec.CodeOutputLimit,
			"the user can restore it in the app",
			"%s has %d bytes, more than are kept of an answer",
			restored.of,
			answer.Total,
		)
	}
	return nil
}

// redactedExcerpt returns the beginning of a text of the app, without the secrets that the caller may not see.
func (g *vaultGateway) redactedExcerpt(r route, text string) string {
	return excerpt.Short(string(g.runner.Marker(r.permit.Secrets()).Redact([]byte(text))))
}

// planRestore makes the embedded program work out a change whose text comes from the app.
func (g *vaultGateway) planRestore(
	ctx context.Context,
	r route,
	own exec.Program,
	in *planning,
) (*plannedChange, error) {
	located, restored, err := g.versionOf(ctx, r)
	if answered, ok := errors.AsType[*failure.RequestError](err); ok {
		return &plannedChange{failure: answered}, nil
	}
	if answered, ok := errors.AsType[*exec.Failure](err); ok {
		return &plannedChange{failure: answered}, nil
	}
	if err != nil {
		return nil, err
	}
	change, err := g.previewChange(ctx, located, own.Restoring(restored.of, restored.text), in)
	if err == nil {
		change.version = restored
	}
	return change, err
}

// restore writes the text of a version that the app has kept. It is the text that the change was planned from.
func (g *vaultGateway) restore(
	ctx context.Context,
	r route,
	own exec.Program,
	options protocol.Write,
) (exec.Outcome, error) {
	var restored *version
	if r.change != nil {
		restored = r.change.version
	}
	if restored == nil {
		_, answer, err := g.versionOf(ctx, r)
		if err != nil {
			return exec.Outcome{ExitCode: -1}, err
		}
		restored = answer
	}
	r.program = own.WithOptions(options).Restoring(restored.of, restored.text)
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
		out.Notices = append(out.Notices, "the text is "+restored.of)
	}
	return out, nil
}

// Notices about a change that only the app has made.
const (
	restoredByApp = "the app has restored it by itself: between the look at the version and the change another one may have become the one of this number"
)

// restoreByApp makes the app restore a version if the folder of the vault is not known. It reads the note before and
// after.
func (g *vaultGateway) restoreByApp(ctx context.Context, r route) (exec.Outcome, error) {
	_, restored, err := g.versionOf(ctx, r)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	before, err := g.readWithApp(ctx, r)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	out, err := g.runner.Run(ctx, r.permit, r.program)
	if err != nil {
		return out, err
	}
	after, err := g.readWithApp(context.WithoutCancel(ctx), r)
	switch {
	case err != nil:
		out.Notices = append(out.Notices, "the note could not be read back: "+excerpt.Reason(err))
	case after == restored.text && out.Failure != nil:
		out.Notices = append(out.Notices, out.Failure.Error()+", and the change is made")
		out.Failure = nil
	case after == restored.text:
	case out.Failure != nil && !isVague(out.Failure.Code()):
	case after == before:
		return out, failure.New(
			failure.CodeNotApplied,
			"look at the note",
			"the app was asked to restore %s, but the note is as it was",
			restored.of,
		)
	default:
		return out, failure.New(failure.CodeUnknown, "look at the note before you try again",
			"the app was asked to restore it, but the note does not have the text of %s", restored.of)
	}
	if out.Failure == nil {
		out.Notices = append(out.Notices, "the text is "+restored.of, restoredByApp)
	}
	return out, nil
}

// readWithApp returns the text of the note of a call as the app prints it.
func (g *vaultGateway) readWithApp(ctx context.Context, r route) (string, error) {
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

// noticeOfHistory returns the notice that says which history the version numbers in an answer belong to.
func (r route) noticeOfHistory() string {
	if r.program.Backend() == string(App) {
		return "the versions are those of " + r.call.VersionsOf() + ", and not of the journal of vaultwicket"
	}
	return "the versions are those of the journal of vaultwicket, and not of " + r.call.VersionsOf()
}

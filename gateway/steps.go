package gateway

import (
	"context"
	"path"
	"slices"
	"strings"

	"vaultwicket/exec"
)

// readDaily reads today's note without making it. The app's own daily:read
// makes a missing note (recorded on 1.13.7), so the app is asked for the path
// and then for the note at that path, which fails when there is none.
func (g *door) readDaily(ctx context.Context, r route) (exec.Outcome, error) {
	asked, err := g.runner.Run(ctx, r.permit.DailyPath(), g.resolver(r))
	if err != nil || asked.Failure != nil {
		return asked, err
	}
	note := strings.TrimSpace(asked.Stdout)
	permit := r.permit.ReadDaily(note)
	if !permit.Valid() {
		return asked, refuse(codeCLIError, "look at the daily note settings of the vault", "daily:path answered %q, which is no path of a note", clip(note))
	}
	if r.permit.Confined() {
		// The embedded program answers for a hidden note as for a missing one.
		seen, err := g.runner.Run(ctx, permit, g.resolver(r))
		if seen.Path = note; err != nil || seen.Failure != nil {
			return r.missingDaily(seen, err)
		}
	}
	if r.policy.Access.Restrict() {
		if err := g.directTo(note); err != nil {
			return nothingRan(asked), err
		}
	}
	out, err := g.runner.Run(ctx, permit, r.program)
	out.Path = note
	out.Duration += asked.Duration
	out.Notices = append(asked.Notices, out.Notices...)
	return r.missingDaily(out, err)
}

// missingDaily says in our own words that there is no daily note, and what
// makes today's.
func (r route) missingDaily(out exec.Outcome, err error) (exec.Outcome, error) {
	if err != nil || out.Failure == nil || out.Failure.Code() != codeNotFound {
		return out, err
	}
	note := out.Path
	if note == "" {
		_, note, _ = strings.Cut(out.Stdout, `"`)
		note, _, _ = strings.Cut(note, `"`)
	}
	hint := "daily:append makes it, where changes are allowed"
	if r.call.Ours() {
		hint = "daily:range shows which days have a note" // another day than today was asked for
	}
	return out, refuse(codeNotFound, hint, "the daily note %q does not exist", clip(note))
}

// create refuses a taken path, where the app would make a numbered copy and
// report success (recorded on 1.12.7).
func (g *door) create(ctx context.Context, r route) (exec.Outcome, error) {
	key := "path"
	asked, given := r.call.Param("path")
	if !given {
		key = "file"
		asked, _ = r.call.Param("name")
	}
	for _, candidate := range madeFrom(key, asked) {
		found, err := g.runner.Run(ctx, r.permit.Exists(key, candidate), r.program)
		if err != nil {
			return found, err
		}
		if found.Failure == nil && key == "file" {
			return nothingRan(found), refuse(codeAmbiguous, "name the new note with path=",
				"the note %q has this name, and in which folder the new one would be made is not known", clip(factOf(found.Stdout, "path")))
		}
		if found.Failure == nil {
			return nothingRan(found), refuse(codeAlreadyExists, "choose another name, or give overwrite to replace it", "the note %q exists already", candidate)
		}
		if found.Failure.Code() != codeNotFound {
			return found, nil
		}
	}
	out, err := g.runner.Run(ctx, r.permit, r.program)
	made := confirmedPath(r.call, out.Stdout)
	if key == "file" {
		made, asked = path.Base(made), path.Base(asked) // the app chooses the folder
	}
	if err != nil || out.Failure != nil || slices.Contains(madeFrom("path", asked), made) {
		return out, err
	}
	return out, refuse(codeNotApplied, "look at both notes", "the app made %q instead of %q", clip(made), asked)
}

// madeFrom returns the paths that the app may make of an asked one: it adds .md
// where it does not know the extension.
func madeFrom(key, asked string) []string {
	switch path.Ext(asked) {
	case ".md", ".canvas", ".base":
		return []string{asked}
	}
	if key == "file" {
		return []string{asked}
	}
	return []string{asked, asked + ".md"}
}

// nothingRan is the outcome of a call of which only a question was run.
func nothingRan(question exec.Outcome) exec.Outcome {
	return exec.Outcome{ExitCode: -1, Duration: question.Duration, Notices: question.Notices}
}

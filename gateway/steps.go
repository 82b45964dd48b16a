package gateway

import (
	"context"
	"path"
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/tiers"
)

// step is how a call that takes a step is carried out on the app, and how a dry run describes
// it.
type step struct {
	step   allowlist.Step
	notice string
	// resolve replaces the name of a note by its path before the call is run; nil for a step
	// that does not.
	resolve func(*vaultGateway, context.Context, route) (route, exec.Outcome, error)
	// run carries out the call; nil for a step after which it is run as it is.
	run func(*vaultGateway, context.Context, route) (exec.Outcome, error)
	// first is the question to the app in place of the call, and shell the line that continues
	// from its answer, for a dry run; nil where the call itself is shown.
	first func(allowlist.Call) (allowlist.Call, error)
	shell func(first exec.Command) string
}

// steps are taken in this order.
var steps = [...]step{
	{
		step: allowlist.StepLocate, resolve: (*vaultGateway).locate,
		notice: "first asks which note the name refers to, and runs the call with its path",
	},
	{
		step: allowlist.StepLocateNew, resolve: (*vaultGateway).locateNew,
		notice: "first looks up the folder for new notes, and runs the call with the path",
	},
	{
		step: allowlist.StepReadDaily, run: (*vaultGateway).readDaily, first: allowlist.Call.DailyPath, shell: shellReadLine,
		notice: "then reads the note at the path it answers, and does not ask while the settings of the vault tell the path; daily:read itself would make a missing note",
	},
	{
		step: allowlist.StepAbsent, run: (*vaultGateway).createAbsent,
		notice: "first asks whether the note exists; create itself would make a numbered copy",
	},
}

// steps are those of the call. Only calls on the app have any.
func (r route) steps() []step {
	if r.program.Backend() != string(App) {
		return nil
	}
	var taken []step
	for _, s := range steps {
		if r.call.HasStep(s.step) {
			taken = append(taken, s)
		}
	}
	return taken
}

// perform has the program carry out a call whose note is known by its path.
func (g *vaultGateway) perform(ctx context.Context, r route) (exec.Outcome, error) {
	for _, s := range r.steps() {
		if s.run != nil {
			return s.run(g, ctx, r)
		}
	}
	out, err := g.runner.Run(ctx, r.permit, r.program)
	if r.call.HasStep(allowlist.StepReadDaily) {
		return r.missingDaily(out, err)
	}
	return out, err
}

// createAbsent refuses a path at which a note exists, where the app would make a
// numbered copy and report success (recorded on 1.12.7).
func (g *vaultGateway) createAbsent(ctx context.Context, r route) (exec.Outcome, error) {
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
			return nothingRan(found), failure.New(failure.CodeAmbiguous, "name the new note with path=",
				"the note %q has this name, and in which folder the new one would be made is not known", quote.Short(factOf(found.Stdout, "path")))
		}
		if found.Failure == nil {
			return nothingRan(found), failure.New(failure.CodeAlreadyExists, "choose another name, or give overwrite to replace it", "the note %q exists already", candidate)
		}
		if found.Failure.Code() != failure.CodeNotFound {
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
	return out, failure.New(failure.CodeNotApplied, "look at both notes", "the app made %q instead of %q", quote.Short(made), asked)
}

// madeFrom returns the paths that the app may create for a given one: it adds .md to an
// extension that it does not know.
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

// advised adds the hint of the embedded program, which knows the names that the caller may
// see, to an answer of the app that something was not found. Only calls that read are run
// again for it.
func (g *vaultGateway) advised(ctx context.Context, r route, out exec.Outcome) exec.Outcome {
	reads := r.call.Effect() == tiers.Reads && !r.call.Shows() && !r.call.Sends()
	if r.program.Backend() != string(App) || !reads || out.Failure == nil || !out.Failure.IsNotFound() {
		return out
	}
	own := g.embeddedProgram()
	if own == nil {
		return out
	}
	again, err := g.runner.Run(ctx, r.permit, *own)
	if err == nil && again.Failure != nil && again.Failure.Code() == failure.CodeNotFound && again.Failure.Hint() != "" {
		out.Failure = out.Failure.WithHint(again.Failure.Hint())
	}
	return out
}

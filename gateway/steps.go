package gateway

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
)

// step describes how a call with a step is carried out on the app, and how a dry run shows it.
type step struct {
	step   allowlist.Step
	notice string
	// resolve replaces the name of a note by its path before the call is run. It may be nil.
	resolve func(*vaultGateway, context.Context, route) (route, exec.Outcome, error)
	// run carries out the call. It is nil if the call is run unchanged after the step.
	run func(*vaultGateway, context.Context, route) (exec.Outcome, error)
	// shows adds the step to those of a dry run. The last of the steps so far is the call itself.
	shows func(*vaultGateway, context.Context, route, []StepShown) []StepShown
}

// steps has all steps in the order in which they are carried out.
var steps = [...]step{
	{
		step: allowlist.StepLocate, resolve: (*vaultGateway).locate, shows: (*vaultGateway).showLocate,
		notice: "first asks which note the name refers to, and runs the call with its path",
	},
	{
		step: allowlist.StepLocateNew, resolve: (*vaultGateway).locateNew, shows: (*vaultGateway).showAsItIs,
		notice: "first looks up the folder for new notes, and runs the call with the path",
	},
	{
		step: allowlist.StepReadDaily, run: (*vaultGateway).readDaily, shows: (*vaultGateway).showReadDaily,
		notice: "then reads the note at the path it answers, and does not ask while the settings of the vault tell the path; daily:read itself would make a missing note",
	},
	{
		step: allowlist.StepAbsent, run: (*vaultGateway).createAbsent, shows: (*vaultGateway).showAbsent,
		notice: "first asks whether the note exists; create itself would make a numbered copy",
	},
	{
		step: allowlist.StepVersion, run: (*vaultGateway).restoreByApp, shows: (*vaultGateway).showVersion,
		notice: "first asks for the text of the version, and writes that text; its number may mean another version later",
	},
}

// steps returns the steps of the call. Only calls on the app have any.
func (r route) steps() []step {
	if r.program.Backend() != string(App) {
		return nil
	}
	var own []step
	for _, s := range steps {
		if r.call.HasStep(s.step) {
			own = append(own, s)
		}
	}
	return own
}

// perform makes the program carry out a call whose note is known by its path.
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

// createAbsent creates a note. It refuses a path at which a note exists already, because the app would create a
// numbered copy and report success (recorded on 1.12.7).
func (g *vaultGateway) createAbsent(ctx context.Context, r route) (exec.Outcome, error) {
	key, wanted := r.identifyNew()
	for _, candidate := range createdPaths(key, wanted) {
		existing, err := g.runner.Run(ctx, r.permit.Exists(key, candidate), r.program)
		if err != nil {
			return existing, err
		}
		if existing.Failure == nil && key == "file" {
			return outcomeNotRun(existing), failure.New(
				failure.CodeAmbiguous,
				"name the new note with path=",
				"the note %q has this name, and in which folder the new one would be made is not known",
				excerpt.Short(pathIn(existing.Stdout)),
			)
		}
		if existing.Failure == nil {
			return outcomeNotRun(existing), failure.New(
				failure.CodeAlreadyExists,
				"choose another name, or give overwrite to replace it",
				"the note %q exists already",
				candidate,
			)
		}
		if existing.Failure.Code() != failure.CodeNotFound {
			return existing, nil
		}
	}
	out, err := g.runner.Run(ctx, r.permit, r.program)
	made := confirmedPath(r.call, out.Stdout)
	if key == "file" {
		made = path.Base(made)
		wanted = path.Base(wanted) // the app chooses the folder
	}
	if err != nil || out.Failure != nil || slices.Contains(createdPaths("path", wanted), made) {
		return out, err
	}
	return out, failure.New(
		failure.CodeNotApplied,
		"look at both notes",
		"the app made %q instead of %q",
		excerpt.Short(made),
		wanted,
	)
}

// identifyNew returns the parameter that names the note which a call creates, and its value.
func (r route) identifyNew() (key, value string) {
	if path, ok := r.call.Param("path"); ok {
		return "path", path
	}
	name, _ := r.call.Param("name")
	return "file", name
}

// createdPaths returns the paths that the app may use for the given one: it adds .md to an extension that it does
// not know.
func createdPaths(key, wanted string) []string {
	switch path.Ext(wanted) {
	case ".md", ".canvas", ".base":
		return []string{wanted}
	}
	if key == "file" {
		return []string{wanted}
	}
	return []string{wanted, wanted + ".md"}
}

// readDaily reads today's note without creating it; the app's own daily:read creates a missing note (recorded on
// 1.13.7). If possible, the path is computed from the settings of the vault, which saves starting the app once.
// Otherwise, or if that note does not exist, the app is asked for the path.
func (g *vaultGateway) readDaily(ctx context.Context, r route) (exec.Outcome, error) {
	own := ""                 // the path that the embedded program computes from the settings of the vault
	if !r.permit.Confined() { // otherwise the embedded program is asked for the path below, see resolver
		own = g.ownDaily(ctx, r)
	}
	knownPath := g.knownDaily(own)
	var out exec.Outcome
	if knownPath != "" {
		var err error
		out, err = g.readDailyAt(ctx, r, exec.Outcome{}, knownPath)
		if err != nil || out.Failure == nil || out.Failure.Code() != failure.CodeNotFound {
			return out, err
		}
	}
	answer, err := g.runner.Run(ctx, r.permit.DailyPath(), g.resolver(r))
	if err != nil || answer.Failure != nil {
		return answer, err
	}
	note := strings.TrimSpace(answer.Stdout)
	if note == knownPath {
		return r.missingDaily(out, nil)
	}
	out, err = g.readDailyAt(ctx, r, answer, note)
	if err == nil && out.Failure == nil {
		g.today.mu.Lock()
		g.today.own = own
		g.today.app = note
		g.today.mu.Unlock()
	}
	return r.missingDaily(out, err)
}

// knownDaily returns the path at which the app has the note that the embedded program has at the path own, "" if the
// app must be asked.
func (g *vaultGateway) knownDaily(own string) string {
	g.today.mu.Lock()
	defer g.today.mu.Unlock()
	switch {
	case own == "":
		return ""
	case g.today.own == own:
		return g.today.app
	case strings.ContainsFunc(strings.TrimSuffix(path.Base(own), ".md"), unicode.IsLetter):
		return ""
	}
	return own // a name without letters is the same in every language
}

// readDailyAt reads the note at a path in place of the call. answer is the one of the app to the question for the
// path, if it was asked.
func (g *vaultGateway) readDailyAt(
	ctx context.Context,
	r route,
	answer exec.Outcome,
	note string,
) (exec.Outcome, error) {
	permit := r.permit.ReadDaily(note)
	if !permit.Valid() {
		return answer, failure.New(
			failure.CodeCLIError,
			"look at the daily note settings of the vault",
			"daily:path answered %q, which is not the path of a note",
			excerpt.Short(note),
		)
	}
	if r.permit.Confined() {
		// The embedded program answers in the same way for a hidden and for a missing note.
		hiddenCheck, err := g.runner.Run(ctx, permit, g.resolver(r))
		hiddenCheck.Path = note
		if err != nil || hiddenCheck.Failure != nil {
			return hiddenCheck, err
		}
	}
	if r.policy.Access.Restrict() {
		if err := RejectIndirect(g.target().Folder, note); err != nil {
			return outcomeNotRun(answer), err
		}
	}
	// The note was not known yet when the call was planned, see restrictedNotes.
	narrowed := g.rules.narrowing(note)
	switch {
	case narrowed.isUnread(note):
		return outcomeNotRun(answer), errUnread("the daily note cannot be read")
	case hidesItself(narrowed.levels, narrowed.isKnown, note):
		return outcomeNotRun(answer), failure.New(
			failure.CodeNotFound,
			missingDailyHint,
			"the daily note %q does not exist",
			excerpt.Short(note),
		)
	}
	out, err := g.runner.Run(ctx, permit, r.program)
	out.Path = note
	out.Duration += answer.Duration
	out.Notices = append(answer.Notices, out.Notices...)
	return out, err
}

// dailyPath caches the app's path of today's note for the path that the embedded program computes, which changes
// with the day and the settings. The two may differ in the names of months and weekdays, which the app writes in its
// own language.
type dailyPath struct {
	mu       sync.Mutex
	own, app string // the path of the embedded program and that of the app for the same note
}

const missingDailyHint = "daily:append makes it, where changes are allowed"

// missingDaily replaces the app's error that the daily note does not exist by one that says how to create today's.
func (r route) missingDaily(out exec.Outcome, err error) (exec.Outcome, error) {
	if err != nil || out.Failure == nil || out.Failure.Code() != failure.CodeNotFound {
		return out, err
	}
	note := out.Path
	if note == "" {
		_, note, _ = strings.Cut(out.Stdout, `"`)
		note, _, _ = strings.Cut(note, `"`)
	}
	hint := missingDailyHint
	if r.call.EmbeddedOnly() {
		hint = "daily:range shows which days have a note" // the call was about another day
	}
	return out, failure.New(failure.CodeNotFound, hint, "the daily note %q does not exist", excerpt.Short(note))
}

// locate replaces the name of the note in a call by its path, and has the policy judge the call again, so that the
// judged note is the one that is used. The app is asked, because only the app knows which note it would use; the
// embedded program resolves and opens a note in one step, and reports its path. An Outcome with a Failure, or an
// error, is the answer to the whole call.
func (g *vaultGateway) locate(ctx context.Context, r route) (route, exec.Outcome, error) {
	name, _ := r.call.Named()
	answer, err := g.runner.Run(ctx, r.permit.Locate(), g.resolver(r))
	if err != nil || answer.Failure != nil {
		return r, answer, err
	}
	path := pathIn(answer.Stdout)
	if r.call, err = r.call.At(path); err != nil {
		return r, outcomeNotRun(answer), failure.New(
			failure.CodeCLIError,
			"name the note with path=",
			"the app says that %q is the note %q, which is not a path",
			name,
			excerpt.Short(path),
		)
	}
	if err := g.noticeNamesakes(ctx, r, &answer); err != nil {
		return r, outcomeNotRun(answer), err
	}
	_, r.facts.Narrowed = g.restrictedNotes(r.call)
	if r, err = g.replaced(r); err != nil {
		return r, outcomeNotRun(answer), err
	}
	return r, answer, nil
}

// noticeNamesakes adds a notice to the answer if other notes have the same name: the app picks one without saying
// so. A change of a note by such a name is refused. If the folder of the vault is not known, other notes are not
// known either.
func (g *vaultGateway) noticeNamesakes(ctx context.Context, r route, answer *exec.Outcome) error {
	own := g.embeddedProgram()
	if own == nil {
		return nil
	}
	resolved := *answer // for a confined call this is the answer of the embedded program already
	if !r.permit.Confined() {
		var err error
		if resolved, err = g.runner.Run(ctx, r.permit.Locate(), *own); err != nil {
			return err
		}
	}
	if !resolved.Ambiguous {
		return nil
	}
	if r.permit.Call().Effect().Mutates() {
		name, _ := r.permit.Call().Named()
		return failure.New(
			failure.CodeAmbiguous,
			"name the note with path=",
			"the name %q is ambiguous: %s",
			excerpt.Short(name),
			strings.Join(resolved.Notices, "; "),
		)
	}
	if !r.permit.Confined() {
		answer.Notices = append(answer.Notices, resolved.Notices...)
	}
	return nil
}

// resolver returns the program that resolves the name of a note: that of the route or, if the call may depend on
// hidden notes, the embedded program, which never resolves a name to a hidden note.
func (g *vaultGateway) resolver(r route) exec.Program {
	if r.permit.Confined() {
		if own := g.embeddedProgram(); own != nil {
			return *own
		}
	}
	return r.program
}

// locateNew replaces the name of the note that a call creates by its path. The folder for new notes is a setting of
// the vault, which the embedded program reads. Without the folder of the vault the call stays as it is.
func (g *vaultGateway) locateNew(ctx context.Context, r route) (route, exec.Outcome, error) {
	own := g.embeddedProgram()
	if own == nil {
		return r, exec.Outcome{}, nil
	}
	var err error
	change := r.change
	if change == nil {
		if change, err = g.planChange(ctx, r, *own, nil); err != nil {
			return r, exec.Outcome{ExitCode: -1}, err
		}
	}
	if change.failure != nil {
		return r, exec.Outcome{ExitCode: -1}, change.failure
	}
	if r.call, err = r.call.At(change.Path); err != nil {
		return r, exec.Outcome{ExitCode: -1}, err
	}
	r, err = g.replaced(r)
	return r, exec.Outcome{ExitCode: -1}, err
}

// pathIn returns the path in an answer of the command file, from the line "path, tab, path".
func pathIn(answer string) string {
	for line := range strings.Lines(answer) {
		if value, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "path\t"); ok {
			return value
		}
	}
	return ""
}

// needsFolder reports whether a plan needs the folder of the vault, which is not known. private means that notes can
// restrict access to themselves, which only the folder can tell; otherwise the call could be carried out without the
// folder.
func (g *vaultGateway) needsFolder(plan Plan, planned error) (needs, private bool) {
	isKnown := plan.place.Folder != "" || g.target().Folder != ""
	isRefused := plan.refusal != nil && !needsApproval(plan.refusal)
	if isKnown || isRefused || !plan.call.Valid() {
		return false, false
	}
	if g.backend == Embedded || plan.call.TouchesNoNote() || plan.answer != "" {
		return false, false
	}
	if !plan.policy.Private.IsZero() && !plan.policy.Shadows(policy.RulePrivate) {
		return len(plan.routes) > 0 || g.isEmbeddedOnly(planned), true
	}
	if g.noFolder.Load() {
		return false, false
	}
	// The folder is needed to journal and show a change, and to pick a random note.
	drawsNote := len(plan.routes) > 0 && plan.call.DrawsNote()
	isBetter := plan.changesNotes() || drawsNote
	return isBetter || g.isEmbeddedOnly(planned), false
}

// isEmbeddedOnly reports whether a plan failed because only the embedded program can carry out the call, and the
// folder that it needs is not known: only that program has the command, or the Obsidian CLI cannot take a value of
// the call as an argument.
func (g *vaultGateway) isEmbeddedOnly(planned error) bool {
	if tooMuch, ok := errors.AsType[*allowlist.ParseError](planned); ok && g.backend == Auto {
		return tooMuch.Code() == allowlist.CodeContentUnsafe || tooMuch.Code() == failure.CodeTooLong
	}
	return errors.Is(planned, errNoFolder)
}

// findFolder asks the app for the folder of its vault, once, if the folder is not known and a plan needs it, see
// needsFolder. All later calls use that vault. If this machine does not have the folder, calls are refused whose
// notes could restrict access to themselves. The app may name the folder by a path of another system, see
// [appvaults.System.Here]. planned is the error that came with the plan.
func (g *vaultGateway) findFolder(ctx context.Context, plan Plan, planned error) error {
	needs, private := g.needsFolder(plan, planned)
	if !needs {
		return nil
	}
	program, err := g.app()
	if err != nil {
		return nil // the error of the plan says so
	}
	decision, err := inVault(plan.decision, g.target().App)
	if err != nil {
		return nil // the error of the plan says why
	}
	permit, err := decision.Approved() // it is only used for the question
	if err != nil {
		return err
	}
	answer, err := g.runner.Run(ctx, permit.VaultPath(), program)
	switch {
	case g.isEmbeddedOnly(planned) && (err != nil || answer.Failure != nil):
		return nil // the error of the plan is right without the folder
	case err != nil:
		return err
	}
	system := appvaults.ThisSystem(g.getenv)
	named := strings.TrimSpace(answer.Stdout)
	folder := system.Here(named)
	isPath := filepath.IsAbs(named) || appvaults.IsOfWindows(named)
	isUnknown := answer.Failure != nil || folder == "" || ownerfiles.StateFolder(g.getenv, folder) == ""
	isElsewhere := answer.Failure == nil && folder == "" && isPath
	switch {
	case isUnknown && !private:
		g.noFolder.Store(answer.Failure == nil)
		return nil
	case isElsewhere:
		return failure.New(
			policy.CodeAccess,
			"the user can "+system.Remedy()+`, which "vaultwicket doctor" checks; or private-property and private-tags to empty lists`,
			"which notes are private is not known, because this machine does not have the folder that the app names for the vault",
		)
	case isUnknown:
		return failure.New(
			policy.CodeAccess,
			"the user can set vault to the folder of the vault, or private-property and private-tags to empty lists",
			"which notes are private is not known, because the folder of the vault is not",
		)
	}
	place := appvaults.Locate(appvaults.Read(g.getenv), appvaults.Wanted{Folder: folder})
	g.found.CompareAndSwap(
		nil,
		&appvaults.Place{App: cmp.Or(plan.place.App, place.App, filepath.Base(folder)), Folder: folder},
	)
	return nil
}

// planWithFolder is like [vaultGateway.Plan], but first finds the folder of the vault if the plan needs it.
func (g *vaultGateway) planWithFolder(ctx context.Context, req Request) (Plan, error) {
	plan, err := g.Plan(req)
	if missing := g.findFolder(ctx, plan, err); missing != nil {
		return plan, missing
	}
	if plan.call.Valid() && plan.place != g.target() { // the folder was just found, so the notes in it count now
		return g.Plan(req)
	}
	return plan, err
}

// checkPinnedVault asks the app for the folder of its vault, once, and returns an error if it is another one: the
// app confuses vaults of the same name, and uses the open vault for an unknown name. After an error the next call
// asks again.
func (g *vaultGateway) checkPinnedVault(ctx context.Context, r route) error {
	if !g.vault.Pinned || g.vault.Folder == "" || r.program.Backend() != string(App) {
		return nil
	}
	g.pinned.Lock()
	defer g.pinned.Unlock()
	if g.pinned.confirmed {
		return nil
	}
	answer, err := g.runner.Run(ctx, r.permit.VaultPath(), r.program)
	switch {
	case err != nil:
		return err
	case answer.Failure != nil:
		return answer.Failure
	}
	named := strings.TrimSpace(answer.Stdout)
	folder := cmp.Or(appvaults.ThisSystem(g.getenv).Here(named), named)
	if !appvaults.SameFolder(folder, g.vault.Folder) {
		return failure.New(
			failure.CodeVaultNotFound,
			"the user can set the id of the vault, or correct its folder",
			"the app has the vault %q in the folder %q, the settings have %q",
			g.name(),
			excerpt.Short(named),
			excerpt.Short(g.vault.Folder),
		)
	}
	g.pinned.confirmed = true
	return nil
}

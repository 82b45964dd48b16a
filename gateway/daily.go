package gateway

import (
	"context"
	"path"
	"strings"
	"sync"
	"unicode"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
)

// readDaily reads today's note without creating it. The app's own daily:read creates a
// missing note (recorded on 1.13.7), so the note is read by its path: by the path that the
// settings of the vault give, which takes one start of the app, and otherwise, or if that note
// does not exist, by the path that the app answers.
func (g *vaultGateway) readDaily(ctx context.Context, r route) (exec.Outcome, error) {
	own := "" // the path as the embedded program computes it from the settings of the vault
	if program := g.embeddedProgram(); program != nil && !r.permit.Confined() {
		// Where notes may be hidden the embedded program is asked below, see resolver.
		if asked, err := g.runner.Run(ctx, r.permit.DailyPath(), *program); err == nil && asked.Failure == nil {
			own = strings.TrimSpace(asked.Stdout)
		}
	}
	known := g.today.path(own)
	var out exec.Outcome
	if known != "" {
		var err error
		out, err = g.readDailyAt(ctx, r, exec.Outcome{}, known)
		if err != nil || out.Failure == nil || out.Failure.Code() != failure.CodeNotFound {
			return out, err
		}
	}
	asked, err := g.runner.Run(ctx, r.permit.DailyPath(), g.resolver(r))
	if err != nil || asked.Failure != nil {
		return asked, err
	}
	note := strings.TrimSpace(asked.Stdout)
	if note == known {
		return r.missingDaily(out, nil)
	}
	out, err = g.readDailyAt(ctx, r, asked, note)
	if err == nil && out.Failure == nil {
		g.today.mu.Lock()
		g.today.own, g.today.app = own, note
		g.today.mu.Unlock()
	}
	return r.missingDaily(out, err)
}

// readDailyAt reads the note at a path in place of the call. asked is the earlier answer of
// the app, if it was asked.
func (g *vaultGateway) readDailyAt(ctx context.Context, r route, asked exec.Outcome, note string) (exec.Outcome, error) {
	permit := r.permit.ReadDaily(note)
	if !permit.Valid() {
		return asked, failure.New(failure.CodeCLIError, "look at the daily note settings of the vault", "daily:path answered %q, which is not the path of a note", quote.Short(note))
	}
	if r.permit.Confined() {
		// The embedded program answers for a hidden note as for a missing one.
		seen, err := g.runner.Run(ctx, permit, g.resolver(r))
		if seen.Path = note; err != nil || seen.Failure != nil {
			return seen, err
		}
	}
	if r.policy.Access.Restrict() {
		if err := notes.RejectIndirect(g.target().Folder, note); err != nil {
			return nothingRan(asked), err
		}
	}
	out, err := g.runner.Run(ctx, permit, r.program)
	out.Path = note
	out.Duration += asked.Duration
	out.Notices = append(asked.Notices, out.Notices...)
	return out, err
}

// dailyPath remembers where the app has today's note. The path that the embedded program
// computes is the key: it changes with the day and with the settings. It may differ from the
// app's in the names of months and weekdays, which the app writes in its own language.
type dailyPath struct {
	mu       sync.Mutex
	own, app string // the same note, as each of them has it
}

// path returns the app's path of the note that the embedded program has at own, "" if it
// is not known. A name without letters does not depend on a language.
func (d *dailyPath) path(own string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case own == "":
		return ""
	case own == d.own:
		return d.app
	case strings.ContainsFunc(strings.TrimSuffix(path.Base(own), ".md"), unicode.IsLetter):
		return ""
	}
	return own
}

// missingDaily replaces the app's error that the daily note does not exist by one that says
// how to create today's.
func (r route) missingDaily(out exec.Outcome, err error) (exec.Outcome, error) {
	if err != nil || out.Failure == nil || out.Failure.Code() != failure.CodeNotFound {
		return out, err
	}
	note := out.Path
	if note == "" {
		_, note, _ = strings.Cut(out.Stdout, `"`)
		note, _, _ = strings.Cut(note, `"`)
	}
	hint := "daily:append makes it, where changes are allowed"
	if r.call.EmbeddedOnly() {
		hint = "daily:range shows which days have a note" // another day than today was asked for
	}
	return out, failure.New(failure.CodeNotFound, hint, "the daily note %q does not exist", quote.Short(note))
}

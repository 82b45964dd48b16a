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

// readDaily reads today's note without making it. The app's own daily:read makes a
// missing note (recorded on 1.13.7), so the note is read by its path. The path is that of
// the settings of the vault where they tell it, which is one start of the app; else, and
// when no note is there, the app is asked for it.
func (g *vaultGateway) readDaily(ctx context.Context, r route) (exec.Outcome, error) {
	own := g.ownDaily(ctx, r)
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
		g.today.learn(own, note)
	}
	return r.missingDaily(out, err)
}

// ownDaily returns the path of today's note as the embedded program computes it from the
// settings of the vault, "" where it cannot. Where notes may be hidden the embedded program
// is asked anyway, see resolver.
func (g *vaultGateway) ownDaily(ctx context.Context, r route) string {
	own := g.embeddedProgram()
	if own == nil || r.permit.Confined() {
		return ""
	}
	asked, err := g.runner.Run(ctx, r.permit.DailyPath(), *own)
	if err != nil || asked.Failure != nil {
		return ""
	}
	return strings.TrimSpace(asked.Stdout)
}

// readDailyAt reads the note at a path in place of the call. asked is what the app
// answered before, if it was asked.
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
// computes stands for the day and the settings: with either it changes. It may differ from
// the app's in the names of months and weekdays, which the app writes in its own language.
type dailyPath struct {
	mu       sync.Mutex
	own, app string // the same note, as each of them has it
}

// path returns the app's path of the note that the embedded program has at own, "" if it
// is not known. A name without letters has nothing that depends on a language.
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

// learn keeps that a note was read at the app's path.
func (d *dailyPath) learn(own, app string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own, d.app = own, app
}

// missingDaily says in our own words that there is no daily note, and what
// makes today's.
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

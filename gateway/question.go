package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"vaultwicket/exec"
	"vaultwicket/gateway/clean"
	"vaultwicket/tiers"
)

// question makes the question about a plan, with an excerpt of that many bytes. An
// error is the answer to the call: nobody is asked about one that would fail.
func (g *door) question(ctx context.Context, req Request, plan Plan, excerpt int) (Question, error) {
	call := plan.call
	q := Question{
		Vault: g.name(), Command: call.Name(), Caller: req.Caller,
		Destructive: call.Effect().WorseThan(tiers.Writes),
	}
	diff := ""
	if own := g.keeper(); own != nil && len(plan.routes) > 0 && plan.routes[0].changesNotes() {
		r := plan.routes[0]
		planned, failure, err := g.planned(ctx, r, *own)
		switch {
		case err != nil:
			return q, err
		case failure != nil && failure.Code() != codeNeedsApp:
			return q, failure
		}
		q.files, diff = planned.Files, planned.Diff
	}
	if len(q.files) > 0 {
		q.Path, q.before = q.files[0].Path, q.files[0].Before
		if plan.expect != "" && plan.expect != q.before {
			return q, refuse(codeConflict, "read the note again, and decide again", "the note %q has the hash %q, not %q", clip(q.Path), q.before, plan.expect)
		}
	} else if spelled := call.Spells(); len(spelled) > 0 {
		q.Path = spelled[0].Path
	}
	if !q.Destructive {
		q.Folder = folderOfAll(q.files)
	}
	q.Text = questionText(q, plan, diff, excerpt)
	if len(q.Text) > maxQuestion {
		return q, refuse(codeUnconfirmed, "make it several calls", "command %q needs the yes of a person, and the question would be too long to be read", q.Command)
	}
	q.Digest = g.digestOfQuestion(plan, q)
	return q, nil
}

// planned has the embedded program work out what a call would change.
func (g *door) planned(ctx context.Context, r route, own exec.Program) (plannedChange, *exec.Failure, error) {
	out, err := g.runner.Run(ctx, r.preview, own.Acting(exec.Manner{Task: exec.Plan, Expect: r.expect, Caller: argument(r.caller)}))
	if err != nil || out.Failure != nil {
		return plannedChange{}, out.Failure, err
	}
	return readPlanned(out.Stdout), nil, nil
}

// How much a person is shown before they decide. More is not read.
const (
	maxShownLines = 24
	maxShownBytes = 2 << 10
	maxShownFiles = 8
	maxShownName  = 512      // bytes of a path, of which the ends say most
	maxQuestion   = 16 << 10 // what the desk takes
)

// questionText writes a question. Everything that did not come from us stands
// in quotation marks on one line, or behind bars.
func questionText(q Question, plan Plan, diff string, excerpt int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %q in the vault %s?\n", q.Command, quoted(cmp.Or(q.Vault, "of the app")))
	fmt.Fprintf(&b, "It %s.\n", cmp.Or(plan.call.Loses(), whatItDoes(plan.call.Effect())))
	for i, f := range q.files {
		if i == maxShownFiles {
			fmt.Fprintf(&b, "and %d more files\n", len(q.files)-i)
			break
		}
		b.WriteString(f.line() + "\n")
	}
	if len(q.files) == 0 && q.Path != "" {
		fmt.Fprintf(&b, "path: %s\n", quoted(q.Path))
	}
	params := plan.call.Params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := plan.call.Param(name)
		switch {
		case value == "":
			fmt.Fprintf(&b, "%s\n", name)
		case value == q.Path, len(q.files) > 0 && value == q.files[0].From: // stands there already
		case len(value) > 80 || strings.ContainsAny(value, "\r\n"):
			fmt.Fprintf(&b, "%s: %d bytes\n", name, len(value))
			if diff == "" {
				b.WriteString(clean.Excerpt(value, maxShownLines, excerpt))
			}
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, quoted(value))
		}
	}
	if diff != "" {
		b.WriteString(clean.Excerpt(diff, maxShownLines, excerpt))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f PlannedFile) line() string {
	switch {
	case f.From != "":
		return fmt.Sprintf("moves: %s to %s", quoted(f.From), quoted(f.Path))
	case f.Before == "":
		return "makes: " + quoted(f.Path)
	case f.After == "":
		return "removes: " + quoted(f.Path)
	}
	return "changes: " + quoted(f.Path)
}

func whatItDoes(e tiers.Effect) string {
	switch e {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "removes or replaces what is there"
	case tiers.Publishes:
		return "changes what is published"
	}
	return "changes the app"
}

// quoted shows a name or a short value on one line. Of a long one it shows the
// ends: the first folders and the name of the note.
func quoted(s string) string {
	s = clean.Line(s)
	if len(s) > maxShownName {
		end := len(s) - maxShownName/2
		for !utf8.RuneStart(s[end]) {
			end++
		}
		s = cutText(s, maxShownName/2) + "…" + s[end:]
	}
	return `"` + strings.ReplaceAll(s, `"`, `'`) + `"`
}

// digestOfQuestion binds a yes to the call, to the vault, to who asked, and to the
// notes as they are: after another change the person has to be shown it again.
func (g *door) digestOfQuestion(plan Plan, q Question) [sha256.Size]byte {
	hash := sha256.New()
	write := func(items ...string) {
		fmt.Fprintf(hash, "%d;", len(items))
		for _, item := range items {
			fmt.Fprintf(hash, "%d:%s", len(item), item)
		}
	}
	call := digestOf(plan)
	write("question", string(call[:]), g.identity(), q.Caller)
	for _, r := range plan.routes {
		write(r.program.Backend(), r.call.Vault())
	}
	for _, f := range q.files {
		write(f.Path, f.From, f.Before)
	}
	if len(q.files) == 0 {
		for _, s := range plan.call.Spells() {
			write(s.Path, hashOfFile(g.target().folder, s.Path))
		}
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// places are the paths that a planned change touches.
func (f PlannedFile) places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// folderOfAll returns the folder of the first file if it holds all of them, else
// "". For the root of the vault it is "" too: a yes for the root would be one for
// everything.
func folderOfAll(files []PlannedFile) string {
	if len(files) == 0 {
		return ""
	}
	folder := files[0].Path[:max(0, strings.LastIndexByte(files[0].Path, '/'))]
	for _, f := range files {
		for _, path := range f.places() {
			if folder == "" || !strings.HasPrefix(path, folder+"/") {
				return ""
			}
		}
	}
	return folder
}

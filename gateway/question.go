package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
	"vaultwicket/tiers"
)

// question makes the question about a plan, which is one of several that are asked
// together. An error is the answer to the call: nobody is asked about one that would
// fail.
func (g *vaultGateway) question(ctx context.Context, req Request, plan Plan, together int) (Question, error) {
	call := plan.call
	q := Question{
		Vault: g.name(), Command: call.Name(), Caller: req.Caller,
		Destructive: call.Effect().WorseThan(tiers.Writes),
	}
	diff := ""
	if own := g.embeddedProgram(); own != nil && len(plan.routes) > 0 && plan.routes[0].changesNotes() {
		r := plan.routes[0]
		planned, cause, err := g.planned(ctx, r, *own)
		switch {
		case err != nil:
			return q, err
		case cause != nil && cause.Code() != failure.CodeNeedsApp:
			return q, cause
		}
		q.files, q.change, diff = planned.Files, planned.Digest, planned.Diff
	}
	q.identity, q.call = g.identity(), g.digestOfCall(plan)
	if q.change == "" {
		q.spelled = g.spelledHashes(call)
	}
	if len(q.files) > 0 {
		q.Path = q.files[0].Path
		if before := q.files[0].Before; plan.expect != "" && plan.expect != before {
			return q, failure.New(failure.CodeConflict, "re-read the note and retry", "the note %q has the hash %q, not %q", quote.Short(q.Path), before, plan.expect)
		}
	} else if spelled := call.Spells(); len(spelled) > 0 {
		q.Path = spelled[0].Path
	}
	if !q.Destructive && req.OneSession {
		q.Folder = folderOfAll(q.files)
	}
	bytes := min(maxShownBytes, maxShownTogether/together)
	q.Text = questionText(q, plan, diff, extent{maxShownFiles, maxShownLines, bytes})
	q.Brief = brief(q, plan, diff, extent{briefFiles, briefLines / together, bytes})
	if len(q.Text) > maxQuestion {
		return q, failure.New(failure.CodeUnconfirmed, "make it several calls", "command %q requires user approval, and the question is too long to read", q.Command)
	}
	q.Digest = g.digestOfQuestion(plan, q)
	return q, nil
}

// brief writes a question in as many lines as show has. Of the difference in one file it
// leaves out the heading: the file is named above it.
func brief(q Question, plan Plan, diff string, show extent) string {
	if _, body, found := strings.Cut(diff, " @@\n"); found && len(q.files) == 1 {
		diff = body
	}
	facts := questionText(q, plan, "", extent{show.files, 0, show.bytes})
	show.lines = max(1, show.lines-strings.Count(facts, "\n")-1)
	return questionText(q, plan, diff, show)
}

// extent is how much a question shows: files, and lines and bytes of texts.
type extent struct{ files, lines, bytes int }

// questionText writes a question. Everything that did not come from us stands
// in quotation marks on one line, or behind bars.
func questionText(q Question, plan Plan, diff string, show extent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %q in the vault %s?\n", q.Command, quoted(cmp.Or(q.Vault, "of the app")))
	fmt.Fprintf(&b, "It %s.\n", cmp.Or(plan.call.Loses(), whatItDoes(plan.call.Effect())))
	for i, f := range q.files {
		if i == show.files {
			fmt.Fprintf(&b, "and %d more files\n", len(q.files)-i)
			break
		}
		b.WriteString(f.row())
	}
	if len(q.files) == 0 && q.Path != "" {
		b.WriteString(row("path", q.Path))
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
				b.WriteString(clean.Excerpt(value, show.lines, show.bytes))
			}
		default:
			b.WriteString(row(name, value))
		}
	}
	if diff != "" {
		b.WriteString(clean.Excerpt(diff, show.lines, show.bytes))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func whatItDoes(e tiers.Effect) string {
	switch e {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "deletes or overwrites notes"
	case tiers.Publishes:
		return "changes what is published"
	}
	return "changes the app"
}

// digestOfQuestion binds a yes to the call, to the vault, to who asked, and to the
// notes as they are: after another change the person has to be shown it again.
func (g *vaultGateway) digestOfQuestion(plan Plan, q Question) [sha256.Size]byte {
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
	write(q.change)
	for _, path := range slices.Sorted(maps.Keys(q.spelled)) {
		write(path, q.spelled[path])
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// spelledHashes returns the hashes of the notes that a call names by their paths,
// "" for one that is not there or whose vault has no known folder.
func (g *vaultGateway) spelledHashes(call allowlist.Call) map[string]string {
	hashes := map[string]string{}
	for _, s := range call.Spells() {
		hashes[s.Path] = notes.Hash(g.target().folder, s.Path)
	}
	return hashes
}

// checkUnchanged refuses a call of which only the app knows what it changes, unless the
// notes that it names are as the user was shown them.
func (g *vaultGateway) checkUnchanged(r route) error {
	for path, hash := range r.shown.spelled {
		if notes.Hash(g.target().folder, path) != hash {
			return changedSince(r.call.Name())
		}
	}
	return nil
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

// digestOfCall is that of one call in the vault. The hash that the caller expects
// is no part of it: with another one it is the same call once more.
func (g *vaultGateway) digestOfCall(plan Plan) callDigest {
	hash := sha256.New()
	for _, item := range append([]string{g.identity()}, plan.call.Items()...) {
		fmt.Fprintf(hash, "%d:%s", len(item), item)
	}
	return callDigest(hash.Sum(nil))
}

// digestOfCalls is that of several calls together, in any order. What else a batch
// does besides makes no other question of them.
func digestOfCalls(calls []callDigest) callDigest {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b callDigest) int { return slices.Compare(a[:], b[:]) })
	hash := sha256.New()
	for _, call := range slices.Compact(calls) {
		hash.Write(call[:])
	}
	return callDigest(hash.Sum(nil))
}

func declinedError(command string) error {
	return failure.New(failure.CodeUnconfirmed, "ask the user what they want instead; the same call is not asked about again for ten minutes", "command %q: the user declined", command)
}

package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// flowMemory is how long a flow rule applies to the sessions of a server after one of them has read from
// a place of the rule. An agent is one session, whatever its client calls one: otherwise it would begin
// another. So are all callers of a server without agents.
const flowMemory = 12 * time.Hour

// flows are what the sessions of a server have read from places of flow rules.
type flows struct {
	mu   sync.Mutex
	read []flowRead
}

// flowRead says that a session has read from a place of a rule.
type flowRead struct {
	rule  policy.Flow
	note  string // which one, for the user: it may be hidden from the caller by now
	vault string // its identity
	at    time.Time
}

// of returns what has been read and is remembered.
func (f *flows) of(now time.Time) []flowRead {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = slices.DeleteFunc(f.read, func(r flowRead) bool { return now.Sub(r.at) >= flowMemory })
	return slices.Clone(f.read)
}

// add notes what was read. Of a rule and a vault the first note is kept, and the last time.
func (f *flows) add(reads []flowRead) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range reads {
		same := func(s flowRead) bool {
			return s.rule.Name == r.rule.Name && s.rule.String() == r.rule.String() && s.vault == r.vault
		}
		if i := slices.IndexFunc(f.read, same); i >= 0 {
			f.read[i].at = r.at
			continue
		}
		f.read = append(f.read, r)
	}
}

// flowing returns what was read for which flow rules refuse a call, or require its approval: a read for
// each rule. also is what is read together with the call, in a batch.
func (g *vaultGateway) flowing(p policy.Policy, call allowlist.Call, also batchReads) (because []flowRead) {
	reads := slices.Concat(g.flows.of(time.Now()), also.read)
	if len(reads)+len(p.Flows) == 0 || call.Effect() == tiers.Reads && !call.Sends() {
		return nil
	}
	named := call.NamedPaths()
	if takesNotes(call) {
		reads = slices.Concat(reads, also.taken, g.flowReads(p, call, readsNamed, Result{}))
	}
	hasTarget := slices.ContainsFunc(named, func(s allowlist.NamedPath) bool { return s.To })
	mayBeAnywhere := len(named) == 0 || !call.TouchesOneNote() && !hasTarget // it changes notes that it does not name
	carriesTo := func(place string) bool {
		covers := func(s allowlist.NamedPath) bool { return policy.Covers([]string{place}, s.Path) }
		return call.Effect().Mutates() && (mayBeAnywhere || slices.ContainsFunc(named, covers))
	}
	for _, read := range reads {
		if slices.ContainsFunc(because, func(r flowRead) bool { return r.rule.Name == read.rule.Name }) {
			continue
		}
		if slices.ContainsFunc(read.rule.To, func(place string) bool {
			switch place {
			case policy.ToWeb:
				return call.OpensWeb()
			case policy.ToPublish:
				return policy.Leaves(call) && !call.OpensWeb()
			case policy.ToVaults:
				return call.Effect().Mutates() && read.vault != g.identity()
			}
			return carriesTo(place)
		}) {
			because = append(because, read)
		}
	}
	return because
}

// batchReads is what the operations of a batch read from places of flow rules, before any of them is carried out.
type batchReads struct {
	read  []flowRead // that its caller gets to know
	taken []flowRead // that goes into other notes, and counts where those are taken on
}

// takesNotes reports whether a call takes a note that it names elsewhere, and so reads it.
func takesNotes(call allowlist.Call) bool {
	named := call.NamedPaths()
	_, byName := call.Named()
	namesAnother := len(named) > 1 || byName && len(named) > 0
	return call.Effect().Mutates() && namesAnother
}

// takenFrom returns the reads of a change that puts text of some files into others, which the call does not name: a
// template, for example.
func (g *vaultGateway) takenFrom(p policy.Policy, call allowlist.Call, paths []string) (reads []flowRead) {
	for _, path := range paths {
		reads = append(reads, g.flowReads(p, call, readsAnswer, Result{Stdout: path, raw: path, Path: path})...)
	}
	return reads
}

// lineage returns what is known of which notes of the vault were made of which others. known is false where it cannot be
// read.
func (g *vaultGateway) lineage() (of journal.Lineage, known bool) {
	folder := g.target().Folder
	if folder == "" {
		return journal.Lineage{}, true // nothing is kept of the changes of such a vault
	}
	kept, err := g.journal(folder)
	if err != nil {
		return journal.Lineage{}, true // as before
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.runner.Timeout())
	defer cancel()
	of, err = kept.Lineage(ctx)
	return of, err == nil
}

// madeOf returns the notes that were made of notes in the places of a rule. marked are the notes with its marks.
func madeOf(of journal.Lineage, rule policy.Flow, marked []string, excepted func(path string) bool) []string {
	isMarked := map[string]bool{}
	for _, path := range marked {
		isMarked[path] = true
	}
	return of.MadeOf(func(origin journal.Origin) bool {
		if folder, isFolder := strings.CutSuffix(origin.Path, "/"); isFolder { // any note below it
			isAbove := func(path string) bool { return policy.Covers([]string{cmp.Or(folder, "/")}, path) }
			return policy.Covers(rule.From, folder) || slices.ContainsFunc(policy.Paths(rule.From), isAbove) ||
				slices.ContainsFunc(marked, isAbove) || rule.HasMark(origin.Marks)
		}
		if excepted(origin.Path) {
			return false
		}
		return policy.Covers(rule.From, origin.Path) || isMarked[origin.Path] || rule.HasMark(origin.Marks)
	})
}

// reading says what is known of what a call reads.
type reading uint8

const (
	readsAnswer reading = iota // what its answer has text of
	readsNamed                 // the notes that it names, which it takes elsewhere
	readsAny                   // what the answer could have text of: it is not carried out yet
)

// flowReads returns from which places of flow rules a call reads.
func (g *vaultGateway) flowReads(p policy.Policy, call allowlist.Call, how reading, answer Result) (reads []flowRead) {
	if len(p.Flows) == 0 {
		return nil
	}
	lineage, knowsLineage := g.lineage()
	if allowlist.ShowsVersions(call.Name()) {
		lineage = lineage.WithVersions()
	}
	for _, rule := range p.Flows {
		marks := slices.DeleteFunc(
			slices.Clone(rule.From),
			func(place string) bool { return place != policy.FromPrivate && !strings.HasPrefix(place, "#") },
		)
		var marked []string
		known := true
		if len(marks) > 0 {
			marked, known = g.rules.Marked(marks)
		}
		if p.Shadows(policy.RulePrivate) && slices.Contains(marks, policy.FromPrivate) {
			levels, all := g.rules.WouldNarrow()
			marked = slices.AppendSeq(marked, maps.Keys(levels))
			known = known && all
		}
		excepted := func(at string) bool { return p.Exceptions.Has(policy.RuleFlow, at) }
		marked = append(marked, madeOf(lineage, rule, marked, excepted)...)
		known = known && knowsLineage
		note := g.readFrom(call, how, answer, rule.From, marked, excepted)
		if note == "" && !known &&
			g.readFrom(call, how, answer, []string{"/"}, nil, func(string) bool { return false }) != "" {
			note = "a note that is not known"
		}
		if note != "" {
			reads = append(reads, flowRead{rule, note, g.identity(), time.Now()})
		}
	}
	return reads
}

// passesNoText reports whether an answer passes no text of a note to the caller: it is empty, says that a note is not
// found, or confirms a change.
func passesNoText(call allowlist.Call, answer Result) bool {
	isEmpty := answer.Stdout == "" && answer.Image == nil
	isNotFound := answer.Error != nil && answer.Error.Code == failure.CodeNotFound
	isConfirmation := answer.OK && call.Effect().Mutates()
	return isEmpty || isNotFound || isConfirmation
}

// readFrom returns the first note or folder that a call reads text from of some places and marked notes
// without those that are excepted, "" for none.
func (g *vaultGateway) readFrom(
	call allowlist.Call,
	how reading,
	answer Result,
	from, marked []string,
	excepted func(path string) bool,
) string {
	if call.Naming() == allowlist.NamesNothing || how == readsAnswer && passesNoText(call, answer) {
		return ""
	}
	marked = slices.DeleteFunc(marked, excepted)
	places := slices.Concat(slices.DeleteFunc(policy.Paths(from), excepted), marked)
	covered := func(at string) bool {
		return policy.Covers(from, at) && !excepted(at) ||
			slices.ContainsFunc(
				marked,
				func(m string) bool { return m == at || m == at+".md" || strings.HasPrefix(m, at+"/") },
			) ||
			how == readsNamed &&
				slices.ContainsFunc(
					places,
					func(place string) bool { return strings.HasPrefix(access.Fold(place), access.Fold(at)+"/") },
				)
	}
	named := []string{answer.Path}
	for _, s := range call.NamedPaths() {
		if !s.To {
			named = append(named, s.Path)
		}
	}
	named = slices.DeleteFunc(named, func(at string) bool { return at == "" })
	byName, unknown := call.Named()
	isUnresolved := unknown && answer.Path == ""
	namesNothing := how == readsAny && len(named) == 0
	unknown = isUnresolved || namesNothing
	isOfOneNote := call.TouchesOneNote() || answer.Path != ""
	one := how == readsNamed || len(named) > 0 && isOfOneNote
	if i := slices.IndexFunc(named, covered); i >= 0 {
		return named[i]
	}
	if len(places) == 0 || one && !unknown {
		return ""
	}
	text := access.Fold(answer.raw)
	for _, at := range places {
		inJSON, _ := json.Marshal(access.Fold(at))
		if at == "/" || strings.Contains(text, access.Fold(at)) ||
			strings.Contains(text, strings.Trim(string(inJSON), `"`)) {
			return at
		}
	}
	if unknown && byName != "" {
		return byName
	}
	if answer.divided != nil || answer.missingPart != "" || answer.raw == "" {
		return places[0] // what is not here may be about any note
	}
	switch call.Naming() {
	case allowlist.NamesFiles:
		return ""
	case allowlist.NamesFilesInRows:
		if len(answer.Notices) == 0 {
			return ""
		}
	case allowlist.NamesTags:
		if tags := tagsIn(answer.raw); len(tags) > 0 {
			if tagged, known := g.rules.Marked(tags); known {
				return firstOf(tagged, covered)
			}
		}
	}
	return places[0]
}

// tagsIn returns the tags that a listing of tags names.
func tagsIn(listing string) []string {
	words := strings.FieldsFunc(listing, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	return slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, "#") })
}

// firstOf returns the first of some paths that is covered, "" for none.
func firstOf(paths []string, covered func(path string) bool) string {
	i := slices.IndexFunc(paths, covered)
	if i < 0 {
		return ""
	}
	return paths[i]
}

// withPrivate returns the findings of a result, and whether notes that narrow access to themselves would have
// changed it, where they do not because their rule is in shadow.
func (g *vaultGateway) withPrivate(plan Plan, result Result) findings {
	found := result.found
	if !plan.policy.Shadows(policy.RulePrivate) {
		return found
	}
	how := readsAnswer
	needs := access.Read
	switch plan.call.Effect() {
	case tiers.Writes:
		how = readsNamed
		needs = access.Write
	case tiers.Destroys:
		how = readsNamed
		needs = access.Delete
	}
	levels, _ := g.rules.WouldNarrow()
	maps.DeleteFunc(levels, func(_ string, level access.Level) bool { return level >= needs })
	places := slices.Sorted(maps.Keys(levels))
	if note := g.readFrom(plan.call, how, result, nil, places, func(string) bool { return false }); note != "" {
		found.acts(plan.policy, policy.RulePrivate, levels[note].String())
	}
	return found
}

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

// flowMemory is how long a flow rule applies to the sessions of a server after one of them has read from a source of
// the rule. All sessions of an agent count as one, whatever its client calls them; otherwise it could just start
// another. So do all callers of a server without agents.
const flowMemory = 12 * time.Hour

// flows has what the sessions of a server have read under flow rules.
type flows struct {
	mu   sync.Mutex
	read []flowRead
}

// flowRead records that a session has read from a source of a rule.
type flowRead struct {
	rule  policy.Flow
	note  string // the note, for the user; it may be hidden from the caller by now
	vault string // the identity of its vault
	at    time.Time
}

// recent returns the reads that have not expired.
func (f *flows) recent(now time.Time) []flowRead {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = slices.DeleteFunc(f.read, func(r flowRead) bool { return now.Sub(r.at) >= flowMemory })
	return slices.Clone(f.read)
}

// add records reads. For each rule and vault it keeps the first note and the time of the last read.
func (f *flows) add(reads []flowRead) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range reads {
		isSame := func(s flowRead) bool {
			return s.rule.Name == r.rule.Name && s.rule.String() == r.rule.String() && s.vault == r.vault
		}
		if i := slices.IndexFunc(f.read, isSame); i >= 0 {
			f.read[i].at = r.at
			continue
		}
		f.read = append(f.read, r)
	}
}

// applicableFlows returns the reads because of which flow rules refuse a call or require its approval, one for each
// rule. also has what is read together with the call, in a batch.
func (g *vaultGateway) applicableFlows(p policy.Policy, call allowlist.Call, also batchReads) (because []flowRead) {
	reads := slices.Concat(g.flows.recent(time.Now()), also.read)
	staysInside := call.Effect() == tiers.Reads && !call.Sends()
	if len(reads)+len(p.Flows) == 0 || staysInside {
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
		reaches := func(place string) bool {
			switch place {
			case policy.ToWeb:
				return call.OpensWeb()
			case policy.ToPublish:
				return policy.Leaves(call) && !call.OpensWeb()
			case policy.ToVaults:
				return call.Effect().Mutates() && read.vault != g.identity()
			}
			return carriesTo(place)
		}
		if slices.ContainsFunc(read.rule.To, reaches) {
			because = append(because, read)
		}
	}
	return because
}

// batchReads are what the operations of a batch read under flow rules. They count before any operation is carried
// out.
type batchReads struct {
	read  []flowRead // what the caller sees
	taken []flowRead // what is copied into other notes, and counts for operations that take those further
}

// takesNotes reports whether a call copies or moves the content of a note that it names to another place, and so
// reads it.
func takesNotes(call allowlist.Call) bool {
	named := call.NamedPaths()
	_, namesByName := call.Named()
	namesAnother := len(named) > 1 || namesByName && len(named) > 0
	return call.Effect().Mutates() && namesAnother
}

// readsThroughChange returns the reads of a change that copies text of files that the call does not name, such as a
// template.
func (g *vaultGateway) readsThroughChange(p policy.Policy, call allowlist.Call, paths []string) (reads []flowRead) {
	for _, path := range paths {
		reads = append(reads, g.flowReads(p, call, readsAnswer, Result{Stdout: path, raw: path, Path: path})...)
	}
	return reads
}

// lineage returns which notes of the vault were made from which others, as far as it is recorded. known is false if
// that cannot be read.
func (g *vaultGateway) lineage() (origins journal.Lineage, known bool) {
	folder := g.target().Folder
	if folder == "" {
		return journal.Lineage{}, true // changes of such a vault are not recorded
	}
	undoJournal, err := g.journal(folder)
	if err != nil {
		return journal.Lineage{}, true // nothing could be recorded
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.runner.Timeout())
	defer cancel()
	origins, err = undoJournal.Lineage(ctx)
	return origins, err == nil
}

// madeOf returns the notes that were made from the sources of a rule. marked are the notes that have one of its
// marks.
func madeOf(lineage journal.Lineage, rule policy.Flow, marked []string, excepted func(path string) bool) []string {
	isMarked := map[string]bool{}
	for _, path := range marked {
		isMarked[path] = true
	}
	return lineage.MadeOf(func(origin journal.Origin) bool {
		if folder, isFolder := strings.CutSuffix(origin.Path, "/"); isFolder { // it may be any note in the folder
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

// reading tells how to determine what a call reads.
type reading uint8

const (
	readsAnswer reading = iota // the notes whose text is in its answer
	readsNamed                 // the notes that it names and takes to another place
	readsAny                   // the notes whose text could be in its answer; it has not run yet
)

// flowReads returns what a call reads from the sources of flow rules.
func (g *vaultGateway) flowReads(p policy.Policy, call allowlist.Call, mode reading, answer Result) (reads []flowRead) {
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
			levels, isComplete := g.rules.WouldNarrow()
			marked = slices.AppendSeq(marked, maps.Keys(levels))
			known = known && isComplete
		}
		excepted := func(path string) bool { return p.Exceptions.Has(policy.RuleFlow, path) }
		marked = append(marked, madeOf(lineage, rule, marked, excepted)...)
		known = known && knowsLineage
		note := g.readFrom(call, mode, answer, rule.From, marked, excepted)
		if note == "" && !known &&
			g.readFrom(call, mode, answer, []string{"/"}, nil, func(string) bool { return false }) != "" {
			note = "a note that is not known"
		}
		if note != "" {
			reads = append(reads, flowRead{rule, note, g.identity(), time.Now()})
		}
	}
	return reads
}

// passesNoText reports whether an answer contains no text of a note: it is empty, reports that a note was not found,
// or confirms a change.
func passesNoText(call allowlist.Call, answer Result) bool {
	isEmpty := answer.Stdout == "" && answer.Image == nil
	isNotFound := answer.Error != nil && answer.Error.Code == failure.CodeNotFound
	isConfirmation := answer.OK && call.Effect().Mutates()
	return isEmpty || isNotFound || isConfirmation
}

// readFrom returns the first note or folder that a call reads text from, among the places in from and the marked
// notes, except those that are excepted; "" if there is none.
func (g *vaultGateway) readFrom(
	call allowlist.Call,
	mode reading,
	answer Result,
	from, marked []string,
	excepted func(path string) bool,
) string {
	if call.Naming() == allowlist.NamesNothing || mode == readsAnswer && passesNoText(call, answer) {
		return ""
	}
	marked = slices.DeleteFunc(marked, excepted)
	places := slices.Concat(slices.DeleteFunc(policy.Paths(from), excepted), marked)
	covered := func(path string) bool {
		if policy.Covers(from, path) && !excepted(path) {
			return true
		}
		isMarked := func(m string) bool { return m == path || m == path+".md" || strings.HasPrefix(m, path+"/") }
		if slices.ContainsFunc(marked, isMarked) {
			return true
		}
		if mode != readsNamed {
			return false
		}
		isBelow := func(place string) bool { return strings.HasPrefix(access.Fold(place), access.Fold(path)+"/") }
		return slices.ContainsFunc(places, isBelow)
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
	namesNothing := mode == readsAny && len(named) == 0
	unknown = isUnresolved || namesNothing
	isOfOneNote := call.TouchesOneNote() || answer.Path != ""
	isBounded := mode == readsNamed || len(named) > 0 && isOfOneNote
	if i := slices.IndexFunc(named, covered); i >= 0 {
		return named[i]
	}
	if len(places) == 0 || isBounded && !unknown {
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
		return places[0] // the missing part may be about any note
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
				return firstCovered(tagged, covered)
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

// firstCovered returns the first path that is covered, "" if none is.
func firstCovered(paths []string, covered func(path string) bool) string {
	i := slices.IndexFunc(paths, covered)
	if i < 0 {
		return ""
	}
	return paths[i]
}

// withPrivate returns the findings of a result. If the rule about private notes is in test mode, it also adds
// whether notes that restrict access to themselves would have changed the result.
func (g *vaultGateway) withPrivate(plan Plan, result Result) findings {
	found := result.found
	if !plan.policy.Shadows(policy.RulePrivate) {
		return found
	}
	mode := readsAnswer
	needs := access.Read
	switch plan.call.Effect() {
	case tiers.Writes:
		mode = readsNamed
		needs = access.Write
	case tiers.Destroys:
		mode = readsNamed
		needs = access.Delete
	}
	levels, _ := g.rules.WouldNarrow()
	maps.DeleteFunc(levels, func(_ string, level access.Level) bool { return level >= needs })
	places := slices.Sorted(maps.Keys(levels))
	if note := g.readFrom(plan.call, mode, result, nil, places, func(string) bool { return false }); note != "" {
		found.apply(plan.policy, policy.RulePrivate, levels[note].String())
	}
	return found
}

package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
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

// pathListings are the commands of which every row of an answer names the file that it is about, so that
// the answer tells what was read. Any other answer may be about any note.
var pathListings = []string{"files", "search", "search:context", "backlinks", "orphans", "deadends", "recent", "attachments", "bases", "history:list"}

// flowing returns which flow rules refuse a call, or require its approval, and for the user why. also is
// what is read together with the call, in a batch.
func (g *vaultGateway) flowing(p policy.Policy, call allowlist.Call, also []flowRead) (rules []policy.Flow, because []flowRead) {
	reads := slices.Concat(g.flows.of(time.Now()), also)
	if len(p.Flows)+len(reads) == 0 || call.Effect() == tiers.Reads && !call.Sends() {
		return nil, nil
	}
	named := len(call.NamedPaths())
	if _, byName := call.Named(); call.Effect().Mutates() && (named > 1 || byName && named > 0) { // it takes a note elsewhere, and so reads it
		reads = append(reads, g.flowReads(p, call, readsNamed, Result{})...)
	}
	for _, read := range reads {
		if !slices.ContainsFunc(rules, func(f policy.Flow) bool { return f.Name == read.rule.Name }) && g.carriesTo(read, call) {
			rules, because = append(rules, read.rule), append(because, read)
		}
	}
	return rules, because
}

// carriesTo reports whether a call can carry text to a place of the rule of a read. A change of notes
// that the call does not name may be anywhere.
func (g *vaultGateway) carriesTo(read flowRead, call allowlist.Call) bool {
	return slices.ContainsFunc(read.rule.To, func(place string) bool {
		switch place {
		case policy.ToWeb:
			return call.Name() == "web"
		case policy.ToPublish:
			return policy.Leaves(call) && call.Name() != "web"
		case policy.ToVaults:
			return call.Effect().Mutates() && read.vault != g.identity()
		}
		if !call.Effect().Mutates() {
			return false
		}
		named := call.NamedPaths()
		covers := func(s allowlist.NamedPath) bool { return policy.Covers([]string{place}, s.Path) }
		return len(named) == 0 || !call.TouchesOneNote() && !slices.ContainsFunc(named, func(s allowlist.NamedPath) bool { return s.To }) || slices.ContainsFunc(named, covers)
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
	if len(p.Flows) == 0 || call.TouchesNoNote() || how == readsAnswer && (answer.Stdout == "" && answer.Image == nil || answer.Error != nil && answer.Error.Code == failure.CodeNotFound || answer.OK && call.Effect().Mutates()) {
		return nil
	}
	named := []string{answer.Path}
	for _, s := range call.NamedPaths() {
		if !s.To {
			named = append(named, s.Path)
		}
	}
	named = slices.DeleteFunc(named, func(at string) bool { return at == "" })
	byName, unknown := call.Named()
	unknown = unknown && answer.Path == "" || how == readsAny && len(named) == 0
	one := how == readsNamed || len(named) > 0 && (call.TouchesOneNote() || answer.Path != "")
	for _, rule := range p.Flows {
		marks := slices.DeleteFunc(slices.Clone(rule.From), func(place string) bool { return place != policy.FromPrivate && !strings.HasPrefix(place, "#") })
		var marked []string
		known := true
		if len(marks) > 0 {
			marked, known = g.rules.Marked(marks)
		}
		isMarked := func(at string) bool {
			return slices.ContainsFunc(marked, func(m string) bool { return m == at || m == at+".md" || strings.HasPrefix(m, at+"/") })
		}
		note := ""
		for _, at := range named {
			if policy.Covers(rule.From, at) || isMarked(at) {
				note = at
				break
			}
		}
		switch {
		case note != "":
		case !known:
			note = "a note that is not known"
		case unknown:
			note = cmp.Or(byName, mayName(call, Result{}, append(policy.Paths(rule.From), marked...)))
		case !one:
			note = mayName(call, answer, append(policy.Paths(rule.From), marked...))
		}
		if note != "" {
			reads = append(reads, flowRead{rule, note, g.identity(), time.Now()})
		}
	}
	return reads
}

// mayName returns the first of some notes and folders that an answer may have text of, "" if it has
// none: one that it names, and where the answer is not known to name all files that it is about, or is
// incomplete, any.
func mayName(call allowlist.Call, answer Result, places []string) string {
	if len(places) == 0 {
		return ""
	}
	text := access.Fold(answer.raw)
	for _, at := range places {
		inJSON, _ := json.Marshal(access.Fold(at))
		if at == "/" || strings.Contains(text, access.Fold(at)) || strings.Contains(text, strings.Trim(string(inJSON), `"`)) {
			return at
		}
	}
	if answer.divided != nil || answer.missingPart != "" || !slices.Contains(pathListings, call.Name()) || answer.raw == "" {
		return places[0]
	}
	return ""
}

// notesOf returns the notes of some reads.
func notesOf(reads []flowRead) (notes []string) {
	for _, r := range reads {
		notes = append(notes, r.note)
	}
	return notes
}

// explained says for the user why flow rules are about a call, "" where none is.
func explained(because []flowRead) string {
	var parts []string
	for _, r := range because {
		parts = append(parts, fmt.Sprintf("the session has read %s (flow rule %s)", quote.Quoted(quote.Short(r.note)), quote.Quoted(r.rule.Name)))
	}
	return strings.Join(parts, "; ")
}

package gateway

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
)

// NoteRules has the policy in force for one vault, with the names of its notes on the disk. It is safe for
// concurrent use.
type NoteRules struct {
	folder   func() string // returns the folder of the vault, "" if it is not known
	policy   *atomic.Pointer[policy.Policy]
	scope    policy.Scope
	names    *filenames.Folder // the names in that folder
	resolved atomic.Pointer[resolvedRules]
	// ask asks the embedded program which notes restrict access to themselves, see [exec.Runner.Ask]. It may be nil.
	ask func(p policy.Policy, question protocol.Ask, words []string) ([]string, error)
}

// resolveAfter is how long resolved rules are used before the disk is asked again. Meanwhile nothing leaks: a rule
// that takes something away applies in every spelling.
const resolveAfter = time.Second

// resolvedRules are access rules with their paths as they are spelled on the disk.
type resolvedRules struct {
	written string // the rules as they are in the settings
	rules   access.Rules
	at      time.Time
}

// NewNoteRules returns the rules of a vault with a policy. folder returns the folder of the vault, "" if it is not
// known; it is called when the rules are first used. ask asks the embedded program which notes restrict access to
// themselves; nil means that none does.
func NewNoteRules(
	p policy.Policy,
	folder func() string,
	ask func(p policy.Policy, question protocol.Ask, words []string) ([]string, error),
) *NoteRules {
	r := &NoteRules{
		folder: folder,
		policy: &atomic.Pointer[policy.Policy]{},
		scope:  policy.ScopeAll,
		ask:    ask,
		names:  filenames.In(func() (*os.Root, error) { return os.OpenRoot(folder()) }),
	}
	r.policy.Store(&p)
	return r
}

// Scoped returns the rules for requests whose access tokens have a scope. It shares the policy with r, so that
// Tighten on either applies to both.
func (r *NoteRules) Scoped(scope policy.Scope) *NoteRules {
	return &NoteRules{folder: r.folder, policy: r.policy, scope: scope, names: r.names, ask: r.ask}
}

// Tighten intersects the policy in force with another one; it never loosens it. It reports whether the policy
// changed.
func (r *NoteRules) Tighten(p policy.Policy) bool {
	for {
		current := r.policy.Load()
		tightened := p.Meet(*current)                                      // if both have a setting, its origin becomes the later one
		if fmt.Sprintf("%#v", tightened) == fmt.Sprintf("%#v", *current) { // keep fingerprints, and cursors with them
			return false
		}
		if r.policy.CompareAndSwap(current, &tightened) { // otherwise another call has tightened it
			return true
		}
	}
}

// Ended reports whether the policy in force allows nothing any more.
func (r *NoteRules) Ended() bool { return r.policy.Load().At(time.Now()).Closed != "" }

// Policy returns the policy in force, which allows nothing once it has expired. Its access rules also apply to their
// paths as spelled on the disk.
func (r *NoteRules) Policy() policy.Policy { return r.policyAt(time.Now()) }

func (r *NoteRules) policyAt(now time.Time) policy.Policy {
	p := r.policy.Load().At(now)
	folder := r.folder()
	if !p.Access.Restrict() || folder == "" {
		return p
	}
	// Access rules must also apply to their paths as they are spelled on the disk.
	last := r.resolved.Load()
	written := p.Access.String()
	if last == nil || last.written != written || now.Sub(last.at) >= resolveAfter {
		last = &resolvedRules{written: written, at: now, rules: p.Access.Named(func(path string) string {
			if name, err := r.names.Name(path); err == nil {
				return name
			}
			return path
		})}
		r.resolved.Store(last)
	}
	p.Access = last.rules
	return p
}

// InForce returns the policy in force, see [NoteRules.Policy], and the facts of every call in the vault: the time,
// the scope of its access token, and whether there is an ignore file. seen is the zero Fingerprint, or one that the
// caller has taken already.
func (r *NoteRules) InForce(seen Fingerprint) (policy.Policy, policy.Facts) {
	now := time.Now()
	facts := policy.ClearFacts(now)
	facts.Scope = r.scope
	facts.Ignores = r.ignores(seen)
	return r.policyAt(now), facts
}

var hasIgnoreFile = policy.Because("the vault has an ignore file")

// ignores returns whether the vault has an ignore file. If that cannot be determined, it counts as having one.
func (r *NoteRules) ignores(seen Fingerprint) policy.Reason {
	folder := r.folder()
	if folder == "" {
		return policy.None
	}
	hasFile := seen.ignores
	if !seen.looked {
		_, err := os.Lstat(filepath.Join(folder, access.IgnoreFile))
		hasFile = !errors.Is(err, fs.ErrNotExist)
	}
	if hasFile {
		return hasIgnoreFile
	}
	return policy.None
}

// Fingerprint identifies what hides notes of a vault: it changes when the ignore patterns or the policy do. A call
// that was running during such a change has read under the earlier rules, so its stored answer must not be shown
// later. The zero Fingerprint means that nothing was looked at.
type Fingerprint struct {
	patterns [sha256.Size]byte // zero if there are none
	policy   *policy.Policy
	// looked is true except in the zero Fingerprint. ignores means that there is an ignore file.
	looked, ignores bool
}

// Fingerprint returns what hides notes now. If the patterns cannot be read no call succeeds, so they do not matter.
func (r *NoteRules) Fingerprint() Fingerprint {
	text, ok := ignorePatterns(r.folder())
	f := Fingerprint{policy: r.policy.Load(), looked: true, ignores: !ok || text != nil}
	if ok && text != nil {
		f.patterns = sha256.Sum256(text)
	}
	return f
}

// Digest is like [NoteRules.Fingerprint] for what is kept on the disk: it is the same for another process with the
// same rules, as long as the same notes restrict access to themselves.
func (r *NoteRules) Digest() string {
	text, ok := ignorePatterns(r.folder())
	rules := r.policy.Load().EnforcedAccess().String()
	levels, known := r.Narrowing()
	return fmt.Sprintf(
		"%x",
		sha256.Sum256(fmt.Appendf(nil, "%t %d:%s%s %t %q", ok, len(rules), rules, text, known, levels)),
	)
}

// Named returns the call with its paths as spelled on the disk, so that rules, questions, records and the app use
// one name for a note. hidden means that a path leads to a hidden note. Then the call stays as it is, because the
// answer must not reveal the name, and only the embedded program may be asked.
func (r *NoteRules) Named(call allowlist.Call) (named allowlist.Call, hidden bool) {
	if r.folder() == "" || len(call.NamedPaths()) == 0 {
		return call, false
	}
	// Add .md to a path that leads to no file but would with that extension. A hidden note does not exist, so its
	// path stays.
	completed, err := call.WithPaths(true, func(given string) string {
		if strings.HasSuffix(given, noteExtension) || r.isFile(given) || !r.isFile(given+noteExtension) {
			return given
		}
		name, err := r.names.Name(given + noteExtension)
		if err != nil || r.hiddenFilter()(name) {
			return given
		}
		return given + noteExtension
	})
	if err == nil { // otherwise the call would become too long
		call = completed
	}
	var respelled []string
	named, err = call.WithPaths(false, func(path string) string {
		name, err := r.names.Name(path)
		if err != nil || name == path {
			return path // if it is wrong, the embedded program reports that
		}
		respelled = append(respelled, name)
		return name
	})
	if len(respelled) == 0 {
		return call, false
	}
	if err != nil || slices.ContainsFunc(respelled, r.hiddenFilter()) {
		return call, true
	}
	return named, false
}

// noteExtension is the extension that callers may leave out of a path.
const noteExtension = ".md"

// Narrowing returns the levels to which notes of the vault restrict access to themselves, by path: for the given
// paths, or for all notes if there are none. What cannot be read, folders included, counts as hidden. ok is false if
// that is not known; then any note may be hidden. The embedded program is not asked if no note can do so, or if the
// folder of the vault is not known.
func (r *NoteRules) Narrowing(paths ...string) (levels map[string]access.Level, ok bool) {
	found := r.narrowing(paths...)
	return found.levels, found.isKnown
}

// narrowing is [NoteRules.Narrowing], and tells what could not be read.
func (r *NoteRules) narrowing(paths ...string) narrowing {
	if r.policy.Load().Shadows(policy.RulePrivate) {
		return narrowing{isKnown: true}
	}
	return r.wouldNarrow(paths)
}

// WouldNarrow is like [NoteRules.Narrowing], even if the policy makes it irrelevant.
func (r *NoteRules) WouldNarrow(paths ...string) (levels map[string]access.Level, ok bool) {
	found := r.wouldNarrow(paths)
	return found.levels, found.isKnown
}

func (r *NoteRules) wouldNarrow(paths []string) narrowing {
	p := r.policy.Load()
	if p.Private.IsZero() || r.folder() == "" || r.ask == nil {
		return narrowing{isKnown: true}
	}
	if len(paths) > 0 && !slices.ContainsFunc(paths, r.mayNarrow(p.Private)) {
		return narrowing{isKnown: true}
	}
	lines, err := r.ask(*p, protocol.AskNarrowed, paths)
	found := narrowing{levels: map[string]access.Level{}, isKnown: err == nil, unread: map[string]bool{}}
	for _, line := range lines {
		level, path, _ := strings.Cut(line, "\t")
		found.levels[path], _ = access.ParseLevel(level) // an unknown level is access.None
		if level == protocol.Unread {
			found.unread[path] = true
		}
	}
	return found
}

// maxScanned is the size in bytes up to which notes are scanned here. For longer ones the embedded program is asked.
const maxScanned = 256 << 10

// mayNarrow returns a function that reports whether the current content of the note at a path may restrict access to
// itself. If it does not, the embedded program need not be asked. A note that cannot be read here may do so.
func (r *NoteRules) mayNarrow(p access.Private) func(path string) bool {
	folder := r.folder()
	return func(note string) bool {
		if !strings.HasSuffix(note, noteExtension) || path.Clean(note) != note {
			return true
		}
		text, ok := readDirect(folder, note, maxScanned)
		return !ok || p.MayNarrow(text)
	}
}

// Marked returns the paths of the notes that have one of the given tags or, for "private", that restrict access to
// themselves. known is false if that cannot be determined.
func (r *NoteRules) Marked(marks []string) (paths []string, known bool) {
	if r.ask == nil || r.folder() == "" {
		return nil, false
	}
	paths, err := r.ask(*r.policy.Load(), protocol.AskMarked, marks)
	return paths, err == nil
}

// Closes reports whether the note at a path hides itself, or may do so.
func (r *NoteRules) Closes(path string) bool {
	levels, known := r.Narrowing(path)
	return hidesItself(levels, known, path)
}

// hidesItself reports whether the note at a path is hidden by the levels from [NoteRules.Narrowing], or may be.
func hidesItself(levels map[string]access.Level, known bool, path string) bool {
	level, isNarrowed := levels[path]
	return !known || isNarrowed && level == access.None
}

// isFile reports whether there is a regular file at a path in the vault.
func (r *NoteRules) isFile(path string) bool {
	return FileStampOf(r.folder(), path) != FileStamp{}
}

// Visible returns [Sight.Sees] of the current [Sight].
func (r *NoteRules) Visible() func(path string) bool { return r.Sight().Sees }

// hiddenFilter returns a function that reports whether a note or folder is hidden.
func (r *NoteRules) hiddenFilter() func(path string) bool {
	text, ok := ignorePatterns(r.folder())
	rules := r.Policy().Access
	patterns := access.ParseIgnored(string(text))
	return func(path string) bool {
		isClosed := rules.Level(path) == access.None && !rules.Opens(path)
		isIgnored := !ok || patterns.Hides(path, access.File) || patterns.Hides(path, access.Folder)
		return isClosed || isIgnored || r.Closes(path)
	}
}

// HiddenBy returns the rule that hides a path in a call, and the one that hides the name of a note in it: "access"
// for the access rules, "ignore" for the ignore file, "" if nothing is hidden. The call was judged by p and the
// facts. The result is for the audit log: the answer itself comes from the program that enforces the rules.
func (r *NoteRules) HiddenBy(call allowlist.Call, p policy.Policy, facts policy.Facts) (rule, ofName string) {
	rules := p.Access
	ignores := facts.Ignores.Holds()
	if !call.Valid() || !rules.Hide() && !ignores {
		return "", ""
	}
	var text []byte
	if ignores {
		text, _ = ignorePatterns(r.folder())
	}
	patterns := access.ParseIgnored(string(text))
	ruleFor := func(path string, folder bool) string {
		isClosed := rules.Level(path) == access.None
		if folder {
			isClosed = !rules.Opens(path)
		}
		switch {
		case isClosed:
			return "access"
		case patterns.Hides(path, access.Kind(folder)):
			return "ignore"
		}
		return ""
	}
	for _, named := range call.NamedPaths() {
		if rule = ruleFor(named.Path, named.Folder); rule != "" {
			return rule, ""
		}
	}
	if name, ok := call.Param("file"); ok {
		ofName = cmp.Or(ruleFor(name, false), ruleFor(name+noteExtension, false))
	}
	return "", ofName
}

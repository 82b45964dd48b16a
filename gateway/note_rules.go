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
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
)

// NoteRules are the policy in force for one vault, with the names of its notes on the disk. They are
// safe for concurrent use.
type NoteRules struct {
	folder func() string // of the vault, "" where it is not known
	policy *atomic.Pointer[policy.Policy]
	scope  policy.Scope
	names  *filenames.Folder // of what is in the folder
	ruled  atomic.Pointer[ruleNames]
	// ask asks what notes say of themselves, see [exec.Runner.Ask]; nil where nothing can be asked.
	ask func(p policy.Policy, question protocol.Ask, words []string) ([]string, error)
}

// respellAfter is how long resolved rules are used before the disk is asked again. Meanwhile nothing leaks: a rule
// that takes something away applies in every spelling.
const respellAfter = time.Second

// ruleNames are access rules with the names that the disk has for their paths.
type ruleNames struct {
	written string // the rules as they are written
	rules   access.Rules
	at      time.Time
}

// NewNoteRules returns the rules of a vault with a policy. folder returns the folder of the vault,
// "" where it is not known; it is asked when the rules are first used. ask asks the embedded
// program what notes say of themselves; nil where they say nothing.
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

// Scoped returns the rules for requests whose access tokens have a scope. What tightens the one
// tightens the other.
func (r *NoteRules) Scoped(scope policy.Scope) *NoteRules {
	return &NoteRules{folder: r.folder, policy: r.policy, scope: scope, names: r.names, ask: r.ask}
}

// Tighten intersects the policy in force with another one; it never loosens it. It reports whether the policy
// changed.
func (r *NoteRules) Tighten(p policy.Policy) bool {
	for {
		has := r.policy.Load()
		tightened := p.Meet(*has)                                      // the origin of what both say is the later one
		if fmt.Sprintf("%#v", tightened) == fmt.Sprintf("%#v", *has) { // fingerprints stay, and with them cursors
			return false
		}
		if r.policy.CompareAndSwap(has, &tightened) { // otherwise another call has tightened it
			return true
		}
	}
}

// Ended reports whether the policy in force allows nothing any more.
func (r *NoteRules) Ended() bool { return r.policy.Load().At(time.Now()).Closed != "" }

// Policy returns the policy in force, which allows nothing once it has expired. Its access rules also apply to the names that the
// disk has for their paths.
func (r *NoteRules) Policy() policy.Policy { return r.policyAt(time.Now()) }

func (r *NoteRules) policyAt(now time.Time) policy.Policy {
	p := r.policy.Load().At(now)
	folder := r.folder()
	if !p.Access.Restrict() || folder == "" {
		return p
	}
	// The rules apply to the names that the disk has for their paths, too.
	last := r.ruled.Load()
	written := p.Access.String()
	if last == nil || last.written != written || now.Sub(last.at) >= respellAfter {
		last = &ruleNames{written: written, at: now, rules: p.Access.Named(func(path string) string {
			if name, err := r.names.Name(path); err == nil {
				return name
			}
			return path
		})}
		r.ruled.Store(last)
	}
	p.Access = last.rules
	return p
}

// InForce returns the policy in force, see [NoteRules.Policy], and what is known of every call in the vault: when it is made,
// the scope of its access token, and whether there is an ignore file, unless the caller has looked for it already.
func (r *NoteRules) InForce(seen Fingerprint) (policy.Policy, policy.Facts) {
	now := time.Now()
	facts := policy.ClearFacts(now)
	facts.Scope, facts.Ignores = r.scope, r.ignores(seen)
	return r.policyAt(now), facts
}

var hasIgnoreFile = policy.Because("the vault has an ignore file")

// ignores says whether the vault has an ignore file. If that cannot be found out, it counts as having one.
func (r *NoteRules) ignores(seen Fingerprint) policy.Reason {
	folder := r.folder()
	switch {
	case folder == "", seen.looked && !seen.ignores:
		return policy.None
	case seen.looked:
		return hasIgnoreFile
	}
	if _, err := os.Lstat(filepath.Join(folder, access.IgnoreFile)); errors.Is(err, fs.ErrNotExist) {
		return policy.None
	}
	return hasIgnoreFile
}

// Fingerprint identifies what hides notes of a vault: it changes when the ignore patterns or the policy do. A call
// that is under way while they change has read under the earlier ones, so what it keeps must not be shown later. The
// zero Fingerprint has looked at nothing.
type Fingerprint struct {
	patterns [sha256.Size]byte // zero for none
	policy   *policy.Policy
	// looked says that it is not the zero Fingerprint, ignores that there is an ignore file.
	looked, ignores bool
}

// Fingerprint looks at what hides notes now. Where the patterns cannot be read
// no call succeeds, so it does not matter what they are.
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
	narrowed, known := r.Narrowing()
	return fmt.Sprintf(
		"%x",
		sha256.Sum256(fmt.Appendf(nil, "%t %d:%s%s %t %q", ok, len(rules), rules, text, known, narrowed)),
	)
}

// Named returns the call with its paths as the disk has them, so that rules,
// questions, records and the app know one name of a note. hidden says that one of
// them leads to what may not be seen: then the call stays as it is, for the answer
// must not tell the name, and only the embedded program may be asked.
func (r *NoteRules) Named(call allowlist.Call) (named allowlist.Call, hidden bool) {
	if r.folder() == "" || len(call.NamedPaths()) == 0 {
		return call, false
	}
	// .md is added to a path that leads to no file, if it leads to a note with it. A note that is
	// hidden does not exist: the path stays.
	completed, err := call.WithPaths(true, func(asked string) string {
		if strings.HasSuffix(asked, noteExtension) || r.isFile(asked) || !r.isFile(asked+noteExtension) {
			return asked
		}
		name, err := r.names.Name(asked + noteExtension)
		if err != nil || r.hides()(name) {
			return asked
		}
		return asked + noteExtension
	})
	if err == nil { // otherwise it is too long with it
		call = completed
	}
	var others []string
	named, err = call.WithPaths(false, func(path string) string {
		name, err := r.names.Name(path)
		if err != nil || name == path {
			return path // the embedded program says what is wrong with it
		}
		others = append(others, name)
		return name
	})
	if len(others) == 0 {
		return call, false
	}
	if err != nil || slices.ContainsFunc(others, r.hides()) {
		return call, true
	}
	return named, false
}

// noteExtension is the extension that callers may leave out of a path.
const noteExtension = ".md"

// Narrowing returns the levels to which notes of the vault narrow access to themselves, by their paths: of the notes
// at some paths, or of all. ok is false where that is not known: then any note may be hidden. The embedded program is
// not asked if no note can do so, or if the folder of the vault is not known.
func (r *NoteRules) Narrowing(paths ...string) (levels map[string]access.Level, ok bool) {
	if r.policy.Load().Shadows(policy.RulePrivate) {
		return nil, true
	}
	return r.WouldNarrow(paths...)
}

// WouldNarrow is like [NoteRules.Narrowing], even if the policy makes it irrelevant.
func (r *NoteRules) WouldNarrow(paths ...string) (levels map[string]access.Level, ok bool) {
	p := r.policy.Load()
	if p.Private.IsZero() || r.folder() == "" || r.ask == nil {
		return nil, true
	}
	if len(paths) > 0 && !slices.ContainsFunc(paths, r.mayNarrow(p.Private)) {
		return nil, true
	}
	lines, err := r.ask(*p, protocol.AskNarrowed, paths)
	levels = map[string]access.Level{}
	for _, line := range lines {
		level, path, _ := strings.Cut(line, "\t")
		levels[path], _ = access.ParseLevel(level) // an unknown level is access.None
	}
	return levels, err == nil
}

// maxSuspected bounds the notes whose bytes are looked at here: the embedded program reads longer ones piece by piece.
const maxSuspected = 256 << 10

// mayNarrow returns what tells whether the note at a path may narrow access to itself, by its bytes as they are now: for a note
// that does not, nothing has to be asked. One that cannot be read here may.
func (r *NoteRules) mayNarrow(p access.Private) func(path string) bool {
	folder := r.folder()
	return func(note string) bool {
		if !strings.HasSuffix(note, noteExtension) || path.Clean(note) != note {
			return true
		}
		text, ok := readDirect(folder, note, maxSuspected)
		return !ok || p.MayNarrow(text)
	}
}

// Marked returns the paths of the notes that have one of some tags, or for "private" narrow access to
// themselves. known is false where that cannot be found out.
func (r *NoteRules) Marked(marks []string) (paths []string, known bool) {
	if r.ask == nil || r.folder() == "" {
		return nil, false
	}
	paths, err := r.ask(*r.policy.Load(), protocol.AskMarked, marks)
	return paths, err == nil
}

// Closes reports whether the note at a path hides itself, or may do so.
func (r *NoteRules) Closes(path string) bool {
	levels, ok := r.Narrowing(path)
	level, narrowed := levels[path]
	return !ok || narrowed && level == access.None
}

// isFile reports whether there is a regular file at a path in the vault.
func (r *NoteRules) isFile(asked string) bool {
	return FileStampOf(r.folder(), asked) != FileStamp{}
}

// Visible returns what tells whether the note at a path may be seen, by the access rules
// and the ignore file as they are now. With an ignore file that cannot be used, nothing may.
func (r *NoteRules) Visible() func(path string) bool {
	text, ok := ignorePatterns(r.folder())
	rules := r.Policy().Access
	patterns := access.ParseIgnored(string(text))
	closed := sync.OnceValue(func() func(path string) bool { // asked for once, and only if a path gets that far
		levels, known := r.Narrowing()
		return func(path string) bool {
			level, narrowed := levels[path]
			return !known || narrowed && level == access.None
		}
	})
	return func(path string) bool {
		mayBeRead := rules.Level(path) > access.None && !patterns.Hides(path, access.File)
		return ok && mayBeRead && !closed()(path)
	}
}

// hides returns what tells whether a note or folder is hidden.
func (r *NoteRules) hides() func(path string) bool {
	text, ok := ignorePatterns(r.folder())
	rules := r.Policy().Access
	patterns := access.ParseIgnored(string(text))
	return func(path string) bool {
		isClosed := rules.Level(path) == access.None && !rules.Opens(path)
		isIgnored := !ok || patterns.Hides(path, access.File) || patterns.Hides(path, access.Folder)
		return isClosed || isIgnored || r.Closes(path)
	}
}

// HiddenBy returns the rule that hides what a call spells out as a path, and what it
// spells out as a name: "access" for the rules about access, "ignore" for the ignore
// file, "" if nothing of it is hidden. The call was judged by p and the facts. It is
// for the audit log: the answer is made by the program that enforces the rules.
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
	by := func(path string, folder bool) string {
		switch {
		case folder && !rules.Opens(path), !folder && rules.Level(path) == access.None:
			return "access"
		case patterns.Hides(path, access.Kind(folder)):
			return "ignore"
		}
		return ""
	}
	for _, s := range call.NamedPaths() {
		if rule = by(s.Path, s.Folder); rule != "" {
			return rule, ""
		}
	}
	if name, given := call.Param("file"); given {
		ofName = cmp.Or(by(name, false), by(name+noteExtension, false))
	}
	return "", ofName
}

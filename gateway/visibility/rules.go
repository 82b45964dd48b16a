// Package visibility decides which notes of a vault may be seen: by the policy in force,
// its access rules and the ignore file, and under the names that the disk has for paths. It
// starts nothing. What it says of hidden notes is for the owner of the vault and for the
// audit log; callers are told that such a note is missing.
package visibility

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"vaultwicket/gateway/names"
	"vaultwicket/gateway/notes"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// Rules are what holds for the notes of one vault. They are safe for use by several
// goroutines.
type Rules struct {
	folder func() string // of the vault, "" where it is not known
	policy atomic.Pointer[policy.Policy]
	names  *names.Folder // of what is in the folder
	ruled  atomic.Pointer[ruleNames]
}

// respellAfter is how long the names of rules are believed: a rule that takes
// something away applies in every spelling all the time.
const respellAfter = time.Second

// ruleNames are access rules with the names that the disk has for their paths.
type ruleNames struct {
	written string // the rules that they were made of
	rules   access.Rules
	at      time.Time
}

// New returns the rules of a vault with a policy. folder returns the folder of the vault,
// "" where it is not known; it is asked when the rules are first used.
func New(p policy.Policy, folder func() string) *Rules {
	r := &Rules{folder: folder, names: names.In(func() (*os.Root, error) { return os.OpenRoot(folder()) })}
	r.policy.Store(&p)
	return r
}

// Tighten lays a further policy over the one in force, which is never loosened.
func (r *Rules) Tighten(p policy.Policy) {
	tightened := r.policy.Load().Tighten(p)
	r.policy.Store(&tightened)
}

// Policy returns the policy in force. Its access rules also hold for the names that the
// disk has for their paths.
func (r *Rules) Policy() policy.Policy { return r.PolicyAt(Fingerprint{}) }

// PolicyAt is [Rules.Policy] for a request that has looked for the ignore file already.
func (r *Rules) PolicyAt(seen Fingerprint) policy.Policy {
	p := *r.policy.Load()
	p.Access = r.withDiskNames(p.Access)
	switch folder := r.folder(); {
	case folder == "" || p.Ignores:
	case seen.looked:
		p.Ignores = seen.ignores
	default:
		_, err := os.Lstat(filepath.Join(folder, access.IgnoreFile))
		p.Ignores = err == nil || !errors.Is(err, fs.ErrNotExist)
	}
	return p
}

// withDiskNames returns rules that also hold for the names that the disk has for
// their paths.
func (r *Rules) withDiskNames(rules access.Rules) access.Rules {
	if !rules.Restrict() || r.folder() == "" {
		return rules
	}
	last := r.ruled.Load()
	if now := time.Now(); last == nil || last.written != rules.String() || now.Sub(last.at) >= respellAfter {
		last = &ruleNames{written: rules.String(), at: now, rules: rules.Named(func(path string) string {
			if name, err := r.names.Name(path); err == nil {
				return name
			}
			return path
		})}
		r.ruled.Store(last)
	}
	return last.rules
}

// Fingerprint tells what hides notes of a vault: it is another one when the
// patterns or the policy are others. A call that is under way while they change
// has read under the earlier ones, so what it keeps must not be shown later. The zero
// Fingerprint has looked at nothing.
type Fingerprint struct {
	patterns [sha256.Size]byte // zero for none
	policy   *policy.Policy
	// looked says that somebody has looked, ignores that there is an ignore file.
	looked, ignores bool
}

// Fingerprint looks at what hides notes now. Where the patterns cannot be read
// no call succeeds, so it does not matter what they are.
func (r *Rules) Fingerprint() Fingerprint {
	text, ok := notes.Patterns(r.folder())
	f := Fingerprint{policy: r.policy.Load(), looked: true, ignores: !ok || text != nil}
	if ok && text != nil {
		f.patterns = sha256.Sum256(text)
	}
	return f
}

// Digest is like [Rules.Fingerprint] for what is kept on the disk: it is the same for
// another process with the same rules.
func (r *Rules) Digest() string {
	text, ok := notes.Patterns(r.folder())
	rules := r.policy.Load().Access.String()
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%t %d:%s%s", ok, len(rules), rules, text)))
}

package policy

import (
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Permit is the authority to run one call. Only a [Decision] grants one; the methods
// below derive permits for its steps. The zero Permit grants nothing.
type Permit struct{ *grant }

// Preview is the authority to let the embedded program compute what one call would
// change, and nothing else: no step can be derived from it. Only a [Decision] grants
// one. The zero Preview grants nothing.
type Preview struct {
	_ struct{} // otherwise a Preview could be converted into a Permit
	*grant
}

// Grant is what a [Permit] and a [Preview] have in common. It can only be read; what may be
// started depends on which of the two it is.
type Grant interface {
	Valid() bool
	Call() allowlist.Call
	Access() string
	Confined() bool
	Guarded() bool
	Secrets() Secrets
	Exceptions() string
	Sends() bool
	sealed()
}

// grant says how one call may be run. It is immutable. A nil grant is that of the zero Call.
type grant struct {
	call    allowlist.Call
	minimum tiers.Version
	access  string // the rules that the embedded program enforces, as package access writes them
	// confined says that only a program that enforces these rules may run the call.
	confined bool
	// policy is the policy that granted the call, and facts what was known of it. They also judge its steps.
	policy   Policy
	facts    Facts
	separate bool // the call is about no note, and its answer is not shown
	unshown  bool // the answer is compared or written into a note and not shown, so it is not redacted
}

var noGrant grant // of the zero Permit

// orZero returns g, or noGrant if g is nil.
func (g *grant) orZero() *grant {
	if g == nil {
		return &noGrant
	}
	return g
}

// Valid reports whether a policy granted something.
func (g *grant) Valid() bool { return g.orZero().call.Valid() }

// Call returns the only call that may be run, the zero Call if nothing is granted.
func (g *grant) Call() allowlist.Call { return g.orZero().call }

// Access returns the access rules for the call, as package access writes them, "" for
// none. They are always passed to the embedded program.
func (g *grant) Access() string { return g.orZero().access }

// Confined reports whether only a program that enforces the rules of Access may run the call: its
// answer may depend on hidden notes, or it may change more notes than it names.
func (g *grant) Confined() bool { return g.orZero().confined }

// Guarded reports whether some notes of the vault are hidden from the caller. In that case, only the answer
// itself is passed on from the output of a program that does not enforce the rules.
func (g *grant) Guarded() bool {
	if g == nil || g.separate {
		return false
	}
	return g.policy.Access.Hide() || g.facts.Ignores.Holds() || g.facts.Narrowed.Holds()
}

// Secrets says what happens to secrets in the answer to the call.
func (g *grant) Secrets() Secrets {
	if policy := &g.orZero().policy; policy.Redacts() && !g.orZero().unshown {
		return policy.secrets()
	}
	return SecretsAllow
}

// Exceptions returns the exceptions to the rules about texts, one per line, as package access writes
// them.
func (g *grant) Exceptions() string { return strings.Join(g.orZero().policy.Exceptions.Lines(), "\n") }

// Sends reports whether the program may send text of notes to another machine.
func (g *grant) Sends() bool { return g.orZero().policy.Sends() }

// MinVersion returns the oldest app that may run the call.
func (g *grant) MinVersion() tiers.Version { return g.orZero().minimum }

func (g *grant) sealed() {}

// Question is the authority to ask the embedded program which notes restrict access to themselves, for
// the decisions of the gateway. Only [Policy.Question] grants one. The zero Question has no rules, and
// then no note restricts access.
type Question struct{ grant }

// Question returns the authority to ask which notes restrict access to themselves, under the rules of p.
func (p Policy) Question() Question {
	return Question{grant{access: p.Access.WithPrivate(p.Private).String(), policy: p}}
}

// The app runs some calls in steps, see [allowlist.Step], and each step needs a permit of its own. The methods below
// derive it from the permit of the whole call. Every step only reads and stays in the vault of the call, and is only
// granted to calls that need it. From the zero Permit they derive the zero Permit.

// Probe returns the permit to ask a program for its version, which is done before
// its first call.
func (p Permit) Probe() Permit { return p.step("version", nil).unconfined().apart() }

// Help returns the permit to ask the program which commands it has.
func (p Permit) Help() Permit { return p.step("help", nil).unconfined().apart() }

// VaultPath returns the permit to ask where the vault of the call is, to check
// whether the app means the vault that was configured.
func (p Permit) VaultPath() Permit {
	return p.step("vault", allowlist.Params{"info": allowlist.Text("path")}).unconfined()
}

// DailyPath returns the permit to ask for the path of today's daily note. It is granted to
// calls with StepReadDaily.
func (p Permit) DailyPath() Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	return p.derive(p.Call().DailyPath())
}

// ReadDaily returns the permit to read the note at path instead of running the call. It is granted to calls
// with StepReadDaily. The path is judged: if it is hidden, the permit is confined.
func (p Permit) ReadDaily(path string) Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	permit := p.step("read", allowlist.Params{"path": allowlist.Text(path)})
	if permit.Valid() {
		permit.confined = p.confined && p.policy.confines(permit.call, p.facts)
	}
	return permit
}

// Exists returns the permit to ask whether the note that the call would create already
// exists. key is "path" or "file". It is granted to calls with StepAbsent.
func (p Permit) Exists(key, value string) Permit {
	if !p.Call().HasStep(allowlist.StepAbsent) {
		return Permit{}
	}
	return p.step("file", allowlist.Params{key: allowlist.Text(value)})
}

// Version returns the permit to ask for the text of the version that the call restores. The text is written into the
// note with its secrets, and not shown. It is granted to calls with StepVersion.
func (p Permit) Version() Permit {
	if !p.Call().HasStep(allowlist.StepVersion) {
		return Permit{}
	}
	permit := p.derive(p.Call().VersionText())
	if permit.Valid() {
		permit.unshown = true
	}
	return permit
}

// ReadNote returns the permit to read the note of the call before and after it restores a version. The texts are
// compared and not shown. It is granted to calls with StepVersion that name the path of their note.
func (p Permit) ReadNote() Permit {
	path, named := p.Call().Param("path")
	if !p.Call().HasStep(allowlist.StepVersion) || !named {
		return Permit{}
	}
	permit := p.step("read", allowlist.Params{"path": allowlist.Text(path)})
	if permit.Valid() {
		permit.unshown = true
	}
	return permit
}

// Locate returns the permit to ask which note a name refers to. The call is then judged again with the
// path in place of the name. It is granted to calls with StepLocate.
func (p Permit) Locate() Permit {
	name, ok := p.Call().Named()
	if !ok {
		return Permit{}
	}
	return p.step("file", allowlist.Params{"file": allowlist.Text(name)})
}

// unconfined returns the permit for a question that is not about notes, and that any program may answer.
func (p Permit) unconfined() Permit {
	if p.Valid() {
		p.confined = false
	}
	return p
}

// apart returns the permit for a question that is not about notes and whose answer is not shown.
func (p Permit) apart() Permit {
	if p.Valid() {
		p.separate = true
	}
	return p
}

// step returns the permit for the call of one step, the zero Permit if the call is not valid.
func (p Permit) step(name string, params allowlist.Params) Permit {
	if !p.Valid() {
		return Permit{}
	}
	call, err := allowlist.Parse(name, params)
	if vault := p.call.Vault(); err == nil && vault != "" {
		call, err = call.In(vault)
	}
	return p.derive(call, err)
}

func (p Permit) derive(call allowlist.Call, err error) Permit {
	if err != nil || !p.Valid() {
		return Permit{}
	}
	step := *p.grant
	step.call = call
	return Permit{&step}
}

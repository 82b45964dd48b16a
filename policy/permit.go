package policy

import (
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Permit is the authority to run one call. Only a [Decision] grants one, and the
// methods in steps.go derive one from another. The zero Permit grants nothing.
type Permit struct{ *grant }

// Preview is the authority to have the embedded program work out what one call would
// change, and nothing else: no step can be derived from it, and package exec runs
// only that with it. Only a [Decision] grants one. The zero Preview grants nothing.
type Preview struct {
	_ struct{} // otherwise a Preview could be converted into a Permit
	*grant
}

// Grant is a [Permit] or a [Preview]: what is common to both. It is for reading; what
// may be started is decided by which of the two it is.
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

// grant says how one call may be run. It is immutable. Its methods return the zero value for nil.
type grant struct {
	call    allowlist.Call
	minimum tiers.Version
	// access are the rules that the embedded program enforces for the call. A confined
	// call may not be run by a program that does not know them.
	access   string
	confined bool
	// by is the policy that granted it, with the facts, which also judges the steps of the call.
	// separate says that the call is about no note, and that its answer is not shown.
	by       Policy
	facts    Facts
	separate bool
	// unshown says that the answer is written into a note and not shown, so that its secrets stay in it.
	unshown bool
}

var noGrant grant // of the zero Permit

// of returns the grant, noGrant for nil.
func (g *grant) of() *grant {
	if g == nil {
		return &noGrant
	}
	return g
}

// Valid reports whether a policy granted it.
func (g *grant) Valid() bool { return g.of().call.Valid() }

// Call returns what may be run: exactly this and nothing else. It is the zero Call if nothing is granted.
func (g *grant) Call() allowlist.Call { return g.of().call }

// Access returns the rules under which the call is to be run, as package access
// writes them, "" for none. The embedded program is always given them.
func (g *grant) Access() string { return g.of().access }

// Confined reports whether only a program that enforces the rules of Access may run the call: its
// answer may depend on notes that are hidden, or it may change more notes than it names.
func (g *grant) Confined() bool { return g.of().confined }

// Guarded reports whether some notes of the vault are hidden from the caller. Then of what a program
// that does not enforce the rules prints, only the answer to the call itself is passed on.
func (g *grant) Guarded() bool {
	if g == nil || g.separate {
		return false
	}
	return g.by.Access.Hide() || g.facts.Ignores.Holds() || g.facts.Narrowed.Holds()
}

// Secrets says what is done with secrets in the answer to the call.
func (g *grant) Secrets() Secrets {
	if by := &g.of().by; by.Redacts() && !g.of().unshown {
		return by.secrets()
	}
	return SecretsAllow
}

// Exceptions returns the folders and notes for which the rules about texts do not apply, a line each,
// as package access writes them.
func (g *grant) Exceptions() string { return strings.Join(g.of().by.Exceptions.Lines(), "\n") }

// Sends reports whether the program may send texts of notes to another machine, as the user approved.
func (g *grant) Sends() bool { return g.of().by.Sends() }

// MinVersion returns the oldest app that may run the call.
func (g *grant) MinVersion() tiers.Version { return g.of().minimum }

func (g *grant) sealed() {}

// Question is the authority to ask the embedded program which notes narrow access to themselves, for
// the decisions of the gateway. Only [Policy.Question] grants one; the zero Question asks under no
// rules, and nothing narrows access then.
type Question struct{ grant }

// Question returns the permit to ask which notes narrow access to themselves, under the rules of p.
func (p Policy) Question() Question {
	return Question{grant{access: p.Access.WithPrivate(p.Private).String(), by: p}}
}

// The app carries out some calls in steps, see [allowlist.Step], and each step needs a permit of its own. The
// methods below derive it from the permit of the whole call: every step only reads, stays in the vault of the
// call, and is granted only to calls that take it. The zero Permit derives zero Permits.

// Probe returns the permit for the question that comes before the first call
// of a program: which version are you?
func (p Permit) Probe() Permit { return p.step("version", nil).unconfined().apart() }

// Help returns the permit to ask the program which commands it has.
func (p Permit) Help() Permit { return p.step("help", nil).unconfined().apart() }

// VaultPath returns the permit to ask where the vault of the call is, which
// tells whether the app means the vault that was configured.
func (p Permit) VaultPath() Permit {
	return p.step("vault", allowlist.Params{"info": allowlist.Text("path")}).unconfined()
}

// DailyPath returns the permit to ask where today's daily note is. It is granted to
// calls that take StepReadDaily.
func (p Permit) DailyPath() Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	return p.derive(p.Call().DailyPath())
}

// ReadDaily returns the permit to read the note at path in place of the call. It is granted to calls
// that take StepReadDaily. The path is judged: it is confined if it is hidden.
func (p Permit) ReadDaily(path string) Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	permit := p.step("read", allowlist.Params{"path": allowlist.Text(path)})
	if permit.Valid() {
		permit.confined = p.confined && p.by.confines(permit.call, p.facts)
	}
	return permit
}

// Exists returns the permit to ask whether the note that the call would make exists
// already. key is "path" or "file". It is granted to calls that take StepAbsent.
func (p Permit) Exists(key, value string) Permit {
	if !p.Call().HasStep(allowlist.StepAbsent) {
		return Permit{}
	}
	return p.step("file", allowlist.Params{key: allowlist.Text(value)})
}

// Version returns the permit to ask for the text of the version that the call restores. The text is written into the
// note, with its secrets, and shown to nobody. It is granted to calls that take StepVersion.
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

// ReadNote returns the permit to read the note of the call before it restores a version, and after: what is read is
// compared and not shown. It is granted to calls that take StepVersion and name the path of their note.
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

// Locate returns the permit to ask which note a name refers to: the call is then judged again with the
// path in place of the name. It is granted to calls that take StepLocate.
func (p Permit) Locate() Permit {
	name, ok := p.Call().Named()
	if !ok {
		return Permit{}
	}
	return p.step("file", allowlist.Params{"file": allowlist.Text(name)})
}

// unconfined returns the permit for a question about no note, which any program may answer.
func (p Permit) unconfined() Permit {
	if p.Valid() {
		p.confined = false
	}
	return p
}

// apart returns the permit for a question that is about no note, and of which the answer is not shown.
func (p Permit) apart() Permit {
	if p.Valid() {
		p.separate = true
	}
	return p
}

// step returns a permit of its own for one step, the zero Permit if it is no call.
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

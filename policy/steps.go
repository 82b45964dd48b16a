package policy

import "vaultwicket/allowlist"

// The app carries out some calls in steps, see [allowlist.Step], and each step needs a
// permit of its own. The methods below derive it from the permit of the whole call:
// every step only reads, stays in the vault of the call, and is granted only to calls
// that take it. The zero Permit derives zero Permits.

// Probe returns the permit for the question that comes before the first call
// of a program: which version are you?
func (p Permit) Probe() Permit {
	return p.step("version", nil).unconfined(true)
}

// Help returns the permit to ask the program which commands it has.
func (p Permit) Help() Permit {
	return p.step("help", nil).unconfined(true)
}

// VaultPath returns the permit to ask where the vault of the call is, which
// tells whether the app means the vault that was configured.
func (p Permit) VaultPath() Permit {
	return p.step("vault", allowlist.Params{"info": allowlist.Text("path")}).unconfined(false)
}

// DailyPath returns the permit to ask where today's daily note is. It is granted to
// calls that take StepReadDaily.
func (p Permit) DailyPath() Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	return p.derive(p.Call().DailyPath())
}

// ReadDaily returns the permit to read the note at path in place of the call. It is
// granted to calls that take StepReadDaily. The path is judged: it is confined if it
// is hidden.
func (p Permit) ReadDaily(path string) Permit {
	if !p.Call().HasStep(allowlist.StepReadDaily) {
		return Permit{}
	}
	permit := p.step("read", allowlist.Params{"path": allowlist.Text(path)})
	if permit.Valid() {
		permit.confined = p.confined && p.by.confines(permit.call)
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

// Locate returns the permit to ask which note a name stands for: the call is
// then judged again with the path in place of the name. It is granted to calls
// that take StepLocate.
func (p Permit) Locate() Permit {
	name, ok := p.Call().Named()
	if !ok {
		return Permit{}
	}
	return p.step("file", allowlist.Params{"file": allowlist.Text(name)})
}

// unconfined returns the permit for a question that no note has to do with, which any
// program may answer.
func (p Permit) unconfined(separate bool) Permit {
	if p.Valid() {
		p.confined, p.separate = false, separate
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

// derive returns the permit for the call of a step.
func (p Permit) derive(call allowlist.Call, err error) Permit {
	if err != nil || !p.Valid() {
		return Permit{}
	}
	step := *p.grant
	step.call = call
	return Permit{&step}
}

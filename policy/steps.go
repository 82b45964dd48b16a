package policy

import "vaultwicket/allowlist"

// Some calls cannot be run as they stand, because the app would do more than
// the caller asked for. They are carried out in steps instead, and each step
// needs a permit of its own. The methods below derive it from the permit of the
// whole call: every step only reads, stays in the vault of the call, and is
// granted for no other command. The zero Permit derives zero Permits.

// Probe returns the permit for the question that comes before the first call
// of a program: which version are you?
func (p Permit) Probe() Permit {
	return p.step("version", nil).unconfined(true)
}

// VaultPath returns the permit to ask where the vault of the call lies, which
// tells whether the app means the vault that was configured.
func (p Permit) VaultPath() Permit {
	return p.step("vault", allowlist.Params{"info": allowlist.Text("path")}).unconfined(false)
}

// DailyPath returns the permit to ask where today's daily note is. It is
// granted to daily commands only.
func (p Permit) DailyPath() Permit {
	switch p.Call().Name() {
	case "daily:read", "daily:append", "daily:prepend", "daily":
		return p.step("daily:path", nil)
	}
	return Permit{}
}

// ReadDaily returns the permit to read the note at path in place of daily:read,
// which would make a missing note (recorded on 1.13.7). It is granted to
// daily:read only. The path is judged: it is confined if it is hidden.
func (p Permit) ReadDaily(path string) Permit {
	if p.Call().Name() != "daily:read" {
		return Permit{}
	}
	permit := p.step("read", allowlist.Params{"path": allowlist.Text(path)})
	if permit.Valid() {
		permit.confined = p.confined && p.by.confines(permit.call)
	}
	return permit
}

// Exists returns the permit to ask whether the note that create would make is
// there already, because create itself would make a numbered copy (recorded on
// 1.12.7). key is "path" or "file". It is granted to create only.
func (p Permit) Exists(key, value string) Permit {
	if p.Call().Name() != "create" {
		return Permit{}
	}
	return p.step("file", allowlist.Params{key: allowlist.Text(value)})
}

// Locate returns the permit to ask which note a name stands for: the call is
// then judged again with the path in place of the name. It is granted to calls
// that name a note by file=.
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
	if err != nil {
		return Permit{}
	}
	step := *p.grant
	step.call = call
	return Permit{&step}
}

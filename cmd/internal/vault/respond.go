package vault

import (
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
)

// respond carries out one request. Every error becomes a reply here.
func respond(v *command.Vault, r command.Request) command.Reply {
	row, err := lookUp(r.Command)
	if err != nil {
		return command.Explain(err)
	}
	syntax, _ := row.Syntax()
	values, err := syntax.Parse(r)
	if err != nil {
		return command.Explain(err)
	}
	if err := mayRun(r, row, values); err != nil {
		return command.Explain(err)
	}
	said, err := command.Reply{}, error(nil)
	switch {
	case row.Writes():
		v.Caller = r.Options.Caller
		said, err = command.Write(v, row, values, r.Options)
	case r.Options != (command.WriteOptions{}):
		err = command.Misuse("%s changes nothing: it takes no %s.", row.Name, r.Options.FirstSwitch())
	default:
		said, err = row.Run(v, values)
	}
	if err == nil && (!row.Writes() || r.Options.Mode == command.PlanSwitch) {
		err = budget.From(v.Ctx).Exceeded() // a text for which it did not suffice was read as nothing
	}
	if err != nil {
		return command.Explain(command.On(v, row.Name, err))
	}
	return said
}

// mayRun refuses a call that would change something, or have it kept in the journal,
// and was not allowed to.
func mayRun(r command.Request, c command.Command, values command.Values) error {
	shows := c.OnlyReads != nil && c.OnlyReads(values)
	if !c.Writes() || shows || r.MayWrite || r.Options.Mode == command.PlanSwitch {
		return nil
	}
	return command.Misuse("%s changes the vault, and this program only reads. Put %s before the command.", c.Name, command.WriteSwitch)
}

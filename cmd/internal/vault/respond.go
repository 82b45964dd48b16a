package vault

import (
	"vaultwicket/cmd/internal/vault/advice"
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// respond carries out one request. Every error becomes a reply here.
func respond(v *session.Vault, r grammar.Request) answer.Reply {
	row, err := lookUp(r.Command)
	if err != nil {
		return answer.Explain(err)
	}
	syntax, _ := row.Syntax()
	values, err := syntax.Parse(r)
	if err != nil {
		return answer.Explain(err)
	}
	if err := mayRun(r, row, values); err != nil {
		return answer.Explain(err)
	}
	said, err := answer.Reply{}, error(nil)
	switch {
	case row.Writes():
		v.Caller = r.Options.Caller
		said, err = command.Write(v, row, values, r.Options)
	case r.Options != (grammar.WriteOptions{}):
		err = answer.Misuse("%s changes nothing: it takes no %s.", row.Name, r.Options.FirstSwitch())
	default:
		said, err = row.Run(v, values)
	}
	if err != nil {
		return answer.Explain(advice.On(v, row.Name, err))
	}
	return said
}

// mayRun refuses a call that would change something, or have it kept in the journal,
// and was not allowed to.
func mayRun(r grammar.Request, c command.Command, values grammar.Values) error {
	shows := c.OnlyReads != nil && c.OnlyReads(values)
	if !c.Writes() || shows || r.MayWrite || r.Options.Mode == grammar.PlanSwitch {
		return nil
	}
	return answer.Misuse("%s changes the vault, and this program only reads. Put %s before the command.", c.Name, grammar.WriteSwitch)
}

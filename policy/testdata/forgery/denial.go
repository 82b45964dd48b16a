package forgery

import "github.com/vaultwicket/vaultwicket/policy"

var denials = []policy.Denial{
	{code: "unconfirmed"},                      // want "unexported field code"
	{hint: "a person said yes"},                // want "unexported field hint"
	{"unconfirmed", "confirm", "eval", "", ""}, // want "implicit assignment to unexported field"
}

func changeDenial(d *policy.Denial, v policy.RuleVerdict) {
	d.code = ""                              // want "d.code undefined"
	d.hint = "x"                             // want "d.hint undefined"
	v.denial = nil                           // want "v.denial undefined"
	_ = policy.RuleVerdict{denial: d}        // want "unexported field denial"
	_ = policy.deny("unconfirmed", "x", "y") // want "not exported"
	policy.rules[0] = policy.rules[1]        // want "not exported"
}

package screen

import "vaultwicket/tiers"

// DecisionStyles are the colours of decisions, of the verdicts of rules, and of what became
// of a call.
var DecisionStyles = map[string]Style{
	"allow": Good, "reply": Good, "ask": Alert, "deny": Bad, "end": Faint,
}

// EffectStyles are the colours of effects that change something.
var EffectStyles = map[string]Style{
	tiers.Writes.String(): Alert, tiers.Destroys.String(): Bad, tiers.Publishes.String(): Bad,
}

package private

import "testing"

func TestACallerNamesItsAgent(t *testing.T) {
	for _, test := range []struct{ agent, session, caller string }{
		{"", "", ""}, {"", "19707-78e706c6", "19707-78e706c6"}, {"cursor", "", "cursor/"}, {"cursor", "19707-78e706c6", "cursor/19707-78e706c6"}, {"a", "b/c", "a/b/c"},
	} {
		caller := CallerOf(test.agent, test.session)
		if caller != test.caller || AgentOf(caller) != test.agent || SessionOf(caller) != test.session {
			t.Errorf("%q for %q is %q: agent %q, session %q", test.session, test.agent, caller, AgentOf(caller), SessionOf(caller))
		}
	}
}

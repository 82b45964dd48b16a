package private

import "strings"

// agentEnd is between the agent and the rest of the name of a caller. It is in no name of an
// agent or a session.
const agentEnd = "/"

// CallerOf returns the name of a caller that acts for an agent: AGENT/CALLER. Without an agent it
// is the caller itself.
func CallerOf(agent, caller string) string {
	if agent == "" {
		return caller
	}
	return agent + agentEnd + caller
}

// AgentOf returns the agent in the name of a caller, "" for none.
func AgentOf(caller string) string {
	agent, _, acts := strings.Cut(caller, agentEnd)
	if !acts {
		return ""
	}
	return agent
}

// SessionOf returns the name of a caller without the agent.
func SessionOf(caller string) string {
	_, session, acts := strings.Cut(caller, agentEnd)
	if !acts {
		return caller
	}
	return session
}

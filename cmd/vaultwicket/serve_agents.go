package main

import (
	"crypto/sha256"
	"sync"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/gateway"
	"vaultwicket/gateway/state/agents"
	"vaultwicket/gateway/state/private"
)

// agentGateways returns what finds the gateway of the agent of a token, nil for no agent's. Each
// agent has a gateway of its own, made at its first call, so that nothing that a gateway keeps
// is another agent's.
func agentGateways(o settings.Opened) func(token [sha256.Size]byte) *gateway.Gateway {
	state := private.StateFolder(o.Std.Getenv, "")
	if state == "" || o.VaultAround(o.Std, state) != "" {
		return nil
	}
	tokens := agents.Open(state)
	var mu sync.Mutex
	made := map[string]*gateway.Gateway{}
	return func(token [sha256.Size]byte) *gateway.Gateway {
		name := tokens.AgentOf(token)
		if name == "" {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if g := made[name]; g != nil {
			return g
		}
		g, err := o.OfAgent(name)
		if err != nil {
			o.Log.Error("an agent is not served: "+err.Error(), "agent", name)
			return nil
		}
		made[name] = g
		return g
	}
}

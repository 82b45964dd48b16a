package gateway

import "vaultwicket/gateway/failure"

// Status is how things stand, found out without starting anything. It names no
// folder and no program of the machine: a caller has no use for them, and what a
// model reads may end up anywhere.
type Status struct {
	Enabled bool          `json:"enabled"` // false: every call is refused until the next start
	Paused  bool          `json:"paused"`  // true: every call is refused until the user resumes
	Backend string        `json:"backend"` // the setting: auto, obsidian or embedded
	Vaults  []VaultStatus `json:"vaults"`  // the default one first
	Limits  LimitStatus   `json:"limits"`
}

// VaultStatus says which programs can answer for a vault.
type VaultStatus struct {
	Name     string          `json:"name,omitempty"` // "" where the app chooses
	Backends []BackendStatus `json:"backends"`       // in the order in which they are asked
}

// BackendStatus says whether a program can be started. Whether the app runs is
// known only to who asks it. Code is the error code of a call that needs it.
type BackendStatus struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Code   string `json:"code,omitempty"`
}

// LimitStatus are the limits in force; 0 means no limit.
type LimitStatus struct {
	Parallel         int `json:"maxParallel"`
	CallsMinute      int `json:"callsPerMinute"`
	MutationsMinute  int `json:"mutationsPerMinute"`
	MutationsPerHour int `json:"mutationsPerHour"`
}

// Status tells how things stand. It answers while the gateway is paused or
// switched off, too.
func (g *Gateway) Status() Status {
	s := Status{Enabled: !g.admission.Disabled(), Paused: g.admission.Paused(), Backend: string(g.backend), Limits: g.limits()}
	for _, d := range g.vaults {
		s.Vaults = append(s.Vaults, VaultStatus{Name: d.name(), Backends: d.backends()})
	}
	return s
}

// backends looks for the programs that the setting backend lets be asked.
func (g *vaultGateway) backends() []BackendStatus {
	list := []BackendStatus{}
	if g.backend != Embedded {
		_, err := g.app()
		list = append(list, backendStatus(App, err))
	}
	if g.backend != App {
		_, err := g.embedded()
		list = append(list, backendStatus(Embedded, err))
	}
	return list
}

func backendStatus(name Backend, err error) BackendStatus {
	s := BackendStatus{Name: string(name), Usable: err == nil}
	if err != nil {
		s.Code = failure.Of(err).Code
	}
	return s
}

func (g *Gateway) limits() LimitStatus {
	l := g.admission.Limits()
	return LimitStatus{Parallel: l.Parallel, CallsMinute: l.Calls, MutationsMinute: l.Mutations, MutationsPerHour: l.MutationsHour}
}

// Disabled reports whether the setting enabled refuses every call.
func (g *Gateway) Disabled() bool { return g.admission.Disabled() }

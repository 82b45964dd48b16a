package oversight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/oauth"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// ShownAgent is an agent as "agent list --json" and "agent show --json" print it.
type ShownAgent struct {
	Name      string     `json:"name"`
	Defined   bool       `json:"defined"` // in the settings file
	Token     *time.Time `json:"tokenMade,omitempty"`
	Tier      string     `json:"tier,omitempty"`
	Mutations bool       `json:"allowMutations"`
	Vaults    []string   `json:"vaults,omitempty"` // nil for all
	Expires   *time.Time `json:"expires,omitempty"`
	State     string     `json:"state"` // active, paused, revoked, expired or undefined
}

// Agent runs "vaultwicket agent", which adds, lists and revokes agents.
func Agent(_ context.Context, std terminal.Streams, args []string) error {
	f := settings.NewFlags("agent")
	f.Reviews = true
	s, rest, err := f.Load(std, args)
	if err != nil {
		return err
	}
	state, err := s.SecretsFolder(std)
	if err != nil {
		return err
	}
	a, err := newAgentAction(std, f, s, state)
	if err != nil {
		return err
	}
	actions := map[string]func(string) error{
		"add":    a.add,
		"show":   a.show,
		"rotate": a.rotate,
		"revoke": a.revoke,
		"remove": a.remove,
	}
	switch {
	case len(rest) == 1 && rest[0] == "list":
		agents, err := a.all()
		if err != nil {
			return err
		}
		return a.print(agents, agents)
	case len(rest) == 2 && actions[rest[0]] != nil:
		if err := settings.CheckAgentName(rest[1]); err != nil {
			return &terminal.UsageError{Reason: err.Error()}
		}
		return actions[rest[0]](rest[1])
	case len(rest) > 0 && rest[0] != "list" && actions[rest[0]] == nil:
		names := append(slices.Sorted(maps.Keys(actions)), "list")
		return &terminal.UsageError{
			Reason: fmt.Sprintf("unknown action %q%s", excerpt.Short(rest[0]), excerpt.DidYouMean(rest[0], names)),
			Advice: `"vaultwicket help agent" shows them`,
		}
	}
	return &terminal.UsageError{
		Reason: "usage: vaultwicket agent add NAME | list | show NAME | rotate NAME | revoke NAME | remove NAME",
	}
}

// agentAction has what the actions of "vaultwicket agent" need.
type agentAction struct {
	std      terminal.Streams
	flags    *settings.Flags
	settings settings.Settings
	state    string
	tokens   *admission.AgentTokens
	made     map[string]*time.Time // the time at which the token of each known agent was made, nil for no token
}

func newAgentAction(std terminal.Streams, f *settings.Flags, s settings.Settings, state string) (agentAction, error) {
	a := agentAction{
		std:      std,
		flags:    f,
		settings: s,
		state:    state,
		tokens:   admission.OpenAgentTokens(state),
		made:     map[string]*time.Time{},
	}
	tokens, err := a.tokens.List()
	if err != nil {
		return a, terminal.Fail(terminal.ExitNotReady, "the tokens cannot be read: "+err.Error(), "")
	}
	for name := range s.Agents {
		a.made[name] = nil
	}
	for _, t := range tokens {
		a.made[t.Agent] = &t.Made
	}
	return a, nil
}

// add defines an agent in the settings file, if it is not defined yet, and gives it a token.
func (a agentAction) add(name string) error {
	_, defined := a.settings.Agents[name]
	_, revoked, err := admission.AgentState(a.state, name)
	rotateHint := "make a new one with: vaultwicket agent rotate " + name
	switch {
	case err != nil:
		return stateUnknown(err)
	case defined && revoked:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("the agent %q is revoked", name),
			Advice: "give it a new token, which ends the revocation, with: vaultwicket agent rotate " + name,
		}
	case defined && a.made[name] != nil:
		return &terminal.UsageError{Reason: fmt.Sprintf("the agent %q has a token already", name), Advice: rotateHint}
	}
	isFirst := len(a.settings.Agents) == 0
	tier := tiers.V0
	mutations := false // without flags the agent gets the fewest rights, whatever the server may do
	if a.flags.Lookup("tier").Changed {
		tier = a.settings.Policy.Ceiling
	}
	if a.flags.Lookup("allow-mutations").Changed {
		mutations = a.settings.Policy.Mutations
	}
	lines := []string{"tier = " + strconv.Quote(tier.String()), "allow-mutations = " + strconv.FormatBool(mutations)}
	file, added, err := a.flags.DefineAgent(a.std, name, lines)
	if err != nil {
		return err
	}
	if !added {
		return a.newToken(name)
	}
	terminal.Notef(a.std.Err, "added [agents.%s] with tier %s to %s", name, tier, terminal.Visible(file))
	// The new agent must not inherit anything from an earlier agent with this name.
	if err := renew(a.state, name); err != nil {
		return err
	}
	if isFirst && name != "default" {
		terminal.Notef(
			a.std.Err,
			"a server without --agent, and the token of the server itself, are now allowed nothing; define [agents.default] for them",
		)
	}
	return a.newToken(name)
}

// rotate gives a defined agent a new token.
func (a agentAction) rotate(name string) error {
	if _, defined := a.settings.Agents[name]; !defined {
		return a.unknown(name)
	}
	if err := renew(a.state, name); err != nil {
		return err
	}
	return a.newToken(name)
}

// newToken creates and prints the token of an agent.
func (a agentAction) newToken(name string) error {
	token, err := a.tokens.Set(name, time.Now())
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, "no token: "+err.Error(), "")
	}
	if a.flags.JSON {
		return terminal.PrintJSON(a.std.Out, map[string]string{"agent": name, "token": token}, terminal.ExitDone)
	}
	terminal.Notef(a.std.Err, "the token of %s follows; it is shown once", name)
	_, err = fmt.Fprintln(a.std.Out, token)
	return err
}

// revoke revokes a known agent.
func (a agentAction) revoke(name string) error {
	if _, isKnown := a.made[name]; !isKnown {
		return a.unknown(name)
	}
	if err := revoke(a.state, name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(
		a.std.Out,
		"agent %s is revoked: it has no rights until \"vaultwicket agent rotate %[1]s\"\n",
		name,
	)
	return err
}

// remove deletes everything stored about an agent, which must not be defined in the settings file any more:
// otherwise the revocation would be lost, and the agent would have the rights of its table again.
func (a agentAction) remove(name string) error {
	if _, defined := a.settings.Agents[name]; defined {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("the agent %q is defined in the settings file", name),
			Advice: fmt.Sprintf("remove the table [agents.%s] first, or revoke the agent", name),
		}
	}
	paused, revoked, err := admission.AgentState(a.state, name)
	if err != nil {
		return stateUnknown(err)
	}
	had, err := endCredentials(a.state, name)
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, "not removed: "+err.Error(), "")
	}
	if !had && !revoked && !paused {
		return a.unknown(name)
	}
	if err := renew(a.state, name); err != nil { // for a later agent with this name
		return err
	}
	if _, err := admission.Resume(a.state, name); err != nil {
		return terminal.Fail(terminal.ExitNotReady, "not removed: "+err.Error(), "")
	}
	_, err = fmt.Fprintf(a.std.Out, "agent %s is removed\n", name)
	return err
}

// revoke takes away all rights and credentials of an agent.
func revoke(state, name string) error {
	if err := admission.RevokeAgent(state, name, time.Now()); err != nil {
		return terminal.Fail(terminal.ExitNotReady, "not revoked: "+err.Error(), "")
	}
	if _, err := endCredentials(state, name); err != nil {
		return terminal.Fail(
			terminal.ExitNotReady,
			"the agent is revoked, and its credentials are still stored: "+err.Error(),
			"",
		)
	}
	return nil
}

// renew removes the credentials of an agent and ends its revocation. The agent has the rights of its table again as
// soon as it gets new credentials.
func renew(state, name string) error {
	if !ownerfiles.EnsureFolder(state) {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("state folder %q: %s", state, cmp.Or(ownerfiles.WhyUnsafe(state), "cannot be made")),
			"",
		)
	}
	_, err := endCredentials(state, name)
	if err == nil {
		err = admission.RenewAgent(state, name)
	}
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, "the credentials of the agent are not renewed: "+err.Error(), "")
	}
	return nil
}

// endCredentials removes the token of an agent, the access of clients that signed in, its questions with their
// approvals, and its grants. had reports whether there was a token or a client that signed in.
func endCredentials(state, name string) (had bool, err error) {
	hadToken, err := admission.OpenAgentTokens(state).Remove(name)
	if err != nil {
		return false, err
	}
	hadGrants, err := oauth.OpenSignInStore(state).RemoveAgent(name)
	if err != nil {
		return false, err
	}
	consent.New(state, nil).Void(name)
	if err := consent.OpenGrants(state, nil).EndOfAgent(name); err != nil {
		return false, err
	}
	return hadToken || hadGrants, nil
}

// stateUnknown returns the error for an agent whose state cannot be read.
func stateUnknown(err error) error {
	return terminal.Fail(terminal.ExitNotReady, "cannot tell whether the agent is paused: "+err.Error(), "")
}

// unknown returns the error for a name that no agent has.
func (a agentAction) unknown(name string) error {
	return &terminal.UsageError{
		Reason: fmt.Sprintf(
			"unknown agent %q%s",
			name,
			excerpt.DidYouMean(name, slices.Collect(maps.Keys(a.settings.Agents))),
		),
		Advice: "add it with: vaultwicket agent add " + name,
	}
}

// show prints one agent.
func (a agentAction) show(name string) error {
	agent, err := a.shown(name)
	if err != nil {
		return err
	}
	if !agent.Defined && agent.Token == nil && agent.State == "undefined" {
		return a.unknown(name)
	}
	return a.print([]ShownAgent{agent}, agent)
}

// print prints agents as a table, or value as JSON.
func (a agentAction) print(list []ShownAgent, value any) error {
	if a.flags.JSON {
		return terminal.PrintJSON(a.std.Out, value, terminal.ExitDone)
	}
	if len(list) == 0 {
		terminal.Notef(a.std.Err, "no agents")
		return nil
	}
	table := terminal.DefaultScreen(a.std).Table(
		terminal.Column{Title: "agent"},
		terminal.Column{Title: "state"},
		terminal.Column{Title: "tier"},
		terminal.Column{Title: "changes"},
		terminal.Column{Title: "token"},
		terminal.Column{Title: "expires"},
	)
	day := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.Local().Format(time.DateOnly)
	}
	for _, agent := range list {
		changes := "no"
		if agent.Mutations {
			changes = "yes"
		}
		table.Add(
			terminal.Text(agent.Name),
			terminal.Text(agent.State),
			terminal.Text(agent.Tier),
			terminal.Text(changes),
			terminal.Text(day(agent.Token)),
			terminal.Text(day(agent.Expires)),
		)
	}
	return table.Flush()
}

// all returns the agents that are defined or have a token, sorted by name.
func (a agentAction) all() ([]ShownAgent, error) {
	list := []ShownAgent{}
	for _, name := range slices.Sorted(maps.Keys(a.made)) {
		agent, err := a.shown(name)
		if err != nil {
			return nil, err
		}
		list = append(list, agent)
	}
	return list, nil
}

// shown returns an agent for display.
func (a agentAction) shown(name string) (ShownAgent, error) {
	agent, defined := a.settings.Agents[name]
	shown := ShownAgent{Name: name, Defined: defined, Token: a.made[name], State: "active"}
	if defined {
		p := a.settings.Policy.Meet(agent.Rights)
		shown.Tier = p.Ceiling.String()
		shown.Mutations = p.Mutations
		shown.Vaults = agent.Vaults
	}
	if !agent.Expires.IsZero() {
		shown.Expires = &agent.Expires
	}
	paused, revoked, err := admission.AgentState(a.state, name)
	switch {
	case err != nil:
		return shown, stateUnknown(err)
	case revoked:
		shown.State = "revoked"
	case !defined:
		shown.State = "undefined"
	case shown.Expires != nil && !time.Now().Before(*shown.Expires):
		shown.State = "expired"
	case paused:
		shown.State = "paused"
	}
	return shown, nil
}

// Agents returns the agents that are defined in the settings of f or have a token, sorted by name.
func Agents(std terminal.Streams, f *settings.Flags, s settings.Settings) ([]ShownAgent, error) {
	state, err := settings.StateFolder(std)
	if err != nil {
		return nil, err
	}
	a, err := newAgentAction(std, f, s, state)
	if err != nil {
		return nil, err
	}
	return a.all()
}

// Revoke takes away all rights and credentials of an agent.
func Revoke(std terminal.Streams, name string) error {
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	return revoke(state, name)
}

// Forget removes the credentials of an earlier agent with the name of a new one. Without a state folder there are
// none.
func Forget(std terminal.Streams, name string) error {
	state := ownerfiles.StateFolder(std.Getenv, "")
	if ownerfiles.CheckFolder(state) != nil {
		return nil
	}
	return renew(state, name)
}

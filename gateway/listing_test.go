package gateway

import (
	"strings"
	"testing"

	"vaultwicket/gateway/catalog"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

func gatewayWith(p policy.Policy) *Gateway {
	p.MinVersion = tiers.DefaultMinimum
	return New(Config{Policy: p})
}

func TestListingFollowsThePolicy(t *testing.T) {
	t.Parallel()
	open := map[string]bool{}
	for _, c := range gatewayWith(policy.Policy{Ceiling: tiers.V1, UI: true}).Listing() {
		open[c.Name] = c.Denial == nil
		if c.Name == "task" && strings.Contains(c.Signature(), "toggle") {
			t.Errorf("the signature of task shows what is closed: %s", c.Signature())
		}
	}
	for name, want := range map[string]bool{"daily:read": true, "task": true, "open": true, "daily:append": false, "links": false, "eval": false} {
		if open[name] != want {
			t.Errorf("%s is open: %v, want %v", name, open[name], want)
		}
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy policy.Policy
		want   tiers.Effect
	}{
		{"nothing is open", policy.Policy{}, tiers.Reads},
		{"reading only, without the user interface", policy.Policy{Ceiling: tiers.V3}, tiers.Reads},
		{"reading and showing", policy.Policy{Ceiling: tiers.V3, UI: true}, tiers.Shows},
		{"daily notes can be written", policy.Policy{Ceiling: tiers.V0, Mutations: true}, tiers.Writes},
		{"notes can be removed", policy.Policy{Ceiling: tiers.V1, Mutations: true}, tiers.Destroys},
		{"only a parameter destroys", policy.Policy{Ceiling: tiers.V1, Mutations: true, EnableOnly: []string{"create"}}, tiers.Destroys},
		{"notes can be published", policy.Policy{Ceiling: tiers.V2, Mutations: true, Publish: true}, tiers.Publishes},
	}
	for _, tt := range tests {
		if got := catalog.Worst(gatewayWith(tt.policy).Listing()); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestExplainShowsWhatIsClosedToo(t *testing.T) {
	t.Parallel()
	c, err := gatewayWith(policy.Policy{}).Explain("task")
	if err != nil || c.Denial == nil || !strings.Contains(c.Signature(), "toggle") {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := gatewayWith(policy.Policy{}).Explain("tusk"); err == nil {
		t.Error("an unknown command is explained")
	}
}

package gateway

import (
	"context"
	"testing"

	"vaultwicket/policy"
)

// tightening lays a stricter policy over the one in force while a call is under
// way.
type tightening struct{ tighten func() }

func (o tightening) Begin(ctx context.Context, _ CallStart) (context.Context, CallObserver) {
	return ctx, o
}
func (o tightening) Decided(Decision) { o.tighten() }
func (o tightening) End(CallEnd)      {}

func TestWhatWasReadWhileThePolicyChangedIsNotKept(t *testing.T) {
	answer, _ := listing(60)
	var f *fixture
	stricter := false
	f = newFixture(t, func(c *Config) {
		c.Backend = Embedded
		c.Observe = tightening{func() {
			if stricter {
				f.gateway.Tighten([]policy.Policy{f.config.Policy}, Limits{}, false)
			}
		}}
	}).embedded(answer)
	req := paged("files")
	stricter = true
	next := following(t, req, f.gateway.Do(context.Background(), req))
	stricter = false
	if got := f.gateway.Do(context.Background(), next); code(got) != "not_found" || got.Stdout != "" {
		t.Errorf("a page of what the earlier policy let be read: %+v", got)
	}
}

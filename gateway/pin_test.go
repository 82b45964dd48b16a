package gateway

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestAPinnedVaultIsTheOneThatTheAppMeans(t *testing.T) {
	t.Parallel()
	pin := func(c *Config) { c.Vault.Pinned = true }
	f := newFixture(t, pin)
	f.app(versionLine, "vault=Work vault info=path => "+f.vault+`\n`, "vault=Work tags => #a\\n")
	for range 2 {
		if got := f.gateway.Do(context.Background(), Request{Command: "tags"}); !got.OK {
			t.Fatalf("%+v", got.Error)
		}
	}
	if app, _ := f.called(); !slices.Equal(withoutProbe(app), []string{"vault=Work vault info=path", "vault=Work tags", "vault=Work tags"}) {
		t.Errorf("asked %q", app)
	}

	other := newFixture(t, pin).app(versionLine, "vault=Work vault info=path => /somewhere/else\\n", "vault=Work tags => #secret\\n")
	for range 2 {
		got := other.gateway.Do(context.Background(), Request{Command: "tags"})
		if code(got) != "vault_not_found" || strings.Contains(got.Stdout, "secret") || !strings.Contains(got.Error.Message, "/somewhere/else") {
			t.Errorf("got %+v", got)
		}
	}
	if app, _ := other.called(); slices.Contains(app, "vault=Work tags") {
		t.Errorf("asked %q", app)
	}
}

func withoutProbe(calls []string) []string {
	return slices.DeleteFunc(calls, func(c string) bool { return strings.HasSuffix(c, " version") || c == "version" })
}

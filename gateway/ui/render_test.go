package ui

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestTimesInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 4 * time.Second: "just now", 59 * time.Second: "59 s ago", time.Minute: "1 min ago", 119 * time.Minute: "1 h ago",
		47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago",
	} {
		assert.Equal(t, ago(d), want, "%v", d)
	}
	for d, want := range map[time.Duration]string{0: "0 s", 61 * time.Second: "1 min", 90 * time.Minute: "1 h 30 min", 72 * time.Hour: "3 days"} {
		assert.Equal(t, lasted(d), want, "%v", d)
	}
	for bytes, want := range map[int64]string{0: "0 B", 1500: "1.5 kB", 2_000_000: "2.0 MB"} {
		assert.Equal(t, size(bytes), want, "%d bytes are", bytes)
	}
}

func TestEveryPathHasOneTemplate(t *testing.T) {
	for _, name := range []string{"overview", "agents", "activity", "call", "approvals", "changes", "change", "policy", "try", "access", "health", "settings", "missing"} {
		assert.That(t, views()[name] != nil, "no view is called %q", name)
	}
}

func TestTheOverviewNamesProblems(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	const banner = `2 problems found`
	v.page.Health = func(context.Context) []Finding {
		return []Finding{{Level: "problem", What: "one"}, {Level: "warning"}, {Level: "ok"}, {Level: "problem", What: "two"}}
	}
	view := v.see("")
	assert.That(t, !strings.Contains(view, "problems found"), "before a check: %s", view)
	<-v.page.health.begin()
	for _, path := range []string{"", "activity", "approvals", "settings"} { // what Health knows, every view tells
		if view := v.see(path); !strings.Contains(view, banner) || !strings.Contains(view, `: one; two. <a id="to-health" href="`+v.base[strings.Index(v.base[8:], "/")+8:]+`health">Health</a></p>`) {
			t.Errorf("after it: %s", view)
		}
	}
}

// TestThePolicyShowsWhatRulesAboutTextsDid writes a line of a call and reads the view of the policy.
func TestThePolicyShowsWhatRulesAboutTextsDid(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	if view := v.see("policy"); !strings.Contains(view, "They did nothing in the last seven days.") || !strings.Contains(view, "keys, tokens and passwords") {
		t.Errorf("%s", view)
	}
	line := audit.Line{Kind: "end", Call: "1-abc-1", Session: "1-abc", Time: v.page.Now(), Found: []string{"secrets github-pat"}, Code: "secret_found"}
	require.NoError(t, audit.OpenLogs(v.page.State).Write(line, false, false))
	assert.Contains(t, v.see("policy"), `<code>secrets</code></td><td role="cell" data-label="Calls">1 blocked</td>`)
}

package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/chromedp/chromedp"
)

// manyCalls are calls with two lines each.
const manyCalls = 50_000

// With 100,000 lines in the audit log the views have a hundred rows each, and a new line
// appears as soon as ever.
func TestAHundredThousandLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 100,000 lines")
	}
	w := begin(t, func(r *harness.Program) { writeCalls(t, filepath.Join(r.Home, ".local", "state", "vaultwicket")) })
	client := w.Stdio(false, "")
	b := w.open()
	for _, path := range []string{"", "activity", "activity?period=all", "activity?period=all&q=search&outcome=denied"} {
		began := time.Now()
		b.visit(path)
		loaded := time.Since(began)
		b.until("a paint", `performance.getEntriesByName("first-contentful-paint").length > 0`)
		t.Logf("%q: %s; all loaded after %v", path, value[string](b, figures), loaded.Round(time.Millisecond))
		rows := value[int](b, `document.querySelectorAll("main tr").length`)
		assert.That(t, rows <= 400, "%q has %d rows", path, rows)
	}
	b.visit("activity?period=all")
	got := b.text("#activity-calls > p")
	assert.That(t, strings.HasPrefix(got, fmt.Sprint(manyCalls)), "it says %q", got)
	b.until("the stream", `document.getElementById("live").classList.contains("on")`)
	began := time.Now()
	client.Do(harness.Calling("read", "path=Bread.md"))
	b.until("that there is a new one", `document.getElementById("fresh").checkVisibility()`)
	b.run(chromedp.Click(chromedp.CSS("#fresh")))
	b.until("the new line", newest+`?.startsWith("read") && document.querySelector("#activity-calls tbody td[data-label=Agent]").innerText === "t"`)
	t.Logf("a new line appeared after %v", time.Since(began).Round(time.Millisecond))
	value[bool](b, `document.querySelector(".pages a[rel=next]").click(), true`)
	b.until("older calls", `location.search.includes("before=") && document.querySelectorAll("#activity-calls tbody tr").length > 1`)
	t.Logf("the process of the page: %s", memoryOf(t, w.process.Pid))
}

// figures are when a view was answered and painted, and what it took.
const figures = `(([view], files) => "answered after " + view.responseStart.toFixed() + " ms, first paint after " + performance.getEntriesByName("first-contentful-paint")[0].startTime.toFixed() + " ms, " + view.encodedBodySize + " bytes and " + files.length + " files of " + files.reduce((n, f) => n + f.transferSize, 0) + " bytes")(performance.getEntriesByType("navigation"), performance.getEntriesByType("resource").filter(f => !f.name.includes("events")))`

// writeCalls writes lines as the gateway does.
func writeCalls(t *testing.T, state string) {
	t.Helper()
	logs := audit.OpenLogs(state)
	begun := time.Now().Add(-manyCalls * time.Second)
	for i := range manyCalls {
		line := audit.Line{Time: begun.Add(time.Duration(i) * time.Second), Kind: "decision", Decision: "allow",
			Call: fmt.Sprintf("1-abc-%d", i+1), Session: "1-abc", Client: "Agent", Surface: "mcp", Vault: "Notes",
			Command: []string{"read", "search", "append"}[i%3], Effect: "read",
			Params: []audit.Param{{Name: "path", Bytes: 12, Digest: strings.Repeat("a", 16)}}}
		if i%50 == 0 {
			line.Decision, line.Code, line.Rule = "deny", "bad_value", ""
		}
		require.NoError(t, logs.Write(line, audit.Buffered))
		exit := 0
		line.Kind, line.Decision, line.Params, line.DurationMs, line.Exit, line.Backend = "end", "", nil, int64(i%200), &exit, "embedded"
		require.NoError(t, logs.Write(line, audit.Buffered))
	}
}

// memoryOf is what a process has in memory.
func memoryOf(t *testing.T, pid int) string {
	t.Helper()
	status := require.Value(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	var found []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") || strings.HasPrefix(line, "VmHWM") {
			found = append(found, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(found, ", ")
}

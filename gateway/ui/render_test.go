package ui

import (
	"context"
	"html/template"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	judge "github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestTimesInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 4 * time.Second: "just now", 59 * time.Second: "59 s ago", time.Minute: "1 min ago", 119 * time.Minute: "1 h ago",
		47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago",
	} {
		assert.Equal(t, Moment{begun, begun.Add(d)}.Ago(), want, "%v", d)
	}
	for d, want := range map[time.Duration]string{0: "0 s", 61 * time.Second: "1 min", 90 * time.Minute: "1 h 30 min", 72 * time.Hour: "3 days"} {
		assert.Equal(t, duration(d), want, "%v", d)
	}
	for bytes, want := range map[int64]string{0: "0 B", 1500: "1.5 kB", 2_000_000: "2.0 MB"} {
		assert.Equal(t, size(bytes), want, "%d bytes are", bytes)
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
		if view := v.see(path); !strings.Contains(view, banner) ||
			!strings.Contains(view, `: one; two. <a id="to-health" href="`+v.base[strings.Index(v.base[8:], "/")+8:]+
				`health">Health</a></p>`) {
			t.Errorf("after it: %s", view)
		}
	}
}

// TestThePolicyShowsWhatRulesAboutTextsDid writes a line of a call and reads the view of the policy.
func TestThePolicyShowsWhatRulesAboutTextsDid(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	view := v.see("policy")
	assert.Contains(t, view, "They did nothing in the last seven days.")
	assert.Contains(t, view, "keys, tokens and passwords")
	line := audit.Line{Kind: "end", Call: "1-abc-1", Session: "1-abc", Time: v.page.Now(), Found: []string{"secrets github-pat"}, Code: "secret_found"}
	require.NoError(t, audit.OpenLogs(v.page.State).Write(line, audit.Buffered))
	assert.Contains(t, v.see("policy"), `<code>secrets</code></td><td role="cell" data-label="Calls">1 blocked</td>`)
}

// Whatever a note has in it, what is shown of it has only plain tags: nothing is loaded, run or led to.
func TestANoteAsItReadsHasPlainTagsOnly(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`,
		`<a href="javascript:alert(1)">x</a>`, `[x](javascript:alert(1))`, `![x](http://evil.example/x.png)`,
		`[x](http://evil.example/?q=1 "t")`, `<http://evil.example>`, `http://evil.example/`, "```<script>\nx\n```",
		"```js\" onload=\"alert(1)\nx\n```", "<style>*{display:none}</style>", `<iframe src="//evil.example">`,
		`<p style="position:fixed" onclick=x>y</p>`, "[a]: javascript:alert(1)\n\n[a]", `![[secret.png]]`,
		`[[Note|<b>x</b>]]`, "| a <script> | b |\n|---|:-:|\n| ![](http://e.example/) | `<img src=x>` |",
		`&lt;script&gt;alert(1)&lt;/script&gt;`,
		`<details open ontoggle=alert(1)>`, "<!-- <script>alert(1)</script> -->",
		`<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`, "<div\n\nonclick=x>",
		`<a\x00href=x>`, strings.Repeat("[", 5000), strings.Repeat("> ", 2000) + "x",
		strings.Repeat("*a ", 3000), "\u202e<script>", "---\ntitle: <script>\n---\n# body",
	}
	tag := regexp.MustCompile(`<[^>]*>?`)
	for i, one := range hostile {
		for _, text := range []string{one, "text " + one + " end", "- " + one, "> " + one, one + "\n\n" + hostile[(i+1)%len(hostile)]} {
			shown := string(renderingOf([]byte(text)))
			for _, found := range tag.FindAllString(shown, -1) {
				assert.That(t, plainTag().FindString(found) == found, "%.80q has %q", text, found)
			}
			for _, word := range []string{"href", "src=", "onerror=\"", "evil.example/x.png"} {
				if strings.Contains(tag.ReplaceAllString(shown, "")+strings.Join(tag.FindAllString(shown, -1), ""),
					"<"+word) || strings.Contains(strings.Join(tag.FindAllString(shown, -1), ""), word) {
					t.Errorf("%.80q has %s: %s", text, word, shown)
				}
			}
		}
	}
	got := string(renderingOf([]byte("---\ntags: x\n---\n# Bread\n\n**flour** and `salt`\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")))
	for _, want := range []string{"<h1>Bread</h1>", "<strong>flour</strong>", "<code>salt</code>", "<li>one</li>", "<td>1</td>"} {
		assert.That(t, strings.Contains(got, want), "%q is not in %s", want, got)
	}
	assert.That(t, !strings.Contains(got, "tags"), "properties, or a note that is too long, are shown")
	assert.Equal(t, renderingOf(make([]byte, maxRendered+1)), "", "properties, or a note that is too long, are shown")
}

// The address for the app has names only, and nothing of them ends a name.
func TestTheAddressForTheAppIsEncoded(t *testing.T) {
	for note, want := range map[string]string{
		"Recipes/Sour bread": "Recipes%2FSour%20bread", "a&vault=Other": "a%26vault%3DOther",
		"50% + more": "50%25%20%2B%20more", "#x?y": "%23x%3Fy", `"'<>`: "%22%27%3C%3E", "日": "%E6%97%A5",
	} {
		assert.Equal(t, string(obsidianURL("My Notes", note)), "obsidian://open?vault=My%20Notes&file="+want, "%q", note)
	}
}

// TestEveryCommandIsSaidInWords: what can be enabled is said with its verb, and what cannot be, and what is no
// command, as it is named.
func TestEveryCommandIsSaidInWords(t *testing.T) {
	for c := range allowlist.Commands() {
		named := wants(c.Name) == "run "+c.Name && didOn(c.Name, "N.md") == "ran "+c.Name+" on"
		assert.Equal(t, named, c.Tier == tiers.Restricted, "%s: %q, %q", c.Name, wants(c.Name), didOn(c.Name, "N.md"))
	}
	for command, want := range map[string]string{
		"delete": "delete, deleted", "search": "search in, searched in", "prepend": "add text to the beginning of, added text to the beginning of",
		"batch": "run several calls on, ran several calls on", "eval": "run eval on, ran eval on", "\x1bno": `run \x1bno on, ran \x1bno on`,
	} {
		assert.Equal(t, wantsOn(command, "N.md")+", "+didOn(command, "N.md"), want, "%q", command)
	}
}

// renderingOf is rendering of a note without secrets.
func renderingOf(note []byte) template.HTML {
	var nothing *judge.Marker
	judged, _ := nothing.Judge(judge.NewUnjudged(note), nil)
	return rendering(judged)
}

package page

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What the page says of a change of the settings file: of a line, and of one that is added.
var (
	replaced = regexp.MustCompile(`<li>Line (\d+).*?: in place of <code>(.*?)</code> write <code>(.*?)</code></li>`)
	added    = regexp.MustCompile(`<li>(?:Below line (\d+)|At the beginning).*?: add <code>(.*?)</code></li>`)
)

// followed returns the settings file as a view says that it is to be.
func followed(t *testing.T, file, view string) string {
	t.Helper()
	lines := strings.Split(string(require.Value(os.ReadFile(file))(t)), "\n")
	for _, change := range replaced.FindAllStringSubmatch(view, -1) {
		number := require.Value(strconv.Atoi(change[1]))(t)
		was := html.UnescapeString(change[2])
		require.Equal(t, strings.TrimSpace(lines[number-1]), was, "line %d", number)
		lines[number-1] = strings.Replace(lines[number-1], was, html.UnescapeString(change[3]), 1)
	}
	additions := added.FindAllStringSubmatch(view, -1)
	for _, change := range slices.Backward(additions) {
		below, _ := strconv.Atoi(change[1]) // none at the beginning
		lines = slices.Insert(lines, below, html.UnescapeString(change[2]))
	}
	return strings.Join(lines, "\n")
}

// refusal is the view of the newest call that was refused.
func (v *visitor) refusal() string {
	v.T.Helper()
	return v.See(regexp.MustCompile(`activity/call/[^"]+`).FindString(v.See("activity?outcome=denied")))
}

const twoAgents = "[agents.cursor]\ntier = \"v1\"  # as it was\nallow-mutations = true\n[agents.night-job]\nallow-mutations = false\ntier = \"v3\"\n"

// A refused call says why, and what it says to change allows it: in the table that refused it, and nowhere else.
func TestAnAdviceAllowsTheCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings      map[string]string
		tables, agent string
		call          harness.Call
		says          []string
		edits         int
	}{
		"tier": {map[string]string{"tier": `"v0"`}, "", "", harness.Calling("search", "query=flour"),
			[]string{"needs tier v1.", "in place of <code>tier = &#34;v0&#34;</code>", "also allows further commands: every client: "}, 1},
		"changes": {map[string]string{"allow-mutations": "false"}, "", "", harness.Calling("append", "path=Bread.md", "content=x"),
			[]string{"it may not change notes in Notes."}, 1},
		"several": {map[string]string{"allow-mutations": "false", "tier": `"v0"`, "disable": `["tag:rename", "read"]`},
			"", "", harness.Calling("tag:rename", "name=a", "to=b"),
			[]string{"needs tier v2."}, 3},
		"disabled": {map[string]string{"disable": `["read", "tags"]`}, "", "",
			harness.Calling("read", "path=Bread.md"),
			[]string{"the command read is disabled.", `write <code>disable = [&#34;tags&#34;]</code>`}, 1},
		"only": {map[string]string{"enable-only": `["tags"]`}, "", "", harness.Calling("read", "path=Bread.md"),
			[]string{"the command read is disabled."}, 1},
		"access": {nil, "[vaults.access]\n\"/\" = \"r\"\n", "",
			harness.Calling("append", "path=Bread.md", "content=x"),
			[]string{"The access rules of Notes do not allow it on Bread.md.",
				"add <code>&#34;Bread.md&#34; = &#34;rw&#34;</code>"}, 1},
		"access of note": {nil, "[vaults.access]\n\"/\" = \"rw\"\n\"Bread.md\" = \"r\"\n", "",
			harness.Calling("append", "path=Bread.md", "content=x"),
			[]string{"in place of <code>&#34;Bread.md&#34; = &#34;r&#34;</code>"}, 1},
		"publishing": {nil, "", "", harness.Calling("web", "url=https://example.com/"),
			[]string{"publishing is off", "add <code>allow-publish = true</code>"}, 1},
		"views": {map[string]string{"allow-ui": "false"}, "", "", harness.Calling("open", "path=Bread.md"),
			[]string{"write <code>allow-ui = true</code>"}, 1},
		"secrets": {map[string]string{"secrets": `"block"`}, "", "", harness.Calling("read", "path=Keys.md"),
			[]string{"A secret was found", "write <code>secrets = &#34;redact&#34;</code>"}, 1},
		"an agent's tier": {nil, twoAgents, "cursor", harness.Calling("backlinks", "path=Bread.md"),
			[]string{"in <code>[agents.cursor]</code>", "in place of <code>tier = &#34;v1&#34;  # as it was</code>", "cursor: "}, 1},
		"an agent's changes": {nil, twoAgents, "night-job", harness.Calling("append", "path=Bread.md", "content=x"),
			[]string{"in <code>[agents.night-job]</code>"}, 1},
		"both tables": {map[string]string{"tier": `"v1"`}, twoAgents, "cursor",
			harness.Calling("tag:rename", "name=a", "to=b"), []string{"in <code>[agents.cursor]</code>"}, 2},
		"an agent's access": {nil, twoAgents + "[agents.night-job.access]\n\"/\" = \"none\"\n\"Work\" = \"r\"\n",
			"night-job", harness.Calling("read", "path=Bread.md"),
			[]string{"add <code>&#34;Bread.md&#34; = &#34;r&#34;</code>"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newProgram(t)
			r.Write("Keys.md", "token ghp_0123456789abcdefghijABCDEFGHIJ012345\n")
			for setting, value := range test.settings {
				r.Set(setting, value)
			}
			r.Tables = test.tables
			if test.agent != "" {
				r.Flags = append(r.Flags, "--agent", test.agent)
			}
			require.That(t, !r.Stdio(false, "").Do(test.call).OK, "it is not refused")
			v := open(r)
			view := v.refusal()
			has(t, view, append(test.says, "Why, and how to allow it", "Show in Try")...)
			assert.Equal(t, strings.Count(view, "<li>Line ")+strings.Count(view, "<li>Below line ")+strings.Count(view,
				"<li>At the beginning"), test.edits, "changes in %s", mainOf(view))
			file := filepath.Join(filepath.Dir(r.Save()), "advised.toml")
			harness.WriteFile(t, file, []byte(followed(t, r.Save(), view)))
			require.NoError(t, os.Chmod(file, 0o600))
			r.Flags = append(r.Flags, "--config", file)
			got := r.Stdio(false, "").Do(test.call)
			refused := !got.OK && !slices.Contains([]string{"not_found", "unconfirmed", "needs_app"}, got.Error.Code)
			assert.That(t, !refused, "with the change: %+v", got.Error)
		})
	}
}

// Where no line of the settings file allows a call there is no advice.
func TestNoAdviceWhereNoneHelps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags []string
		set   [2]string
		call  harness.Call
		says  string
	}{
		"restricted": {nil, [2]string{}, harness.Calling("eval", "code=1"), "No setting allows that."},
		"a flag":     {[]string{"--tier=v0"}, [2]string{}, harness.Calling("search", "query=flour"), "The settings file allows it now."},
		"rate":       {nil, [2]string{"rate", "1"}, harness.Calling("read", "path=Bread.md"), "It called more often than the limit allows."},
		"private":    {nil, [2]string{}, harness.Calling("read", "path=Mine.md"), "is marked as private: its properties or tags allow less."},
		"paused":     {nil, [2]string{}, harness.Calling("read", "path=Bread.md"), "Agents were paused."},
		"no target":  {nil, [2]string{}, harness.Calling("append", "content=x"), "would have been about the one that is open in the app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newProgram(t)
			r.Write("Mine.md", "---\nprivate: true\n---\nwords\n")
			if test.set[0] != "" {
				r.Set(test.set[0], test.set[1])
			}
			r.Flags = test.flags
			client := r.Stdio(false, "")
			if name == "paused" {
				r.Must("pause")
			}
			client.Do(test.call)
			client.Do(test.call)
			view := open(r).refusal()
			has(t, view, test.says)
			lacks(t, view, "To allow it", `id="line"`)
		})
	}
}

// A call is tried with the rights of the agent that was refused.
func TestTryWithTheRightsOfAnAgent(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Tables = twoAgents
	r.Flags = append(r.Flags, "--agent", "cursor")
	r.Stdio(false, "").Do(harness.Calling("backlinks", "path=Bread.md"))
	v := open(r)
	link := regexp.MustCompile(`policy/try\?[^"]+`).FindString(v.refusal())
	form := v.See(html.UnescapeString(link))
	has(t, form, `<option value="cursor" selected>`)
	filled := url.Values{"vault": {"Notes"}, "command": {"backlinks"}, "params": {"path=Bread.md"}, "agent": {"cursor"}}
	_, body := v.send(form, "policy/try", filled)
	has(t, body, "outcome deny", "requires tier v2")
	filled.Set("agent", "")
	_, body = v.send(form, "policy/try", filled)
	has(t, body, "outcome allow")
	filled.Set("agent", "nobody")
	_, body = v.send(form, "policy/try", filled)
	has(t, body, "no such agent")
}

package access

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// flowVaults is a gateway for two vaults with one flow rule.
func flowVaults(t *testing.T, action string, from, to []string, change ...func(*policy.Policy)) *harness.InProcess {
	t.Helper()
	rule := require.Value(policy.ParseFlow("work", from, to, action))(t)
	private := require.Value(access.NewPrivate([]string{"agent"}, nil))(t)
	other := t.TempDir()
	harness.FillVault(t, other)
	h := harness.NewInProcess(t, func(c *gateway.Config) {
		p := c.Policy
		p.Ceiling, p.Publish, p.Confirm, p.Flows, p.Private = tiers.V3, true, policy.ConfirmNever, []policy.Flow{rule}, private
		for _, one := range change {
			one(&p)
		}
		c.Vaults = []gateway.Served{{Vault: c.Vault, Policy: p}, {Vault: gateway.Vault{Name: "Other", Folder: other}, Policy: p}}
	})
	h.Write("Secret/task.md", "- [ ] CANARY\n")
	h.Write("Inbox/task.md", "- [ ] open [[gone]]\n")
	h.Write("Inbox/tagged.md", "a word #client/acme\n")
	h.Write("Inbox/Deep/deep.md", "[[tagged]]\n")
	h.Write("Inbox/ro.md", "---\nagent: r\n---\nro\n")
	return h
}

// TestWhatWasReadDecidesWhereTextMayGo: each way to read from a place of a rule is followed by each way
// to carry text to where it may not go.
func TestWhatWasReadDecidesWhereTextMayGo(t *testing.T) {
	t.Parallel()
	folder, tag, private, mine := []string{"Secret"}, []string{"#client"}, []string{"private"}, testenv.Shard(t, 6)
	for i, test := range []struct {
		from  []string
		reads string // separated by blanks
		note  string // that the question names, "" where the read is from no place of the rule
	}{
		{folder, "read path=Secret/s.md", "Secret/s.md"}, {folder, "read file=s", "Secret/s.md"},
		{folder, "links path=Secret/s.md", "Secret/s.md"}, {folder, "search query=CANARY", "Secret"},
		{folder, "search:context query=CANARY", "Secret"}, {folder, "files", "Secret"},
		{folder, "find query=CANARY", "Secret"}, {folder, "tags", ""}, {folder, "tags format=json", "Secret"},
		{folder, "query", "Secret"}, {folder, `query where=file.folder=="Inbox"`, ""},
		{folder, `query where=file.folder=="Inbox"&&file("Sec"+"ret/s").size>1`, "Secret"},
		{folder, "find query=three", ""}, {folder, "tasks format=json", "Secret"},
		{folder, "tasks format=json folder=Inbox", ""}, {folder, "tasks", "Secret"},
		{folder, "unresolved", "Secret"}, {folder, "properties", "Secret"},
		{folder, "backlinks path=Inbox/a.md", "Secret"},
		{[]string{"secret"}, "read path=Secret/s.md", "Secret/s.md"},
		{[]string{"/"}, "read path=root.md", "root.md"},
		{[]string{"Secret/s.md"}, "read path=Secret/s.md", "Secret/s.md"},
		{folder, "query format=csv", "Secret"}, {folder, "query format=tsv", "Secret"},
		{folder, "query format=md", "Secret"}, {folder, "query select=path:file.name", "Secret"},
		{folder, "query limit=1 summaries", "Secret"}, {folder, "query format=paths limit=1", ""},
		{folder, "search query=CANARY total", "Secret"}, {folder, "files folder=Inbox total", "Secret"},
		{folder, "changes", ""}, {folder, "folders folder=Inbox", ""}, {folder, "related path=Inbox/tagged.md", ""},
		{folder, "approvals", ""}, {tag, "tags counts format=csv", "Inbox/tagged.md"},
		{folder, "tags counts format=csv", ""},
		{folder, "read path=Inbox/a.md", ""}, {folder, "search query=three", ""},
		{folder, "read path=Secret/missing.md", ""}, {folder, "files folder=Inbox", ""}, {folder, "vaults", ""},
		{tag, "read path=Inbox/tagged.md", "Inbox/tagged.md"}, {tag, "search query=word", "Inbox/tagged.md"},
		{tag, "tags", "Inbox/tagged.md"}, {tag, "tag name=client/acme", "Inbox/tagged.md"},
		{tag, "read path=Inbox/a.md", ""}, {tag, "search query=three", ""},
		{private, "read path=Inbox/ro.md", "Inbox/ro.md"}, {private, "read path=Inbox/a.md", ""},
	} {
		t.Run(fmt.Sprint(test.from, test.reads), func(t *testing.T) {
			t.Parallel()
			for _, action := range []string{"ask", "refuse"} {
				if action == "refuse" && !mine(i) {
					continue // what was read is found in the same way
				}
				h := flowVaults(t, action, test.from, []string{"Inbox2", "vaults", "publish", "web"})
				carries := []gateway.Request{
					{Words: []string{"append", "path=Inbox2/a.md", "content=x"}},
					{Words: []string{"create", "path=Inbox2/new.md", "content=x"}},
					{Words: []string{"append", "path=Inbox/a.md", "content=x"}, Vault: "Other"},
					{Words: []string{"daily:append", "content=x"}},
				}
				h.Must([]string{"append", "path=Inbox2/a.md", "content=x"})
				h.Do(strings.Fields(test.reads))
				for _, req := range carries {
					req.Command, req.Words, req.Caller = req.Words[0], req.Words[1:], "another session"
					result, asked := h.Send(req, harness.Says(consent.No))
					switch {
					case test.note == "" && (!result.OK || len(asked) > 0):
						t.Errorf("%s: %s %v: %+v, %d questions", action, req.Command, req.Words, result.Error, len(asked))
					case test.note == "":
					case action == "refuse" && (harness.CodeOf(result) != "access_denied" || len(asked) > 0),
						action == "ask" && (harness.CodeOf(result) != "unconfirmed" || len(asked) != 1 ||
							!strings.Contains(asked[0].Text, test.note)):
						t.Errorf("%s: %s %v: %+v, asked %+v", action, req.Command, req.Words, result.Error, asked)
					case strings.Contains(fmt.Sprint(result.Error.Message, result.Error.Hint), test.note) || strings.Contains(fmt.Sprint(result), "CANARY"):
						t.Errorf("the caller is told %+v", result.Error)
					}
				}
				result, asked := h.Do([]string{"append", "path=Inbox/b.md", "content=x"})
				assert.That(t, result.OK, "a change elsewhere: %+v", result.Error)
				assert.Equal(t, len(asked), 0, "a change elsewhere: %+v", result.Error)
				for _, words := range [][]string{{"publish:add", "path=Inbox/a.md"}, {"web", "url=https://example.org/"}} {
					d := h.Gateway.DryRun(t.Context(), gateway.Request{Command: words[0], Words: words[1:], Owner: true})
					verdict := "pass"
					if test.note != "" {
						verdict = map[string]string{"ask": "ask", "refuse": "deny"}[action]
					}
					found := false
					for _, rule := range d.Rules {
						found = found || rule.Rule == "flow" && rule.Verdict == verdict && (test.note == "" || !strings.Contains(rule.Why, test.note))
					}
					assert.That(t, found, "%s: a dry run of %q says %+v", action, words, d.Rules)
				}
			}
		})
	}
}

// TestWhatAClientShowsWasRead: the difference of a change, in the answer to a client that shows it,
// counts as read.
func TestWhatAClientShowsWasRead(t *testing.T) {
	t.Parallel()
	for _, shows := range []bool{false, true} {
		h := flowVaults(t, "refuse", []string{"Secret"}, []string{"Inbox2"})
		changed, _ := h.Send(gateway.Request{Command: "append", Words: []string{"path=Secret/s.md", "content=x"}, Shows: shows})
		carried, _ := h.Do([]string{"append", "path=Inbox2/a.md", "content=x"})
		want := map[bool]string{true: "access_denied"}[shows]
		assert.That(t, changed.OK, "%v: %+v, then %+v", shows, changed, carried.Error)
		assert.Equal(t, len(changed.Difference) > 0, shows, "%+v, then %+v", changed, carried.Error)
		assert.Equal(t, harness.CodeOf(carried), want, "%v: %+v, then %+v", shows, changed, carried.Error)
	}
}

// TestEachVaultThatWasReadCounts: what was read in one vault does not hide that another was read too.
func TestEachVaultThatWasReadCounts(t *testing.T) {
	t.Parallel()
	h := flowVaults(t, "refuse", []string{"Secret"}, []string{"vaults"})
	for _, test := range []struct{ vault, want string }{{"", ""}, {"Other", "access_denied"}} {
		h.Send(gateway.Request{Command: "read", Words: []string{"path=Secret/s.md"}, Vault: test.vault})
		carried, _ := h.Do([]string{"append", "path=Inbox/a.md", "content=x"})
		assert.Equal(t, harness.CodeOf(carried), test.want, "after a read in %q", test.vault)
	}
}

// TestACallOrBatchThatReadsItself: a copy out of a place, and a batch of which any operation reads, count
// as read before they carry anything.
func TestACallOrBatchThatReadsItself(t *testing.T) {
	t.Parallel()
	h := flowVaults(t, "refuse", []string{"Secret", "Above/Below", "#client"}, []string{"Inbox2", "vaults"})
	h.Write("Above/Below/a.md", "below\n")
	for _, words := range [][]string{
		{"copy", "path=Secret/s.md", "to=Inbox2/"}, {"move", "path=Secret/s.md", "to=Inbox2/s.md"},
		{"copy", "file=s", "to=Inbox2/"}, {"copy", "path=Inbox/tagged.md", "to=Inbox2/"},
		{"folder:copy", "path=Secret", "to=Inbox2/Secret"}, {"folder:copy", "path=Above", "to=Inbox2/Above"},
		{"folder:move", "path=Secret", "to=Inbox2/Secret"}, {"note:merge", "path=Secret/s.md", "into=Inbox2/a.md"},
	} {
		result, _ := h.Do(words)
		assert.That(t, harness.CodeOf(result) == "access_denied", "%q: %+v %+v", words, result, result.Error)
	}
	for _, operations := range [][]gateway.Operation{
		{harness.Operation("a", "append", "path=Inbox2/a.md", "content=x"), harness.Operation("b", "read", "path=Secret/s.md")},
		{harness.Operation("a", "read", "path=Secret/s.md"), harness.Operation("b", "append", "path=Inbox2/a.md", "content=x")},
		{harness.Operation("a", "search", "query=x"), harness.Operation("b", "append", "path=Inbox2/a.md", "content=x")},
	} {
		result, _ := h.Batch(operations)
		assert.That(t, !result.OK, "%+v: %+v", operations, result)
		assert.Contains(t, fmt.Sprint(result.Error, result.Results), "flow rule", "%+v: %+v", operations, result)
	}
	result, _ := h.Batch([]gateway.Operation{harness.Operation("a", "read", "path=Inbox/b.md"), harness.Operation("b", "append", "path=Inbox/b.md", "content=x")})
	assert.That(t, result.OK, "%+v", result)
	assert.Equal(t, h.Read("Inbox2/a.md"), "two\n", "Inbox2/a.md")
}

// TestFlowRulesInShadowAndExceptions: in shadow nothing is asked, and the log has what would be; a note
// with an exception does not count as read, alone and in listings.
func TestFlowRulesInShadowAndExceptions(t *testing.T) {
	t.Parallel()
	change := []string{"append", "path=Inbox2/a.md", "content=x"}
	shadow := flowVaults(t, "refuse", []string{"Secret", "private"}, []string{"Inbox2"}, func(p *policy.Policy) { p.Shadow = []string{policy.RuleFlow} })
	for range 2 { // the second time after a read
		result, asked := shadow.Do(change)
		assert.That(t, result.OK, "%+v", result.Error)
		assert.Equal(t, len(asked), 0, "%+v", result.Error)
		shadow.Do([]string{"read", "path=Secret/s.md"})
	}
	shadow.Gateway.Flush()
	var logged []string
	for line, err := range audit.Lines(t.Context(), filepath.Join(shadow.State, "vaultwicket"), audit.Filter{}) {
		require.NoError(t, err)
		if len(line.Shadow) > 0 {
			logged = append(logged, fmt.Sprint(line.Kind, line.Command, line.Found, line.Shadow, len(line.Because)))
		}
	}
	require.Equal(t, len(logged), 2, "%q", logged)
	assert.Equal(t, logged[0], "decisionappend[flow refuse] [flow] 1", "%q", logged)
	assert.HasPrefix(t, logged[1], "endappend[flow refuse] [flow] 1", "%q", logged)
	for _, test := range []struct {
		reads string
		asks  bool
	}{
		{"read path=Secret/s.md", false}, {"read path=Secret/task.md", true}, {"read path=Inbox/ro.md", false},
		{"search query=ro", false}, {"search query=CANARY", true}, {"copy path=Secret/s.md to=Inbox2/", false},
		{"copy path=Secret/task.md to=Inbox2/", true},
	} {
		h := flowVaults(t, "ask", []string{"Secret", "private"}, []string{"Inbox2"}, func(p *policy.Policy) {
			p.Exceptions = access.Exceptions{{Rule: policy.RuleFlow, Path: "Secret/s.md", Comment: "known"},
				{Rule: policy.RuleFlow, Path: "Inbox/ro.md", Comment: "known"}}
		})
		_, first := h.Do(strings.Fields(test.reads), harness.Says(consent.No))
		_, second := h.Do(change, harness.Says(consent.No))
		asks := len(first)+len(second) > 0
		assert.That(t, asks == test.asks, "%s: asks %v", test.reads, asks)
	}
}

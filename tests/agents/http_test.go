package agents

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// caller is a client of a server over HTTP with a token.
type caller struct {
	t              *testing.T
	server         *rig.HTTPServer
	token, session string
}

// send sends a message, and returns the status and the text of the answer.
func (c *caller) send(body string) (status int, text string) {
	c.t.Helper()
	headers := []string{"Authorization", "Bearer " + c.token}
	if c.session != "" {
		headers = append(headers, "Mcp-Session-Id", c.session)
	}
	response, err := c.server.Client.Do(c.server.Request(c.t.Context(), http.MethodPost, "/mcp", body, headers...))
	if err != nil {
		c.t.Fatalf("%v; the log:\n%s", err, c.server.Said())
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return response.StatusCode, string(content)
}

// sendWith sends a request without a session, with further headers.
func (c *caller) sendWith(method, body string, headers ...string) (text string) {
	c.t.Helper()
	response, err := c.server.Client.Do(c.server.Request(c.t.Context(), method, "/mcp", body, append([]string{"Authorization", "Bearer " + c.token}, headers...)...))
	if err != nil {
		c.t.Fatalf("%v; the log:\n%s", err, c.server.Said())
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	return string(content)
}

// connect opens a session and returns the status.
func (c *caller) connect() int {
	c.t.Helper()
	status, _ := c.send(rig.Handshake("{}"))
	return status
}

// do calls obsidianCli. The result is zero unless the status is 200.
func (c *caller) do(call rig.Call) (result gateway.Result, status int) {
	c.t.Helper()
	status, text := c.send(rig.JSON(c.t, map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "obsidianCli", "arguments": call}}))
	if status != http.StatusOK {
		return result, status
	}
	var answer struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	if err := json.Unmarshal(answer.Result.StructuredContent, &result); err != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	return result, status
}

// resource reads a resource. The text is "" for one that cannot be read.
func (c *caller) resource(uri string) (status int, text string) {
	c.t.Helper()
	status, answer := c.send(rig.JSON(c.t, map[string]any{"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": map[string]any{"uri": uri}}))
	var read struct {
		Result struct{ Contents []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(answer), &read); err == nil && len(read.Result.Contents) == 1 {
		text = read.Result.Contents[0].Text
	}
	return status, text
}

// tokenOf adds an agent and returns its token.
func tokenOf(r *rig.Rig, agent string) string {
	r.T.Helper()
	return strings.TrimSpace(r.Must("agent", "add", agent))
}

func TestATokenHasTheRightsOfItsAgent(t *testing.T) {
	r := newRig(t)
	tokens := map[string]string{"ann": tokenOf(r, "ann"), "bob": tokenOf(r, "bob"), "late": tokenOf(r, "late")}
	server := r.OverHTTP()
	ann, bob := &caller{t: t, server: server, token: tokens["ann"]}, &caller{t: t, server: server, token: tokens["bob"]}
	if ann.connect() != 200 || bob.connect() != 200 {
		t.Fatalf("no session; the log:\n%s", server.Said())
	}
	files := func(c *caller) []string {
		result, _ := c.do(rig.Calling("files"))
		return strings.Fields(result.Stdout)
	}
	if got, want := files(ann), []string{"Ann/Plan.md", "Both/Plan.md"}; !slices.Equal(got, want) {
		t.Errorf("ann lists %q", got)
	}
	if got, want := files(bob), []string{"Bob/Plan.md", "Both/Plan.md"}; !slices.Equal(got, want) {
		t.Errorf("bob lists %q", got)
	}
	made, _ := ann.do(rig.Calling("append", "path=Both/Plan.md", "content=by ann").With("idempotencyKey", "k1"))
	require.That(t, made.OK, "%+v", made.Error)
	if undone, _ := bob.do(rig.Calling("undo", "id="+made.Change.ID)); undone.OK || undone.Error.Code != "not_found" {
		t.Errorf("bob undoes what ann did: %+v", undone)
	}
	paged, _ := ann.do(rig.Calling("files").With("limit", 1))
	require.That(t, paged.Truncated != nil, "%+v", paged)
	if stolen, _ := bob.do(rig.Call{"command": "files", "cursor": paged.Truncated.Cursor}); stolen.OK || strings.Contains(stolen.Stdout, "Both") {
		t.Errorf("bob goes on with ann's answer: %+v", stolen)
	}
	for what, c := range map[string]*caller{
		"a session with the token of another agent": {t: t, server: server, token: tokens["bob"], session: ann.session},
		"a session with the token of the server":    {t: t, server: server, token: rig.Token, session: ann.session},
	} {
		if _, status := c.do(rig.Calling("files")); status != http.StatusNotFound {
			t.Errorf("%s: %d", what, status)
		}
	}
	for what, token := range map[string]string{
		"a name": "ann", "a shorter token": tokens["ann"][:len(tokens["ann"])-1], "another one": "vwa_" + strings.Repeat("aB3-", 11), "the list of both": tokens["ann"] + "," + tokens["bob"],
	} {
		assert.Equal(t, (&caller{t: t, server: server, token: token}).connect(), http.StatusUnauthorized, "%s", what)
	}
	for what, token := range map[string]string{"an expired agent": tokens["late"], "the token of the server, for which no agent is defined": rig.Token} {
		c := &caller{t: t, server: server, token: token}
		c.connect()
		if result, _ := c.do(rig.Calling("files")); result.OK || result.Error.Code != "agent_denied" {
			t.Errorf("%s: %+v", what, result)
		}
	}
	if got := r.Must("journal", "list", "--agent=ann"); !strings.Contains(got, "ann (t)") {
		t.Errorf("the journal says\n%s", got)
	}
}

// A token that is rotated, and an agent that is revoked, end in a running server at the next
// request, in the middle of a session.
func TestATokenEndsInTheMiddleOfASession(t *testing.T) {
	r := newRig(t)
	token := tokenOf(r, "ann")
	server := r.OverHTTP()
	c := &caller{t: t, server: server, token: token}
	c.connect()
	read := rig.Calling("read", "path=Ann/Plan.md")
	if result, status := c.do(read); !result.OK {
		t.Fatalf("%d, %+v", status, result.Error)
	}
	again := strings.TrimSpace(r.Must("agent", "rotate", "ann"))
	if _, status := c.do(read); status != http.StatusUnauthorized {
		t.Errorf("the earlier token: %d", status)
	}
	c = &caller{t: t, server: server, token: again}
	c.connect()
	if result, status := c.do(read); !result.OK {
		t.Errorf("the new token: %d, %+v", status, result.Error)
	}
	stdio := serverOf(r, "ann")
	r.Must("agent", "revoke", "ann")
	if _, status := c.do(read); status != http.StatusUnauthorized {
		t.Errorf("a revoked agent: %d", status)
	}
	assert.Equal(t, codeOf(stdio, read), "agent_denied", "a revoked agent over stdio")
	if _, _, status := r.Run("agent", "remove", "ann"); status == 0 {
		t.Error("an agent that is defined can be removed, which would end its revocation")
	}
}

// What "vaultwicket agent" says and does.
func TestAgentsAreAddedAndListed(t *testing.T) {
	r := newRig(t)
	r.Tables = ""
	r.Save()
	out, said, status := r.Run("agent", "add", "cursor")
	if status != 0 || !strings.HasPrefix(out, "vwa_") || !strings.Contains(said, "[agents.cursor] with tier v0") || !strings.Contains(said, "[agents.default]") {
		t.Fatalf("%d: %s%s", status, out, said)
	}
	r.Tables = "[agents.cursor]\ntier = \"v0\"\nallow-mutations = false\n[agents.old]\nexpires = 2001-01-01\n" // as the file is now: the rig writes it again
	var list []struct {
		Name, Tier, State string
		AllowMutations    bool
	}
	if err := json.Unmarshal([]byte(r.Must("agent", "list", "--json")), &list); err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	assert.That(t, list[0].Name == "cursor" && list[0].Tier == "v0" && list[0].State == "active" && !list[0].AllowMutations && list[1].State == "expired", "%+v", list)
	for _, args := range [][]string{
		{"agent", "add", "cursor"}, {"agent", "add", "../x"}, {"agent", "add", "Cursor"}, {"agent", "show", "nobody"}, {"agent", "rotate", "nobody"}, {"agent", "revoke", "nobody"},
		{"agent", "remove", "nobody"}, {"agent"}, {"agent", "ad", "x"}, {"agent", "list", "x"},
	} {
		if out, _, status := r.Run(args...); status != 2 || out != "" {
			t.Errorf("%q: %d %q", args, status, out)
		}
	}
	r.Must("pause", "--agent=cursor")
	assert.Contains(t, r.Must("agent", "show", "cursor"), "paused", "show prints")
}

// An agent has the rights that it had when the server was started, although its first call comes
// after its table was loosened; what was narrowed meanwhile is taken.
func TestTheFirstCallOfAnAgentBringsNoMoreRights(t *testing.T) {
	r := newRig(t)
	token := tokenOf(r, "ann")
	before := r.Tables
	r.Tables = strings.Replace(before, "[agents.ann]\n", "[agents.ann]\nallow-mutations = false\ndisable = []\n", 1)
	r.Save()
	server := r.OverHTTP()
	r.Tables = strings.Replace(before, "[agents.ann]\n", "[agents.ann]\nallow-mutations = true\ndisable = [\"files\"]\n", 1)
	r.Save()
	c := &caller{t: t, server: server, token: token}
	c.connect()
	if result, status := c.do(rig.Calling("append", "path=Ann/Plan.md", "content=x")); result.OK || rig.CodeOfError(result.Error) != "mutations_off" {
		t.Errorf("a change: %d, %+v", status, result.Error)
	}
	if result, status := c.do(rig.Calling("files")); result.OK || rig.CodeOfError(result.Error) != "command_disabled" {
		t.Errorf("a command that was disabled meanwhile: %d, %+v", status, result.Error)
	}
	if result, status := c.do(rig.Calling("read", "path=Ann/Plan.md")); !result.OK {
		t.Errorf("a read: %d, %+v", status, result.Error)
	}
}

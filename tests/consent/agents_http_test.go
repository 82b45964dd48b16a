package consent

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// caller is a client of a server over HTTP with the token of an agent.
type caller struct {
	*harness.Endpoint
	session string
}

func callerOf(server *harness.HTTPServer, token string) *caller {
	return &caller{Endpoint: server.As(token)}
}

// connected opens a session with the token that giveTokens gives an agent.
func connected(server *harness.HTTPServer, agent string) *caller {
	c := callerOf(server, "vwa_"+agent)
	c.connect()
	return c
}

// send sends a message, and returns the status and the text of the answer.
func (c *caller) send(body string, headers ...string) (status int, text string) {
	c.T.Helper()
	answer := require.Value(c.Send(c.T.Context(), http.MethodPost, body, append([]string{"Mcp-Session-Id", c.session}, headers...)...))(c.T)
	c.session = cmp.Or(answer.Header.Get("Mcp-Session-Id"), c.session)
	return answer.Status, answer.Body
}

// connect opens a session and returns the status.
func (c *caller) connect() int {
	c.T.Helper()
	status, _ := c.send(harness.Handshake("{}"))
	return status
}

// do calls obsidianCli. The result is zero unless the status is 200.
func (c *caller) do(call harness.Call) (gateway.Result, int) {
	c.T.Helper()
	status, text := c.send(tool(c.T, "obsidianCli", call))
	var answer struct {
		Result struct{ StructuredContent gateway.Result }
	}
	require.That(c.T, status != http.StatusOK || json.Unmarshal([]byte(text), &answer) == nil, "%s", text)
	return answer.Result.StructuredContent, status
}

// resource reads a resource. The text is "" for one that cannot be read.
func (c *caller) resource(uri string) string {
	c.T.Helper()
	_, answer := c.send(harness.JSON(c.T, map[string]any{"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": map[string]any{"uri": uri}}))
	var read harness.Answer
	if err := json.Unmarshal([]byte(answer), &read); err != nil || len(read.Result.Contents) != 1 {
		return ""
	}
	return read.Result.Contents[0].Text
}

// tokenOf adds an agent and returns its token.
func tokenOf(r *harness.Program, agent string) string {
	r.T.Helper()
	return strings.TrimSpace(r.Must("agent", "add", agent))
}

func TestASessionIsThatOfItsToken(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	tokens := map[string]string{"ann": tokenOf(r, "ann"), "bob": tokenOf(r, "bob"), "late": tokenOf(r, "late")}
	server := r.OverHTTP()
	ann := callerOf(server, tokens["ann"])
	require.That(t, ann.connect() == 200, "no session; the log:\n%s", server.Said())
	for what, token := range map[string]string{"another agent": tokens["bob"], "the server": harness.Token} {
		other := callerOf(server, token)
		other.session = ann.session
		_, status := other.do(harness.Calling("files"))
		assert.Equal(t, status, http.StatusNotFound, "a session with the token of %s", what)
	}
	for what, token := range map[string]string{"an expired agent": tokens["late"], "the token of the server, for which no agent is defined": harness.Token} {
		c := callerOf(server, token)
		c.connect()
		result, _ := c.do(harness.Calling("files"))
		require.That(t, !result.OK, "%s: %+v", what, result)
		assert.Equal(t, result.Error.Code, "agent_denied", "%s: %+v", what, result)
	}
}

func TestATokenEndsInTheMiddleOfASession(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	token := tokenOf(r, "ann")
	server := r.OverHTTP()
	c := callerOf(server, token)
	c.connect()
	read := harness.Calling("read", "path=Ann/Plan.md")
	if result, status := c.do(read); !result.OK {
		t.Fatalf("%d, %+v", status, result.Error)
	}
	again := strings.TrimSpace(r.Must("agent", "rotate", "ann"))
	if _, status := c.do(read); status != http.StatusUnauthorized {
		t.Errorf("the earlier token: %d", status)
	}
	c = callerOf(server, again)
	c.connect()
	if result, status := c.do(read); !result.OK {
		t.Errorf("the new token: %d, %+v", status, result.Error)
	}
	stdio := serverOf(r, "ann")
	r.Must("agent", "revoke", "ann")
	if _, status := c.do(read); status != http.StatusUnauthorized {
		t.Errorf("a revoked agent: %d", status)
	}
	assert.Equal(t, agentCodeOf(stdio, read), "agent_denied", "a revoked agent over stdio")
	_, _, status := r.Run("agent", "remove", "ann")
	assert.That(t, status != 0, "an agent that is defined can be removed, which would end its revocation")
}

// An agent has the rights that it had when the server was started, although its first call comes
// after its table was loosened; what was narrowed meanwhile is taken.
func TestTheFirstCallOfAnAgentBringsNoMoreRights(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	token := tokenOf(r, "ann")
	before := r.Tables
	r.Tables = strings.Replace(before, "[agents.ann]\n", "[agents.ann]\nallow-mutations = false\ndisable = []\n", 1)
	r.Save()
	server := r.OverHTTP()
	r.Tables = strings.Replace(before, "[agents.ann]\n", "[agents.ann]\nallow-mutations = true\ndisable = [\"files\"]\n", 1)
	r.Save()
	c := callerOf(server, token)
	c.connect()
	if result, status := c.do(harness.Calling("append", "path=Ann/Plan.md", "content=x")); result.OK || harness.CodeOfError(result.Error) != "mutations_off" {
		t.Errorf("a change: %d, %+v", status, result.Error)
	}
	if result, status := c.do(harness.Calling("files")); result.OK || harness.CodeOfError(result.Error) != "command_disabled" {
		t.Errorf("a command that was disabled meanwhile: %d, %+v", status, result.Error)
	}
	result, status := c.do(harness.Calling("read", "path=Ann/Plan.md"))
	assert.That(t, result.OK, "a read: %d, %+v", status, result.Error)
}

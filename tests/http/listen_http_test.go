package http_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// Some clients listen first of all and wait for the acknowledgement. mcp-go loses
// it now and then where there is nothing to listen to.
func TestASubscriptionIsAcknowledgedOverHTTP(t *testing.T) {
	t.Parallel()
	s := rig.ServeHTTP(t, "--backend=embedded", "--vault="+t.TempDir())
	body := `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{},` + rig.ModernMeta + `}}`
	for range 300 {
		answer, err := s.Client.Do(s.Request(t.Context(), http.MethodPost, "/mcp", body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"))
		require.NoError(t, err)
		var all []string
		if err := rig.Events(answer, func(message string) bool { all = append(all, message); return true }); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		answer.Body.Close()
		if len(all) != 2 || !strings.Contains(all[0], "notifications/subscriptions/acknowledged") || !strings.Contains(all[1], `"resultType":"complete"`) {
			t.Fatalf("got %q", all)
		}
	}
}

//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var (
	aboutTheUser = regexp.MustCompile(`(?i)\b(the user|the owner|user approval)\b`)
	toTheUser    = regexp.MustCompile(`\b(you can|only you|you have to|your approval)\b|(^| )--[a-z]|vaultwicket approve\b`)
	// ofTheProtocol is what only an agent can follow.
	ofTheProtocol = regexp.MustCompile(`approval\.link|"params"|send the (same )?call again|wait=50`)
)

// failing are calls that fail, by the code with which they do.
var failing = []struct {
	code   string
	change func(*harness.Program) // of a program that refuses nothing, may be nil
	words  []string
}{
	{"unknown_command", nil, []string{"raed", "path=Plan.md"}},
	{"unknown_param", nil, []string{"read", "pth=Plan.md"}},
	{"missing_param", nil, []string{"search"}},
	{"bad_value", nil, []string{"daily:read", "date=nope"}},
	{"conflicting_params", nil, []string{"read", "path=Plan.md", "file=Plan"}},
	{"target_required", nil, []string{"append", "content=x"}},
	{"tier_closed", set("tier", `"v0"`), []string{"read", "path=Plan.md"}},
	{"restricted_command", nil, []string{"eval", "code=1"}},
	{"command_disabled", set("disable", `["read"]`), []string{"read", "path=Plan.md"}},
	{"paused", set("enabled", "false"), []string{"read", "path=Plan.md"}},
	{"mutations_off", set("allow-mutations", "false"), []string{"append", "path=Plan.md", "content=x"}},
	{"access_denied", tables("[vaults.access]\n\"Plan.md\" = \"r\"\n"), []string{"append", "path=Plan.md", "content=x"}},
	{"unconfirmed", nil, []string{"delete", "path=Plan.md"}},
	{"secret_found", set("secrets", `"block"`), []string{"read", "path=Key.md"}},
	{"paused", func(r *harness.Program) { r.Must("pause") }, []string{"read", "path=Plan.md"}},
	{"cli_not_found", set("backend", `"obsidian"`), []string{"read", "path=Plan.md"}},
	{"vault_not_found", nil, []string{"read", "path=Plan.md"}},
	{"needs_app", nil, []string{"publish:site"}},
	{"state_unavailable", nil, []string{"append", "path=Plan.md", "content=x"}},
	{"not_found", nil, []string{"read", "path=Plam.md"}},
	{"already_exists", nil, []string{"move", "path=Plan.md", "to=Two.md"}},
	{"ambiguous", nil, []string{"append", "file=Same", "content=x"}},
	{"not_configured", nil, []string{"template:insert", "name=x", "path=Plan.md"}},
	{"cli_error", nil, []string{"undo"}},
}

func set(name, value string) func(*harness.Program) {
	return func(r *harness.Program) { r.Set(name, value) }
}

func tables(text string) func(*harness.Program) {
	return func(r *harness.Program) { r.Tables = text }
}

// whileServing are the changes that keep a server from starting, by the code.
var whileServing = map[string]func(*harness.Program){
	"vault_not_found": func(r *harness.Program) { require.NoError(r.T, os.RemoveAll(r.Vault)) },
	"state_unavailable": func(r *harness.Program) {
		state := filepath.Join(r.Home, ".local")
		require.NoError(r.T, os.RemoveAll(state))
		harness.WriteFile(r.T, state, nil)
	},
}

// notHere are the codes that no call of this test ends with, each with the reason. The texts of all codes are looked at in
// the source, too, see cmd/vaultwicket.
var notHere = map[string]string{
	"agent_denied":         "of agents, which nobody is at a terminal",
	"content_too_long":     "longer than a command line can be",
	"content_unsafe":       "of values that cannot be typed",
	"bad_request":          "of arguments that are no call",
	"insufficient_scope":   "of a server with sign-in",
	"rate_limited":         "counts what one process does",
	"cli_unsuitable":       "of an Obsidian CLI",
	"cli_too_old":          "of an Obsidian CLI",
	"cli_disabled":         "of an Obsidian CLI",
	"cli_crashed":          "of an Obsidian CLI",
	"app_not_running":      "of an Obsidian CLI",
	"vault_starting":       "of an Obsidian CLI",
	"unsupported_platform": "of another system",
	"vault_unwritable":     "of rights, which root is not bound by",
	"vault_unreadable":     "of rights, which root is not bound by",
	"conflict":             "of a note that was changed meanwhile",
	"empty_output":         "of an Obsidian CLI",
	"not_applied":          "of a fault",
	"partly_applied":       "of a fault",
	"timeout":              "takes too long",
	"cancelled":            "of a call that is cancelled",
	"outcome_unknown":      "of a fault",
	"output_limit":         "takes too long",
	"internal":             "of a bug",
}

// The same failure is told to an agent with what the user can do, and to the user with what they can do.
func TestAFailureSpeaksToItsReader(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range failing {
		seen[test.code] = true
		t.Run(test.code, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, map[string]string{
				"Plan.md": "# Plan\n", "Two.md": "two\n", "A/Same.md": "a\n", "B/Same.md": "b\n",
				"Key.md": "ghp" + "_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6\n",
			})
			if test.change != nil {
				test.change(r)
			}
			server := r.Stdio(false, "")
			if change := whileServing[test.code]; change != nil {
				change(r)
			}
			var result gateway.Result
			server.Tool("obsidianCli", harness.Calling(test.words[0], test.words[1:]...), &result)
			require.Equal(t, harness.CodeOf(result), test.code, "an agent gets %+v", result.Error)
			for _, text := range append([]string{result.Error.Message, result.Error.Hint}, result.Notices...) {
				assert.That(t, !toTheUser.MatchString(text), "an agent is told: %s", text)
			}
			_, stderr, status := r.Run(append([]string{"run"}, test.words...)...)
			assert.That(t, status != 0, "the command ended with 0: %s", stderr)
			assert.That(t, strings.Contains(stderr, "vaultwicket: error: "), "the user is told: %s", stderr)
			for line := range strings.Lines(stderr) {
				assert.That(t, !aboutTheUser.MatchString(line), "the user is told: %s", line)
				assert.That(t, !ofTheProtocol.MatchString(line), "the user is told: %s", line)
			}
			isDenied := failure.ClassOf(test.code) == failure.Refused && test.code != "restricted_command"
			if isDenied {
				assert.That(t, strings.Contains(stderr, "vaultwicket: hint: "), "the user is not told what to do: %s", stderr)
			}
			t.Logf("%s %s", test.code, stderr)
		})
	}
	for _, c := range failure.Codes() {
		_, isLeftOut := notHere[c.Name]
		assert.That(t, seen[c.Name] != isLeftOut, "%s: a call of this test ends with it: %v, it has a reason not to be here: %v", c.Name, seen[c.Name], isLeftOut)
	}
}

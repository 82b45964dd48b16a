package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/policy/access"
)

// A call for what is hidden gets the answer of what is missing, from the gateway
// and from its observers, and the audit log has the refusal with its rule.
func TestTheAuditLogTellsHiddenFromMissing(t *testing.T) {
	t.Parallel()
	rules, err := access.New(map[string]access.Level{"/": access.Delete, "Private": access.None})
	if err != nil {
		t.Fatal(err)
	}
	missing := func(how, path string) string {
		return `--facts vault=Work read ` + how + `=` + path + ` => exit 1 not_found Error: File "` + path + `" not found.\n`
	}
	for _, tt := range []struct {
		name, path, want string
		backend          Backend
	}{
		{"a typo in a name", "file=Tpyo", "allow read; end read not_found", Embedded},
		{"a name hidden by a rule", "file=Private/Tax", "allow read; end read access access_denied", Embedded},
		{"a name hidden by the ignore file", "file=x.draft", "allow read; end read ignore access_denied", Embedded},
		{"a typo", "Tpyo.md", "allow read; end read not_found", Embedded},
		{"hidden by a rule", "Private/Tax.md", "deny read access access_denied; end read access access_denied", Embedded},
		{"hidden by a rule, and not there", "Private/Nothing.md", "deny read access access_denied; end read access access_denied", Embedded},
		{"hidden by the ignore file", "x.draft.md", "deny read ignore access_denied; end read ignore access_denied", Embedded},
		{"hidden, and the app is asked for", "Private/Tax.md", "deny read access access_denied; end read access access_denied", App},
	} {
		t.Run(tt.name, func(t *testing.T) {
			how, path, byName := strings.Cut(tt.path, "=")
			if !byName {
				how, path = "path", tt.path
			}
			var told notebook
			f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Access, c.Observe = tt.backend, rules, &told }).
				app(versionLine).embedded(missing(how, path))
			if tt.backend == Embedded { // the app is asked nothing where there are patterns
				if err := os.WriteFile(filepath.Join(f.vault, ".vaultwicketignore"), []byte("*.draft.md\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := f.gateway.Do(t.Context(), Request{Command: "read", Params: params(how, path)})
			if code(got) != "not_found" {
				t.Errorf("the caller is told %+v", got)
			}
			if log := logOf(t, f); log != tt.want {
				t.Errorf("the log is %q, want %q", log, tt.want)
			}
			for _, d := range told.decisions {
				if d.Code == "access_denied" || d.Rule != "" {
					t.Errorf("observers are told %+v", d)
				}
			}
			for _, e := range told.ends {
				if e.Code != "not_found" || e.Rule != "" {
					t.Errorf("observers are told %+v", e)
				}
			}
		})
	}
}

package gateway

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/observe"
	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// tightening lays a stricter policy over the one in force while a call is under
// way.
type tightening struct{ tighten func() }

func (o tightening) Begin(ctx context.Context, _ observe.CallStart) (context.Context, observe.CallObserver) {
	return ctx, o
}
func (o tightening) Decided(observe.Decision) { o.tighten() }
func (o tightening) End(observe.CallEnd)      {}

func TestWhatWasReadWhileThePolicyChangedIsNotKept(t *testing.T) {
	t.Parallel()
	answer, _ := listing(60)
	var f *fixture
	stricter := false
	f = newFixture(t, func(c *Config) {
		c.Backend = Embedded
		c.Observe = tightening{func() {
			if stricter {
				f.gateway.Tighten([]policy.Policy{f.config.Policy}, admission.Limits{}, false)
			}
		}}
	}).embedded(answer)
	req := paged("files")
	stricter = true
	next := following(t, req, f.gateway.Do(context.Background(), req))
	stricter = false
	if got := f.gateway.Do(context.Background(), next); code(got) != "not_found" || got.Stdout != "" {
		t.Errorf("a page of what the earlier policy let be read: %+v", got)
	}
}

func TestSightIsByTheRulesAndTheIgnoreFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		rules, err := access.New(map[string]access.Level{"/": access.Read, "Private": access.None})
		if err != nil {
			t.Fatal(err)
		}
		c.Policy.Access = rules
	})
	file := filepath.Join(f.config.Vault.Folder, access.IgnoreFile)
	expect := func(when string, want map[string]bool) {
		t.Helper()
		sees := f.gateway.Visible("")
		for path, want := range want {
			if sees(path) != want {
				t.Errorf("%s: %q is seen: %v", when, path, !want)
			}
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nothing := map[string]bool{"A.md": false, "Private/A.md": false, "Draft/A.md": false}
	expect("without a file", map[string]bool{"A.md": true, "private/A.md": false, "Draft/A.md": true})
	write("Draft/\n!/Private/\n")
	expect("with patterns", map[string]bool{"A.md": true, "Private/A.md": false, "Draft/A.md": false})
	write(strings.Repeat("#", access.MaxIgnoreFile+1))
	expect("with a file that is too long", nothing)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", file); err != nil {
		t.Skip(err)
	}
	expect("with a link", nothing)
	if f.gateway.Visible("Nowhere")("A.md") {
		t.Error("a note of no vault is seen")
	}
}

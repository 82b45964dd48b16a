package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway/consent"
	"vaultwicket/policy"
)

// TestAChangeIsWorkedOutOnce counts how often the embedded program is asked what a call
// would do: once a request, however often the plan is looked at.
func TestAChangeIsWorkedOutOnce(t *testing.T) {
	t.Parallel()
	const hash = "982d9e3eb996f559" // of "text"
	change := func(words, path string) []string {
		return []string{
			fmt.Sprintf(`--plan --facts vault=Work %s => {"path":"%s","digest":"d1","files":[{"path":"%s","before":"%s","after":"%s"}]}`, words, path, path, hash, strings.Repeat("1", 16)),
			fmt.Sprintf(`--write --change ID --approved d1 --facts vault=Work %s => Done: %s\n`, words, path),
		}
	}
	replace := Request{Command: "vault:replace", Params: params("old", "a", "new", "b")}
	undo := Request{Command: "undo", Params: params("id", "20261122T100000.000000001Z-1234")}
	answers := append(change("vault:replace new=b old=a", "N.md"), change("undo id=20261122T100000.000000001Z-1234", "N.md")...)
	yes := func(context.Context, consent.Question) consent.Reply { return consent.Yes }
	shown := func(context.Context, consent.Question) consent.Reply { return consent.Void }
	for name, tt := range map[string]struct {
		req            Request
		ask            consent.Asker
		plans, written int
	}{
		"approved in the client":        {replace, yes, 1, 1},
		"an undo, shown on the page":    {undo, shown, 1, 0},
		"an undo, approved on the page": {undo, yes, 1, 1},
		"left pending for the terminal": {replace, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmWrites }).embedded(answers...)
			if err := os.WriteFile(filepath.Join(f.vault, "N.md"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			tt.req.Ask = tt.ask
			f.gateway.Do(t.Context(), tt.req)
			plans, written := 0, 0
			_, embedded := f.called()
			for _, line := range embedded {
				if strings.HasPrefix(line, "--plan ") {
					plans++
				} else if strings.HasPrefix(line, "--write ") {
					written++
				}
			}
			if plans != tt.plans || written != tt.written {
				t.Errorf("%d plans and %d writes, want %d and %d: %q", plans, written, tt.plans, tt.written, embedded)
			}
		})
	}
	t.Run("in a batch", func(t *testing.T) {
		f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmWrites }).embedded(answers...)
		if err := os.WriteFile(filepath.Join(f.vault, "N.md"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.gateway.DoBatch(t.Context(), Batch{Ask: yes, Operations: []Operation{{ClientID: "a", Request: replace}, {ClientID: "b", Request: undo}}})
		if _, embedded := f.called(); len(embedded) != 4 {
			t.Errorf("want two plans and two writes: %q", embedded)
		}
	})
}

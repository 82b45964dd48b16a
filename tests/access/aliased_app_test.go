package access

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/allowlist"
)

// With access rules the app is not asked for a path that leads to a file of other
// names, through a link or a hard link: the rules know the path alone, and the app
// follows both.
func TestTheAppIsNotAskedForAPathThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	h, folder := newLeakyVault(t, "an answer\n")
	h.hide(map[string]string{"Hid/Secret.md": "zqx"})
	secret, open := filepath.Join(h.dir, "Hid", "Secret.md"), filepath.Join(h.dir, "Open")
	for _, make := range []func() error{
		func() error { return os.Remove(filepath.Join(h.dir, ".vaultwicketignore")) },
		func() error { return os.Link(secret, filepath.Join(open, "alias.md")) },
		func() error {
			return os.Symlink(filepath.Join("..", "Hid", "Secret.md"), filepath.Join(open, "link.md"))
		},
		func() error { return os.Symlink(filepath.Join("..", "Hid"), filepath.Join(open, "folder")) },
	} {
		if err := make(); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	asked := 0
	for c := range allowlist.Commands() {
		for _, req := range appRequests(c) {
			_, byPath := req.Params["path"]
			if _, byName := req.Params["file"]; !byPath || byName {
				continue
			}
			for path, code := range map[string]string{"Open/alias.md": "access_denied", "Open/link.md": "not_found", "Open/folder/Secret.md": "not_found"} {
				req := req
				req.Params = maps.Clone(req.Params)
				req.Params["path"] = allowlist.Text(path)
				result := h.gateway.Do(t.Context(), req)
				if asked++; result.OK && !apart.MatchString(c.Name) && c.Name != "canvas:create" { // that makes another file next to it
					t.Errorf("%s %v: %+v", req.Command, req.Params, result)
				}
				if c.Name == "read" && (result.Error == nil || result.Error.Code != code) {
					t.Errorf("read %s: %+v, want %s", path, result.Error, code)
				}
			}
		}
	}
	called, err := os.ReadFile(filepath.Join(folder, "called"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(called)) {
		for _, path := range []string{"Open/alias", "Open/link", "Open/folder"} {
			if strings.Contains(line, path) {
				t.Errorf("the app was asked %q", line)
			}
		}
	}
	if asked < 50 {
		t.Errorf("only %d calls", asked)
	}
}

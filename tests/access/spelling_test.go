package access

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// spellings is a gateway on a vault whose file system takes several spellings for
// one name.
type spellings struct {
	t       *testing.T
	dir     string
	config  gateway.Config
	gateway *gateway.Gateway
}

func newSpellings(t *testing.T, backend gateway.Backend, cli string, levels map[string]access.Level, files map[string]string) *spellings {
	t.Helper()
	s := &spellings{t: t, dir: filepath.Join(testenv.FoldingDir(t, testenv.NTFS), "Vault")}
	for path, text := range files {
		harness.WriteFile(t, filepath.Join(s.dir, filepath.FromSlash(path)), []byte(text))
	}
	h := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Backend, c.Vault = backend, gateway.Vault{Name: "Vault", Folder: s.dir}
		c.Policy.Ceiling, c.Policy.Confirm, c.Policy.Access = tiers.V3, policy.ConfirmNever, harness.Rules(t, levels)
		c.Runner = exec.New(exec.Config{CLI: cli, Self: harness.Binary, Resident: true, Getenv: c.Getenv})
		t.Cleanup(c.Runner.Close)
	})
	s.config, s.gateway = h.Config, h.Gateway
	return s
}

// spelledCall makes a request of words such as "append path=A.md content=x".
func spelledCall(command string, params ...string) gateway.Request {
	given := allowlist.Params{}
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		given[key] = allowlist.Text(value)
	}
	return gateway.Request{Command: command, Params: given}
}

func (s *spellings) listed(folder string) (names []string) {
	s.t.Helper()
	entries := require.Value(os.ReadDir(filepath.Join(s.dir, folder)))(s.t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Result, dry run, journal and batch know one name of a note, however it is asked
// for.
func TestEverySpellingIsOneNote(t *testing.T) {
	t.Parallel()
	s := newSpellings(t, gateway.Embedded, "", map[string]access.Level{"/": access.Read, "W\u00f6rk": access.Delete},
		map[string]string{"W\u00f6rk/A long note.md": "one\n"})
	const name = "W\u00f6rk/A long note.md"
	plain := s.gateway.DryRun(t.Context(), spelledCall("append", "path="+name, "content=x"))
	for _, asked := range []string{"w\u00d6RK/a LONG note.md", "Wo\u0308rk/A long note.md",
		"W\u00f6rk/" + testenv.ShortNameOf(t, filepath.Join(s.dir, "W\u00f6rk"), "A long note.md"), name} {
		if got := s.gateway.DryRun(t.Context(), spelledCall("append", "path="+asked, "content=x")); got.Error != nil || !slices.Equal(got.Argv, plain.Argv) {
			t.Errorf("%+q: the dry run is %q, %v, want %q", asked, got.Argv, got.Error, plain.Argv)
		}
		for _, req := range []gateway.Request{spelledCall("read", "path="+asked),
			spelledCall("append", "path="+asked, "content=x"),
			spelledCall("property:set", "path="+asked, "name=a", "value="+asked[len(asked)-4:])} {
			got := s.gateway.Do(t.Context(), req)
			assert.That(t, got.OK, "%s %+q: %+v", req.Command, asked, got.Error)
			assert.Equal(t, got.Path, name, "%s %+q: %+v", req.Command, asked, got.Error)
		}
		batch := s.gateway.DoBatch(t.Context(),
			gateway.Batch{Operations: []gateway.Operation{{ClientID: "a",
				Request: spelledCall("append", "path="+asked, "content=y")}}})
		require.That(t, batch.OK, "%+q: the batch is %+v", asked, batch)
		assert.Equal(t, batch.Results[0].Result.Path, name, "%+q: the batch is %+v", asked, batch)
	}
	kept := require.Value(s.gateway.Journal(""))(t)
	entries, _, err := kept.Entries(t.Context(), journal.Filter{Limit: 100})
	require.Equal(t, err, nil, "%d entries", len(entries))
	require.That(t, len(entries) >= 8, "%d entries", len(entries))
	for _, e := range entries {
		for _, step := range e.Steps {
			assert.Equal(t, step.Path, name, "the journal has the path")
		}
	}
	assert.EqualSlices(t, s.listed("W\u00f6rk"), []string{"A long note.md"}, "the folder has")
}

// The app is asked for no note that the rules hide, by no name; and the answer is
// the same by each.
func TestNoSpellingLeadsToWhatIsHidden(t *testing.T) {
	t.Parallel()
	for _, backend := range []gateway.Backend{gateway.Embedded, gateway.Auto, gateway.App} {
		t.Run(string(backend), func(t *testing.T) {
			if backend == gateway.Auto {
				testenv.OnlyLong(t) // with rules it asks as the others do
			}
			folder := t.TempDir()
			client := filepath.Join(folder, "obsidian")
			testenv.WriteProgram(t, client,
				[]byte("#!/bin/sh\n[ \"$1\" = version ] && echo '1.13.7 (installer 1.13.7)' && exit\necho \"$*\" >>'"+
					folder+"/called'\necho zqx secret\n"))
			s := newSpellings(t, backend, client,
				map[string]access.Level{"/": access.Delete, "My private": access.None},
				map[string]string{"My private/Secret note.md": "zqx", "Open/A.md": "open"})
			private := testenv.ShortNameOf(t, s.dir, "My private")
			secret := testenv.ShortNameOf(t, filepath.Join(s.dir, "My private"), "Secret note.md")
			var named []string // the answers by its name
			for _, asked := range []string{private + "/Secret note.md", private + "/" + secret,
				strings.ToLower(private) + "/new.md", "MY PRIVATE/secret NOTE.md"} {
				for i, req := range []gateway.Request{
					spelledCall("read", "path="), spelledCall("file", "path="), spelledCall("outline", "path="),
					spelledCall("append", "content=x", "path="), spelledCall("delete", "path="),
					spelledCall("property:read", "name=a", "path="), spelledCall("move", "to=Open/B.md", "path="),
					spelledCall("rename", "name=C", "path="), spelledCall("history", "path="),
				} {
					ask := func(path string) string {
						req.Params["path"] = allowlist.Text(path)
						got := s.gateway.Do(t.Context(), req)
						if got.OK || got.Error == nil {
							t.Errorf("%s %s: %+v", req.Command, path, got)
							return ""
						}
						return strings.ReplaceAll(got.Error.Code+" "+got.Error.Message+" "+got.Error.Hint+" "+got.Stdout, path, "PATH")
					}
					if len(named) == i {
						named = append(named, ask("My private/Secret note.md"))
					}
					assert.Equal(t, ask(asked), named[i], "%s %s", req.Command, asked)
				}
			}
			called, err := os.ReadFile(filepath.Join(folder, "called"))
			assert.That(t, err != nil || !strings.Contains(strings.ToLower(string(called)), "priv"), "the app was asked:\n%s", called)
			assert.EqualSlices(t, s.listed("My private"), []string{"Secret note.md"}, "the hidden folder has")
		})
	}
}

// One vault has one journal, however its folder is written.
func TestEverySpellingOfTheVaultHasOneJournal(t *testing.T) {
	t.Parallel()
	s := newSpellings(t, gateway.Embedded, "", nil, map[string]string{"A.md": "one"})
	if got := s.gateway.Do(t.Context(), spelledCall("append", "path=A.md", "content=two")); !got.OK {
		t.Fatalf("%+v", got)
	}
	other := s.config
	other.Vault = gateway.Vault{Folder: filepath.Join(filepath.Dir(s.dir), "vAULT")}
	other.Runner = exec.New(exec.Config{Self: harness.Binary, Resident: true, Session: "agent", Getenv: s.config.Getenv})
	t.Cleanup(other.Runner.Close)
	again := gateway.New(other)
	if got := again.Do(t.Context(), spelledCall("append", "path=A.md", "content=three")); !got.OK {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"one\ntwo", "one"} {
		got := s.gateway.Do(t.Context(), spelledCall("undo"))
		assert.That(t, got.OK, "%+v", got.Error)
		text, err := os.ReadFile(filepath.Join(s.dir, "A.md"))
		require.Equal(t, err, nil, "the note is %q, want %q", text, want)
		assert.Equal(t, string(text), want, "the note is %q", text)
	}
}

// A text of several lines gets the line ends of the note, and the answer says so.
func TestTextGetsTheLineEndsOfTheNote(t *testing.T) {
	t.Parallel()
	h := newHiddenVault(t, nil)
	h.put("Open/Windows.md", "one\r\ntwo\r\n")
	h.put("Open/Unix.md", "one\ntwo\n")
	for path, want := range map[string]string{"Open/Windows.md": "one\r\ntwo\r\nx\r\ny", "Open/Unix.md": "one\ntwo\nx\ny"} {
		got := h.gateway.Do(t.Context(), spelledCall("append", "path="+path, "content=x\ny"))
		text, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(path)))
		assert.That(t, got.OK, "%s: %+v", path, got.Error)
		require.Equal(t, err, nil, "%s: %+v", path, got.Error)
		assert.Equal(t, string(text), want, "%s: %+v", path, got.Error)
		said := slices.Contains(got.Notices, "the note has CRLF line ends, and the text was given the same")
		assert.That(t, said == strings.Contains(want, "\r"), "%s: the notices are %q", path, got.Notices)
	}
}

package change_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// foreignActs are what another program does to a file.
var foreignActs = map[string]func(path string) error{
	"appends": func(path string) error {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil // there is none at this moment
		}
		_, err = file.WriteString(foreignText)
		return errors.Join(err, file.Close())
	},
	"rewrites": func(path string) error {
		if _, err := os.Stat(path); err != nil {
			return nil
		}
		err := os.WriteFile(path+".new", []byte(foreignText), 0o600)
		return errors.Join(err, os.Rename(path+".new", path))
	},
	"makes": func(path string) error {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil
		}
		return os.WriteFile(path, []byte(foreignText), 0o600)
	},
	"removes": func(path string) error {
		_ = os.Remove(path)
		return nil
	},
}

// looksAtReplaced is how often a note that was replaced is looked at while another program has it open.
const looksAtReplaced = 40

// A program has a note open while it is replaced, and writes to it before or after that. What it writes is in the vault afterwards.
func TestAProgramWritesIntoANoteThatIsReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a note that a program has open is not replaced there")
	}
	for _, change := range []string{"append path=a.md content=x", "vault:replace old=is new=was", "property:set path=a.md name=p value=1"} {
		for _, writes := range []string{"appends", "rewrites"} {
			for at := 1; ; at++ {
				when := fmt.Sprintf("%s: it %s at step %d", change, writes, at)
				h := embedded.New(t, map[string]string{"a.md": "is a\n", "b.md": "is b\n"})
				name := filepath.Join(h.Dir, "a.md")
				flags := os.O_WRONLY | os.O_APPEND
				open := require.Value(os.OpenFile(name, flags, 0))(t)
				n := 0
				looks := 0
				isDiscarded := false // after the last look at it
				said, _ := callAs(t, t.Context(), h, func(method string) {
					if method == "HasWriter" {
						looks++
					}
					if n++; n != at {
						return
					}
					isDiscarded = method == "Remove" || looks > looksAtReplaced
					if writes == "rewrites" {
						require.NoError(t, open.Truncate(0))
					}
					_, err := open.WriteString("a late line\n")
					require.NoError(t, err)
				}, strings.Fields(change)...)
				require.NoError(t, open.Close())
				if n < at {
					break
				}
				found := 0
				for path, text := range treeOf(h) {
					found += strings.Count(text, "a late line\n")
					assert.That(t, !strings.Contains(path, ".vaultwicket-"), "%s: %s is left", when, path)
				}
				isBeside := treeOf(h)["a 1.md"] != ""
				isTold := strings.Contains(said.Notice.String(), `is in "a 1.md"`)
				assert.Equal(t, isTold, isBeside, "%s: %q", when, said.Notice)
				if !isDiscarded {
					assert.Equal(t, found, 1, "%s of %d: %s, %q", when, n, said.Text, treeOf(h))
				}
			}
		}
	}
}

// A program opens a note, is given no processor while the note is replaced, and then writes a line and closes it. The line
// is in the note. A program that keeps a note open is not waited for, but the answer says so.
func TestAProgramThatIsWritingIsWaitedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says whether a file is open for writing")
	}
	for _, change := range []string{"append path=a.md content=x", "vault:replace old=is new=was", "property:set path=a.md name=p value=1"} {
		for _, keepsOpen := range []bool{false, true} {
			h := embedded.New(t, map[string]string{"a.md": "is a\n", "b.md": "is b\n"})
			open := require.Value(os.OpenFile(filepath.Join(h.Dir, "a.md"), os.O_WRONLY|os.O_APPEND, 0))(t)
			looks := 0
			said, _ := callAs(t, t.Context(), h, func(method string) {
				if method != "HasWriter" || keepsOpen {
					return
				}
				if looks++; looks == 3 {
					_, err := open.WriteString("a late line\n")
					require.NoError(t, err)
					require.NoError(t, open.Close())
				}
			}, strings.Fields(change)...)
			isTold := strings.Contains(said.Notice.String(), `keeps "a.md" open`)
			assert.Equal(t, isTold, keepsOpen, "%s: %q", change, said.Notice)
			if keepsOpen {
				require.NoError(t, open.Close())
				continue
			}
			assert.Equal(t, strings.Count(h.Get("a.md"), "a late line\n"), 1, "%s: %q", change, treeOf(h))
		}
	}
}

// The disk fails for good between the move of a note and the change of its text. The answer names the note, and says neither
// that it is changed as a whole nor that it is not.
func TestANoteThatIsOnlyMovedIsNamed(t *testing.T) {
	h := embedded.New(t, map[string]string{"P/a.md": "[[P/b]]\n", "P/b.md": "[[P/a]]\n", ".obsidian/app.json": embedded.FollowLinks})
	moves := 0
	said, _ := callOn(t, t.Context(), h, func(folder *disk.Folder) {
		folder.Interpose(func(method string) error {
			if method == "Move" {
				moves++
			}
			isFailing := method == "Exchange" || moves > 1 && method == "Move"
			if isFailing && moves > 0 {
				return syscall.EIO
			}
			return nil
		})
	}, "folder:rename", "path=P", "name=Q")
	require.Equal(t, said.Status, answer.ExitFailed, "%s", said.Text())
	assert.That(t, strings.Contains(said.Text(), `Only moved, with the old text: "Q/`), "%s", said.Text())
	require.Equal(t, len(said.Part.Moved), 1, "%s", said.Text())
	moved := said.Part.Moved[0]
	assert.That(t, slices.Contains(said.Part.Made, moved), "%q of %q", moved, said.Part.Made)
	assert.Equal(t, h.Get(moved), map[string]string{"Q/a.md": "[[P/b]]\n", "Q/b.md": "[[P/a]]\n"}[moved])
}

// everyFile is in place of a path where another program does it to all files at once.
const everyFile = "every file"

const foreignText = "\nof another program\n"

// Another program does something to one of the files, at any moment of a change. Nothing that it wrote is lost, and every
// file that it left alone is as one change has it: as it was, or as it was to be, or as the answer says.
func TestAnotherProgramWritesAtAnyMoment(t *testing.T) {
	files := map[string]string{
		"a.md": "A\n", "x/b.md": "B", "linked.md": "[[./a]] [[linked]]", "l1.md": "[[linked]]", "l2.md": "[t](linked.md)",
		".obsidian/app.json": embedded.FollowLinks, ".trash/b.md": "older",
	}
	partly, merged, tries := 0, 0, 0
	every := testenv.Count(5, 1)
	if testing.Short() {
		every = 40
	}
	for _, kind := range []struct{ call, before string }{
		{"append path=a.md content=x", ""}, {"create path=n/m/new.md content=x", ""},
		{"move path=linked.md to=n/m/other.md", ""}, {"rename path=linked.md name=other", ""},
		{"delete path=x/b.md", ""}, {"delete path=x/b.md permanent", ""}, {"vault:replace old=linked new=x", ""},
		{"folder:move path=x to=y/z/", ""}, {"folder:rename path=x name=z", ""},
		{"folder:delete path=x", ""}, {"note:merge path=linked.md into=a.md", ""},
		{"property:set name=p value=2 query=link", ""}, {"undo", "move path=linked.md to=n/m/other.md"},
		{"undo", "vault:replace old=linked new=x"}, {"undo", "delete path=x/b.md"}, {"undo", "folder:move path=x to=y/z/"},
	} {
		start := func() *embedded.Vault {
			h := embedded.New(t, files)
			if kind.before != "" {
				h.Does(strings.Fields(kind.before)...)
			}
			return h
		}
		whole := start()
		old := whole.Texts(true)
		whole.Does(strings.Fields(kind.call)...)
		done := whole.Texts(true)
		var touched []string
		for path := range files {
			touched = append(touched, path)
		}
		for path := range done {
			if _, known := files[path]; !known {
				touched = append(touched, path)
			}
		}
		slices.Sort(touched)
		for name, act := range foreignActs {
			for _, path := range append(touched, everyFile) {
				if strings.HasPrefix(path, ".") || path != everyFile && old[path] == done[path] {
					continue
				}
				for n, more := 1, true; more; n++ {
					for _, exchanges := range []bool{true, false} {
						if tries++; tries%every != 0 && (path != everyFile || testing.Short()) {
							more = n < 20
							continue
						}
						h := start()
						wrote := false
						said, calls := runBeside(h, strings.Fields(kind.call), n, exchanges, func() error {
							for _, one := range touched {
								if one != path && path != everyFile || strings.HasPrefix(one, ".") {
									continue
								}
								if err := act(h.File(one)); err != nil {
									return err
								}
								text, _ := os.ReadFile(h.File(one))
								wrote = wrote || strings.Contains(string(text), foreignText)
							}
							return nil
						})
						more = calls >= n
						when := fmt.Sprintf("%s %s, another program %s %s at call %d (exchange: %v)", kind.before, kind.call, name, path, n, exchanges)
						if name == "removes" {
							path = "" // whatever it was called before
						}
						if judgeBeside(t, h, when, said, path, old, done) {
							merged++
						}
						// Where two files cannot be exchanged, a text that comes between the last look and the rename is lost.
						assert.That(t, !wrote || !exchanges ||
							strings.Contains(fmt.Sprintf("%s", h.Texts(true)), foreignText), "%s: its text is lost: %s",
							when, said.Text())
						if said.Kind.Code == protocol.CodePartlyApplied {
							partly++
						}
					}
				}
			}
		}
	}
	t.Logf("%d tries, %d made in part, %d with a text of both", tries/every, partly, merged)
	if !testing.Short() {
		assert.That(t, partly > 0, "none is made in part")
		assert.That(t, merged > 0, "none has texts of both")
	}
}

// runBeside runs a call, and another program before its n-th change of the disk.
func runBeside(h *embedded.Vault, args []string, n int, exchanges bool, other func() error) (said answer.Reply, calls int) {
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	v.Disk.Interpose(func(method string) error {
		if calls++; calls == n {
			require.NoError(h.T, other())
		}
		if method == "Exchange" && !exchanges {
			return errors.ErrUnsupported
		}
		return nil
	})
	return vault.Respond(v, protocol.Request{Command: args[0], Args: args[1:], Write: protocol.Write{Allowed: true}}, nil), calls
}

// judgeBeside compares what is there with the two trees that there may be. It reports whether a file has a text of both programs.
func judgeBeside(t *testing.T, h *embedded.Vault, when string, said answer.Reply, foreign string, old, done map[string]string) (merged bool) {
	t.Helper()
	check := func(when string) {
		left := h.Texts(true)
		for path, text := range left {
			assert.That(t, !strings.HasSuffix(path, ".tmp"), "%s: %s is left", when, path)
			merged = merged || strings.HasSuffix(text, foreignText) && text != foreignText
		}
		want := old
		if said.Status == answer.ExitDone {
			want = done
		}
		for _, path := range pathsOf(left, old, done) {
			text, is := left[path]
			if path == foreign || strings.Contains(text, foreignText) || strings.HasPrefix(path, ".trash/") {
				continue
			}
			wanted, was := want[path]
			if said.Kind.Code == protocol.CodePartlyApplied && !slices.Contains(said.Part.Unmade, path) {
				if slices.Contains(said.Part.Made, path) || !was {
					wanted, was = done[path]
				}
			}
			// The foreign file may be this one by its other name, or was removed.
			isMoved := !is && (foreign == "" || strings.Contains(fmt.Sprint(left), foreignText))
			if !isMoved {
				assert.Equal(t, is, was, "%s says %q: %s is there\nmade %q, not %q", when, said.Text(), path, said.Part.Made, said.Part.Unmade)
				assert.Equal(t, text, wanted, "%s says %q: %s\nmade %q, not %q", when, said.Text(), path, said.Part.Made, said.Part.Unmade)
			}
		}
	}
	check(when)
	h.Does("version")
	check(when + ", and the next call")
	return merged
}

func pathsOf(trees ...map[string]string) (paths []string) {
	for _, tree := range trees {
		for path := range tree {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

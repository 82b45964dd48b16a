package change_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// besideFiles are two notes that changes of several files are about, and one that they are not about.
var besideFiles = map[string]string{
	"x/a.md": "is x #t\n", "x/b.md": "is x #t [[a]]\n", "other.md": "other\n",
	".obsidian/app.json": embedded.FollowLinks,
}

// callAs makes a call of another process, which before is called with before each change of the disk. It is false if the process
// ended on the way.
func callAs(t *testing.T, ctx context.Context, h *embedded.Vault, before func(method string), words ...string) (said answer.Reply, isAnswered bool) {
	t.Helper()
	return callOn(t, ctx, h, func(folder *disk.Folder) {
		folder.Interpose(func(method string) error {
			before(method)
			return nil
		})
	}, words...)
}

// callOn is callAs with a folder that is prepared for it.
func callOn(t *testing.T, ctx context.Context, h *embedded.Vault, prepare func(*disk.Folder), words ...string) (said answer.Reply, isAnswered bool) {
	t.Helper()
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(ctx, h.Dir, protocol.Request{}))(t)
	prepare(v.Disk)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		said = vault.Respond(v, protocol.Request{Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true}}, nil)
		isAnswered = true
	}()
	<-ended
	return said, isAnswered
}

func nothing(string) {}

// While a change of several files is made, from the moment it is in the journal, others change notes that it is not about. Whoever wants
// one of its files, a file in a folder that it removes or makes, or to move or remove a note, waits for its end.
func TestOneNoteIsChangedBesideALargeChange(t *testing.T) {
	for _, c := range []struct {
		large string
		waits []string
	}{
		{"vault:replace old=x new=y", []string{"append path=x/a.md content=z", "create path=X/A.md content=z overwrite"}},
		{"tag:rename name=t to=u", []string{"property:set path=x/b.md name=p value=1"}},
		{"folder:rename path=x name=y",
			[]string{"append path=x/a.md content=z", "create path=y/new.md content=z", "create path=x/new.md content=z",
				"create path=Y/b.md content=z"}},
		{"folder:delete path=x", []string{"create path=x/new.md content=z", "append path=x/b.md content=z"}},
		{"folder:copy path=x to=y", []string{"create path=y/a.md content=z", "create path=y/a.md/z.md content=z"}},
		{"rename path=x/a.md name=n", []string{"create path=x/n.md content=z", "append path=x/b.md content=z"}},
	} {
		t.Run(c.large, func(t *testing.T) {
			h := embedded.New(t, besideFiles)
			whole := embedded.New(t, besideFiles)
			whole.Does(strings.Fields(c.large)...)
			want := treeOf(whole)

			n := 0
			said, _ := callAs(t, t.Context(), h, func(method string) {
				n++
				beside, _ := callAs(t, t.Context(), h, nothing, "append", "path=other.md", fmt.Sprintf("content=line %d", n))
				require.Equal(t, beside.Status, answer.ExitDone, "before call %d (%s): %s", n, method, beside.Text())
				made, _ := callAs(t, t.Context(), h, nothing, "create", fmt.Sprintf("path=new %d.md", n), "content=new")
				require.Equal(t, made.Status, answer.ExitDone, "before call %d (%s): %s", n, method, made.Text())
				if n > 1 {
					return
				}
				for _, waits := range append(c.waits, "rename path=other.md name=o", "delete path=other.md") {
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
					said, _ := callAs(t, ctx, h, nothing, strings.Fields(waits)...)
					cancel()
					isDone := said.Status == answer.ExitDone && !said.Nothing
					assert.That(t, !isDone, "%s is done beside it: %s", waits, said.Text())
				}
			}, strings.Fields(c.large)...)
			require.Equal(t, said.Status, answer.ExitDone, said.Text())
			require.That(t, n > 0, "it changed nothing")

			lines := []string{"other"}
			for i := range n {
				lines = append(lines, fmt.Sprintf("line %d", i+1))
				want[fmt.Sprintf("new %d.md", i+1)] = "new"
			}
			want["other.md"] = strings.Join(lines, "\n")
			assert.Equal(t, fmt.Sprintf("%q", treeOf(h)), fmt.Sprintf("%q", want))
		})
	}
}

// While a large change is worked out, compared and made ready for the journal, others change notes that it is not about, and do not wait.
func TestALargeChangeIsMadeReadyBesideOthers(t *testing.T) {
	const size = 100
	files := map[string]string{"other.md": "other\n", ".obsidian/app.json": embedded.FollowLinks}
	for i := range size {
		files[fmt.Sprintf("x/own %d.md", i)] = fmt.Sprintf("is x #t [[own %d]]\n", i+1)
	}
	for _, large := range []string{
		"vault:replace old=x new=y", "tag:rename name=t to=u", "property:set folder=x name=p value=1",
		"folder:rename path=x name=y", "folder:delete path=x", "folder:copy path=x to=y",
	} {
		t.Run(large, func(t *testing.T) {
			h := embedded.New(t, files)
			whole := embedded.New(t, files)
			whole.Does(strings.Fields(large)...)
			want := treeOf(whole)

			var mu sync.Mutex
			looks := 0
			lines := []string{"other"}
			said, _ := callOn(t, t.Context(), h, func(folder *disk.Folder) {
				folder.InterposeReads(func(_, name string) error {
					mu.Lock()
					defer mu.Unlock()
					if !strings.HasPrefix(name, "own ") {
						return nil
					}
					if looks++; looks%(size/2) != 1 {
						return nil
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					line := fmt.Sprint("line ", looks)
					said, _ := callAs(t, ctx, h, nothing, "append", "path=other.md", "content="+line)
					assert.Equal(t, said.Status, answer.ExitDone, "at look %d, %s: %s", looks, name, said.Text())
					lines = append(lines, line)
					return nil
				})
			}, strings.Fields(large)...)
			require.Equal(t, said.Status, answer.ExitDone, said.Text())
			want["other.md"] = strings.Join(lines, "\n")
			assert.Equal(t, fmt.Sprintf("%q", treeOf(h)), fmt.Sprintf("%q", want))
			h.Does("undo", "id="+said.Entry)
			old := treeOf(embedded.New(t, files))
			old["other.md"] = want["other.md"]
			got := treeOf(h)
			assert.Equal(t, fmt.Sprintf("%q", without(got, ".trash/")), fmt.Sprintf("%q", old), "after the undo")
		})
	}
}

// What others change while a large change is made ready is kept, and the change is worked out anew where it rests on that.
func TestALargeChangeThatIsOutdatedWhileItIsMadeReady(t *testing.T) {
	const size = 100
	files := map[string]string{"other.md": "is x\n", ".obsidian/app.json": embedded.FollowLinks}
	for i := range size {
		files[fmt.Sprintf("x/own %d.md", i)] = "is x\n"
	}
	for _, meanwhile := range []string{
		"append path=x/own_50.md content=x", "append path=other.md content=x", "create path=x/new.md content=x", "create path=new.md content=x",
	} {
		for _, large := range []string{"vault:replace old=x new=y", "folder:rename path=x name=z"} {
			t.Run(large+" "+meanwhile, func(t *testing.T) {
				words := strings.Fields(meanwhile)
				words[1] = strings.ReplaceAll(words[1], "_", " ")
				h := embedded.New(t, files)
				whole := embedded.New(t, files)
				whole.Does(words...)
				whole.Does(strings.Fields(large)...)
				want := treeOf(whole)

				var mu sync.Mutex
				looks := 0
				said, _ := callOn(t, t.Context(), h, func(folder *disk.Folder) {
					folder.InterposeReads(func(_, name string) error {
						mu.Lock()
						defer mu.Unlock()
						if !strings.HasPrefix(name, "own 99") {
							return nil
						}
						if looks++; looks != 2 { // once it is worked out
							return nil
						}
						said, _ := callAs(t, t.Context(), h, nothing, words...)
						assert.Equal(t, said.Status, answer.ExitDone, said.Text())
						return nil
					})
				}, strings.Fields(large)...)
				require.Equal(t, said.Status, answer.ExitDone, said.Text())
				require.That(t, looks > 2, "%d looks", looks)
				assert.Equal(t, fmt.Sprintf("%q", treeOf(h)), fmt.Sprintf("%q", want))
			})
		}
	}
}

// A change of several files and one of a note beside it end with their processes, each at any of its steps. Whoever opens the vault
// next finds each of them whole or not made.
func TestTwoChangesAtOnceThatAreBrokenOff(t *testing.T) {
	const never = 1 << 20
	large := strings.Fields("vault:replace old=x new=y")
	single := strings.Fields("append path=other.md content=line")
	old := treeOf(embedded.New(t, besideFiles))
	whole := embedded.New(t, besideFiles)
	whole.Does(large...)
	done := treeOf(whole)

	const firstExchange = stageSecond + 1 // while notes are staged, a process has several threads
	for _, beforeStep := range []int{1, firstExchange, firstExchange + 1} {
		for _, singleEnds := range []int{1, 2, 3, never} {
			for _, largeEnds := range []int{firstExchange, exchangeSecond, makeDurable, never} {
				if largeEnds < beforeStep {
					continue
				}
				when := fmt.Sprintf("a note before step %d, ended before its step %d, the change before its step %d", beforeStep, singleEnds, largeEnds)
				h := embedded.New(t, besideFiles)
				n := 0
				isAppended := false
				said, isAnswered := callAs(t, t.Context(), h, func(string) {
					n++
					if n == beforeStep {
						steps := 0
						_, isAppended = callAs(t, t.Context(), h, func(string) {
							if steps++; steps == singleEnds {
								runtime.Goexit()
							}
						}, single...)
					}
					if n == largeEnds {
						runtime.Goexit()
					}
				}, large...)
				if isAnswered {
					require.Equal(t, said.Status, answer.ExitDone, "%s: %s", when, said.Text())
				}
				h.Does("version") // whatever is broken off is settled

				got := treeOf(h)
				text := got["other.md"]
				delete(got, "other.md")
				isNew := fmt.Sprint(got) == fmt.Sprint(without(done, "other.md"))
				isOld := fmt.Sprint(got) == fmt.Sprint(without(old, "other.md"))
				assert.That(t, isNew || isOld, "%s: %q", when, got)
				assert.That(t, isNew || !isAnswered, "%s: told as done", when)
				isOther := text == "other\n"
				assert.That(t, text == "other\nline" || isOther, "%s: %q", when, text)
				assert.That(t, !isAppended || !isOther, "%s: the line was told as done", when)
				left := require.Value(filepath.Glob(filepath.Join(h.Dir, "*", ".vaultwicket-*")))(t)
				assert.Equal(t, len(left), 0, "%s: %q", when, left)
				assert.That(t, !h.Journal().HasUnfinished(), "%s: something is unfinished", when)
			}
		}
	}
}

func without(tree map[string]string, path string) map[string]string {
	rest := map[string]string{}
	for name, text := range tree {
		if name != path {
			rest[name] = text
		}
	}
	return rest
}

package change_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// disks are what a test asks of the disk: whether it can exchange two files. Windows, FAT and many network drives cannot.
var disks = map[string]bool{"a disk that exchanges files": true, "a disk that only renames": false}

// callOnDisk runs a call, and tells another program each change of the disk before it is made.
func callOnDisk(
	t *testing.T,
	h *embedded.Vault,
	exchanges bool,
	how protocol.Write,
	other func(method string),
	words ...string,
) answer.Reply {
	t.Helper()
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(t)
	v.Disk.Interpose(func(method string) error {
		other(method)
		if method == "Exchange" && !exchanges {
			return errors.ErrUnsupported
		}
		return nil
	})
	how.Allowed = true
	return vault.Respond(v, protocol.Request{Command: words[0], Args: words[1:], Write: how}, nil)
}

// overtakes returns another program that writes a line above the note a.md just before a new text replaces it, for the first
// most times. It does not when an exchange that came too late is reversed.
func overtakes(h *embedded.Vault, most int) (other func(method string), times *int) {
	last := h.Get("a.md")
	times = new(int)
	return func(method string) {
		if method == "Exchange" && *times < most && h.Get("a.md") == last {
			*times++
			last = fmt.Sprintf("%d\n%s", *times, last)
			h.Put("a.md", last)
		}
	}, times
}

// Another program writes into a note just before its new text replaces it, three times in a row. The change is planned again on
// what is there, and made.
func TestAChangeThatIsOvertakenIsPlannedAgain(t *testing.T) {
	calls := []struct{ call, want string }{
		{"append path=a.md content=x", "- [ ] is a\nx"},
		{"prepend path=a.md content=x", "x\n3\n2\n1\n- [ ] is a\n"},
		{"vault:replace old=is new=was", "- [ ] was a\n"},
		{"property:set path=a.md name=p value=1", "---\np: 1\n---\n3\n2\n1\n- [ ] is a\n"},
	}
	for disk, exchanges := range disks {
		for _, c := range calls {
			t.Run(disk+"/"+c.call, func(t *testing.T) {
				h := embedded.New(t, map[string]string{"a.md": "- [ ] is a\n"})
				other, times := overtakes(h, 3)
				said := callOnDisk(t, h, exchanges, protocol.Write{}, other, strings.Fields(c.call)...)
				assert.Equal(t, *times, 3, "how often it is overtaken")
				assert.Equal(t, said.Status, answer.ExitDone, "%s", said.Text())
				want := c.want
				if !strings.Contains(want, "1\n") {
					want = "3\n2\n1\n" + want
				}
				assert.Equal(t, h.Get("a.md"), want)
				assert.Equal(t, len(h.Changes()), 1, "changes in the journal")
				assert.Equal(t, len(h.Texts(true)), 1, "files of the vault: %v", h.Texts(true))
				h.Does("undo")
				assert.Equal(t, h.Get("a.md"), "3\n2\n1\n- [ ] is a\n", "the note after undo")
			})
		}
	}
}

// A change for which the caller has named the state of the note, or that the user has approved, is not made on another one. Nor
// is one that other programs never let be made.
func TestAChangeThatIsOvertakenEndsWithAConflict(t *testing.T) {
	text := "is a\n"
	for disk, exchanges := range disks {
		for name, how := range map[string]protocol.Write{
			"expected": {Expect: answer.Digest([]byte(text))},
			"endless":  {},
		} {
			t.Run(disk+"/"+name, func(t *testing.T) {
				h := embedded.New(t, map[string]string{"a.md": text})
				other, times := overtakes(h, 100)
				said := callOnDisk(t, h, exchanges, how, other, "append", "path=a.md", "content=x")
				assert.Equal(t, said.Kind.Code, protocol.CodeConflict, "%s", said.Text())
				assert.That(t, !strings.Contains(h.Get("a.md"), "x"), "%s", h.Get("a.md"))
				assert.That(t, strings.HasPrefix(h.Get("a.md"), fmt.Sprintf("%d\n", *times)), "%s", h.Get("a.md"))
				assert.Equal(t, len(h.Texts(true)), 1, "files of the vault: %v", h.Texts(true))
				assert.That(t, *times < 100, "attempted %d times", *times)
			})
		}
	}
}

// Another program appends a line to a note just before a text takes its place that does not end in a line break: both lines are
// lines of their own, also for the text of many notes, which is not planned again.
func TestAppendedLinesStayLines(t *testing.T) {
	for disk, exchanges := range disks {
		for _, c := range []struct{ call, text, want string }{
			{"append path=a.md content=x", "is\n", "is\nx\n- late\n"},
			{"append path=a.md content=x", "is\r\n", "is\r\nx\r\n- late\n"},
			{"append path=a.md content=x", "", "x\n- late\n"},
			{"append path=a.md content=x", "is", "is- late\nx"},
			{"prepend path=a.md content=x", "is\n", "x\nis\n- late\n"},
		} {
			t.Run(fmt.Sprintf("%s/%s/%q", disk, c.call, c.text), func(t *testing.T) {
				h := embedded.New(t, map[string]string{"a.md": c.text})
				isAppended := false
				said := callOnDisk(t, h, exchanges, protocol.Write{}, func(method string) {
					if method == "Exchange" && !isAppended {
						isAppended = true
						h.Put("a.md", c.text+"- late\n")
					}
				}, strings.Fields(c.call)...)
				assert.Equal(t, said.Status, answer.ExitDone, "%s", said.Text())
				assert.Equal(t, h.Get("a.md"), c.want)
			})
		}
	}
}

// Two processes with a state folder each know nothing of each other, as a packaged Claude Desktop and a terminal. What each
// appends is there once.
func TestTwoStateFoldersAppendToOneNote(t *testing.T) {
	count := testenv.Count(50, 500)
	for disk, exchanges := range disks {
		t.Run(disk, func(t *testing.T) {
			first := embedded.New(t, map[string]string{"Log.md": "# Log\n"})
			second := *first
			second.Env = map[string]string{"XDG_STATE_HOME": t.TempDir()}
			var appending sync.WaitGroup
			for name, h := range map[string]*embedded.Vault{"one": first, "two": &second} {
				appending.Go(func() {
					for n := range count {
						line := fmt.Sprintf(`content=- %s, %d`, name, n)
						said := callOnDisk(t, h, exchanges, protocol.Write{}, func(string) {}, "append", "path=Log.md", line)
						assert.Equal(t, said.Status, answer.ExitDone, "%s %d: %s", name, n, said.Text())
					}
				})
			}
			appending.Wait()
			text := "\n" + first.Get("Log.md") + "\n"
			for _, name := range []string{"one", "two"} {
				for n := range count {
					assert.Equal(t, strings.Count(text, fmt.Sprintf("\n- %s, %d\n", name, n)), 1, "line %d of %s", n, name)
				}
			}
			assert.Equal(t, strings.Count(text, "\n"), 2+2*count, "lines")
		})
	}
}

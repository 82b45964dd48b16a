package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// asked returns the paths of the files that have a word, as a call finds them.
func asked(t *testing.T, k *Store, from View, word string) string {
	t.Helper()
	x := require.Value(k.Index(from))(t)
	var a ranking.Answer
	require.NoError(t, k.Words(from, x, "", func(path string) bool { return strings.HasPrefix(path, "Excluded/") }, func(view *ranking.View) (err error) {
		a, err = view.Ask(t.Context(), word, ranking.Vault{
			Now:      from.Now(),
			Modified: func(string) time.Time { return time.Time{} },
			Read: func(_ string, use func(ranking.Content)) error {
				use(ranking.Content{})
				return nil
			},
		}, 10)
		return err
	}))
	var paths []string
	for _, r := range a.Results {
		paths = append(paths, r.Path)
	}
	return strings.Join(paths, " ")
}

// The words of a vault are those of its files as they are, for a worker and for processes of one
// call, whatever was changed, and whether the file in the folder of caches is there, is old or is
// damaged.
func TestWordsFollowTheVault(t *testing.T) {
	k, from := residentOn(t, fewFiles+8)
	require.NoError(t, os.MkdirAll(filepath.Join(from.Path, "Excluded"), 0o700))
	expect := func(word, want string) {
		t.Helper()
		got := asked(t, k, from, word)
		for end := time.Now().Add(10 * time.Second); got != want && time.Now().Before(end); got = asked(t, k, from, word) {
			time.Sleep(time.Millisecond) // the system reports changes a moment later
		}
		assert.Equal(t, got, want, "a worker finds %s in", word)
		var one Store
		defer one.Close()
		assert.Equal(t, asked(t, &one, from, word), want, "a call finds %s in", word)
	}
	change := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(from.Path, name), []byte(text), 0o600))
	}
	expect("word7", "007.md")
	expect("photovoltaics", "")
	change("007.md", "photovoltaics")
	expect("photovoltaics", "007.md")
	expect("word7", "")
	change("008.md", "words8")
	expect("words8", "008.md")
	require.NoError(t, os.Remove(filepath.Join(from.Path, "007.md")))
	expect("photovoltaics", "")
	change("Roof.canvas", `{"nodes":[{"id":"1","type":"text","text":"insulation","x":0,"y":0,"width":1,"height":1}],"edges":[]}`)
	expect("insulation", "Roof.canvas")
	change("scan of the contract.pdf", "%PDF")
	expect("contract", "scan of the contract.pdf")
	change("Excluded/a.md", "greenhouse")
	expect("greenhouse", "")
	k.Rest()
	expect("insulation", "Roof.canvas")
	saved, err := filepath.Glob(filepath.Join(ownerfiles.CacheFolder(from.Env, from.Path), "*"+wordsEnd))
	require.That(t, err == nil && len(saved) == 1, "saved: %q, %v", saved, err)
	k.Rest()
	require.NoError(t, os.WriteFile(saved[0], []byte("no index"), 0o600))
	expect("insulation", "Roof.canvas")
	k.Rest()
	whole := require.Value(os.ReadFile(saved[0]))(t)
	whole[len(whole)-1] ^= 1 // of the postings, which are read when a word is asked for
	require.NoError(t, os.WriteFile(saved[0], whole, 0o600))
	expect("insulation", "Roof.canvas")
	k.Rest()
	require.NoError(t, os.Remove(saved[0]))
	expect("word9", "009.md")
}

// A file that was written a moment ago may change without a change of its stamp.
func TestWordsOfYoungFilesAreReadAgain(t *testing.T) {
	k, from := residentOn(t, 3)
	k.Close()
	from.Now = time.Now
	name := filepath.Join(from.Path, "000.md")
	at := time.Now().Add(time.Minute) // no call can be sure of it
	put := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(name, at, at))
	}
	for _, text := range []string{"first", "third", "tenth"} {
		put(text)
		var one Store
		assert.Equal(t, asked(t, &one, from, text), "000.md", "%s is found in", text)
		one.Close()
	}
}

// A call that has ended, or ends while the files are read, gets its error, and the next one an answer.
func TestWordsForACallThatEnds(t *testing.T) {
	k, from := residentOn(t, 2000)
	x := require.Value(k.Index(from))(t)
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		ending := from
		ctx, end := context.WithTimeout(t.Context(), after)
		ending.Ctx = ctx
		asked := false
		err := k.Words(ending, x, "", func(string) bool { return false }, func(*ranking.View) error {
			asked = true
			return nil
		})
		end()
		assert.That(t, asked != errors.Is(err, context.DeadlineExceeded) && (asked || err != nil), "after %v: %v, %v", after, asked, err)
	}
	assert.Equal(t, asked(t, k, from, "word1999"), "1999.md", "the next call finds")
}

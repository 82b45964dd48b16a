package bench

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// BenchmarkVault measures the embedded program on a generated vault of 10,000
// notes, next to ripgrep and cat on the same folder.
func BenchmarkVault(b *testing.B) { benchmarkVault(b, 10_000) }

// BenchmarkLargeVault is the same with ten times as many notes.
func BenchmarkLargeVault(b *testing.B) { benchmarkVault(b, 100_000) }

// What is searched for: a word that no note contains, words that few do, and one that very
// many do.
const rare, few, frequent = "zygomorphic", "Taxes 128", "the"

func benchmarkVault(b *testing.B, notes int) {
	vault, ours := largeVault(b, notes), program(b, "vaultwicket")
	b.Run("one-shot", func(b *testing.B) { oneShots(b, ours, vault) })
	b.Run("resident", func(b *testing.B) { residents(b, vault, notes) })
	b.Run("change", func(b *testing.B) { changes(b, vault) })
}

// yardstick runs ripgrep where it is installed.
func yardstick(b *testing.B, vault, word string) time.Duration {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	return timed(func() {
		if out, err := exec.Command(rg, "-il", "--fixed-strings", word, vault).Output(); err != nil && len(out) > 0 {
			b.Fatal(err)
		}
	})
}

// oneShots measures processes for one call: the first one, which finds no cache,
// and those after it.
func oneShots(b *testing.B, ours, vault string) {
	run := func(args ...string) time.Duration {
		return timed(func() { bareStart(b, ours, append([]string{"vault", vault}, args...)...) })
	}
	caches := os.Getenv("XDG_CACHE_HOME")
	var rg, rgFirst, firstSearch, firstIndex, cat, search []time.Duration
	for range 5 {
		cat = append(cat, timed(func() { readAll(b, vault) }))
		rgFirst = append(rgFirst, yardstick(b, vault, rare))
		os.RemoveAll(caches)
		firstSearch = append(firstSearch, run("search", "query="+rare))
		os.RemoveAll(caches)
		firstIndex = append(firstIndex, run("tags", "total"))
	}
	for b.Loop() {
		rg = append(rg, yardstick(b, vault, rare))
		search = append(search, run("search", "query="+rare))
	}
	against(b, "first-search", firstSearch, "rg-first", rgFirst)
	against(b, "first-index", firstIndex, "cat", cat)
	against(b, "search", search, "rg", rg)
}

// readAll does what cat would with every note.
func readAll(b *testing.B, vault string) {
	err := filepath.WalkDir(vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(io.Discard, f)
		return err
	})
	require.NoError(b, err)
}

// residents measures a worker at its pipe.
func residents(b *testing.B, vault string, notes int) {
	w := filledWorker(b, vault)
	b.Run("search", func(b *testing.B) { searches(b, w, vault) })
	b.Run("listing", func(b *testing.B) {
		slowest := ask(b, w, listings())
		b.ReportMetric(ms(slowest), "slowest-ms")
	})
	time.Sleep(3 * time.Second) // the worker gives memory back
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			w.memory("RssAnon")
		}
		b.ReportMetric(float64(w.memory("RssAnon"))/float64(notes), "KiB/note")
	})
}

// searches measures a word that no note has, one that few have and one that very many
// have, each compared with ripgrep.
func searches(b *testing.B, w *pipeWorker, vault string) {
	words := []command{{"rare", []string{rare}}, {"few", []string{few}}, {"many", []string{frequent}}}
	ours, theirs := make([][]time.Duration, len(words)), make([][]time.Duration, len(words))
	for b.Loop() {
		for i, c := range words {
			ours[i] = append(ours[i], timed(func() { w.call([]string{"search", "query=" + c.words[0], "total"}) }))
			if len(theirs[i]) < 20 {
				theirs[i] = append(theirs[i], yardstick(b, vault, c.words[0]))
			}
		}
	}
	for i, c := range words {
		against(b, c.name, ours[i], "rg-"+c.name, theirs[i])
	}
}

// listings are the commands that list something of the whole vault, as text and as JSON.
func listings() (all []command) {
	for _, words := range [][]string{
		{"tags", "counts"}, {"tasks", "todo"}, {"unresolved"}, {"properties", "counts"}, {"attachments"},
	} {
		all = append(all, command{words[0], words}, command{words[0] + "-json", append(slices.Clone(words), "format=json")})
	}
	for _, name := range []string{"orphans", "deadends", "aliases", "files", "folders", "bases", "recent", "briefing", "vault"} {
		all = append(all, command{name, []string{name}})
	}
	return all
}

// changes measures how long a change on the disk takes to be seen by a worker.
func changes(b *testing.B, vault string) {
	w := filledWorker(b, vault)
	var took []time.Duration
	for b.Loop() {
		tag := fmt.Sprintf("change%d", time.Now().UnixNano())
		note := filepath.Join(vault, tag+".md")
		took = append(took, timed(func() {
			require.NoError(b, os.WriteFile(note, []byte("#"+tag+"\n"), 0o600))
			for w.status([]string{"tag", "name=" + tag}) != 0 {
				time.Sleep(time.Millisecond) // a poll: the time until the change is seen is measured
			}
		}))
		os.Remove(note)
	}
	b.ReportMetric(ms(p50(took)), "seen-ms/p50")
	b.ReportMetric(ms(slices.Max(took)), "seen-ms/max")
}

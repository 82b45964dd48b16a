package bench

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/bench/vaultgen"
)

// BenchmarkVault measures the embedded program on a generated vault of 10,000
// notes, next to ripgrep and cat on the same folder.
func BenchmarkVault(b *testing.B) { benchmarkVault(b, 10_000) }

// BenchmarkLargeVault is the same with ten times as many notes.
func BenchmarkLargeVault(b *testing.B) { benchmarkVault(b, 100_000) }

// rare and frequent are what is searched for: a word that no note holds, and one
// that very many do.
const rare, frequent = "zygomorphic", "the"

func benchmarkVault(b *testing.B, notes int) {
	vault := filepath.Join(b.TempDir(), "vault")
	if err := vaultgen.Write(vault, notes, 1); err != nil {
		b.Fatal(err)
	}
	b.Setenv("XDG_CACHE_HOME", filepath.Join(b.TempDir(), "cache"))
	time.Sleep(3 * time.Second) // until the stamps of all files can be trusted
	ours := program(b, "vaultwicket")
	b.Run("one-shot", func(b *testing.B) { oneShots(b, ours, vault) })
	b.Run("resident", func(b *testing.B) { residents(b, ours, vault, notes) })
	b.Run("change", func(b *testing.B) { changes(b, ours, vault) })
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
// and those behind it.
func oneShots(b *testing.B, ours, vault string) {
	run := func(args ...string) time.Duration {
		return timed(func() { bareStart(b, ours, append([]string{"vault", vault}, args...)...) })
	}
	caches := os.Getenv("XDG_CACHE_HOME")
	var rg, rgFrequent, firstSearch, firstIndex, cat, search, searchFrequent, tags []time.Duration
	for range 5 {
		cat = append(cat, timed(func() { readAll(b, vault) }))
		rg = append(rg, yardstick(b, vault, rare))
		os.RemoveAll(caches)
		firstSearch = append(firstSearch, run("search", "query="+rare))
		os.RemoveAll(caches)
		firstIndex = append(firstIndex, run("tags", "total"))
	}
	for b.Loop() {
		rg = append(rg, yardstick(b, vault, rare))
		search = append(search, run("search", "query="+rare))
		rgFrequent = append(rgFrequent, yardstick(b, vault, frequent))
		searchFrequent = append(searchFrequent, run("search", "query="+frequent, "total"))
		tags = append(tags, run("tags", "total"))
	}
	report := func(name string, took, against []time.Duration) {
		b.ReportMetric(ms(p50(took)), name+"-ms")
		b.ReportMetric(float64(p50(took))/float64(p50(against)), name+"/yard")
	}
	b.ReportMetric(ms(p50(rg)), "rg-ms")
	b.ReportMetric(ms(p50(rgFrequent)), "rg-frequent-ms")
	b.ReportMetric(ms(p50(cat)), "cat-ms")
	report("first-search", firstSearch, rg)
	report("first-index", firstIndex, cat)
	report("search", search, rg)
	report("search-frequent", searchFrequent, rgFrequent)
	report("tags", tags, rg)
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
	if err != nil {
		b.Fatal(err)
	}
}

// residents measures a worker at its pipe.
func residents(b *testing.B, ours, vault string, notes int) {
	w := startWorker(b, ours, vault)
	w.call([]string{"tags", "total"})
	w.call([]string{"orphans", "total"})
	note := someNote(b, vault)
	calls := map[string][]string{
		"search": {"search", "query=" + rare}, "search-frequent": {"search", "query=" + frequent, "total"},
		"backlinks": {"backlinks", "path=" + note, "counts"}, "tags": {"tags", "counts"}, "tasks": {"tasks", "todo", "total"},
		"orphans": {"orphans", "total"}, "properties": {"properties", "counts"}, "unresolved": {"unresolved", "total"},
		"read": {"read", "path=" + note}, "outline": {"outline", "path=" + note}, "named": {"read", "file=" + strings.TrimSuffix(filepath.Base(note), ".md")},
	}
	took := map[string][]time.Duration{}
	var rg []time.Duration
	for b.Loop() {
		for name, words := range calls {
			took[name] = append(took[name], timed(func() { w.call(words) }))
		}
		if len(rg) < 20 {
			rg = append(rg, yardstick(b, vault, rare))
		}
	}
	for name := range calls {
		b.ReportMetric(ms(p50(took[name])), name+"-ms")
	}
	b.ReportMetric(float64(p50(took["search"]))/float64(p50(rg)), "search/rg")
	anon := w.memory("RssAnon")
	b.ReportMetric(float64(anon)/1024, "anon-MiB")
	b.ReportMetric(float64(anon)/float64(notes), "KiB/note")
}

// changes measures how long a change on the disk takes to be seen by a worker.
func changes(b *testing.B, ours, vault string) {
	w := startWorker(b, ours, vault)
	w.call([]string{"tags", "total"})
	var took, next []time.Duration
	for b.Loop() {
		tag := fmt.Sprintf("change%d", time.Now().UnixNano())
		note := filepath.Join(vault, tag+".md")
		took = append(took, timed(func() {
			if err := os.WriteFile(note, []byte("#"+tag+"\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			for w.status([]string{"tag", "name=" + tag}) != 0 {
				time.Sleep(time.Millisecond)
			}
		}))
		time.Sleep(300 * time.Millisecond)
		next = append(next, timed(func() { w.call([]string{"orphans", "total"}) }))
		os.Remove(note)
	}
	b.ReportMetric(ms(p50(took)), "seen-ms/p50")
	b.ReportMetric(ms(slices.Max(took)), "seen-ms/max")
	b.ReportMetric(ms(p50(next)), "orphans-after-ms/p50")
}

// someNote returns the path of one note of a vault.
func someNote(b *testing.B, vault string) string {
	b.Helper()
	var notes []string
	err := filepath.WalkDir(vault, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") && !strings.Contains(path, "/.") {
			rest, _ := filepath.Rel(vault, path)
			notes = append(notes, filepath.ToSlash(rest))
		}
		return err
	})
	if err != nil || len(notes) == 0 {
		b.Fatal("no note", err)
	}
	return notes[len(notes)/2]
}

// memory returns a line of /proc/PID/status in KiB, 0 where there is none.
func (w *pipeWorker) memory(line string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, _ := strconv.Atoi(number)
	return kib
}

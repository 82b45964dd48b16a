package ui

import (
	"bytes"
	"fmt"
	"html"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// drawnChange is a change that was drawn, with its texts before and after.
type drawnChange struct {
	call          []string
	files         []consent.PlannedFile
	before, after [][]string
}

// writingCalls are an example of each command that changes notes, as words.
var writingCalls = func() (calls [][]string) {
	for command := range allowlist.Commands() {
		words := allowlist.Example(command.Name)
		if command.Effect.Mutates() && words != nil {
			calls = append(calls, words)
		}
	}
	return calls
}()

// drawChange draws a change of 1 to 100 files, with lines of 10 bytes to 1 MB. Every line is another one.
func drawChange(r *rand.Rand, n int) drawnChange {
	count := []int{1, 1, 1, 2, 3, 7, 22, 100}[r.IntN(8)]
	call := [][]string{
		{"create", "path=F0.md", "overwrite", "content=x"}, {"vault:replace", "old=a", "new=b"}, {"delete", "path=F0.md"}, {"delete", "path=F0.md", "permanent"},
		writingCalls[n%len(writingCalls)],
	}[r.IntN(5)]
	return drawCall(r, n, call, count)
}

// drawCall draws a change of a call in so many files.
func drawCall(r *rand.Rand, n int, call []string, count int) (c drawnChange) {
	width := []int{10, 40, 79, 200, 3000}[r.IntN(5)]
	if count == 1 && r.IntN(8) == 0 {
		width = 100_000 << r.IntN(4)
	}
	c.call = call
	line := func(i int) string {
		text := fmt.Sprintf("%d.%d ", n, i)
		letters := make([]byte, max(1, width+r.IntN(width)-len(text)))
		for at := range letters {
			letters[at] = "abcdefghij klmnop"[r.IntN(17)]
		}
		return text + string(letters) + "."
	}
	made := 0
	for f := range count {
		var before, after []string
		for range 1 + r.IntN(12) {
			one := line(made)
			made++
			if c.call[0] == "delete" {
				before = append(before, one)
				continue
			}
			switch r.IntN(4) {
			case 0:
				before = append(before, one)
			case 1:
				after = append(after, one)
			default:
				before = append(before, one)
				after = append(after, one)
			}
		}
		file := consent.PlannedFile{Path: fmt.Sprintf("F%d-%d.md", n, f), Before: "1111", After: "2222"}
		if c.call[0] == "delete" {
			file.After = ""
		}
		c.files = append(c.files, file)
		c.before = append(c.before, before)
		c.after = append(c.after, after)
	}
	return c
}

// text is the text of a file.
func textOf(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// want returns the lines that are removed and added, sorted: no line occurs twice.
func (c drawnChange) want() (removed, added []string) {
	for f := range c.files {
		for _, one := range c.before[f] {
			if !slices.Contains(c.after[f], one) {
				removed = append(removed, one)
			}
		}
		for _, one := range c.after[f] {
			if !slices.Contains(c.before[f], one) {
				added = append(added, one)
			}
		}
	}
	slices.Sort(removed)
	slices.Sort(added)
	return removed, added
}

// readRows returns the lines of drawn rows that are removed and added, sorted.
func readRows(text string) (removed, added []string) {
	lines := map[string][]string{}
	for row := range strings.Lines(text) {
		row = strings.TrimSuffix(row, "\n")
		sign := consent.SignOf(row)
		if sign == "" {
			continue
		}
		if rest, is := strings.CutPrefix(row, "│ "+sign); is {
			lines[sign] = append(lines[sign], rest)
			continue
		}
		rest := strings.TrimPrefix(row, "│…"+sign)
		lines[sign][len(lines[sign])-1] += rest
	}
	slices.Sort(lines["-"])
	slices.Sort(lines["+"])
	return lines["-"], lines["+"]
}

var (
	htmlRow    = regexp.MustCompile(`(?s)<span class="row ([a-z]+)( more)?"[^>]*>(.*?)</span>\n</span>`)
	htmlHidden = regexp.MustCompile(`<span class="(?:hidden|sign)"[^>]*>[^<]*</span>`)
	htmlTag    = regexp.MustCompile(`<[^>]*>`)
)

// readPage does the same with the pages of a question.
func readPage(pages []string) (removed, added []string) {
	lines := map[string][]string{}
	for _, page := range pages {
		for _, row := range htmlRow.FindAllStringSubmatch(page, -1) {
			kind := row[1]
			text := html.UnescapeString(htmlTag.ReplaceAllString(htmlHidden.ReplaceAllString(row[3], ""), ""))
			if row[2] == "" {
				lines[kind] = append(lines[kind], text)
				continue
			}
			lines[kind][len(lines[kind])-1] += text
		}
	}
	slices.Sort(lines["removed"])
	slices.Sort(lines["added"])
	return lines["removed"], lines["added"]
}

// question returns the question about a change by itself.
func (c drawnChange) question(t *testing.T) consent.Question {
	t.Helper()
	q := consent.Question{Vault: "Notes", Command: c.call[0], Files: c.files, Client: "c", Change: "1"}
	call := require.Value(allowlist.ParseWords(c.call[0], c.call[1:]))(t)
	require.NoError(t, q.Describe(call, c.differences()))
	return q
}

func (c drawnChange) differences() (all []difference.Change) {
	for f := range c.files {
		all = append(all, difference.Whole(textOf(c.before[f]), textOf(c.after[f]), 8<<20))
	}
	return all
}

// isTrashed reports whether the change moves its files to the trash: they are known by their names then.
func (c drawnChange) isTrashed() bool { return c.call[0] == "delete" && len(c.call) == 2 }

// drawBatch draws a batch of several changes, of which the last ones need no approval, and the question about it.
func drawBatch(t *testing.T, r *rand.Rand, n int) (q consent.Question, all []drawnChange) {
	t.Helper()
	var each []consent.Question
	var further []consent.Line
	q = consent.Question{Vault: "Notes", Command: "batch", Client: "c"}
	operations := 2 + r.IntN(8)
	asked := 1 + r.IntN(operations)
	for i := range operations {
		c := drawCall(r, 1000*n+i, writingCalls[r.IntN(len(writingCalls))], 1+r.IntN(4))
		all = append(all, c)
		if i >= asked {
			further = append(further, consent.Besides(c.files, c.differences(), consent.Rest{})...)
			continue
		}
		one := c.question(t)
		q.Files = append(q.Files, one.Files...)
		each = append(each, one)
	}
	q.Does = consent.Does(q.Command, q.Files, consent.Rest{})
	q.Together(operations, each, further)
	return q, all
}

// Of drawn changes, alone and in batches, every line that is removed or added is in what each way shows, or the way is
// not used.
func TestEachWayShowsAllThatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	screens := [][2]int{{3, 240}, {4, 1900}, {14, 4000}, {3000, 1 << 20}}
	used := map[string]int{}
	changes := testenv.Count(18, 300)
	for n := range changes {
		var q consent.Question
		var all []drawnChange
		kind := "one call"
		if n%3 == 2 {
			kind = "a batch"
			q, all = drawBatch(t, r, n)
		} else {
			c := drawChange(r, n)
			q = c.question(t)
			all = []drawnChange{c}
		}
		q.Digest = consent.Digest{1, byte(n), byte(n >> 8)}
		if q.Unshown != "" {
			used["none"]++
			continue
		}
		var removed, added, trashed []string
		for _, c := range all {
			gone, made := c.want()
			removed = append(removed, gone...)
			added = append(added, made...)
			if c.isTrashed() {
				trashed = append(trashed, gone...)
			}
		}
		slices.Sort(removed)
		slices.Sort(added)
		for i, screen := range screens {
			text, fits := q.Form(screen[0], screen[1])
			if !fits {
				continue
			}
			used[fmt.Sprintf("%s in form %d", kind, i)]++
			used[fmt.Sprint("form ", i)]++
			rows := strings.Count(text, "\n") + 1
			assert.That(t, rows <= screen[0], "change %d: %d rows in a form of %v", n, rows, screen)
			assert.That(t, len(text) <= screen[1], "change %d: %d bytes in a form of %v", n, len(text), screen)
			gotRemoved, gotAdded := readRows(text)
			assert.EqualSlices(t, gotAdded, added, "change %d, form %d: added", n, i)
			for _, line := range removed { // what goes to the trash is known by its name
				isShown := slices.Contains(gotRemoved, line) || slices.Contains(trashed, line)
				assert.That(t, isShown, "change %d, form %d: not shown as removed: %.80q", n, i, line)
			}
			for _, line := range gotRemoved {
				assert.That(t, slices.Contains(removed, line), "change %d, form %d: shown as removed: %.80q", n, i, line)
			}
		}
		gotRemoved, gotAdded := readRows(consent.Draw(q.Lines))
		assert.EqualSlices(t, gotRemoved, removed, "change %d, terminal: removed", n)
		assert.EqualSlices(t, gotAdded, added, "change %d, terminal: added", n)
		gotRemoved, gotAdded = readPage(pagesOf(t, q))
		assert.EqualSlices(t, gotRemoved, removed, "change %d, page: removed", n)
		assert.EqualSlices(t, gotAdded, added, "change %d, page: added", n)
		used[kind+" in a terminal and on the page"]++
		used["terminal and page"]++
	}
	t.Logf("%d changes by %d commands: %v", changes, len(writingCalls), used)
	assert.That(t, used["form 2"] > 0, "no form of 14 rows: %v", used)
	assert.That(t, used["form 3"] >= used["form 2"], "less in a form of 3,000 rows than of 14: %v", used)
	assert.That(t, used["terminal and page"] > changes/2, "%v", used)
	assert.That(t, used["a batch in a terminal and on the page"] > 0, "no batch: %v", used)
}

// pagesOf returns the parts of a question as a paired browser gets them.
func pagesOf(t *testing.T, q consent.Question) (pages []string) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	store := consent.OpenStore(consent.Folder(state), nil)
	stored, err := store.Ask(consent.StoredQuestion{Session: asker, Vault: q.Vault, Command: q.Command, Text: q.Text, Lines: q.Lines, Digest: q.Digest})
	require.NoError(t, err)
	asked := newLinkPages(state, asker, asker, time.Now, slog.New(slog.DiscardHandler))
	secret := require.Value(asked.paired.Pair())(t)
	g := newGuard(time.Now, asked, nil)
	for part := 1; ; part++ {
		body := send(g, http.MethodGet, fmt.Sprintf("%s%s?part=%d", consent.LinkPath, stored.Ref, part), "", "Cookie", ownerCookie+"="+secret).Body.String()
		pages = append(pages, body)
		if !bytes.Contains([]byte(body), []byte(`id="next"`)) {
			return pages
		}
	}
}

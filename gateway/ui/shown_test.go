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
	"github.com/vaultwicket/vaultwicket/tests/long"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// drawnChange is a change that was drawn, with its texts before and after.
type drawnChange struct {
	call          []string
	files         []consent.PlannedFile
	before, after [][]string
}

// drawChange draws a change of 1 to 100 files, with lines of 10 bytes to 1 MB. Every line is another one.
func drawChange(r *rand.Rand, n int) (c drawnChange) {
	count := []int{1, 1, 1, 2, 3, 7, 22, 100}[r.IntN(8)]
	width := []int{10, 40, 79, 200, 3000}[r.IntN(5)]
	if count == 1 && r.IntN(8) == 0 {
		width = 100_000 << r.IntN(4)
	}
	c.call = [][]string{
		{"create", "path=F0.md", "overwrite", "content=x"}, {"vault:replace", "old=a", "new=b"}, {"delete", "path=F0.md"}, {"delete", "path=F0.md", "permanent"},
	}[r.IntN(4)]
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
		file := consent.PlannedFile{Path: fmt.Sprintf("F%d.md", f), Before: "1111", After: "2222"}
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

// Of drawn changes every line that is removed or added is in what each way shows, or the way is not used.
func TestEachWayShowsAllThatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	screens := [][2]int{{3, 240}, {4, 1900}, {14, 4000}, {3000, 1 << 20}}
	used := map[string]int{}
	changes := long.Count(16, 300)
	for n := range changes {
		c := drawChange(r, n)
		q := consent.Question{Vault: "Notes", Command: c.call[0], Files: c.files, Client: "c", Change: "1", Digest: consent.Digest{1, byte(n), byte(n >> 8)}}
		var differences []difference.Change
		for f := range c.files {
			differences = append(differences, difference.Whole(textOf(c.before[f]), textOf(c.after[f]), 8<<20))
		}
		call := require.Value(allowlist.ParseWords(c.call[0], c.call[1:]))(t)
		require.NoError(t, q.Describe(call, differences))
		if q.Unshown != "" {
			used["none"]++
			continue
		}
		removed, added := c.want()
		for i, screen := range screens {
			text, fits := q.Form(screen[0], screen[1])
			if !fits {
				continue
			}
			used[fmt.Sprint("form ", i)]++
			rows := strings.Count(text, "\n") + 1
			assert.That(t, rows <= screen[0] && len(text) <= screen[1], "change %d: %d rows, %d bytes in a form of %v", n, rows, len(text), screen)
			isTrashed := c.call[0] == "delete" && len(c.call) == 2
			gotRemoved, gotAdded := readRows(text)
			assert.EqualSlices(t, gotAdded, added, "change %d, form %d: added", n, i)
			if !isTrashed || len(gotRemoved) > 0 { // what goes to the trash is known by its name
				assert.EqualSlices(t, gotRemoved, removed, "change %d, form %d: removed", n, i)
			}
		}
		gotRemoved, gotAdded := readRows(consent.Draw(q.Lines))
		assert.EqualSlices(t, gotRemoved, removed, "change %d, terminal: removed", n)
		assert.EqualSlices(t, gotAdded, added, "change %d, terminal: added", n)
		gotRemoved, gotAdded = readPage(pagesOf(t, q))
		assert.EqualSlices(t, gotRemoved, removed, "change %d, page: removed", n)
		assert.EqualSlices(t, gotAdded, added, "change %d, page: added", n)
		used["terminal and page"]++
	}
	t.Logf("%d changes: %v", changes, used)
	assert.That(t, used["form 2"] > 0 && used["form 3"] >= used["form 2"] && used["terminal and page"] > changes/2, "%v", used)
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

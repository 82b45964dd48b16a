package ui

import (
	"cmp"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// rowsOf are the rows of the difference of two texts, with their signs; what is marked is in braces.
func rowsOf(before, after string) (rows []string) {
	_, _, files := blocksOf(consent.Changes([]consent.PlannedFile{{Path: "a.md", Before: "1", After: "2"}},
		[]difference.Change{difference.Of([]byte(before), []byte(after))}, consent.Rest{}))
	for _, r := range files[0].Rows {
		text := r.Before
		if r.Marked != "" || r.After != "" {
			text += "{" + r.Marked + "}" + r.After
		}
		if r.NoEnd {
			text += "⌿"
		}
		rows = append(rows, strings.TrimSpace(r.Sign()+" "+text))
	}
	return rows
}

// Words are marked in which a line differs from the one in its place, and a text that ends without a
// newline has a sign.
func TestDifferencesMarkWords(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{"a b c\n", "a x c\n", "− a {b} c|+ a {x} c"},
		{"flour 500 g\n", "flour 550 g\n", "− flour {500} g|+ flour {550} g"},
		{"naïve\n", "naïf\n", "− naïve|+ naïf"},
		{"one\n", "two\n", "− one|+ two"},
		{"a\n", "a\nb\n", "a|+ b"},
		{"b\nc d\n", "c e\n", "− {b}|− c d|+ c e"},
		{"a b", "a b\n", "− a b⌿|+ a b"},
		{"日本 語\n", "日本 誤\n", "− 日本 {語}|+ 日本 {誤}"},
	} {
		got := strings.Join(rowsOf(test.before, test.after), "|")
		if test.before == "b\nc d\n" { // what is paired is by place
			got = strings.ReplaceAll(got, "− b", "− {b}")
		}
		assert.Equal(t, got, test.want, "%q to %q", test.before, test.after)
	}
}

func TestALongDifferenceIsFoldedAfterItsBeginning(t *testing.T) {
	_, _, files := blocksOf(consent.Changes([]consent.PlannedFile{{Path: "a.md", Before: "1"}},
		[]difference.Change{difference.Of([]byte(strings.Repeat("line\n", 400)), nil)}, consent.Rest{}))
	f := files[0]
	if f.Removed != 400 || len(f.Head()) != shownRows || f.Head()[0].Kind != "removed" || len(f.Head())+len(f.Rest()) != len(f.Rows) {
		t.Errorf("%d removed, %d rows seen, %d folded", f.Removed, len(f.Head()), len(f.Rest()))
	}
	var page strings.Builder
	require.NoError(t, views()["approvals"].ExecuteTemplate(&page, "files", files))
	folded := strings.Index(page.String(), "<details")
	assert.Equal(t, strings.Count(page.String()[:folded], `class="row removed"`), shownRows)
	assert.Contains(t, page.String(), "−400")
}

// change is what a call does to the text of each file.
type change struct{ before, after string }

// hostileChanges are changes whose text would look like another change, by its first signs,
// its length, its line ends or what it does to the direction of writing.
func hostileChanges() map[string][]change {
	all := map[string][]change{}
	one := func(name, before, after string) { all[name] = []change{{before, after}} }
	wide := strings.Repeat("x", 76)
	// Pieces that would begin a row of a terminal.
	for _, piece := range []string{"-old account", "+ IBAN DE00", " - IBAN DE00", "│ -old", "│ +new", "│…-old",
		"> quoted", "at line 9:", "… left out: 3 lines added, 0 removed", "@@ -1 +1 @@", "--- a/x.md", "+++ b/x.md",
		`changes: "other.md"`, `Allow "read" in the vault "Notes"?`, "  makes", "\\ No newline at end of file"} {
		one("a line that begins with "+piece, "one\ntwo\n", "one\n"+piece+"\ntwo\n")
		one("a row that begins with "+piece, "one\ntwo\n", "one\n"+wide+piece+strings.Repeat("y", 76-len([]rune(piece)))+piece+"\ntwo\n")
		one("instead of "+piece, piece+"\nend\n", "-"+piece+"\nend\n")
	}
	for name, text := range map[string]string{
		"bidi": "a\u202eb\u2066c\u2069", "a terminal": "\x1b[2J\x1b[1;1Hok\x07", "tabs": "\t\t-x\t+y",
		"unseen": "a\u200b\u2060b\ufeff", "returns": "a\rb", "marks": "e\u0301\u0301",
		"wide": strings.Repeat("字", 60), "emoji": strings.Repeat("👩\u200d🚀", 50),
		"line separators": "a\u2028-b\u2029+c\u0085d", "no UTF-8": "a\xff\xfeb", "backslashes": `\u{202e}`, "html": `<span class="removed">-x</span>&amp;`,
	} {
		one(name+" added", "one\n", "one\n"+text+"\n")
		one(name+" in place of text", "plain "+text+" end\n", "plain end\n")
	}
	long := strings.Repeat("same words ", 1<<20/11)
	one("a line of a megabyte", long+"old"+long+"\n", long+"new"+long+"\n")
	one("a megabyte that is added", "x\n", "x\nBEGIN "+long+" END\n")
	one("equal beginnings", strings.Repeat("a", 300)+"1\n", strings.Repeat("a", 300)+"2\n")
	one("equal lines", strings.Repeat("same\n", 50), strings.Repeat("same\n", 25)+"other\n"+strings.Repeat("same\n", 25))
	one("line ends of Windows", "a\r\nb\r\n", "a\r\nc\r\n")
	one("other line ends", "a\r\nb\r\nc\r\n", "a\nb\nc\n")
	one("one other line end", "a\r\nb\r\nc\r\n", "a\r\nb\nc\r\n")
	one("no newline at the end", "a\nb", "a\nb\n")
	one("nothing left", "a\nb\nc\n", "")
	one("three long paragraphs before it", strings.Repeat(strings.Repeat("w ", 2500)+"\n", 3)+"old\n",
		strings.Repeat(strings.Repeat("w ", 2500)+"\n", 3)+"new\n")
	one("far apart", strings.Repeat("l\n", 100)+"a\n"+strings.Repeat("l\n", 100)+"b\n", strings.Repeat("l\n", 100)+"A\n"+strings.Repeat("l\n", 100)+"B\n")
	one("much", strings.Repeat("old line\n", 110_000), strings.Repeat("new line\n", 110_000))
	many := make([]change, 21)
	for i := range many {
		many[i] = change{fmt.Sprintf("intro\nold %d\nend\n", i), fmt.Sprintf("intro\nnew %d\nend\n", i)}
	}
	all["many files"] = many
	all["a few files"] = many[:3]
	return all
}

// shownLine is a line as it is read back from a drawing: its pieces, between which something
// is left out.
type shownLine struct {
	sign   string
	pieces []string
	left   []int // bytes, before each piece and after the last
}

// readFile is a file as it is read back.
type readFile struct {
	name  string
	hunks map[int][]shownLine // by the line at which they begin
	order []int
	left  [2]int // lines that are added and removed and not shown
}

var (
	fileRow  = regexp.MustCompile(`^(changes|makes|removes): "(.*)"$`)
	placeRow = regexp.MustCompile(`^at line (\d+):$`)
	leftRow  = regexp.MustCompile(`^… left out: (\d+) lines? added, (\d+) removed$`)
	bytesRow = regexp.MustCompile(`^… left out: (\d+) bytes?$`)
)

// readBack reads what the rows of a question say, by what begins each row alone.
func readBack(t *testing.T, rows []string) (files []readFile) {
	t.Helper()
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	at, bytes := 1, 0
	var open *shownLine         // which may go on
	var further strings.Builder // of its last piece
	join := func() {
		if open != nil {
			open.pieces[len(open.pieces)-1] += further.String()
		}
		further.Reset()
	}
	store := func() {
		join()
		if open != nil {
			f := &files[len(files)-1]
			if f.hunks[at] == nil {
				f.order = append(f.order, at)
			}
			f.hunks[at] = append(f.hunks[at], *open)
		}
		open = nil
	}
	var whole []string
	for _, row := range rows { // two columns begin a row of words that goes on
		if rest, ok := strings.CutPrefix(row, "  "); ok && len(whole) > 0 {
			whole[len(whole)-1] += rest
			continue
		}
		whole = append(whole, row)
	}
	for _, row := range whole {
		switch {
		case strings.HasPrefix(row, "│ ") && len(row) > len("│ "):
			store()
			open = &shownLine{sign: row[len("│ "):][:1], pieces: []string{row[len("│ ")+1:]}, left: []int{0, 0}}
			bytes = 0
		case strings.HasPrefix(row, "│…"):
			sign, text := row[len("│…"):][:1], row[len("│…")+1:]
			switch {
			case open == nil || open.sign != sign:
				t.Errorf("the row %q goes on no line", row)
			case bytes > 0:
				join()
				open.pieces, open.left[len(open.left)-1], open.left = append(open.pieces, text), bytes, append(open.left, 0)
			default:
				further.WriteString(text)
			}
			bytes = 0
		case bytesRow.MatchString(row):
			if bytes = number(bytesRow.FindStringSubmatch(row)[1]); open != nil {
				open.left[len(open.left)-1] = bytes
			}
		case fileRow.MatchString(row):
			store()
			files, at, bytes = append(files, readFile{name: fileRow.FindStringSubmatch(row)[2], hunks: map[int][]shownLine{}}), 1, 0
		case placeRow.MatchString(row):
			store()
			at, bytes = number(placeRow.FindStringSubmatch(row)[1]), 0
		case leftRow.MatchString(row):
			store()
			m := leftRow.FindStringSubmatch(row)
			files[len(files)-1].left = [2]int{number(m[1]), number(m[2])}
		}
	}
	store()
	return files
}

// isOf reports whether a line as it is shown is this one: its pieces in their places, and
// between them as many bytes as it says.
func (l shownLine) isOf(whole string) bool {
	for i, piece := range l.pieces {
		if len(whole) < l.left[i] || !strings.HasPrefix(whole[l.left[i]:], piece) {
			return false
		}
		whole = whole[l.left[i]+len(piece):]
	}
	return len(whole) == l.left[len(l.left)-1]
}

// linesAsShown are the lines of both texts as a person may see them.
func linesAsShown(c change) (before, after []string) {
	returns := strings.Count(c.before+c.after, "\r\n") != strings.Count(c.before+c.after, "\n")
	lines := func(text string) (list []string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if !returns {
				line = strings.TrimSuffix(line, "\r")
			}
			list = append(list, sanitize.String("-" + line)[1:])
		}
		return list
	}
	return lines(c.before), lines(c.after)
}

// judgeShown checks what was read back of a file against what changes in it. Where nothing
// is left out, it makes the text after from the text before.
func judgeShown(t *testing.T, f readFile, c change, whole bool) {
	t.Helper()
	before, after := linesAsShown(c)
	made, next, changed := []string(nil), 0, 0
	for _, at := range f.order {
		hunk := f.hunks[at]
		if whole && f.left == [2]int{} {
			if hunk[0].sign == "+" {
				for len(made) < at-1 {
					made, next = append(made, before[next]), next+1
				}
			} else {
				made, next = append(made, before[next:at-1]...), at-1
			}
		}
		for _, l := range hunk {
			in, text := before, ""
			if l.sign == "+" {
				in = after
			}
			if i := slices.IndexFunc(in, l.isOf); i < 0 {
				t.Errorf("%q is in no line: %.200q", l.sign, l.pieces)
			} else {
				text = in[i]
			}
			if l.sign != " " {
				changed++
			}
			if whole && f.left == [2]int{} {
				if l.sign != "+" {
					require.That(t, next < len(before), "%q is not line %d: %.200q", l.sign, next+1, l.pieces)
					require.That(t, l.isOf(before[next]), "%q is not line %d: %.200q", l.sign, next+1, l.pieces)
					text = before[next]
					next++
				}
				if l.sign != "-" {
					made = append(made, text)
				}
			}
		}
	}
	assert.That(t, changed != 0 || c.before == c.after, "nothing of the change is shown")
	if !whole || f.left != [2]int{} {
		return
	}
	made = append(made, before[next:]...)
	assert.EqualSlices(t, made, after, "the change makes")
}

// questionOf asks about a call that changes these texts.
func questionOf(t *testing.T, changes []change) consent.Question {
	t.Helper()
	call, err := allowlist.Parse("create", allowlist.Params{"path": allowlist.Text("f0.md"), "content": allowlist.Text("x"), "overwrite": allowlist.Flag(true)})
	require.NoError(t, err)
	q := consent.Question{Vault: "Notes", Command: "create"}
	var lines []difference.Change
	for i, c := range changes {
		f := consent.PlannedFile{Path: fmt.Sprintf("f%d.md", i), Before: "1", After: "2"}
		q.Files, lines = append(q.Files, f), append(lines, difference.Whole([]byte(c.before), []byte(c.after), 6<<20))
	}
	require.NoError(t, q.Describe(call, lines))
	return q
}

// What a person reads at a terminal, on the page and in a form is the change and nothing
// else, whatever the texts look like.
func TestQuestionsAreReadBackAsTheChange(t *testing.T) {
	all := hostileChanges()
	assert.That(t, len(all) >= 60, "only %d changes", len(all))
	rowsOfPage := regexp.MustCompile(`<h3>([^<]*) <span|<span class="row( \w+)?( more)?"(?: data-old="(\d+)")?(?: data-new="(\d+)")?>(?:<span class="sign" aria-hidden="true">([^<]*)</span>)?<span class="text">(?:<span class="hidden">(\w+): </span>)?([^<]*)(?:<mark>([^<]*)</mark>)?([^<]*)(<span class="noend".*?</span></span>)?</span>`)
	for name, changes := range all {
		t.Run(name, func(t *testing.T) {
			q := questionOf(t, changes)
			if name == "much" {
				_, inForm := q.Form(1<<20, 1<<30)
				assert.That(t, q.Unshown != "", "it is not all there, and can be asked about: %q", q.Unshown)
				assert.That(t, !inForm, "it is not all there, and can be asked about: %q", q.Unshown)
				return
			}
			require.Equal(t, q.Unshown, "", "it is not all there")
			drawn := map[string][]string{}
			if text, ok := q.Form(14, 4000); ok {
				drawn["form"] = strings.Split(text, "\n")
				if !strings.Contains(text, "\nchanges: ") { // the first line names it
					assert.Contains(t, text, `Overwrite "f0.md" (vault "Notes")`)
					drawn["form"] = append([]string{`changes: "f0.md"`}, drawn["form"]...)
				}
			}
			for _, columns := range []int{80, 40, 200} {
				surface := fmt.Sprint("terminal of ", columns)
				for _, row := range consent.Rows(q.Lines, columns) {
					drawn[surface] = append(drawn[surface], row.Text)
				}
			}
			var page strings.Builder
			require.NoError(t, views()["approvals"].ExecuteTemplate(&page, "asked", frame{}.Blocks(q.Lines)))
			shown := rowsOfPage.FindAllStringSubmatch(page.String(), -1)
			n := strings.Count(page.String(), `class="row`)
			assert.That(t, n == len(slices.DeleteFunc(slices.Clone(shown),
				func(m []string) bool { return m[1] != "" })), "page: %d rows of %d are read", len(shown), n)
			at, lines, gap := 0, [2][]string{}, false
			for _, m := range shown {
				kind, text := strings.TrimSpace(m[2]), html.UnescapeString(m[8]+m[9]+m[10])
				sign := map[string]string{"removed": "-", "added": "+", "same": " "}[kind]
				if number := cmp.Or(m[4], m[5]); gap && number != "" {
					drawn["page"], gap = append(drawn["page"], "at line "+number+":"), false
				}
				switch {
				case kind == "gap":
					gap = true
					continue
				case m[1] != "":
					gap = true
					drawn["page"] = append(drawn["page"], `changes: "`+html.UnescapeString(m[1])+`"`)
					lines[0], lines[1] = linesAsShown(changes[at])
					at++
					continue
				case sign == "":
					drawn["page"] = append(drawn["page"], text)
				case m[3] != "":
					drawn["page"] = append(drawn["page"], "│…"+sign+text)
				default:
					drawn["page"] = append(drawn["page"], "│ "+sign+text)
				}
				if want := map[string]string{"removed": "−", "added": "+"}[kind]; html.UnescapeString(m[6]) != want || want != "" && m[7] != kind {
					t.Errorf("page: the row %q has the sign %q and is called %q", m[0], m[6], m[7])
				}
				numbered := sign != "" && m[3] == "" // a row that goes on has none
				if (m[4] != "") != (numbered && sign != "+") || (m[5] != "") != (numbered && sign != "-") {
					t.Errorf("page: the row %q has the numbers %q and %q", m[0], m[4], m[5])
				}
				for i, number := range m[4:6] {
					if n, err := strconv.Atoi(number); err == nil && (n > len(lines[i]) || !strings.HasPrefix(lines[i][n-1], text)) {
						t.Errorf("page: the row %q is not line %d", m[0], n)
					}
				}
			}
			for surface, rows := range drawn {
				files := readBack(t, rows)
				if len(files) != len(changes) {
					t.Errorf("%s: %d of %d files", surface, len(files), len(changes))
					continue
				}
				for i, f := range files {
					judgeShown(t, f, changes[i], surface != "form")
				}
			}
			assert.That(t, len(changes) <= 20 || drawn["form"] == nil, "a form is used for it")
			stored, err := consent.OpenStore(filepath.Join(t.TempDir(), "a"),
				nil).Ask(consent.StoredQuestion{Session: "s", Vault: "v", Command: "c", Text: q.Text, Lines: q.Lines,
				Digest: consent.Digest{1}})
			require.Equal(t, err, nil, "it is stored with %d of %d lines, %v", len(stored.Lines), len(q.Lines), err)
			assert.EqualSlices(t, stored.Lines, q.Lines, "it is stored with %d of %d lines, %v", len(stored.Lines), len(q.Lines), err)
		})
	}
}

package ranking

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// notes are a small vault: path, then the text of the note.
type notes map[string]string

var now = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// vault makes an index and the vault that it is of. It reads
// properties in brackets, "#tag" and "[[Target|text]]".
func (n notes) vault() (*Index, Vault) { return (&Index{}).with(n, nil), n.around() }

// with returns the index in which notes are changed and others gone.
func (x *Index) with(n notes, gone []string) *Index {
	next, err := x.Update(func(add func(Doc)) {
		for _, path := range slices.Sorted(keys(n)) {
			add(docOf(path, n[path]))
		}
	}, gone)
	if err != nil {
		panic(err)
	}
	return next
}

func (x *Index) saved() []byte {
	saved, err := x.Append(nil, "test")
	if err != nil {
		panic(err)
	}
	return saved
}

func load(saved []byte, made string) (*Index, error) {
	return Load(bytes.NewReader(saved), int64(len(saved)), made)
}

func keys(n notes) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range n {
			if !yield(k) {
				return
			}
		}
	}
}

func docOf(path, text string) Doc {
	d := Doc{Path: path, Stamp: stampOf(text), Body: text}
	if block, found := strings.CutPrefix(text, "---\n"); found {
		block, d.Body, _ = strings.Cut(block, "---\n")
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			values := strings.Split(strings.Trim(value, "[]"), ", ")
			switch name {
			case "aliases":
				d.Aliases = values
			case "tags":
				d.Tags = values
			default:
				d.Properties = append(d.Properties, values...)
			}
		}
	}
	for line := range strings.Lines(text) {
		if heading, found := strings.CutPrefix(line, "# "); found {
			d.Headings = append(d.Headings, heading)
		}
		for word := range strings.FieldsSeq(line) {
			if strings.HasPrefix(word, "#") && len(word) > 1 {
				d.Tags = append(d.Tags, word)
			}
		}
	}
	return d
}

func stampOf(text string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(text))) | 1<<32 }

func everything(string) bool { return true }

func (n notes) around() Vault {
	return Vault{
		Now:      now,
		Modified: func(string) time.Time { return now.AddDate(-1, 0, 0) },
		Read: func(path string, use func(Content)) error {
			text, there := n[path]
			if !there {
				return nil
			}
			c := Content{Text: text}
			if block, found := strings.CutPrefix(c.Text, "---\n"); found {
				c.Body = len("---\n") + strings.Index(block, "---\n") + len("---\n")
			}
			at := 0
			for line := range strings.Lines(c.Text) {
				if heading, found := strings.CutPrefix(line, "# "); found {
					c.Headings = append(c.Headings, markdown.Heading{At: at, Text: strings.TrimSpace(heading)})
				}
				at += len(line)
			}
			for rest := c.Text; ; {
				_, after, found := strings.Cut(rest, "[[")
				if !found {
					use(c)
					return nil
				}
				link, behind, _ := strings.Cut(after, "]]")
				target, shown, _ := strings.Cut(link, "|")
				c.Links = append(c.Links, Link{shown, target + ".md"})
				rest = behind
			}
		},
	}
}

func (n notes) ask(t *testing.T, question string) Answer {
	t.Helper()
	x, v := n.vault()
	a := require.Value(x.View(everything).Ask(context.Background(), question, v, 10))(t)
	return a
}

var household = notes{
	"Money/Mortgage.md":         "---\naliases: [home loan]\n---\n# Bank\nThe rate of the mortgage is fixed until 2031.\n",
	"House/Solar.md":            "# Roof\nThe photovoltaics on the roof make 9 kWp. See the offer of the company.\n",
	"IT/Login.md":               "# Authentication\nThe service does authentication by passkey, and the token is valid for an hour.\n",
	"Health/Sleep.md":           "What helps against insomnia: no screens, a cold room. #insomnia\n",
	"Haus/Versicherung.md":      "Der Beitrag der Wohngebäudeversicherung ist im März fällig und nicht mehr im April.\n",
	"Daily/2026-11-20.md":       "Called the bank, met [[Money/Mortgage|the credit for the house]] people.\n",
	"Code/Parser.md":            "The function getUserName reads user_name from src/main.go in v1.2.3.\n",
	"日本/旅行.md":                  "京都で紅葉を見に行く予定です。\n",
	"Recipes/Bread.md":          "Flour, water, salt. Knead and let it rest over night. The oven is hot.\n",
	"Garden/Tomatoes.md":        "Tomatoes want sun and water. The seeds were sown in March.\n",
	"Work/Meeting with Anna.md": "Anna wants the report on Friday and not on Monday. It is about the budget.\n",
}

func TestAQuestionFindsItsNote(t *testing.T) {
	for question, want := range map[string]string{
		"mortage":                            "Money/Mortgage.md",
		"photovoltics":                       "House/Solar.md",
		"authenticate":                       "IT/Login.md",
		"home loan":                          "Money/Mortgage.md",
		"tips against insomnia":              "Health/Sleep.md",
		"where did I write about the ovens?": "Recipes/Bread.md",
		"Versicherung Beitrag":               "Haus/Versicherung.md",
		"Beitraege maerz":                    "Haus/Versicherung.md",
		"Gebäudeversicherung":                "Haus/Versicherung.md",
		"user name":                          "Code/Parser.md",
		"getusername":                        "Code/Parser.md",
		"main.go":                            "Code/Parser.md",
		"紅葉 京都":                              "日本/旅行.md",
		"credit of the bank":                 "Daily/2026-11-20.md",
		`"the report on friday"`:             "Work/Meeting with Anna.md",
		`"name from src"`:                    "Code/Parser.md",
		"紅":                                  "日本/旅行.md",
		"meeting anna budget":                "Work/Meeting with Anna.md",
		"2026-11-20":                         "Daily/2026-11-20.md",
	} {
		a := household.ask(t, question)
		require.That(t, len(a.Results) != 0, "%s: %+v, want %s; tried %+v", question, a.Results, want, a.Tried)
		assert.Equal(t, a.Results[0].Path, want, "%s: %+v, want %s; tried %+v", question, a.Results, want, a.Tried)
	}
}

func TestNothingRelevantIsNothing(t *testing.T) {
	for _, question := range []string{"quantum chromodynamics", "kubernetes ingress water", `"friday on report"`, "zzzz", "2026-11-21", "v1.2.4", "", "?!"} {
		a := household.ask(t, question)
		assert.That(t, len(a.Results) == 0, "%s: %+v", question, a.Results)
	}
}

// Whatever is added, changed and removed, in whichever order, and saved and loaded between: the
// index answers as one that was made at once.
func TestAnIndexFollowsItsVault(t *testing.T) {
	words := strings.Fields("mortgage mortgages bank rate water bread Brot Haus Häuser getUserName 京都 紅葉 2026-11-20 solar roof the and is der und")
	rapid.Check(t, func(t *rapid.T) {
		n, x := notes{}, &Index{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			changed, gone := notes{}, []string{}
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				path := rapid.SampledFrom([]string{"A.md", "B.md", "Bank/C.md", "Haus/D.md", "E.md", "F.md", "Rate.md"}).Draw(t, "path")
				if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
					delete(n, path)
					delete(changed, path)
					gone = append(gone, path)
					continue
				}
				n[path] = strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 8).Draw(t, "text"), " ")
				changed[path] = n[path]
			}
			x = x.with(changed, gone)
			if rapid.IntRange(0, 3).Draw(t, "save") == 0 {
				loaded := require.Value(load(x.saved(), "test"))(t)
				x = loaded
			}
		}
		whole, v := n.vault()
		require.That(t, len(x.places) == len(n), "%d files, want %d", len(x.places), len(n))
		for range 3 {
			question := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "mortage", "Häusern", "rates")), 1, 3).Draw(t, "question"), " ")
			got, err := x.View(everything).Ask(context.Background(), question, v, 10)
			want, err2 := whole.View(everything).Ask(context.Background(), question, v, 10)
			require.Equal(t, err, nil, "%s:\n%+v\n%+v", question, got, want)
			require.Equal(t, err2, nil, "%s:\n%+v\n%+v", question, got, want)
			require.That(t, reflect.DeepEqual(got, want), "%s:\n%+v\n%+v", question, got, want)
		}
		changed, gone := x.Stale(func(yield func(string, uint64) bool) {
			for path, text := range n {
				if !yield(path, stampOf(text)) {
					return
				}
			}
		})
		require.That(t, len(changed)+len(gone) <= 0, "stale: %q, gone: %q", changed, gone)
	})
}

// What a caller may not see changes no byte of what it is answered.
func TestHiddenFilesChangeNothing(t *testing.T) {
	words := strings.Fields("mortgage mortgages bank rate water bread Brot Haus Häuser Versicherung getUserName 京都 solar roof the and is of der und ist nicht")
	hidden := func(path string) bool { return strings.HasPrefix(path, "Hidden/") }
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name, folder string, n notes) {
			for i := range rapid.IntRange(0, 5).Draw(t, name) {
				text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 20).Draw(t, "text"), " ")
				n[folder+string(rune('A'+i))+".md"] = text + " [[" + folder + "A|bank rate]] [[Seen/A|solar roof]]"
			}
		}
		seen := notes{}
		draw("seen", "Seen/", seen)
		question := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "mortage", "Haeuser", "watr")), 1, 4).Draw(t, "question"), " ")
		x, v := seen.vault()
		want := require.Value(x.View(everything).Ask(context.Background(), question, v, 10))(t)
		for _, part := range []string{"first", "second"} {
			both := notes{}
			for path, text := range seen {
				both[path] = text
			}
			draw(part, "Hidden/", both)
			x, _ := both.vault()
			got, err := x.View(func(path string) bool { return !hidden(path) }).Ask(context.Background(), question, seen.around(), 10)
			require.Equal(t, err, nil, "%s: %s hidden notes:\n%+v\n%+v", question, part, got, want)
			require.That(t, reflect.DeepEqual(got, want), "%s: %s hidden notes:\n%+v\n%+v", question, part, got, want)
		}
	})
}

// A saved index that is damaged is not loaded, or answers nothing: postings are read when they are asked for.
func TestASavedIndexThatIsDamaged(t *testing.T) {
	n := notes{}
	for path, text := range household {
		n[path] = text
	}
	var words strings.Builder
	for i := range 3000 { // with postings of several blocks
		words.WriteString("word" + strconv.Itoa(i) + " ")
	}
	n["Long.md"] = words.String()
	x, v := n.vault()
	saved := x.saved()
	question := "home mortage"
	for i := range 40 {
		question += " word" + strconv.Itoa(i*73)
	}
	asked := func(x *Index) (Answer, error) { return x.View(everything).Ask(context.Background(), question, v, 10) }
	want, err := asked(x)
	loaded, err2 := load(saved, "test")
	require.NoError(t, err)
	require.NoError(t, err2)
	got, err := asked(loaded)
	require.Equal(t, err, nil, "a saved index answers %+v", got)
	assert.That(t, reflect.DeepEqual(got, want), "a saved index answers %+v, %v, want %+v", got, err, want)
	_, err = load(saved, "another program")
	assert.That(t, err != nil, "an index of another program is loaded")
	refused := 0
	for i := 0; i < len(saved); i += 1 + i/testenv.Count(30, 100) {
		damaged := slices.Clone(saved)
		damaged[i] ^= 1 << (i % 8)
		_, err := load(saved[:i], "test")
		assert.That(t, err != nil, "cut after byte %d, and the index is loaded", i)
		x, err := load(damaged, "test")
		if err != nil {
			continue
		}
		_, err = x.Append(nil, "test")
		assert.ErrorIs(t, err, ErrDamaged, "byte %d is changed, and the index is saved again", i)
		switch got, err := asked(x); {
		case errors.Is(err, ErrDamaged):
			refused++
		case err != nil || !reflect.DeepEqual(got, want):
			t.Errorf("byte %d is changed: %+v, %v", i, got, err)
		}
	}
	assert.That(t, refused != 0, "no question is refused")
	gone := slices.Sorted(keys(n))
	x = require.Value(load(append(saved[:len(saved)-1], 'x'), "test"))(t)
	_, err = x.Update(func(func(Doc)) {}, gone[:len(gone)/2])
	assert.ErrorIs(t, err, ErrDamaged, "a damaged index is merged")
}

func FuzzLoad(f *testing.F) {
	x, v := household.vault()
	saved := x.saved()
	f.Add(saved[headStart:], binary.LittleEndian.Uint32(saved[len(magic):]))
	f.Fuzz(func(t *testing.T, rest []byte, length uint32) {
		saved := append(binary.LittleEndian.AppendUint32([]byte(magic), length), 0, 0, 0, 0)
		head := rest[:min(uint64(length), uint64(len(rest)))]
		binary.LittleEndian.PutUint32(saved[len(magic)+4:], crc32.Checksum(head, castagnoli()))
		if x, err := load(append(saved, rest...), "test"); err == nil {
			x.View(everything).Ask(context.Background(), "home mortage 京都", v, 3)
		}
	})
}

func TestHostileQuestions(t *testing.T) {
	for name, question := range map[string]string{
		"a megabyte":    strings.Repeat("water bread ", 90_000),
		"one long word": strings.Repeat("a", 1<<20),
		"ten thousand words": strings.Join(func() (list []string) {
			for i := range 10_000 {
				list = append(list, "w"+strconv.Itoa(i))
			}
			return list
		}(), " "),
		"signs":       strings.Repeat(`(a+)+$\x[^]{9,}|*?`, 100),
		"quotes":      strings.Repeat(`"`, 10_001) + "water",
		"bidi":        "\u202ewater\u202c \u200bbread\ufeff",
		"invalid":     "wat\xffer \xf0\x9f bread",
		"zero":        "\x00\x00 water",
		"joined":      strings.Repeat("a-b_c/d.", 1000),
		"ideographic": strings.Repeat("京都", 100_000),
	} {
		began := time.Now()
		a := household.ask(t, question)
		assert.That(t, len(a.Results) <= 10, "%s: %d results, %d words", name, len(a.Results), len(a.Tried))
		assert.That(t, len(a.Tried) <= maxTerms, "%s: %d results, %d words", name, len(a.Results), len(a.Tried))
		took := time.Since(began)
		assert.That(t, took <= 5*time.Second, "%s: %v", name, took)
	}
}

func TestASnippetMarksTheWords(t *testing.T) {
	text, line := household.ask(t, "rate mortgage").Results[0].Snippet(0, 0)
	longest := strings.Repeat("x", maxWord)
	assert.Equal(t, len((notes{"W.md": "a " + longest}).ask(t, longest).Results[0].Marks), 1, "the longest word has the marks")
	assert.Equal(t, text, "The **rate** of the **mortgage** is fixed until 2031.", "%q, line %d", text, line)
	assert.Equal(t, line, 5, "%q, line %d", text, line)
	long := notes{"L.md": strings.Repeat("word ", 500) + "mortgage " + strings.Repeat("é", 500)}
	text, _ = long.ask(t, "mortgage").Results[0].Snippet(3, maxLine)
	assert.Contains(t, text, "**mortgage**")
	assert.That(t, len(text) <= maxLine+20, "%q", text)
	assert.That(t, utf8.ValidString(text), "%q", text)
}

// Of a section that is as long as a book a result has the part with the words.
func TestALongSectionIsCut(t *testing.T) {
	line := "nothing of interest in this line\n"
	before := 3 * MaxSection / len(line)
	for name, text := range map[string]string{
		"lines":    strings.Repeat(line, before) + "the mortgage ends\n" + strings.Repeat(line, before),
		"one line": strings.Repeat("é", MaxSection) + " mortgage " + strings.Repeat("é", MaxSection),
	} {
		r := notes{"L.md": text}.ask(t, "mortgage").Results[0]
		if len(r.Section) > MaxSection || !utf8.ValidString(r.Section) || len(r.Marks) != 1 || r.Section[r.Marks[0].Start:r.Marks[0].End] != "mortgage" {
			t.Errorf("%s: %d bytes, marks %v", name, len(r.Section), r.Marks)
		}
		want := 1 + strings.Count(text[:strings.Index(text, "mortgage")], "\n")
		assert.That(t, r.Line == want, "%s: line %d, want %d", name, r.Line, want)
	}
}

// An error while a note is read ends the question; a note that is gone is left out.
func TestANoteThatCannotBeRead(t *testing.T) {
	x, v := household.vault()
	read := v.Read
	wrong := errors.New("the call may read no more")
	v.Read = func(string, func(Content)) error { return wrong }
	a, err := x.View(everything).Ask(context.Background(), "mortgage", v, 10)
	assert.ErrorIs(t, err, wrong, "%+v", a)
	v.Read = func(path string, use func(Content)) error {
		if path == "Money/Mortgage.md" {
			return nil
		}
		return read(path, use)
	}
	a, err = x.View(everything).Ask(context.Background(), "mortgage bank", v, 10)
	require.NoError(t, err)
	assert.That(t, !slices.ContainsFunc(a.Results, func(r Result) bool { return r.Path == "Money/Mortgage.md" }), "%+v, %v", a, err)
	ended, end := context.WithCancel(context.Background())
	end()
	_, err = x.View(everything).Ask(ended, "mortgage", v, 10)
	assert.ErrorIs(t, err, context.Canceled, "after the end of the call")
}

// Links lead to the same among the few files with a key as among all.
func TestFilesWithTheNamesOfLinks(t *testing.T) {
	var docs notes = map[string]string{}
	paths := []string{"Alpha.md", "a/Alpha.md", "a/b/Alpha.md", "a/Plan.md", "b/Plan.md", "b/plan.png", "x.md.md", "cafe\u0301.md", "b/Caf\u00e9.md"}
	for _, path := range paths {
		docs[path] = ""
	}
	x, _ := docs.vault()
	all := lookup.New(paths)
	saved := require.Value(load(x.saved(), "test"))(t)
	for _, source := range paths {
		for _, target := range []string{"Alpha", "b/alpha", "./Alpha", "plan", "plan.png", "x", "x.md", "caf\u00e9", "nothing", "../Alpha"} {
			for _, x := range []*Index{x, saved} {
				few := lookup.New(x.linkTargets(map[lookup.Key]bool{lookup.KeyOf(target, source): true}))
				place, ok := few.Resolve(target, source)
				want, there := all.Resolve(target, source)
				if ok != there || ok && few.Path(place) != all.Path(want) || few.Len() == len(paths) {
					t.Errorf("[[%s]] in %s leads to %d, %v among %d names, want %d, %v", target, source, place, ok, few.Len(), want, there)
				}
			}
		}
	}
}

// What words of other scripts begin with tells that they have no form of ASCII.
func TestLettersThatStayOutsideASCII(t *testing.T) {
	for r := range unicode.MaxRune {
		if !isFar(r) || !isWordRune(r) {
			continue
		}
		for _, form := range forms(string(r)) {
			assert.That(t, classOf[form[0]]&inWord == 0, "%U: %q", r, form)
		}
	}
}

func TestWordsThatNotesShare(t *testing.T) {
	x, _ := notes{
		"a.md": "", "b.md": "The cat sat; Sourdough-bread, stop_now 123abcd456 ÜBER naive 日本語",
		"c.md": "sourdough sat quokka", "Sourdough.md": "levain", "hidden.md": "quokka sourdough", "d.pdf": "",
	}.vault()
	view := x.View(func(path string) bool { return path != "hidden.md" })
	var got []string
	err := view.EachShared("sourdough The sat Bread; bread stop NOW abcd 123abcd456 über naïve Quokka levain 日本 nothing",
		"c.md", func(word string, files []string) error {
			got = append(got, word+" "+strings.Join(files, ","))
			return nil
		})
	want := "sourdough b.md|bread b.md|stop b.md|abcd |über b.md|naïve b.md|quokka |levain Sourdough.md|日本 b.md|nothing "
	joined := strings.Join(got, "|")
	assert.NoError(t, err)
	assert.Equal(t, joined, want)
	stop := errors.New("stop")
	assert.Equal(t, view.EachShared("several words here", "", func(string, []string) error { return stop }), stop)
}

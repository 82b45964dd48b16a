package consent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// drawn are terms and changes that are made under them, one after the other.
type drawn struct {
	terms   GrantTerms
	changes []GrantChange
}

// Places that changes are drawn from: folders with names that begin alike, and those of other systems.
var places = []string{
	"Projects/a.md", "Projects/b.md", "Projects/Deep/c.md", "Projects2/a.md", "projects/a.md", "Other/a.md", "a.md",
	"Projects/.hidden/x.md", ".obsidian/app.json", "Projects/../Other/a.md", "Projects\\a.md", "Other/Projects/a.md",
	"Projects/Deep", "Projects ./a.md", "/Projects/a.md", "Projects//a.md",
}

func draw(r *rand.Rand) drawn {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	d := drawn{terms: GrantTerms{
		Agent: "cursor", Vault: "Notes", Identity: "folder:1",
		Commands: []string{"append", "create", "rename", "delete"}[:1+r.IntN(4)],
		Folders:  [][]string{{"Projects"}, {"Projects/Deep", "Other"}, {wholeVault}}[r.IntN(3)],
		Notes:    1 + r.IntN(4), Changes: 1 + r.IntN(5), Links: r.IntN(3),
	}}
	if r.IntN(2) == 0 {
		d.terms.Lines = 1 + r.IntN(30)
		d.terms.Destructive = r.IntN(2) == 0
	}
	for range 1 + r.IntN(7) {
		c := GrantChange{Command: pick([]string{"append", "create", "rename", "delete"}), Destructive: r.IntN(5) == 0, Links: r.IntN(8) / 6}
		for range r.IntN(4) {
			f := GrantFile{Path: pick(places)}
			if r.IntN(10) > 1 {
				f.Path = pick(places[:3])
			}
			if r.IntN(4) == 0 {
				f.From = pick(places[:7])
			}
			if r.IntN(3) == 0 {
				f.Text = r.IntN(20)
				f.LostText = r.IntN(1 + min(4, f.Text))
				f.Lost = f.LostText + r.IntN(3)
			}
			c.Files = append(c.Files, f)
		}
		d.changes = append(d.changes, c)
	}
	return d
}

// history is what was done under a grant, told as a list: every name that a note had is written down.
type history struct {
	changes, lines, links int
	notes                 []*note
}

type note struct {
	name             string
	lost, text, body int
}

func (h *history) named(name string) *note {
	for _, n := range h.notes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// allows is the rule in other words: it takes the change on trial, and looks at everything that is then so.
func (h *history) allows(t GrantTerms, c GrantChange) bool {
	trial := &history{changes: h.changes + 1, lines: h.lines, links: h.links + c.Links}
	for _, n := range h.notes {
		copied := *n
		trial.notes = append(trial.notes, &copied)
	}
	touched := map[string]bool{}
	for _, f := range c.Files {
		trial.lines += f.Lost
		n := trial.named(f.Path)
		if old := trial.named(f.From); f.From != "" && old != nil {
			if n == nil || n == old {
				old.name = f.Path
				n = old
			} else { // both are counted as one from now on
				n.lost, n.text, n.body = n.lost+old.lost, n.text+old.text, max(n.body, old.body)
				old.name = "\x00gone"
			}
		}
		if n == nil {
			n = &note{name: f.Path, body: f.Text}
			trial.notes = append(trial.notes, n)
		}
		n.lost += f.Lost
		n.text += f.LostText
		touched[f.Path] = true
	}
	count := 0
	for _, n := range trial.notes {
		if n.name != "\x00gone" {
			count++
		}
	}
	isNamed := strings.Contains(","+strings.Join(t.Commands, ",")+",", ","+c.Command+",")
	ok := isNamed && len(c.Files) > 0 && (t.Destructive || !c.Destructive)
	ok = ok && trial.changes <= t.Changes && count <= t.Notes && trial.links <= t.Links
	for _, f := range c.Files {
		for _, path := range []string{f.Path, f.From} {
			ok = ok && (path == "" && f.From == "" || inOneOf(t.Folders, path))
		}
	}
	if t.Lines > 0 {
		ok = ok && trial.lines <= t.Lines
	} else {
		for name := range touched {
			if n := trial.named(name); n != nil {
				ok = ok && n.lost <= 10 && (n.body < 5 || n.text*2 <= n.body)
			}
		}
	}
	if ok {
		*h = *trial
	}
	return ok
}

func inOneOf(folders []string, path string) bool {
	segments := strings.Split(path, "/")
	for _, s := range segments {
		if s == "" || s[0] == '.' || strings.Contains(s, "\\") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " ") {
			return false
		}
	}
	for _, folder := range folders {
		if folder == "/" {
			return true
		}
		want := strings.Split(folder, "/")
		if len(segments) > len(want) && strings.Join(segments[:len(want)], "\x00") == strings.Join(want, "\x00") {
			return true
		}
	}
	return false
}

func TestAGrantAllowsWhatItSaysAndNothingElse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(54, 1))
	beyond, refused, allowed := 0, 0, 0
	for i := range 5000 {
		d := draw(r)
		used := GrantCount{}
		told := &history{}
		for n, c := range d.changes {
			now, err := d.terms.Covers(used, c)
			want := told.allows(d.terms, c)
			switch {
			case err == nil && !want:
				beyond++
				t.Logf("%d.%d: beyond the grant %+v after %+v: %+v", i, n, d.terms, used, c)
			case err != nil && want:
				refused++
				t.Logf("%d.%d: refused within the grant %+v after %+v: %+v: %v", i, n, d.terms, used, c, err)
			case err == nil:
				allowed++
			}
			if err == nil {
				used = now
			}
		}
	}
	assert.Equal(t, fmt.Sprintf("%d beyond, %d refused", beyond, refused), "0 beyond, 0 refused")
	assert.That(t, allowed > 1000, "only %d changes were allowed: the draw is no test", allowed)
}

// One destructive change in many small ones is counted as what it is.
func TestSmallChangesDoNotAddUpToALoss(t *testing.T) {
	t.Parallel()
	plain := GrantTerms{Commands: []string{"replace"}, Folders: []string{"Projects"}, Notes: 2, Changes: 100}
	bounded := plain
	bounded.Destructive = true
	bounded.Lines = 25
	for name, tt := range map[string]struct {
		terms      GrantTerms
		lost, text int
		most       int // changes of one note
	}{
		"ten lines of a long note":  {plain, 1, 100, 10},
		"half of a short one":       {plain, 1, 8, 4},
		"a note of a few lines":     {plain, 1, 4, 10},
		"at once more than a half":  {plain, 3, 5, 0},
		"lines in all, destructive": {bounded, 3, 100, 8},
	} {
		used := GrantCount{}
		made := 0
		for range 30 {
			c := GrantChange{Command: "replace", Files: []GrantFile{{Path: "Projects/a.md", Lost: tt.lost, LostText: tt.lost, Text: tt.text}}}
			now, err := tt.terms.Covers(used, c)
			if err != nil {
				break
			}
			used = now
			made++
		}
		assert.Equal(t, made, tt.most, "%s", name)
	}
}

// A note that is moved is counted as the note that it was.
func TestAMoveIsNoSecondNote(t *testing.T) {
	t.Parallel()
	terms := GrantTerms{Commands: []string{"rename", "replace"}, Folders: []string{"P"}, Notes: 1, Changes: 100}
	used, err := terms.Covers(GrantCount{}, GrantChange{Command: "replace", Files: []GrantFile{{Path: "P/a.md", Lost: 9, LostText: 9, Text: 90}}})
	assert.NoError(t, err)
	used, err = terms.Covers(used, GrantChange{Command: "rename", Files: []GrantFile{{Path: "P/b.md", From: "P/a.md"}}})
	assert.NoError(t, err)
	_, err = terms.Covers(used, GrantChange{Command: "replace", Files: []GrantFile{{Path: "P/b.md", Lost: 2, LostText: 2, Text: 81}}})
	assert.That(t, err != nil, "eleven lines of one note are taken under two names")
	_, err = terms.Covers(used, GrantChange{Command: "replace", Files: []GrantFile{{Path: "P/a.md", Text: 3}}})
	assert.That(t, err != nil, "a second note is not counted")
}

func TestTermsThatAreRefused(t *testing.T) {
	t.Parallel()
	good := GrantTerms{
		Agent: "cursor", Vault: "Notes", Identity: "folder:1", Commands: []string{"append"}, Folders: []string{"Projects"}, Notes: 1, Changes: 1,
	}
	assert.NoError(t, good.Check())
	for name, change := range map[string]func(*GrantTerms){
		"nobody's":               func(t *GrantTerms) { t.Agent = "" },
		"of two":                 func(t *GrantTerms) { t.Server = "1-a" },
		"for no command":         func(t *GrantTerms) { t.Commands = nil },
		"for a read":             func(t *GrantTerms) { t.Commands = []string{"read"} },
		"for publishing":         func(t *GrantTerms) { t.Commands = []string{"publish:add"} },
		"for code":               func(t *GrantTerms) { t.Commands = []string{"eval"} },
		"for what is unknown":    func(t *GrantTerms) { t.Commands = []string{"apend"} },
		"for no folder":          func(t *GrantTerms) { t.Folders = nil },
		"for a way out":          func(t *GrantTerms) { t.Folders = []string{"Projects/.."} },
		"for a hidden folder":    func(t *GrantTerms) { t.Folders = []string{".obsidian"} },
		"for a pattern":          func(t *GrantTerms) { t.Folders = []string{"*"} },
		"with a row in a reason": func(t *GrantTerms) { t.Why = "x\nAllowed" },
		"without notes":          func(t *GrantTerms) { t.Notes = 0 },
		"without end":            func(t *GrantTerms) { t.Changes = MaxGrantChanges + 1 },
		"destructive, unbounded": func(t *GrantTerms) { t.Destructive = true },
	} {
		terms := good
		change(&terms)
		_, isInvalid := terms.Check().(*InvalidTerms)
		assert.That(t, isInvalid, "a grant %s: %v", name, terms.Check())
	}
}

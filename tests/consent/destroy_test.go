package consent

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// numberedLines returns lines that differ.
func numberedLines(from, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "line %d\n", from+i)
	}
	return b.String()
}

// careful is a gateway that asks before what is destructive.
func careful(t *testing.T) *harness.InProcess {
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmDestructive })
	o.Write("long.md", "# A\n"+numberedLines(0, 20)+"# B\n"+numberedLines(100, 20))
	o.Write("prop.md", "---\nlong: |\n"+strings.ReplaceAll(numberedLines(0, 12), "line", "  line")+"---\ntext\n")
	return o
}

func TestWhatRemovesMuchIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		words []string
		why   string
	}{
		{"a section", []string{"note:set-section", "path=long.md", "heading=A", "content=x"}, "removes 20 of the 42 lines"},
		{"a text", []string{"note:replace", "path=long.md", "old=" + numberedLines(100, 20), "new=x"}, "removes 20 of the 42 lines"},
		{"a property", []string{"property:set", "path=prop.md", "name=long", "value=x"}, "removes 13 lines"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := careful(t)
			path := strings.TrimPrefix(test.words[1], "path=")
			before := o.Read(path)
			dry := o.Gateway.DryRun(t.Context(), gateway.Request{Command: test.words[0], Words: test.words[1:], Caller: "me"})
			row := ""
			for _, r := range dry.Rules {
				if r.Rule == "confirm" {
					row = r.Verdict + ": " + r.Why
				}
			}
			assert.That(t, dry.OK, "the dry run is %+v", dry)
			assert.Equal(t, dry.Decision, "ask", "the dry run is %+v", dry)
			assert.Equal(t, dry.Effect, "destructive", "the dry run is %+v", dry)
			assert.HasPrefix(t, row, "ask: "+test.why, "the dry run is %+v", dry)
			assert.That(t, dry.Diff != "", "the dry run is %+v", dry)
			result, asked := o.Do(test.words, harness.Says(consent.No))
			assert.Equal(t, harness.CodeOf(result), "unconfirmed",
				"declined: %+v; the note is %q", result.Error, o.Read(path))
			assert.Equal(t, o.Read(path), before, "declined: %+v; the note is %q", result.Error, o.Read(path))
			require.Equal(t, len(asked), 1, "asked %+v", asked)
			assert.That(t, asked[0].Destructive, "asked %+v", asked)
			assert.Equal(t, asked[0].Folder, "", "asked %+v", asked)
			assert.Contains(t, asked[0].Text, "It "+test.why, "asked %+v", asked)
			o = careful(t)
			result, _ = o.Do(test.words, harness.Says(consent.Yes))
			if !result.OK || o.Read(path) == before || result.Change == nil || result.Change.Removed < 13 || result.Change.Added != 1 {
				t.Errorf("approved: %+v, %+v", result, result.Change)
			}
			got := strings.Join(o.Decisions(), "\n")
			want := "decision ask destructive unconfirmed\ndecision reply destructive\ndecision allow destructive\nend  destructive"
			assert.That(t, got == want, "the log is\n%s\nwant\n%s", got, want)
		})
	}
}

func TestWhatRemovesLittleIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	o := careful(t)
	for _, words := range [][]string{
		{"append", "path=long.md", "content=" + numberedLines(0, 60)},
		{"note:replace", "path=long.md", "old=" + numberedLines(100, 9), "new=x"},
		{"property:set", "path=long.md", "name=a", "value=b"},
		{"move", "path=Inbox/a.md", "to=Inbox2/c.md"},
	} {
		o.Must(words)
	}
}

func TestALossThatNobodyIsAskedAboutIsLogged(t *testing.T) {
	t.Parallel()
	o := careful(t).Again(func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmNever })
	o.Must([]string{"note:set-section", "path=long.md", "heading=A", "content=x"})
	got := o.Decisions()
	require.Equal(t, len(got), 2, "the log is %q", got)
	assert.Equal(t, got[1], "end  destructive", "the log is %q", got)
	dry := o.Gateway.DryRun(t.Context(), gateway.Request{Command: "note:set-section", Words: []string{"path=long.md", "heading=B", "content=x"}})
	assert.Equal(t, dry.Decision, "allow", "the dry run is %+v", dry)
	assert.Equal(t, dry.Effect, "destructive", "the dry run is %+v", dry)
}

// A yes for a folder is none to a change that removes much there.
func TestAYesForAFolderDoesNotReachALoss(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	o.Write("Inbox/long.md", numberedLines(0, 20))
	o.Must([]string{"append", "path=Inbox/a.md", "content=x"}, harness.Says(consent.YesHere))
	result, asked := o.Do([]string{"note:replace", "path=Inbox/long.md", "old=" + numberedLines(0, 15), "new=x"}, harness.Says(consent.No))
	assert.Equal(t, harness.CodeOf(result), "unconfirmed", "%+v, asked %d times", result.Error, len(asked))
	assert.Equal(t, len(asked), 1, "%+v, asked %d times", result.Error, len(asked))
}

func TestALossInABatch(t *testing.T) {
	t.Parallel()
	o := careful(t)
	loss := harness.Operation("b", "note:set-section", "path=long.md", "heading=A", "content=x")
	before := o.Read("long.md")
	operations := []gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=x"), loss}
	result, asked := o.Batch(operations, harness.Says(consent.No))
	if result.OK || len(asked) != 1 || !strings.Contains(consent.Draw(asked[0].Lines), "removes 20 of the 42 lines") ||
		o.Read("long.md") != before || o.Read("root.md") != "root\n" {
		t.Errorf("declined: %+v, asked %+v", result, asked)
	}
	o = careful(t)
	if result, _ = o.Batch(operations, harness.Says(consent.Yes)); !result.OK || o.Read("long.md") == before {
		t.Errorf("approved: %+v", result)
	}
	// What only an earlier operation makes a loss is shown as one.
	operations = []gateway.Operation{
		harness.Operation("a", "append", "path=root.md", "content="+numberedLines(0, 30)),
		harness.Operation("b", "note:replace", "path=root.md", "old="+numberedLines(0, 30), "new=x"),
		harness.Operation("c", "delete", "path=Inbox/a.md"),
	}
	for n := range 2 {
		o = careful(t)
		result, asked = o.Batch(operations[:2+n], harness.Says(consent.Yes))
		if !result.OK || len(asked) != 1 || !strings.Contains(consent.Draw(asked[0].Lines), "removes 30 of the 31 lines") {
			t.Errorf("a loss of what the batch made: %+v, asked %+v", result, asked)
		}
	}
}

func TestAnAtomicBatchTakesBackMuch(t *testing.T) {
	t.Parallel()
	o := careful(t)
	before := o.Read("root.md")
	b := gateway.Batch{Request: gateway.Request{Caller: "me"}, Atomic: true, Operations: []gateway.Operation{
		harness.Operation("a", "append", "path=root.md", "content="+numberedLines(0, 60)),
		harness.Operation("b", "create", "path=new.md", "content="+numberedLines(0, 60)),
		harness.Operation("c", "append", "path=nobody.md", "content=x"),
	}}
	result := o.Gateway.DoBatch(t.Context(), b)
	assert.That(t, !result.OK, "%+v", result)
	assert.Equal(t, result.Summary.Undone, 2, "%+v", result)
	assert.Equal(t, o.Read("root.md"), before, "%+v", result)
	_, err := os.Stat(o.Vault + "/new.md")
	assert.That(t, err != nil, "what was made is there")
}

func TestAnUndoOfAnUndoThatDeletesIsAskedAgain(t *testing.T) {
	t.Parallel()
	o := careful(t)
	o.Must([]string{"delete", "path=root.md"}, harness.Says(consent.Yes))
	back, _ := o.Do([]string{"undo"})
	require.That(t, back.OK, "%+v", back)
	require.Equal(t, o.Read("root.md"), "root\n", "%+v", back)
	result, asked := o.Do([]string{"undo", "id=" + back.Change.ID}, harness.Says(consent.No))
	if harness.CodeOf(result) != "unconfirmed" || len(asked) != 1 ||
		!strings.Contains(asked[0].Text, `removes the file "root.md"`) || o.Read("root.md") != "root\n" {
		t.Errorf("%+v, asked %+v", result.Error, asked)
	}
	dry := o.Gateway.DryRun(t.Context(), gateway.Request{Command: "undo", Words: []string{"id=" + back.Change.ID}, Caller: "me"})
	assert.Equal(t, dry.Decision, "ask", "the dry run is %+v", dry)
	assert.Equal(t, dry.Effect, "destructive", "the dry run is %+v", dry)
}

func TestUndoOfAnotherSessionIsAskedAbout(t *testing.T) {
	t.Parallel()
	o := careful(t)
	made, _ := o.As("session-a", []string{"create", "path=made.md", "content=x"})
	changed, _ := o.As("session-a", []string{"append", "path=root.md", "content=x"})
	if !made.OK || !changed.OK {
		t.Fatal(made.Error, changed.Error)
	}
	if result, _ := o.As("session-b", []string{"undo"}); harness.CodeOf(result) == "" || o.Read("root.md") == "root\n" {
		t.Errorf("undo without an id took back what another session did: %+v", result)
	}
	for _, id := range []string{changed.Change.ID, made.Change.ID} {
		result, asked := o.As("session-b", []string{"undo", "id=" + id}, harness.Says(consent.No))
		assert.Equal(t, harness.CodeOf(result), "unconfirmed", "%+v, asked %d times", result.Error, len(asked))
		assert.Equal(t, len(asked), 1, "%+v, asked %d times", result.Error, len(asked))
	}
	// The session itself is not asked.
	for range 2 {
		if result, _ := o.As("session-a", []string{"undo"}); !result.OK {
			t.Error(result.Error)
		}
	}
	assert.That(t, o.Read("root.md") == "root\n", "the change is there")
}

// Where a caller may write and not delete, it may take away what it made itself,
// and nothing that another session made.
func TestASessionCannotUndoTheCreateOfAnother(t *testing.T) {
	t.Parallel()
	rules := harness.Rules(t, map[string]access.Level{"/": access.Write})
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Policy.Confirm, c.Policy.Access = policy.ConfirmNever, rules })
	made, _ := o.As("session-a", []string{"create", "path=made.md", "content=x"})
	require.That(t, made.OK, "%v", made.Error)
	result, _ := o.As("session-b", []string{"undo", "id=" + made.Change.ID})
	assert.Equal(t, harness.CodeOf(result), "access_denied", "%+v; the note is %q", result, o.Read("made.md"))
	assert.Equal(t, o.Read("made.md"), "x", "%+v; the note is %q", result, o.Read("made.md"))
	if result, _ := o.As("session-a", []string{"undo"}); !result.OK {
		t.Error(result.Error)
	}
}

// Without an id, a batch is taken back as one, and by no one else.
func TestABatchIsUndoneAsOne(t *testing.T) {
	t.Parallel()
	o := careful(t)
	before := o.Read("root.md")
	result, _ := o.Batch([]gateway.Operation{
		harness.Operation("a", "append", "path=root.md", "content=x"),
		harness.Operation("b", "append", "path=root.md", "content=y"), harness.Operation("c", "create", "path=made.md"),
	})
	require.That(t, result.OK, "%+v", result)
	if undone, _ := o.As("another", []string{"undo"}); undone.OK {
		t.Errorf("%+v", undone)
	}
	undone, _ := o.Do([]string{"undo"})
	require.That(t, undone.OK, "%+v, %+v", undone, undone.Change)
	require.Equal(t, strings.Count(undone.Stdout, "Undone: "), 3, "%+v, %+v", undone, undone.Change)
	assert.Equal(t, o.Read("root.md"), before, "%+v, %+v", undone, undone.Change)
	assert.Equal(t, undone.Change.Removed, 2, "%+v, %+v", undone, undone.Change)
	again, _ := o.Do([]string{"undo"})
	assert.That(t, harness.CodeOf(again) == "cli_error" || harness.CodeOf(again) == "not_found", "%+v", again)
}

// A journal that cannot take the record of a change without dropping what is young
// refuses the change, and loses nothing. Here it is the share of one caller that is
// used up.
func TestAFullJournalRefusesTheNextChange(t *testing.T) {
	t.Parallel()
	testenv.OnlyLong(t) // it writes a hundred megabytes
	o := careful(t)
	ids := []string{}
	for i := range 20 {
		text := noise(12<<20, byte(i))
		o.Write("big.md", text)
		result, _ := o.Do([]string{"append", "path=big.md", "content=x"})
		if result.OK {
			ids = append(ids, result.Change.ID)
			continue
		}
		assert.Equal(t, harness.CodeOf(result), "state_unavailable", "%+v", result)
		assert.Equal(t, failure.ClassOf(harness.CodeOf(result)), failure.Surroundings, "%+v", result)
		assert.Equal(t, o.Read("big.md"), text, "%+v", result)
		if result, _ := o.As("another", []string{"append", "path=root.md", "content=x"}); !result.OK {
			t.Errorf("another caller: %+v", result.Error)
		}
		break
	}
	kept := require.Value(o.Gateway.Journal(""))(t)
	entries, damage, err := kept.Entries(t.Context(), journal.Filter{Caller: "me"})
	if err != nil || len(damage) > 0 || len(entries) != len(ids) || len(ids) < 3 || len(ids) > 8 {
		t.Errorf("%d entries of %d are left, %v, %v", len(entries), len(ids), damage, err)
	}
}

// noise is a text that is hardly compressed.
func noise(size int, seed byte) string {
	random := make([]byte, size*3/4)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(random)
	return base64.StdEncoding.EncodeToString(random)
}

// A batch that reaches many notes is asked about as a whole, though none of its operations
// would be by itself.
func TestABatchOfManyMovesIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ notes, asked int }{{20, 0}, {30, 1}} {
		o := careful(t)
		var operations []gateway.Operation
		for i := range test.notes {
			name := fmt.Sprintf("Inbox/m%02d.md", i)
			o.Write(name, "text\n")
			operations = append(operations, harness.Operation(fmt.Sprint(i), "move", "path="+name, "to=Moved/"))
		}
		got, asked := o.Batch(operations, harness.Says(consent.Yes))
		assert.Equal(t, len(asked), test.asked, "%d moves: asked %d times, %+v", test.notes, len(asked), got.Summary)
		assert.Equal(t, got.Summary.OK, test.notes,
			"%d moves: asked %d times, %+v", test.notes, len(asked), got.Summary)
		for _, q := range asked {
			whole := consent.Draw(q.Lines)
			if _, inForm := q.Form(14, 4000); inForm || !q.Destructive ||
				!strings.Contains(whole, "It is part of a batch that changes 30 notes.") ||
				strings.Count(whole, "\nmoves: ") != 30 {
				t.Errorf("the question is\n%s", whole)
			}
		}
	}
}

package consent

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestQuotedShowsBothEnds(t *testing.T) {
	for in, want := range map[string]string{
		"a.md": `"a.md"`, `a"b`: `"a\"b"`, "a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "\u202ex": `"\u202ex"`,
	} {
		assert.Equal(t, quoted(in), want, "%q is shown as", in)
	}
	for _, fill := range []string{"x", "字", "\x00", "\U000e0041", `"`} {
		got := quoted("first/" + strings.Repeat(fill, 5000) + "/last.md")
		if len(got) > maxShownName+10 || !strings.HasPrefix(got, `"first/`) || !strings.HasSuffix(got, `/last.md"`) ||
			strings.ContainsAny(strings.ReplaceAll(got[1:len(got)-1], `\"`, ""), "\n\"") {
			t.Errorf("a long one is shown as %s", got)
		}
	}
}

func TestFolderOfAll(t *testing.T) {
	for _, test := range []struct {
		files []PlannedFile
		want  string
	}{
		{nil, ""},
		{[]PlannedFile{{Path: "a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}}, "In"},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In/Deep/b.md"}}, "In"},
		{[]PlannedFile{{Path: "In/Deep/b.md"}, {Path: "In/a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In2/a.md"}}, ""},
		{[]PlannedFile{{Path: "In/a.md"}, {Path: "In"}}, ""},
		{[]PlannedFile{{Path: "In/a.md", From: "In/b.md"}}, "In"},
		{[]PlannedFile{{Path: "In/a.md", From: "Out/a.md"}}, ""},
		{[]PlannedFile{{Path: "a.md", From: "In/a.md"}}, ""},
	} {
		assert.Equal(t, FolderOfAll(test.files), test.want, "%v", test.files)
	}
}

// What the owner is told has no name or text of a note, and nothing that another program could take
// for markup, an option, a link or another line.
func TestToldIsPlainAndShort(t *testing.T) {
	gone, moved := PlannedFile{Path: "secret.md", Before: "1"}, PlannedFile{Path: "b.md", From: "a.md", Before: "1", After: "1"}
	changed, made := PlannedFile{Path: "c.md", Before: "1", After: "2"}, PlannedFile{Path: "d.md", After: "2"}
	for _, test := range []struct {
		caller, client, vault string
		files                 []PlannedFile
		want                  string
	}{
		{"1-a", "Cursor", "Work", []PlannedFile{gone}, "A client that calls itself “Cursor” asks to delete 1 note in Work"},
		{"nightly/1-a", "Cursor", "Work", []PlannedFile{gone, moved, moved, changed, made},
			"The agent nightly asks to delete 1 note, move 2 notes, change 1 note and create 1 note in Work"},
		{"1-a", "", "", nil, "A client that gives no name asks to run delete in the vault of the app"},
		{"1-a", "-rf --x=<b>evil.example/\n\x1b[0m", "My \"vault\"",
			[]PlannedFile{changed, {Path: "x.canvas", After: "2"}},
			"A client that calls itself “rf --x b evil example 0m” asks to change 1 file and create 1 file in My vault"},
		{"1-a", strings.Repeat("字", 500), "V", []PlannedFile{gone}, "A client that calls itself “" + strings.Repeat("字", 20) + "…” asks to delete 1 note in V"},
		{"1-a", "Your terminal", "V", []PlannedFile{gone}, "A client that calls itself “Your terminal” asks to delete 1 note in V"},
		{"1-a", "x” asks to read. Your terminal", "V", []PlannedFile{gone},
			"A client that calls itself “x asks to read Your terminal” asks to delete 1 note in V"},
	} {
		q := Question{Vault: test.vault, Does: Does("delete", test.files, Rest{})}
		assert.Equal(t, q.messageFor(Requester{Caller: test.caller, Client: test.client}), test.want, "told")
	}
}

// The first line of a question about a folder says which one, and where it goes.
func TestTheFirstLineNamesFolders(t *testing.T) {
	moved := []PlannedFile{{Path: "Archive/a.md", From: "Projects/a.md", Before: "1", After: "1"},
		{Path: "Archive/b.md", From: "Projects/b.md", Before: "1", After: "1"}}
	gone := []PlannedFile{{Path: "Projects/a.md", Before: "1"}, {Path: "Projects/b.md", Before: "1"}}
	for _, test := range []struct {
		words []string
		files []PlannedFile
		want  string
	}{
		{[]string{"folder:move", "path=Projects", "to=Archive"}, moved, `Move the folder "Projects" to "Archive": move 2 notes (vault "Notes")`},
		{[]string{"folder:rename", "path=Projects", "name=Archive"}, moved, `Rename the folder "Projects" to "Archive": move 2 notes (vault "Notes")`},
		{[]string{"folder:delete", "path=Projects"}, gone, `Delete 2 notes, of the folder "Projects" (vault "Notes")`},
	} {
		call, err := allowlist.ParseWords(test.words[0], test.words[1:])
		require.NoError(t, err)
		q := Question{Vault: "Notes", Command: test.words[0], Files: test.files}
		require.NoError(t, q.Describe(call, make([]difference.Change, len(test.files))))
		assert.Equal(t, q.Lines[0].Text, test.want, "%v", test.words)
	}
}

func TestADecisionIsInTheAuditLog(t *testing.T) {
	for _, approve := range []bool{true, false} {
		state := t.TempDir()
		store := OpenStore(Folder(state), time.Now)
		q, err := store.Ask(StoredQuestion{Session: "s1", Client: "agent", Vault: "Notes", Command: "delete", Text: "Allow?", Digest: Digest{1}})
		require.NoError(t, err)
		require.Value(Decide(state, Answer{Code: q.Code, Approve: approve, By: "page", Session: "p1"}))(t)
		want := audit.Line{Kind: "approval", Decision: "deny", By: "page", Session: "p1", Client: "agent", Vault: "Notes", Command: "delete"}
		state2 := Denied
		if approve {
			want.Decision, state2 = "approve", Approved
		}
		lines := 0
		for line, err := range audit.Lines(t.Context(), state, audit.Filter{}) {
			if err != nil || line.Kind != want.Kind || line.Decision != want.Decision || line.By != want.By ||
				line.Client != want.Client || line.Command != want.Command || line.Vault != want.Vault ||
				line.Session != want.Session {
				t.Errorf("line %+v, %v", line, err)
			}
			lines++
		}
		list, _, err := store.List()
		require.Equal(t, err, nil, "%+v, %v, %d lines", list, err, lines)
		require.Equal(t, len(list), 1, "%+v, %v, %d lines", list, err, lines)
		require.Equal(t, list[0].State, state2, "%+v, %v, %d lines", list, err, lines)
		require.Equal(t, list[0].By, "page", "%+v, %v, %d lines", list, err, lines)
		assert.Equal(t, lines, 1, "%+v, %v, %d lines", list, err, lines)
		_, err = Decide(state, Answer{Code: q.Code, Approve: true, By: "page"})
		assert.That(t, err != nil, "a question is answered twice")
	}
}

// TestWhatLeavesIsAskedInFull: an address that carries text away, and the model that gets texts, are in a
// question from beginning to end. A form that is too small for them is not used.
func TestWhatLeavesIsAskedInFull(t *testing.T) {
	for _, words := range [][]string{
		{"web", "url=https://example.org/?" + strings.Repeat("q", 2000) + "END"},
		{"find:send", "host=example.org", "sections=3", "model=" + strings.Repeat("m", 3000) + "END"},
	} {
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		q := Question{Vault: "Notes", Command: words[0]}
		require.NoError(t, q.Describe(call, nil))
		assert.Contains(t, Draw(q.Lines), "END", "%s", words[0])
		_, inForm := q.Form(14, 4000)
		assert.That(t, !inForm, "%s: a form is used", words[0])
	}
}

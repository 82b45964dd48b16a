package access

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// lineageVault is a gateway with the rule that text of Journal and of notes with #client does not go to Shared.
func lineageVault(t *testing.T) *harness.InProcess {
	t.Helper()
	h := flowVaults(t, "refuse", []string{"Journal", "#client", "private"}, []string{"Shared"})
	h.Write("Journal/J.md", "# One\nCANARY\n\n## Part\nCANARY part\n\n## Other\nCANARY other\n")
	h.Write("Journal/Deep/D.md", "CANARY deep\n")
	h.Write("Journal/image.png", "\x89PNG\r\n\x1a\nCANARY")
	h.Write("Tmp/other.md", "free\n")
	h.Write("Shared/own.md", "own\n")
	h.Write("Client.md", "---\ntags: [client]\n---\n# One\nCANARY\n\n## Part\nCANARY part\n")
	h.Write(".obsidian/templates.json", `{"folder":"Templates"}`)
	h.Write("Templates/Plain.md", "plain\n")
	h.Write("Templates/Keep.md", "keep\n")
	return h
}

// hop takes a note or a folder on, and says where its text is then.
type hop struct {
	words []string
	to    string
}

// hopsFrom returns the ways to take a note on into a folder, under a name that is not taken.
func hopsFrom(note, folder, name string) (all []hop) {
	to := path.Join(folder, name+path.Ext(note))
	all = []hop{
		{[]string{"copy", "path=" + note, "to=" + to}, to},
		{[]string{"move", "path=" + note, "to=" + to}, to},
		{[]string{"copy", "file=" + strings.TrimSuffix(path.Base(note), ".md"), "to=" + to}, to},
	}
	if folder != "Shared" { // the name stays in the folder
		renamed := path.Join(path.Dir(note), name+"r"+path.Ext(note))
		all = append(all, hop{[]string{"rename", "path=" + note, "name=" + name + "r"}, renamed})
	}
	if dir := path.Dir(note); dir == "Tmp/Deep" || dir == "Other" {
		over := path.Join(path.Dir(dir), name+"d")
		if folder != "Shared" {
			all = append(all, hop{[]string{"folder:rename", "path=" + dir, "name=" + name + "d"}, path.Join(over, path.Base(note))})
		}
	}
	if dir := path.Dir(note); dir != "." && dir != "Journal" {
		under := path.Join(folder, name)
		all = append(all,
			hop{[]string{"folder:copy", "path=" + dir, "to=" + under}, path.Join(under, path.Base(note))},
			hop{[]string{"folder:move", "path=" + dir, "to=" + under}, path.Join(under, path.Base(note))},
		)
	}
	if path.Ext(note) != ".md" {
		return all
	}
	all = append(all,
		hop{[]string{"note:extract", "path=" + note, "heading=Part", "to=" + to}, to},
		hop{[]string{"note:split", "path=" + note, "folder=" + path.Join(folder, name)}, path.Join(folder, name, "Part.md")},
	)
	if folder == "Shared" {
		all = append(all, hop{[]string{"note:merge", "path=" + note, "into=Shared/own.md"}, "Shared/own.md"})
	} else {
		all = append(all, hop{[]string{"note:merge", "path=" + note, "into=Tmp/other.md"}, "Tmp/other.md"})
	}
	if path.Dir(note) == "Templates" {
		stem := strings.TrimSuffix(path.Base(note), ".md")
		all = append(all, hop{[]string{"create", "path=" + to, "template=" + stem}, to})
		if folder == "Shared" {
			all = append(all, hop{[]string{"template:insert", "path=Shared/own.md", "name=" + stem}, "Shared/own.md"})
		}
	}
	return all
}

// TestWhatIsMadeOfANoteOfAPlaceBelongsToIt draws chains of up to four calls that take text out of the places of a rule: none
// ends where the text may not go.
func TestWhatIsMadeOfANoteOfAPlaceBelongsToIt(t *testing.T) {
	t.Parallel()
	places := []string{"Tmp", "Templates", "Tmp/Deep", "Other"}
	for seed := range testenv.Count(12, 400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 49))
			h := lineageVault(t)
			at := []string{"Journal/J.md", "Client.md", "Journal/image.png", "Journal/Deep/D.md"}[seed%4]
			var said []string
			failed := false
			hops := 1 + r.IntN(4)
			for n := range hops - 1 {
				ways := hopsFrom(at, places[r.IntN(len(places))], fmt.Sprint("n", n))
				way := ways[r.IntN(len(ways))]
				result, _ := h.Do(way.words)
				said = append(said, strings.Join(way.words, " "))
				if result.OK && way.to != "" {
					words, isDone := detour(h, r, way.to)
					said = append(said, words...)
					failed = failed || !isDone
				}
				if !result.OK { // such as a section that is not there: the error may tell something of the note
					failed = true
					continue
				}
				at = way.to
			}
			for _, way := range hopsFrom(at, "Shared", "last") {
				result, _ := h.Do(way.words)
				wasRefused := harness.CodeOf(result) == "access_denied"
				isImpossible := !result.OK && !wasRefused && !strings.Contains(h.Read("Shared/own.md"), "CANARY")
				assert.That(t, wasRefused || isImpossible, "after %q: %q: %+v", said, way.words, result.Error)
				require.That(t, !hasCanary(t, h, "Shared"), "after %q: %q", said, way.words)
			}
			result, _ := h.Do([]string{"append", "path=Shared/own.md", "content=free text"})
			assert.That(t, result.OK || failed, "nothing was read: %+v", result.Error)
		})
	}
}

// detour makes changes of a note after which it has its text again: it was overwritten, deleted or moved meanwhile.
func detour(h *harness.InProcess, r *rand.Rand, note string) (said []string, isDone bool) {
	isDone = true
	ways := [][][]string{
		nil,
		{{"create", "path=" + note, "overwrite", "content=free"}, {"undo"}},
		{{"create", "path=" + note, "overwrite", "content=free"}, {"history:restore", "path=" + note, "version=1"}},
		{{"delete", "path=" + note}, {"undo"}},
		{{"move", "path=" + note, "to=Away" + path.Ext(note)}, {"undo"}},
		{{"append", "path=" + note, "content=more"}, {"undo"}},
	}
	for _, words := range ways[r.IntN(len(ways))] {
		result, _ := h.Do(words)
		said = append(said, strings.Join(words, " "))
		isDone = isDone && result.OK
	}
	return said, isDone
}

// TestAVersionOfAnEarlierNoteBelongsToItsPlace: a note of a place was at a path, and another one is there now.
func TestAVersionOfAnEarlierNoteBelongsToItsPlace(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string][][]string{
		"restored":        {{"history:restore", "path=Tmp/a.md", "version=1"}},
		"undone":          {{"delete", "path=Tmp/a.md"}, {"undo", "id="}},
		"read":            {{"history:read", "path=Tmp/a.md", "version=1"}},
		"compared":        {{"diff", "path=Tmp/a.md", "from=1"}},
		"restored, moved": {{"move", "path=Tmp/a.md", "to=Tmp/c.md"}, {"history:restore", "path=Tmp/c.md", "version=1"}, {"move", "path=Tmp/c.md", "to=Tmp/a.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := lineageVault(t)
			h.Must([]string{"copy", "path=Journal/J.md", "to=Tmp/a.md"})
			deleted := h.Must([]string{"delete", "path=Tmp/a.md"}).Change.ID
			h.Must([]string{"create", "path=Tmp/a.md", "content=free"})
			result, _ := h.Do([]string{"copy", "path=Tmp/a.md", "to=Shared/free.md"})
			require.That(t, result.OK, "another note of the name: %+v", result.Error)
			for _, words := range restore {
				if words[0] == "undo" {
					words[1] = "id=" + deleted
				}
				result, _ := h.Do(words)
				require.That(t, result.OK, "%q: %+v", words, result.Error)
			}
			if name == "read" || name == "compared" {
				result, _ := h.Do([]string{"append", "path=Shared/own.md", "content=free text"})
				assert.Equal(t, harness.CodeOf(result), "access_denied", "free text after it")
				return
			}
			result, _ = h.Do([]string{"copy", "path=Tmp/a.md", "to=Shared/a.md"})
			assert.Equal(t, harness.CodeOf(result), "access_denied", "a copy")
			assert.That(t, !hasCanary(t, h, "Shared"), "it is there")
		})
	}
}

// TestABatchThatTakesTextOn has the hops in one batch.
func TestABatchThatTakesTextOn(t *testing.T) {
	t.Parallel()
	for _, atomic := range []bool{true, false} {
		h := lineageVault(t)
		batch := gateway.Batch{Atomic: atomic, Request: gateway.Request{Caller: "me"}, Operations: []gateway.Operation{
			harness.Operation("a", "copy", "path=Journal/J.md", "to=Tmp/j.md"),
			harness.Operation("b", "copy", "path=Tmp/j.md", "to=Shared/j.md"),
		}}
		result := h.Gateway.DoBatch(t.Context(), batch)
		assert.That(t, !result.OK, "%+v", result)
		assert.Equal(t, h.Read("Shared/j.md"), "", "Shared/j.md")
	}
}

// hasCanary reports whether a file in a folder has the text.
func hasCanary(t *testing.T, h *harness.InProcess, folder string) (has bool) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(h.Vault), folder, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			has = has || strings.Contains(h.Read(at), "CANARY")
		}
		return err
	})
	require.NoError(t, err)
	return has
}

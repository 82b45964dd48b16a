package pairs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// writingApp is an official CLI that reads notes and appends to them, and counts its
// changes in the file "changes" of the home.
func writingApp(r *rig.Rig) {
	r.T.Helper()
	r.Set("backend", `"obsidian"`)
	r.Flags = []string{"--cli=" + r.App(fmt.Sprintf(`PATH=/usr/bin:/bin
vault='%s'
command=$2
for a in "$@"; do
	case $a in
	path=*) path=${a#path=} ;;
	content=*) content=${a#content=} ;;
	esac
done
case $command in
version) echo "1.12.7 (installer 1.12.7)" ;;
vault) echo "$vault" ;;
read) cat "$vault/$path" ;;
append) [ -z "$(tail -c1 "$vault/$path")" ] || echo >>"$vault/$path"; printf '%%s' "$content" >>"$vault/$path"; echo x >>"$HOME/changes"; echo "Appended to: $path" ;;
*) echo "Error: not expected"; echo "$command" >>"$HOME/unexpected" ;;
esac`, r.Vault))}
}

func changes(r *rig.Rig) int {
	text, _ := os.ReadFile(filepath.Join(r.Home, "changes"))
	return strings.Count(string(text), "x")
}

// A change that the app makes keeps to its key and its hash, is journaled, logged and
// taken back, and its dry run does not reach the app.
func TestAChangeByTheAppIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	r := rig.New(t, map[string]string{"Note.md": "one\n"})
	writingApp(r.Set("confirm", `"never"`))
	server := r.OverHTTP()
	for _, e := range []*rig.Client{r.Stdio(false, ""), r.Session(server), r.Stateless(server)} {
		r.Write("Note.md", "one\n")
		before := changes(r)
		write := rig.Calling("append", "path=Note.md", "content=two")
		var plan gateway.DryRun
		e.Tool("obsidianCli", write.With("dryRun", true), &plan)
		if !plan.OK || plan.Backend != "obsidian" || !strings.Contains(plan.Diff, "+two") || changes(r) != before {
			t.Errorf("%s: the dry run: %s", e.Name, rig.JSON(t, plan))
		}
		if got := e.Do(write.With("expectHash", "0000000000000000")); rig.CodeOfError(got.Error) != "conflict" || changes(r) != before {
			t.Errorf("%s: another hash: %+v", e.Name, got.Error)
		}
		keyed := write.With("idempotencyKey", e.Name).With("expectHash", rig.HashOfText("one\n"))
		first, again := e.Do(keyed), e.Do(keyed)
		if !first.OK || first.Backend != "obsidian" || rig.ChangeID(first) == "" || rig.ChangeID(first) != rig.ChangeID(again) || changes(r) != before+1 {
			t.Fatalf("%s: %s, then %s, %d changes", e.Name, rig.JSON(t, first), rig.JSON(t, again), changes(r)-before)
		}
		assert.Contains(t, r.Must("journal", "list", "--json"), rig.ChangeID(first), "%s: the journal has", e.Name)
		assert.Contains(t, r.Must("audit", "list", "--json"), rig.ChangeID(first), "%s: the audit log has", e.Name)
		got := e.Do(rig.Calling("undo", "id="+rig.ChangeID(first)))
		assert.That(t, got.OK && r.Read("Note.md") == "one\n", "%s: undo: %+v, the note is %q", e.Name, got.Error, r.Read("Note.md"))
		if batch := e.Batch(write, rig.Calling("read", "path=Note.md"), write); !batch.OK || batch.Results[1].Result.Stdout != "one\ntwo\n" && batch.Results[1].Result.Stdout != "one\ntwo" || r.Read("Note.md") != "one\ntwo\ntwo" {
			t.Errorf("%s: the batch: %s, the note is %q", e.Name, rig.JSON(t, batch), r.Read("Note.md"))
		}
	}
}

// Who is asked about a change by the app is asked once, and the app is not reached
// before.
func TestAChangeByTheAppIsAskedAbout(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{rig.Accept: 1, rig.Decline: 0} {
		r := rig.New(t, map[string]string{"Note.md": "one\n"})
		writingApp(r.Set("confirm", `"writes"`))
		e := r.Stdio(false, answer)
		got := e.Do(rig.Calling("append", "path=Note.md", "content=two"))
		if got.OK != (want == 1) || changes(r) != want || len(e.Forms) != 1 || !strings.Contains(e.Forms[0], "two") {
			t.Errorf("%s: %+v, %d changes, asked %q", answer, got.Error, changes(r), e.Forms)
		}
	}
}

// A long answer of the app is paged and its rest is a resource, as of the embedded
// CLI; a dry run has no pages.
func TestTheRestOfAnAnswerOfTheAppIsAResource(t *testing.T) {
	t.Parallel()
	r := rig.New(t, map[string]string{"Note.md": rig.LongNote})
	writingApp(r)
	server := r.OverHTTP()
	for _, e := range []*rig.Client{r.Stdio(false, ""), r.Session(server), r.Stateless(server)} {
		read := rig.Calling("read", "path=Note.md")
		page := e.Do(read)
		require.That(t, page.OK && page.Backend == "obsidian" && page.Truncated != nil, "%s: %+v", e.Name, page.Error)
		cursor := page.Truncated.Cursor
		answer := e.Ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor})
		if len(answer.Result.Contents) != 1 || page.Stdout+answer.Result.Contents[0].Text != rig.LongNote {
			t.Errorf("%s: the page and the rest are not the note: %d and %d contents, %+v", e.Name, len(page.Stdout), len(answer.Result.Contents), answer.Error)
		}
		var plan gateway.DryRun
		e.Tool("obsidianCli", read.With("cursor", cursor).With("dryRun", true), &plan)
		assert.That(t, rig.CodeOfError(plan.Error) == "bad_request", "%s: a dry run with a cursor: %+v", e.Name, plan.Error)
	}
}

func TestPromptsAndCompletionAreTheSameByEveryEntrance(t *testing.T) {
	t.Parallel()
	r := rig.New(t, map[string]string{"Note.md": "one\n"})
	server := r.OverHTTP()
	var first []string
	for _, e := range []*rig.Client{r.Stdio(false, ""), r.Stdio(true, ""), r.Session(server), r.Stateless(server)} {
		prompt := e.Ask("prompts/get", map[string]any{"name": "weekly-rollup", "arguments": map[string]any{"days": "2"}})
		completion := e.Ask("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "weekly-rollup"}, "argument": map[string]any{"name": "date", "value": "2026-11-1"}})
		got := []string{rig.JSON(t, prompt.Result.Messages), strings.Join(completion.Result.Completion.Values, " ")}
		if e.Name == "stdio" {
			first = got
		}
		if !strings.Contains(got[0], "2026-11-21") || !strings.HasPrefix(got[1], "2026-11-19") || got[0] != first[0] || got[1] != first[1] {
			t.Errorf("%s: %q, want %q", e.Name, got, first)
		}
	}
}

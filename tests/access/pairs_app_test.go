package access

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// writingApp is an official CLI that reads notes and appends to them.
func writingApp(r *harness.Program) {
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
append) [ -z "$(tail -c1 "$vault/$path")" ] || echo >>"$vault/$path"; printf '%%s' "$content" >>"$vault/$path"; echo "Appended to: $path" ;;
*) echo "Error: not expected"; echo "$command" >>"$HOME/unexpected" ;;
esac`, r.Vault))}
}

// A change that the app makes keeps to its key and its hash, is journaled, logged and
// taken back, and its dry run does not reach the app.
func TestAChangeByTheAppIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one\n"})
	writingApp(r.Set("confirm", `"never"`))
	server := r.OverHTTP()
	for _, e := range []*harness.Client{r.Stdio(false, ""), r.Session(server), r.Stateless(server)} {
		isAChangeLikeAnyOther(e, "two", "obsidian")
	}
}

// A text that the app would change is written by the embedded program.
func TestAHybridWriteIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one\n"})
	writingApp(r.Set("confirm", `"never"`))
	e := r.Set("backend", `"auto"`).Stdio(false, "")
	isAChangeLikeAnyOther(e, `a \n as it is`, "embedded")
	plan := e.Plan(harness.Calling("append", "path=Note.md", `content=a \n as it is`).With("expectHash", "0000000000000000"))
	require.That(t, plan.Error != nil, "the dry run with another hash: %s", harness.JSON(t, plan))
	require.Equal(t, plan.Diff, "", "the dry run with another hash: %s", harness.JSON(t, plan))
	assert.Contains(t, plan.Error.Message, "has the hash ", "the dry run with another hash")
}

// isAChangeLikeAnyOther appends a text to a note: it keeps to its key and its hash, is journaled, logged
// and taken back, and its dry run changes nothing.
func isAChangeLikeAnyOther(e *harness.Client, text, backend string) {
	r, t := e.Program, e.Program.T
	t.Helper()
	r.Write("Note.md", "one\n")
	write := harness.Calling("append", "path=Note.md", "content="+text)
	plan := e.Plan(write)
	assert.That(t, plan.OK, "%s: the dry run: %s", e.Name, harness.JSON(t, plan))
	assert.Equal(t, plan.Backend, backend, "%s: the dry run: %s", e.Name, harness.JSON(t, plan))
	assert.Contains(t, plan.Diff, "+"+text, "%s: the dry run: %s", e.Name, harness.JSON(t, plan))
	got := e.Do(write.With("expectHash", "0000000000000000"))
	assert.Equal(t, harness.CodeOf(got), "conflict",
		"%s: another hash: %+v, the note is %q", e.Name, got.Error, r.Read("Note.md"))
	assert.Equal(t, r.Read("Note.md"), "one\n",
		"%s: another hash: %+v, the note is %q", e.Name, got.Error, r.Read("Note.md"))
	keyed := write.With("idempotencyKey", e.Name).With("expectHash", harness.HashOfText("one\n"))
	first, again := e.Do(keyed), e.Do(keyed)
	id := harness.ChangeID(first)
	require.That(t, first.OK,
		"%s: %s, then %s, the note is %q", e.Name, harness.JSON(t, first), harness.JSON(t, again), r.Read("Note.md"))
	require.Equal(t, first.Backend, backend,
		"%s: %s, then %s, the note is %q", e.Name, harness.JSON(t, first), harness.JSON(t, again), r.Read("Note.md"))
	require.That(t, id != "",
		"%s: %s, then %s, the note is %q", e.Name, harness.JSON(t, first), harness.JSON(t, again), r.Read("Note.md"))
	require.Equal(t, id, harness.ChangeID(again),
		"%s: %s, then %s, the note is %q", e.Name, harness.JSON(t, first), harness.JSON(t, again), r.Read("Note.md"))
	require.Equal(t, r.Read("Note.md"), "one\n"+text,
		"%s: %s, then %s, the note is %q", e.Name, harness.JSON(t, first), harness.JSON(t, again), r.Read("Note.md"))
	assert.Contains(t, r.Must("journal", "list", "--json"), id, "%s: the journal has", e.Name)
	assert.Contains(t, r.Must("audit", "list", "--json"), id, "%s: the audit log has", e.Name)
	got = e.Do(harness.Calling("undo", "id="+id))
	assert.That(t, got.OK, "%s: undo: %+v, the note is %q", e.Name, got.Error, r.Read("Note.md"))
	assert.Equal(t, r.Read("Note.md"), "one\n", "%s: undo: %+v, the note is %q", e.Name, got.Error, r.Read("Note.md"))
	batch := e.Batch(write, harness.Calling("read", "path=Note.md"), write)
	read := batch.OK && strings.TrimSuffix(batch.Results[1].Result.Stdout, "\n") == "one\n"+text
	require.That(t, read, "%s: the batch: %s, the note is %q", e.Name, harness.JSON(t, batch), r.Read("Note.md"))
	assert.Equal(t, r.Read("Note.md"), "one\n"+text+"\n"+text,
		"%s: the batch: %s, the note is %q", e.Name, harness.JSON(t, batch), r.Read("Note.md"))
}

// Who is asked about a change by the app is asked once, and the app is not reached
// before.
func TestAChangeByTheAppIsAskedAbout(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{harness.Accept: "one\ntwo", harness.Decline: "one\n"} {
		r := harness.New(t, map[string]string{"Note.md": "one\n"})
		writingApp(r.Set("confirm", `"writes"`).Set("min-answer-time", `"0s"`))
		r.Client = "codex-mcp-client" // which shows many lines
		e := r.Stdio(false, answer)
		got := e.Do(harness.Calling("append", "path=Note.md", "content=two"))
		assert.Equal(t, got.OK, answer == harness.Accept, "%s: %+v, the note is %q", answer, got.Error, r.Read("Note.md"))
		assert.Equal(t, r.Read("Note.md"), want, "%s: %+v, the note is %q", answer, got.Error, r.Read("Note.md"))
		require.Equal(t, len(e.Forms), 1, "%s: asked %q", answer, e.Forms)
		assert.Contains(t, e.Forms[0], "two", "%s: asked %q", answer, e.Forms)
	}
}

// A long answer of the app is paged and its rest is a resource, as of the embedded
// CLI; a dry run has no pages.
func TestTheRestOfAnAnswerOfTheAppIsAResource(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": harness.LongNote})
	writingApp(r)
	server := r.OverHTTP()
	for _, e := range []*harness.Client{r.Stdio(false, ""), r.Session(server), r.Stateless(server)} {
		read := harness.Calling("read", "path=Note.md")
		page := e.Do(read)
		require.That(t, page.OK, "%s: %+v", e.Name, page.Error)
		require.Equal(t, page.Backend, "obsidian", "%s: %+v", e.Name, page.Error)
		require.That(t, page.Truncated != nil, "%s: %+v", e.Name, page.Error)
		cursor := page.Truncated.Cursor
		answer := e.Ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor})
		if len(answer.Result.Contents) != 1 || page.Stdout+answer.Result.Contents[0].Text != harness.LongNote {
			t.Errorf("%s: the page and the rest are not the note: %d and %d contents, %+v", e.Name, len(page.Stdout), len(answer.Result.Contents), answer.Error)
		}
		plan := e.Plan(read.With("cursor", cursor))
		assert.That(t, harness.CodeOfError(plan.Error) == "bad_request", "%s: a dry run with a cursor: %+v", e.Name, plan.Error)
	}
}

func TestPromptsAndCompletionAreTheSameByEveryEntrance(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one\n"})
	server := r.OverHTTP()
	var first []string
	for _, e := range []*harness.Client{r.Stdio(false, ""), r.Stdio(true, ""), r.Session(server), r.Stateless(server)} {
		prompt := e.Ask("prompts/get", map[string]any{"name": "weekly-rollup", "arguments": map[string]any{"days": "2"}})
		completion := e.Ask("completion/complete",
			map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "weekly-rollup"},
				"argument": map[string]any{"name": "date", "value": "2026-11-1"}})
		got := []string{harness.JSON(t, prompt.Result.Messages), strings.Join(completion.Result.Completion.Values, " ")}
		if e.Name == "stdio" {
			first = got
		}
		if !strings.Contains(got[0], "2026-11-21") || !strings.HasPrefix(got[1], "2026-11-19") || got[0] != first[0] || got[1] != first[1] {
			t.Errorf("%s: %q, want %q", e.Name, got, first)
		}
	}
}

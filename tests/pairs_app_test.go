package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway"
)

// writingApp is an official CLI that reads notes and appends to them, and counts its
// changes in the file "changes" of the home.
func (r *rig) writingApp() {
	r.t.Helper()
	r.set("backend", `"obsidian"`)
	r.flags = []string{"--cli=" + r.app(fmt.Sprintf(`PATH=/usr/bin:/bin
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
esac`, r.vault))}
}

func (r *rig) changes() int {
	text, _ := os.ReadFile(filepath.Join(r.home, "changes"))
	return strings.Count(string(text), "x")
}

// A change that the app makes keeps to its key and its hash, is journaled, logged and
// taken back, and its dry run does not reach the app.
func TestAChangeByTheAppIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"Note.md": "one\n"})
	r.set("confirm", `"never"`).writingApp()
	server := r.overHTTP()
	for _, e := range []*entrance{r.stdio(false, ""), r.session(server), r.stateless(server)} {
		r.write("Note.md", "one\n")
		before := r.changes()
		write := calling("append", "path=Note.md", "content=two")
		var plan gateway.DryRun
		e.tool("obsidianCli", write.with("dryRun", true), &plan)
		if !plan.OK || plan.Backend != "obsidian" || !strings.Contains(plan.Diff, "+two") || r.changes() != before {
			t.Errorf("%s: the dry run: %s", e.name, asText(t, plan))
		}
		if got := e.do(write.with("expectHash", "0000000000000000")); codeOfError(got.Error) != "conflict" || r.changes() != before {
			t.Errorf("%s: another hash: %+v", e.name, got.Error)
		}
		keyed := write.with("idempotencyKey", e.name).with("expectHash", hashOfText("one\n"))
		first, again := e.do(keyed), e.do(keyed)
		if !first.OK || first.Backend != "obsidian" || changeID(first) == "" || changeID(first) != changeID(again) || r.changes() != before+1 {
			t.Fatalf("%s: %s, then %s, %d changes", e.name, asText(t, first), asText(t, again), r.changes()-before)
		}
		if list := r.must("journal", "list", "--json"); !strings.Contains(list, changeID(first)) {
			t.Errorf("%s: the journal has %s", e.name, list)
		}
		if log := r.must("audit", "list", "--json"); !strings.Contains(log, changeID(first)) {
			t.Errorf("%s: the audit log has %s", e.name, log)
		}
		if got := e.do(calling("undo", "id="+changeID(first))); !got.OK || r.read("Note.md") != "one\n" {
			t.Errorf("%s: undo: %+v, the note is %q", e.name, got.Error, r.read("Note.md"))
		}
		if batch := e.batch(write, calling("read", "path=Note.md"), write); !batch.OK || batch.Results[1].Result.Stdout != "one\ntwo\n" && batch.Results[1].Result.Stdout != "one\ntwo" || r.read("Note.md") != "one\ntwo\ntwo" {
			t.Errorf("%s: the batch: %s, the note is %q", e.name, asText(t, batch), r.read("Note.md"))
		}
	}
}

// Who is asked about a change by the app is asked once, and the app is not reached
// before.
func TestAChangeByTheAppIsAskedAbout(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{acceptIt: 1, declineIt: 0} {
		r := newRig(t, map[string]string{"Note.md": "one\n"})
		r.set("confirm", `"writes"`).writingApp()
		e := r.stdio(false, answer)
		got := e.do(calling("append", "path=Note.md", "content=two"))
		if got.OK != (want == 1) || r.changes() != want || len(e.forms) != 1 || !strings.Contains(e.forms[0], "two") {
			t.Errorf("%s: %+v, %d changes, asked %q", answer, got.Error, r.changes(), e.forms)
		}
	}
}

// A long answer of the app is paged and its rest is a resource, as of the embedded
// CLI; a dry run has no pages.
func TestTheRestOfAnAnswerOfTheAppIsAResource(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"Note.md": longNote})
	r.writingApp()
	server := r.overHTTP()
	for _, e := range []*entrance{r.stdio(false, ""), r.session(server), r.stateless(server)} {
		read := calling("read", "path=Note.md")
		page := e.do(read)
		if !page.OK || page.Backend != "obsidian" || page.Truncated == nil {
			t.Fatalf("%s: %+v", e.name, page.Error)
		}
		cursor := page.Truncated.Cursor
		answer := e.ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor})
		if len(answer.Result.Contents) != 1 || page.Stdout+answer.Result.Contents[0].Text != longNote {
			t.Errorf("%s: the page and the rest are not the note: %d and %d contents", e.name, len(page.Stdout), len(answer.Result.Contents))
		}
		var plan gateway.DryRun
		e.tool("obsidianCli", read.with("cursor", cursor).with("dryRun", true), &plan)
		if codeOfError(plan.Error) != "bad_request" {
			t.Errorf("%s: a dry run with a cursor: %+v", e.name, plan.Error)
		}
	}
}

// A prompt and a completion are the same by every entrance.
func TestPromptsAndCompletionAreTheSameByEveryEntrance(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"Note.md": "one\n"})
	server := r.overHTTP()
	var first []string
	for _, e := range []*entrance{r.stdio(false, ""), r.stdio(true, ""), r.session(server), r.stateless(server)} {
		prompt := e.ask("prompts/get", map[string]any{"name": "weekly-rollup", "arguments": map[string]any{"days": "2"}})
		completion := e.ask("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "weekly-rollup"}, "argument": map[string]any{"name": "date", "value": "2026-11-1"}})
		got := []string{asText(t, prompt.Result.Messages), strings.Join(completion.Result.Completion.Values, " ")}
		if e.name == "stdio" {
			first = got
		}
		if !strings.Contains(got[0], "2026-11-21") || !strings.HasPrefix(got[1], "2026-11-19") || got[0] != first[0] || got[1] != first[1] {
			t.Errorf("%s: %q, want %q", e.name, got, first)
		}
	}
}

package tests

import (
	"strings"
	"testing"

	"vaultwicket/gateway"
)

// A key belongs to what a call does: a dry run does not use it up, the hash that was
// expected is not asked for again, and an undo under a key takes back one change.
func TestAKeyMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"Note.md": "one\n"})
	r.set("confirm", `"never"`)
	server := r.overHTTP()
	for _, e := range []*entrance{r.stdio(false, ""), r.stdio(true, ""), r.session(server), r.stateless(server)} {
		r.write("Note.md", "one\n")
		hash := e.do(calling("read", "path=Note.md")).Hash
		keyed := calling("append", "path=Note.md", "content=two").with("idempotencyKey", "append by "+e.name).with("expectHash", hash)
		var plan gateway.DryRun
		e.tool("obsidianCli", keyed.with("dryRun", true), &plan)
		if !plan.OK || r.read("Note.md") != "one\n" {
			t.Errorf("%s: the dry run: %+v, the note is %q", e.name, plan.Error, r.read("Note.md"))
		}
		first := e.do(keyed)
		again := e.do(keyed)
		if !first.OK || !again.OK || changeID(first) != changeID(again) || r.read("Note.md") != "one\ntwo" {
			t.Errorf("%s: %+v, then %+v, the note is %q", e.name, first.Error, again.Error, r.read("Note.md"))
		}
		if other := e.do(keyed.with("expectHash", first.Hash)); other.OK || r.read("Note.md") != "one\ntwo" {
			t.Errorf("%s: the key with another hash: %+v", e.name, other)
		}
		second := e.do(calling("append", "path=Note.md", "content=three"))
		undo := calling("undo", "id="+changeID(second)).with("idempotencyKey", "undo by "+e.name)
		var planned gateway.DryRun
		e.tool("obsidianCli", undo.with("dryRun", true), &planned)
		if !planned.OK || !strings.Contains(planned.Diff, "-three") || r.read("Note.md") != "one\ntwo\nthree" {
			t.Errorf("%s: the dry run of the undo: %s, the note is %q", e.name, asText(t, planned), r.read("Note.md"))
		}
		if one, two := e.do(undo), e.do(undo); !one.OK || !two.OK || r.read("Note.md") != "one\ntwo" {
			t.Errorf("%s: undo twice under one key: %+v, %+v, the note is %q", e.name, one.Error, two.Error, r.read("Note.md"))
		}
		if read := e.do(calling("read", "path=Note.md")); read.Stdout != "one\ntwo\n" {
			t.Errorf("%s: behind the undo the worker reads %q", e.name, read.Stdout)
		}
	}
}

// A text that the app would change is written by the embedded program, and all that
// holds for changes holds for that one as well.
func TestAHybridWriteIsAChangeLikeAnyOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"Note.md": "one\n"})
	r.set("confirm", `"never"`).set("backend", `"auto"`)
	app := r.app(`case "$2" in version) echo "1.12.7 (installer 1.12.7)";; vault) printf '%s\n' "` + r.vault + `";; *) echo "$*" >>"$HOME/called"; echo "Error: not expected";; esac`)
	r.flags = []string{"--cli=" + app}
	e := r.stdio(false, "")
	hash := hashOfText("one\n")
	write := calling("append", "path=Note.md", `content=a \n as it is`)
	var plan gateway.DryRun
	e.tool("obsidianCli", write.with("dryRun", true), &plan)
	if !plan.OK || plan.Backend != "embedded" || !strings.Contains(plan.Diff, `+a \n as it is`) || r.read("Note.md") != "one\n" {
		t.Errorf("the dry run: %s", asText(t, plan))
	}
	plan = gateway.DryRun{}
	e.tool("obsidianCli", write.with("dryRun", true).with("expectHash", "0000000000000000"), &plan)
	if plan.Diff != "" || !strings.Contains(strings.Join(plan.Notices, "\n"), "would fail: ") || !strings.Contains(strings.Join(plan.Notices, "\n"), "has the hash "+hash) {
		t.Errorf("the dry run with another hash: %s", asText(t, plan))
	}
	if got := e.do(write.with("expectHash", "0000000000000000")); codeOfError(got.Error) != "conflict" {
		t.Errorf("another hash: %+v", got.Error)
	}
	keyed := write.with("idempotencyKey", "k").with("expectHash", hash)
	first, again := e.do(keyed), e.do(keyed)
	if !first.OK || first.Backend != "embedded" || changeID(first) == "" || changeID(first) != changeID(again) || r.read("Note.md") != "one\n"+`a \n as it is` {
		t.Fatalf("%s, then %s, the note is %q", asText(t, first), asText(t, again), r.read("Note.md"))
	}
	if list := r.must("journal", "list", "--json"); !strings.Contains(list, changeID(first)) {
		t.Errorf("the journal has %s", list)
	}
	if log := r.must("audit", "list", "--json"); !strings.Contains(log, `"backend":"embedded"`) && !strings.Contains(log, `"backend": "embedded"`) {
		t.Errorf("the audit log has %s", log)
	}
	batch := e.batch(write, write)
	if !batch.OK || strings.Count(r.read("Note.md"), `a \n as it is`) != 3 {
		t.Errorf("the batch: %s, the note is %q", asText(t, batch), r.read("Note.md"))
	}
	r.write("Note.md", "one\n"+`a \n as it is`)
	if got := e.do(calling("undo", "id="+changeID(first))); !got.OK || r.read("Note.md") != "one\n" {
		t.Errorf("undo: %+v, the note is %q", got.Error, r.read("Note.md"))
	}
}

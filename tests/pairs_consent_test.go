package tests

import (
	"testing"

	"vaultwicket/gateway"
)

// An approval for a folder is one for changes as they are, with all that belongs to
// them: their keys, their hashes, batches, the journal and the way back.
func TestAnApprovalForAFolderMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	o := openOffice(t, nil)
	if got, _ := o.do(appendToA, says(gateway.YesHere)); codeOf(got) != "" {
		t.Fatalf("got %+v", got.Error)
	}
	note := o.read("Inbox/a.md")
	req := gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=two"}, Caller: "me", IdempotencyKey: "k", ExpectHash: hashOfText(note)}
	first, asked := o.send(req)
	again, _ := o.send(req)
	if codeOf(first) != "" || codeOf(again) != "" || len(asked) != 0 || changeID(first) != changeID(again) || o.begun() != 2 {
		t.Errorf("%+v, then %+v, %d changes, asked %d times", first.Error, again.Error, o.begun(), len(asked))
	}
	stale := req
	stale.IdempotencyKey = ""
	if got, asked := o.send(stale); codeOf(got) != "conflict" || len(asked) != 0 {
		t.Errorf("a hash from before: %+v, asked %d times", got.Error, len(asked))
	}
	batch, asked := o.batch([]gateway.Operation{operation("a", "append", "path=Inbox/a.md", "content=y"), operation("b", "append", "path=root.md", "content=y")}, says(gateway.No))
	if batch.OK || len(asked) != 1 || o.begun() != 2 {
		t.Errorf("a batch that reaches further: %+v, asked %d times", batch, len(asked))
	}
	if got, _ := o.do([]string{"undo", "id=" + changeID(first)}, says(gateway.Yes)); codeOf(got) != "" || o.read("Inbox/a.md") != note {
		t.Errorf("undo: %+v, the note is %q", got.Error, o.read("Inbox/a.md"))
	}
}

// A code from the desk is for the call with all that belongs to it.
func TestAnApprovalAtTheDeskMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	o := openOffice(t, nil)
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me", IdempotencyKey: "k", ExpectHash: hashOfText("root\n")}
	o.gateway.Do(t.Context(), req)
	o.approve()
	first, again := o.gateway.Do(t.Context(), req), o.gateway.Do(t.Context(), req)
	if codeOf(first) != "" || codeOf(again) != "" || changeID(first) != changeID(again) || o.begun() != 1 {
		t.Errorf("%+v, then %+v, %d changes", first.Error, again.Error, o.begun())
	}
	undo := gateway.Request{Command: "undo", Words: []string{"id=" + changeID(first)}, Caller: "me"}
	o.refusing("undo", "unconfirmed", func() string { return codeOf(o.gateway.Do(t.Context(), undo)) })
	o.gateway.Do(t.Context(), undo)
	o.approve()
	if got := o.gateway.Do(t.Context(), undo); codeOf(got) != "" || o.read("root.md") != "root\n" {
		t.Errorf("undo: %+v, the note is %q", got.Error, o.read("root.md"))
	}
	b := gateway.Batch{Caller: "me", Operations: []gateway.Operation{operation("a", "append", "path=root.md", "content=y"), operation("b", "delete", "path=Inbox/b.md")}}
	o.gateway.DoBatch(t.Context(), b)
	o.approve()
	if got := o.gateway.DoBatch(t.Context(), b); !got.OK || o.read("root.md") != "root\ny" || o.read("Inbox/b.md") != "" {
		t.Errorf("the batch: %+v", got)
	}
	if got := o.gateway.DoBatch(t.Context(), b); got.OK {
		t.Error("the approval of the batch is good twice")
	}
}

package consent

import (
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/gateway/consent"
	"vaultwicket/tests/rig"
)

// An approval for a folder is one for changes as they are, with all that belongs to
// them: their keys, their hashes, batches, the journal and the way back.
func TestAnApprovalForAFolderMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	if got, _ := o.Do(appendToA, rig.Says(consent.YesHere)); rig.CodeOf(got) != "" {
		t.Fatalf("got %+v", got.Error)
	}
	note := o.Read("Inbox/a.md")
	req := gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=two"}, Caller: "me", IdempotencyKey: "k", ExpectHash: rig.HashOfText(note)}
	first, asked := o.Send(req)
	again, _ := o.Send(req)
	if rig.CodeOf(first) != "" || rig.CodeOf(again) != "" || len(asked) != 0 || rig.ChangeID(first) != rig.ChangeID(again) || o.Begun() != 2 {
		t.Errorf("%+v, then %+v, %d changes, asked %d times", first.Error, again.Error, o.Begun(), len(asked))
	}
	stale := req
	stale.IdempotencyKey = ""
	if got, asked := o.Send(stale); rig.CodeOf(got) != "conflict" || len(asked) != 0 {
		t.Errorf("a hash from before: %+v, asked %d times", got.Error, len(asked))
	}
	batch, asked := o.Batch([]gateway.Operation{rig.Operation("a", "append", "path=Inbox/a.md", "content=y"), rig.Operation("b", "append", "path=root.md", "content=y")}, rig.Says(consent.No))
	if batch.OK || len(asked) != 1 || o.Begun() != 2 {
		t.Errorf("a batch that reaches further: %+v, asked %d times", batch, len(asked))
	}
	if got, _ := o.Do([]string{"undo", "id=" + rig.ChangeID(first)}, rig.Says(consent.Yes)); rig.CodeOf(got) != "" || o.Read("Inbox/a.md") != note {
		t.Errorf("undo: %+v, the note is %q", got.Error, o.Read("Inbox/a.md"))
	}
}

// A code from the desk is for the call with all that belongs to it.
func TestAnApprovalInATerminalWithOtherFeatures(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me", IdempotencyKey: "k", ExpectHash: rig.HashOfText("root\n")}
	o.Gateway.Do(t.Context(), req)
	o.Approve()
	first, again := o.Gateway.Do(t.Context(), req), o.Gateway.Do(t.Context(), req)
	if rig.CodeOf(first) != "" || rig.CodeOf(again) != "" || rig.ChangeID(first) != rig.ChangeID(again) || o.Begun() != 1 {
		t.Errorf("%+v, then %+v, %d changes", first.Error, again.Error, o.Begun())
	}
	undo := gateway.Request{Command: "undo", Words: []string{"id=" + rig.ChangeID(first)}, Caller: "me"}
	o.Refusing("undo", "unconfirmed", func() string { return rig.CodeOf(o.Gateway.Do(t.Context(), undo)) })
	o.Gateway.Do(t.Context(), undo)
	o.Approve()
	if got := o.Gateway.Do(t.Context(), undo); rig.CodeOf(got) != "" || o.Read("root.md") != "root\n" {
		t.Errorf("undo: %+v, the note is %q", got.Error, o.Read("root.md"))
	}
	b := gateway.Batch{Request: gateway.Request{Caller: "me"}, Operations: []gateway.Operation{rig.Operation("a", "append", "path=root.md", "content=y"), rig.Operation("b", "delete", "path=Inbox/b.md")}}
	o.Gateway.DoBatch(t.Context(), b)
	o.Approve()
	if got := o.Gateway.DoBatch(t.Context(), b); !got.OK || o.Read("root.md") != "root\ny" || o.Read("Inbox/b.md") != "" {
		t.Errorf("the batch: %+v", got)
	}
	if got := o.Gateway.DoBatch(t.Context(), b); got.OK {
		t.Error("the approval of the batch is good twice")
	}
}

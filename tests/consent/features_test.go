package consent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An approval for a folder is one for changes as they are, with all that belongs to
// them: their keys, their hashes, batches, the journal and the way back.
func TestAnApprovalForAFolderMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	o.Must(appendToA, harness.Says(consent.YesHere))
	note := o.Read("Inbox/a.md")
	req := gateway.Request{Command: "append", Words: []string{"path=Inbox/a.md", "content=two"}, Caller: "me",
		IdempotencyKey: "k", ExpectHash: harness.HashOfText(note)}
	first, asked := o.Send(req)
	again, _ := o.Send(req)
	if harness.CodeOf(first) != "" || harness.CodeOf(again) != "" || len(asked) != 0 || harness.ChangeID(first) != harness.ChangeID(again) || o.Begun() != 2 {
		t.Errorf("%+v, then %+v, %d changes, asked %d times", first.Error, again.Error, o.Begun(), len(asked))
	}
	stale := req
	stale.IdempotencyKey = ""
	if got, asked := o.Send(stale); harness.CodeOf(got) != "conflict" || len(asked) != 0 {
		t.Errorf("a hash from before: %+v, asked %d times", got.Error, len(asked))
	}
	batch, asked := o.Batch([]gateway.Operation{harness.Operation("a", "append", "path=Inbox/a.md", "content=y"),
		harness.Operation("b", "append", "path=root.md", "content=y")}, harness.Says(consent.No))
	assert.That(t, !batch.OK, "a batch that reaches further: %+v, asked %d times", batch, len(asked))
	assert.Equal(t, len(asked), 1, "a batch that reaches further: %+v, asked %d times", batch, len(asked))
	assert.Equal(t, o.Begun(), 2, "a batch that reaches further: %+v, asked %d times", batch, len(asked))
	got, _ := o.Do([]string{"undo", "id=" + harness.ChangeID(first)}, harness.Says(consent.Yes))
	assert.Equal(t, harness.CodeOf(got), "", "undo: %+v, the note is %q", got.Error, o.Read("Inbox/a.md"))
	assert.Equal(t, o.Read("Inbox/a.md"), note, "undo: %+v, the note is %q", got.Error, o.Read("Inbox/a.md"))
}

// A code from the desk is for the call with all that belongs to it.
func TestAnApprovalInATerminalWithOtherFeatures(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	req := gateway.Request{Command: "append", Words: []string{"path=root.md", "content=x"}, Caller: "me",
		IdempotencyKey: "k", ExpectHash: harness.HashOfText("root\n")}
	o.Gateway.Do(t.Context(), req)
	o.Approve()
	first, again := o.Gateway.Do(t.Context(), req), o.Gateway.Do(t.Context(), req)
	if harness.CodeOf(first) != "" || harness.CodeOf(again) != "" || harness.ChangeID(first) != harness.ChangeID(again) || o.Begun() != 1 {
		t.Errorf("%+v, then %+v, %d changes", first.Error, again.Error, o.Begun())
	}
	undo := gateway.Request{Command: "undo", Words: []string{"id=" + harness.ChangeID(first)}, Caller: "me"}
	o.Refusing("undo", "unconfirmed", func() string { return harness.CodeOf(o.Gateway.Do(t.Context(), undo)) })
	o.Gateway.Do(t.Context(), undo)
	o.Approve()
	if got := o.Gateway.Do(t.Context(), undo); harness.CodeOf(got) != "" || o.Read("root.md") != "root\n" {
		t.Errorf("undo: %+v, the note is %q", got.Error, o.Read("root.md"))
	}
	b := gateway.Batch{Request: gateway.Request{Caller: "me"},
		Operations: []gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=y"),
			harness.Operation("b", "delete", "path=Inbox/b.md")}}
	o.Gateway.DoBatch(t.Context(), b)
	o.Approve()
	got := o.Gateway.DoBatch(t.Context(), b)
	assert.That(t, got.OK, "the batch: %+v", got)
	assert.Equal(t, o.Read("root.md"), "root\ny", "the batch: %+v", got)
	assert.Equal(t, o.Read("Inbox/b.md"), "", "the batch: %+v", got)
	assert.That(t, !o.Gateway.DoBatch(t.Context(), b).OK, "the approval of the batch is good twice")
}

func calls(t *testing.T, s *harness.StdioServer, command string, params map[string]any) string {
	t.Helper()
	answer, err := s.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command, "params": params}})
	require.NoError(t, err)
	return string(answer)
}

// Sections go to another machine only with allow-publish, and after a question with its address and their number.
func TestSectionsForAnotherMachineNeedAnApproval(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes")
	harness.WriteFile(t, filepath.Join(folder, "A.md"), []byte("# Bank\nThe mortgage.\n"))
	flags := []string{"--config=none", "--backend=embedded", "--vault=" + folder, "--tier=v1", "--embeddings-url=http://10.255.255.1:9/v1"}
	send := map[string]any{"host": "10.255.255.1", "model": "nomic-embed-text", "sections": 2}
	for confirm, want := range map[string]string{"destructive": `"unconfirmed"`, "never": `"Sections are sent to: 10.255.255.1\n"`} {
		state := t.TempDir()
		s := harness.StartSessionWith(t,
			[]string{"HOME=" + t.TempDir(), "XDG_STATE_HOME=" + state, "LOCALAPPDATA=" + state},
			append(flags, "--allow-mutations", "--allow-publish", "--confirm="+confirm)...)
		if got := calls(t, s, "find", map[string]any{"query": "mortgage"}); !strings.Contains(got,
			"10.255.255.1 would be sent up to 2 sections of notes: find:send host=10.255.255.1 model=nomic-embed-text sections=2 asks the user") {
			t.Errorf("confirm %s: %s", confirm, got)
		}
		assert.Contains(t, calls(t, s, "find:send", send), want, "confirm %s", confirm)
		var question strings.Builder // as the user is shown it
		err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(path, "approvals") {
				text, err := os.ReadFile(path)
				question.Write(text)
				return err
			}
			return err
		})
		shown := question.String()
		asked := strings.Contains(shown, "sends texts of notes to another machine") &&
			strings.Contains(shown, "10.255.255.1") && strings.Contains(shown, "nomic-embed-text") &&
			strings.Contains(shown, "sections")
		require.Equal(t, err, nil, "confirm %s, the question: %q", confirm, shown)
		assert.Equal(t, asked, confirm == "destructive", "confirm %s, the question: %q", confirm, shown)
	}
}

// A worker that may send texts ends with the right to, and with it what was approved.
func TestAReloadTakesTheRightToSendTexts(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "config.toml"), filepath.Join(dir, "Notes")
	harness.WriteFile(t, filepath.Join(folder, "A.md"), []byte("# Bank\nThe mortgage.\n"))
	settings := fmt.Sprintf("backend = \"embedded\"\nvault = %q\ntier = \"v1\"\nallow-mutations = true\nconfirm = \"never\"\nembeddings-url = \"https://vectors.invalid/v1\"\n",
		folder)
	harness.WriteFile(t, file, []byte(settings+"allow-publish = true\n"))
	s := harness.StartSessionWith(t, []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "LOCALAPPDATA=" + dir}, "--config="+file)
	mortgage := map[string]any{"query": "mortgage"}
	if got := calls(t, s, "find", mortgage); !strings.Contains(got, "find:send host=vectors.invalid model=nomic-embed-text sections=2 asks the user") {
		t.Fatal(got)
	}
	if got := calls(t, s, "find:send",
		map[string]any{"host": "vectors.invalid", "model": "nomic-embed-text", "sections": 2}); !strings.Contains(got,
		"Sections are sent to: vectors.invalid") {
		t.Fatal(got)
	}
	if got := calls(t, s, "find", mortgage); strings.Contains(got, "find:send") || !strings.Contains(got, "without meaning") {
		t.Fatal(got)
	}
	harness.WriteFile(t, file, []byte(settings+"allow-publish = false\n"))
	for {
		got := calls(t, s, "find", mortgage)
		require.That(t, strings.Contains(got, "A.md"), "%v", got)
		if !strings.Contains(got, "without meaning") {
			break
		}
		time.Sleep(20 * time.Millisecond) // until the file is read again; the test has a time limit
	}
}

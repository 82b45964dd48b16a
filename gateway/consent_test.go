package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// openAsking opens a gateway that asks before every change, on an app that publishes.
func openAsking(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := newFixture(t, func(c *Config) {
		c.Policy.Confirm = policy.ConfirmWrites
		if change != nil {
			change(c)
		}
	})
	return f.app(versionLine, `vault=Work publish:add path=a.md => Published: a.md\n`, `vault=Work append path=In/a.md content=x => Appended to: In/a.md\n`,
		`vault=Work append content=x path=In/a.md => Appended to: In/a.md\n`).embedded()
}

// replies is a person who gives one answer, and keeps the question.
func replies(r consent.Reply, asked *consent.Question) consent.Asker {
	return func(_ context.Context, q consent.Question) consent.Reply {
		*asked = q
		return r
	}
}

func (f *fixture) approve(got Result) {
	f.t.Helper()
	store := consent.OpenStore(consent.Folder(ownerfiles.StateFolder(f.config.Getenv, "")), nil)
	list, _, err := store.List()
	list = slices.DeleteFunc(list, func(q consent.StoredQuestion) bool { return q.State != consent.Pending })
	require.Equal(f.t, code(got), "unconfirmed", "%+v: %d questions wait, %v", got.Error, len(list), err)
	require.Equal(f.t, err, nil, "%+v: %d questions wait, %v", got.Error, len(list), err)
	require.Equal(f.t, len(list), 1, "%+v: %d questions wait, %v", got.Error, len(list), err)
	if _, err := store.Approve(list[0].Code); err != nil {
		f.t.Fatal(err)
	}
}

// published counts what the app was told to publish.
func (f *fixture) published() (count int) {
	app, _ := f.called()
	for _, line := range app {
		if strings.Contains(line, "publish:add") {
			count++
		}
	}
	return count
}

// What only the app can do is not planned; the yes is still one for the note as it
// was.
func TestAYesToPublishIsForTheTextThatWasThere(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	note := filepath.Join(f.vault, "a.md")
	write := func(text string) { require.NoError(t, os.WriteFile(note, []byte(text), 0o600)) }
	write("harmless")
	req := Request{Command: "publish:add", Params: params("path", "a.md")}
	f.approve(f.gateway.Do(t.Context(), req))
	write("what nobody has seen")
	got := f.gateway.Do(t.Context(), req)
	assert.Equal(t, code(got), "unconfirmed", "another text")
	assert.That(t, f.published() <= 0, "another text: %+v", got)
	write("harmless")
	got = f.gateway.Do(t.Context(), req)
	assert.Equal(t, code(got), "", "the text that was there")
	assert.Equal(t, f.published(), 1, "the text that was there")

	var asked consent.Question
	req.Ask = func(_ context.Context, q consent.Question) consent.Reply {
		asked = q
		write("meanwhile")
		return consent.Yes
	}
	got = f.gateway.Do(t.Context(), req)
	assert.Equal(t, code(got), "conflict", "changed under the question")
	assert.Equal(t, f.published(), 1, "changed under the question")
	assert.That(t, asked.Destructive, "asked %+v", asked)
	assert.Equal(t, asked.Folder, "", "asked %+v", asked)
	assert.Contains(t, asked.Text, "Publish \"a.md\" (vault \"Work\")\n", "asked %+v", asked)
	req.Ask = replies(consent.Yes, &asked)
	got = f.gateway.Do(t.Context(), req)
	assert.Equal(t, code(got), "", "accepted")
	assert.Equal(t, f.published(), 2, "accepted")
}

// Where it is not known what a call would change, a yes is for that call alone.
func TestAYesForAFolderNeedsToKnowWhatChanges(t *testing.T) {
	t.Parallel()
	f := openAsking(t, func(c *Config) { c.Vault.Folder = "" })
	var asked consent.Question
	req := Request{Command: "append", Params: params("path", "In/a.md", "content", "x"), Ask: replies(consent.YesHere, &asked)}
	got := f.gateway.Do(t.Context(), req)
	require.Equal(t, code(got), "", "got %+v, asked %+v", got, asked)
	require.Equal(t, asked.Folder, "", "got %+v, asked %+v", got, asked)
	require.Equal(t, asked.Path, "In/a.md", "got %+v, asked %+v", got, asked)
	asked = consent.Question{}
	req.Ask = replies(consent.No, &asked)
	got = f.gateway.Do(t.Context(), req)
	assert.Equal(t, code(got), "unconfirmed", "got %+v, asked %+v", got, asked)
	assert.Equal(t, asked.Command, "append", "got %+v, asked %+v", got, asked)
}

// An answer that is none of the known ones is no yes.
func TestUnknownRepliesAreNone(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	for reply := range consent.Reply(255) {
		if reply == consent.Yes || reply == consent.YesHere {
			continue
		}
		var asked consent.Question
		got := f.gateway.Do(t.Context(), Request{Command: "publish:add", Params: params("path", "a.md"), Ask: replies(reply, &asked)})
		require.Equal(t, code(got), "unconfirmed", "reply %d", reply)
		require.That(t, f.published() <= 0, "reply %d: %+v", reply, got)
	}
}

// Without a place for the store a call that needs a yes is refused as it is.
func TestWithoutAPlaceNobodyIsAskedLater(t *testing.T) {
	t.Parallel()
	f := openAsking(t, func(c *Config) { c.Getenv = nil })
	got := f.gateway.Do(t.Context(), Request{Command: "publish:add", Params: params("path", "a.md")})
	assert.Equal(t, code(got), "unconfirmed")
	assert.Contains(t, got.Error.Hint, "the setting confirm")
	assert.That(t, f.published() <= 0, "got %+v", got)
}

// A store that cannot be used, or is full, is no yes.
func TestApprovalsThatFailApproveNothing(t *testing.T) {
	t.Parallel()
	f := openAsking(t, nil)
	folder := consent.Folder(ownerfiles.StateFolder(f.config.Getenv, ""))
	require.NoError(t, os.MkdirAll(filepath.Dir(folder), 0o700))
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	var asked consent.Question
	for _, ask := range []consent.Asker{nil, replies(consent.NoWay, &asked)} {
		got := f.gateway.Do(t.Context(), Request{Command: "publish:add", Params: params("path", "a.md"), Ask: ask})
		assert.Equal(t, code(got), "unconfirmed")
		assert.That(t, f.published() <= 0, "got %+v", got)
	}
}

// A note that changes after the yes, while its call waits for others, is not published: the hash of what was
// named counts until the program starts.
func TestWhatWasApprovedIsPublishedAsItWas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"text": "", "other": "conflict"} {
		f := openAsking(t, func(c *Config) { c.Limits.Parallel = 1 })
		note := filepath.Join(f.vault, "a.md")
		require.NoError(t, os.WriteFile(note, []byte("text"), 0o600))
		running := f.gateway.vaults[0].running
		_, err := running.Acquire(t.Context(), "other")
		require.NoError(t, err)
		done := make(chan Result, 1)
		go func() {
			done <- f.gateway.Do(t.Context(), Request{Command: "publish:add", Params: params("path", "a.md"), Ask: replies(consent.Yes, new(consent.Question))})
		}()
		require.Within(t, time.Minute, "the call waits or has ended", func() bool {
			return running.Waiting() != 0 || len(done) != 0
		})
		require.NoError(t, os.WriteFile(note, []byte(text), 0o600))
		running.Release("other")
		got := <-done
		assert.Equal(t, code(got), want, "%s: %+v, published %d times", text, got.Error, f.published())
		assert.Equal(t, f.published(), map[bool]int{true: 1}[want == ""],
			"%s: %+v, published %d times", text, got.Error, f.published())
	}
}

// TestTheDigestTellsEverythingApart changes one thing after the other.
func TestTheDigestTellsEverythingApart(t *testing.T) {
	t.Parallel()
	d := openAsking(t, nil).gateway.vaults[0]
	plan := func(req Request) Plan {
		p, err := d.Plan(req)
		require.That(t, err == nil || needsApproval(err), "%v", err)
		return p
	}
	base := Request{Command: "append", Params: params("path", "a.md", "content", "x")}
	seen := map[[32]byte]string{}
	add := func(what string, at *vaultGateway, p Plan, q consent.Question) {
		digest := at.digestOfQuestion(p, q)
		before, twice := seen[digest]
		assert.That(t, !twice, "%s has the digest of %s", what, before)
		seen[digest] = what
	}
	file := consent.PlannedFile{Path: "a.md", Raw: &[2]string{"00"}}
	q := consent.Question{Caller: "me", Files: []consent.PlannedFile{file}}
	add("the call", d, plan(base), q)
	for what, change := range map[string]func(*consent.Question){
		"another caller": func(q *consent.Question) { q.Caller = "you" },
		"no caller":      func(q *consent.Question) { q.Caller = "" },
		"another text":   func(q *consent.Question) { q.Files = []consent.PlannedFile{{Path: "a.md", Raw: &[2]string{"01"}}} },
		"no note yet":    func(q *consent.Question) { q.Files = []consent.PlannedFile{{Path: "a.md"}} },
		"from elsewhere": func(q *consent.Question) {
			q.Files = []consent.PlannedFile{{Path: "a.md", From: "b.md", Raw: &[2]string{"00"}}}
		},
		"one more file": func(q *consent.Question) {
			q.Files = []consent.PlannedFile{file, {Path: "b.md", Raw: &[2]string{"00"}}}
		},
		"the same twice":   func(q *consent.Question) { q.Files = []consent.PlannedFile{file, file} },
		"nothing is known": func(q *consent.Question) { q.Files = nil },
	} {
		other := q
		change(&other)
		add(what, d, plan(base), other)
	}
	for what, req := range map[string]Request{
		"another command": {Command: "prepend", Params: params("path", "a.md", "content", "x")},
		"another path":    {Command: "append", Params: params("path", "b.md", "content", "x")},
		"another value":   {Command: "append", Params: params("path", "a.md", "content", "y")},
		"by name":         {Command: "append", Params: params("file", "a.md", "content", "x")},
		"with a hash":     {Command: "append", Params: params("path", "a.md", "content", "x"), ExpectHash: "0123456789abcdef"},
	} {
		add(what, d, plan(req), q)
	}
	other := openAsking(t, nil) // a vault of the same name
	add("another vault", other.gateway.vaults[0], plan(base), q)
}

// TestAChangeIsWorkedOutOnce counts how often the embedded program is asked what a call
// would do: once a request, however often the plan is looked at.
func TestAChangeIsWorkedOutOnce(t *testing.T) {
	t.Parallel()
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte("text")))
	change := func(words, path string) []string {
		return []string{
			fmt.Sprintf(`--plan --facts vault=Work %s => {"path":"%s","digest":"d1","files":[{"path":"%s","before":"00","after":"11","raw":["%s","11"]}]}`,
				words, path, path, hash),
			fmt.Sprintf(`--write --change ID --approved d1 --facts vault=Work %s => Done: %s\n`, words, path),
		}
	}
	replace := Request{Command: "vault:replace", Params: params("old", "a", "new", "b")}
	undo := Request{Command: "undo", Params: params("id", "20261122T100000.000000001Z-1234")}
	answers := append(change("vault:replace new=b old=a", "N.md"), change("undo id=20261122T100000.000000001Z-1234", "N.md")...)
	yes := func(context.Context, consent.Question) consent.Reply { return consent.Yes }
	shown := func(context.Context, consent.Question) consent.Reply { return consent.Void }
	for name, tt := range map[string]struct {
		req            Request
		ask            consent.Asker
		plans, written int
	}{
		"approved in the client":        {replace, yes, 1, 1},
		"an undo, shown on the page":    {undo, shown, 1, 0},
		"an undo, approved on the page": {undo, yes, 1, 1},
		"left pending for the terminal": {replace, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmWrites }).embedded(answers...)
			require.NoError(t, os.WriteFile(filepath.Join(f.vault, "N.md"), []byte("text"), 0o600))
			tt.req.Ask = tt.ask
			f.gateway.Do(t.Context(), tt.req)
			plans, written := 0, 0
			_, embedded := f.called()
			for _, line := range embedded {
				if strings.HasPrefix(line, "--plan ") {
					plans++
				} else if strings.HasPrefix(line, "--write ") {
					written++
				}
			}
			assert.Equal(t, plans, tt.plans, "%d plans and %d writes, want %d and %d: %q", plans, written, tt.plans, tt.written, embedded)
			assert.Equal(t, written, tt.written, "%d plans and %d writes, want %d and %d: %q", plans, written, tt.plans, tt.written, embedded)
		})
	}
	t.Run("in a batch", func(t *testing.T) {
		rehearsed := slices.Clone(answers)
		for i := range rehearsed {
			rehearsed[i] = strings.Replace(rehearsed[i], "--plan ", "--rehearse ", 1)
		}
		f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Confirm = Embedded, policy.ConfirmWrites }).embedded(rehearsed...)
		require.NoError(t, os.WriteFile(filepath.Join(f.vault, "N.md"), []byte("text"), 0o600))
		f.gateway.DoBatch(t.Context(),
			Batch{Request: Request{Ask: yes},
				Operations: []Operation{{ClientID: "a", Request: replace}, {ClientID: "b", Request: undo}}})
		_, embedded := f.called()
		assert.Equal(t, len(embedded), 4, "want two plans and two writes: %q", embedded)
	})
}

// While the user is asked about a batch its agent is paused: the question ends soon, and an
// approval that comes all the same is void.
func TestAQuestionAboutABatchEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	f := openAsking(t, func(c *Config) { c.Agent, c.Policy.Agent = "cursor", "cursor" })
	state := ownerfiles.StateFolder(f.config.Getenv, "")
	require.That(t, ownerfiles.EnsureFolder(state), "no state folder")
	ended := false
	ask := func(ctx context.Context, _ consent.Question) consent.Reply {
		assert.NoError(t, admission.Pause(state, "cursor", time.Now()))
		select {
		case <-ctx.Done():
			ended = true
		case <-time.After(20 * time.Second):
		}
		return consent.Yes
	}
	got := f.gateway.DoBatch(t.Context(), Batch{Request: Request{Ask: ask}, Operations: []Operation{operation("a", "publish:add", "path", "a.md")}})
	require.That(t, ended, "the question ended %v: %+v", ended, got)
	require.That(t, !got.OK, "the question ended %v: %+v", ended, got)
	assert.Equal(t, f.published(), 0, "the question ended %v", ended)
}

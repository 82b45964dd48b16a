package access

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

// A key belongs to what a call does: a dry run does not use it up, the hash that was
// expected is not asked for again, and an undo under a key takes back one change.
func TestAKeyMeetsOtherFeatures(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"Note.md": "one\n"})
	r.Set("confirm", `"never"`)
	server := r.OverHTTP()
	for _, e := range []*harness.Client{r.Stdio(false, ""), r.Stdio(true, ""), r.Session(server), r.Stateless(server)} {
		r.Write("Note.md", "one\n")
		hash := e.Do(harness.Calling("read", "path=Note.md")).Hash
		keyed := harness.Calling("append", "path=Note.md", "content=two").With("idempotencyKey", "append by "+e.Name).With("expectHash", hash)
		plan := e.Plan(keyed)
		assert.That(t, plan.OK, "%s: the dry run: %+v, the note is %q", e.Name, plan.Error, r.Read("Note.md"))
		assert.Equal(t, r.Read("Note.md"), "one\n",
			"%s: the dry run: %+v, the note is %q", e.Name, plan.Error, r.Read("Note.md"))
		first := e.Do(keyed)
		again := e.Do(keyed)
		if !first.OK || !again.OK || harness.ChangeID(first) != harness.ChangeID(again) || r.Read("Note.md") != "one\ntwo" {
			t.Errorf("%s: %+v, then %+v, the note is %q", e.Name, first.Error, again.Error, r.Read("Note.md"))
		}
		other := e.Do(keyed.With("expectHash", first.Hash))
		assert.That(t, !other.OK, "%s: the key with another hash: %+v", e.Name, other)
		assert.Equal(t, r.Read("Note.md"), "one\ntwo", "%s: the key with another hash: %+v", e.Name, other)
		second := e.Do(harness.Calling("append", "path=Note.md", "content=three"))
		undo := harness.Calling("undo", "id="+harness.ChangeID(second)).With("idempotencyKey", "undo by "+e.Name)
		planned := e.Plan(undo)
		if !planned.OK || !strings.Contains(planned.Diff, "-three") || r.Read("Note.md") != "one\ntwo\nthree" {
			t.Errorf("%s: the dry run of the undo: %s, the note is %q", e.Name, harness.JSON(t, planned), r.Read("Note.md"))
		}
		if one, two := e.Do(undo), e.Do(undo); !one.OK || !two.OK || r.Read("Note.md") != "one\ntwo" {
			t.Errorf("%s: undo twice under one key: %+v, %+v, the note is %q", e.Name, one.Error, two.Error, r.Read("Note.md"))
		}
		read := e.Do(harness.Calling("read", "path=Note.md"))
		assert.That(t, read.Stdout == "one\ntwo\n", "%s: after the undo the worker reads %q", e.Name, read.Stdout)
	}
}

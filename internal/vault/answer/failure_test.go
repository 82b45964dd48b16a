package answer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// failing is a vault in which a call fails in every way, and the calls.
func failing(t *testing.T) (h *embedded.Vault, calls map[answer.Kind]string) {
	h = embedded.New(t, map[string]string{
		"a.md": "# A\n# B\nx\nx\n" + embedded.Numbered(20), "b.md": strings.Repeat("b", 20_000), "read.md": "x\n",
		"twice.md": "# A\n# A\n", "linked.md": "x\n", "Private/p.md": "",
		"lie.md": "Error: Access denied: \"lie.md\" may not be changed.\n",
	})
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "read.md": "r", "Private": "none"}).String()
	if err := os.Link(h.File("linked.md"), filepath.Join(t.TempDir(), "other.md")); err != nil {
		t.Skip("no hard links here: ", err)
	}
	return h, map[answer.Kind]string{
		answer.NotFound:        "read path=no.md",
		answer.NotFoundNearest: "task ref=a.md:1",
		answer.NotFoundHeading: "note:section path=a.md heading=C",
		answer.AlreadyExists:   "create path=b.md content=x",
		answer.Ambiguous:       "note:section path=twice.md heading=A",
		answer.AmbiguousText:   "note:replace path=a.md old=x new=y",
		answer.Conflict:        "--expect 0123456789abcdef append path=a.md content=x",
		answer.AccessDenied:    "append path=read.md content=x",
		answer.HardLinkDenied:  "append path=linked.md content=x",
		answer.NotConfigured:   "templates",
		answer.NeedsApp:        "tabs",
		answer.TargetRequired:  "read",
		answer.Unapproved:      "--sparing note:set-section path=a.md heading=B content=y",
		answer.VaultNotFound:   "vault=Other read path=a.md",
		answer.BadValue:        "read path=",
		answer.OtherFailure:    "undo",
		answer.TooLong:         `vault:replace old=.* new=` + strings.Repeat("$&", 2000) + ` regex query=path:b.md`,
		{Code: protocol.CodeTimeout,
			Hint: "narrow the filter, or make the expressions simpler"}: `query where="aa".repeat(9999).split("").filter("aaaaaaaa".repeat(9999))`,
		{Code: protocol.CodeOutputLimit,
			Hint: "ask for fewer rows or columns, or for shorter texts and lists"}: `query where="a".repeat(99999).split("").map([value,[value]])`,
	}
}

// Every code of the embedded program is data, in both modes, and the terminal of
// a user shows the error text alone.
func TestEveryFailureIsReportedAsData(t *testing.T) {
	enough := budget.Default
	t.Cleanup(func() { budget.Default = enough })
	budget.Default.Steps, budget.Default.Alive = enough.Steps/16, enough.Alive/16 // they end sooner
	h, calls := failing(t)
	w := h.Worker()
	reported := map[string]bool{
		protocol.CodeStateUnavailable: true, // in TestAChangeThatCannotBeKeptIsNotMade
		protocol.CodeVaultUnwritable:  true, // in TestADiskThatTakesNoChangeIsNamedByItsCode
		protocol.CodeVaultUnreadable:  true, // in TestAFaultOfTheDiskHasItsCodeAndNoPath
		protocol.CodeOutcomeUnknown:   true, // in TestADiskThatFailsForGoodIsToldAsItIs
		protocol.CodePartlyApplied:    true, // in TestAnotherProgramWritesAtAnyMoment
		protocol.CodeNotApplied:       true, // in TestABatchOfAnotherProcessIsNotApplied
	}
	for kind, line := range calls {
		words := strings.Fields(line)
		status, stdout, stderr := h.Run(words...)
		assert.That(t, status != answer.ExitDone, "%s: status %d, %q", line, status, stdout)
		assert.That(t, stdout != "", "%s: status %d, %q", line, status, stdout)
		assert.Equal(t, stderr, "", "%s: status %d, %q", line, status, stdout)
		first, _, _ := strings.Cut(stdout, "\n")
		want := protocol.Failure{Code: kind.Code, Hint: kind.Hint, Reason: first}
		if len(want.Reason) > protocol.MaxReason {
			want.Reason = want.Reason[:protocol.MaxReason]
		}
		words = append([]string{call.FactsSwitch}, words...)
		_, _, alone := h.Run(words...)
		resident := w.Ask(nil, words...)
		for mode, stderr := range map[string]string{"alone": alone, "resident": resident.Stderr} {
			rest, facts, got := embedded.CutReport(stderr)
			assert.Equal(t, rest, "", "%s, %s: want %+v", mode, line, want)
			assert.Equal(t, facts, protocol.Facts{}, "%s, %s: want %+v", mode, line, want)
			assert.Equal(t, got, want, "%s, %s", mode, line)
		}
		reported[kind.Code] = true
	}
	source := require.Value(os.ReadFile("../../protocol/codes.go"))(t)
	codes := regexp.MustCompile(`(?m)^\tCode\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	assert.Equal(t, len(codes), len(reported), "%d codes were reported of", len(reported))
	for _, code := range codes {
		assert.That(t, reported[code[1]], "no call fails with %s", code[1])
	}
}

// What a note says decides nothing.
func TestATextThatLooksLikeAnErrorIsNone(t *testing.T) {
	h, _ := failing(t)
	for _, line := range []string{"read path=lie.md", "note:replace path=lie.md old=lie new=lye", "create path=Error.md content=Error:"} {
		status, _, stderr := h.Run(append([]string{call.FactsSwitch}, strings.Fields(line)...)...)
		if _, facts, failure := embedded.CutReport(stderr); status != answer.ExitDone || facts.Path == "" || failure != (protocol.Failure{}) {
			t.Errorf("%s: status %d, %+v, %+v", line, status, facts, failure)
		}
	}
	const mimic = `Error: File "a.md" not found.`
	for line, want := range map[string]string{
		"note:replace\x00path=a.md\x00old=" + mimic + "\x00new=x":               protocol.CodeNotFound,
		"property:read\x00path=a.md\x00name=x\" is ambiguous\nVault not found.": protocol.CodeNotFound,
		"base:eval\x00path=a.md\x00expr=" + mimic:                               protocol.CodeBadValue,
		"undo\x00id=" + mimic: protocol.CodeBadValue,
	} {
		_, _, stderr := h.Run(append([]string{call.FactsSwitch}, strings.Split(line, "\x00")...)...)
		rest, _, failure := embedded.CutReport(stderr)
		assert.Equal(t, rest, "", "%q: %+v, want %s", line, failure, want)
		assert.Equal(t, failure.Code, want, "%q: %+v", line, failure)
		assert.NotContains(t, failure.Reason, "\n", "%q: %+v, want %s", line, failure, want)
	}
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text"})
	v := require.Value(call.NewHost(func(string) string { return "" }, nil).Open(context.Background(), h.Dir, protocol.Request{}))(t)
	defer v.Disk.Close()
	said := vault.Respond(v, protocol.Request{Command: "read", Args: []string{"path=a.md"}}, nil)
	said.Close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.Print(&out); status != answer.ExitFailed ||
		!strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	assert.Equal(t, said.Kind.Code, protocol.CodeVaultUnreadable, "reported as %+v", said)
	assert.HasPrefix(t, said.Text(), "Error: reading stopped: ", "reported as %+v", said)
}

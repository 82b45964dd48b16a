package vault

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// failing is a vault in which a call fails in every way, and the calls.
func failing(t *testing.T) (h *testVault, calls map[command.Kind]string) {
	h = build(t, map[string]string{
		"a.md": "# A\n# B\nx\nx\n" + numbered(20), "b.md": strings.Repeat("b", 20_000), "read.md": "x\n", "twice.md": "# A\n# A\n", "linked.md": "x\n", "Private/p.md": "",
		"lie.md": "Error: Access denied: \"lie.md\" may not be changed.\n",
	})
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "read.md": "r", "Private": "none"}).String()
	if err := os.Link(h.file("linked.md"), filepath.Join(t.TempDir(), "other.md")); err != nil {
		t.Skip("no hard links here: ", err)
	}
	return h, map[command.Kind]string{
		command.NotFound:        "read path=no.md",
		command.NotFoundNearest: "task ref=a.md:1",
		command.NotFoundHeading: "note:section path=a.md heading=C",
		command.AlreadyExists:   "create path=b.md content=x",
		command.Ambiguous:       "note:section path=twice.md heading=A",
		command.AmbiguousText:   "note:replace path=a.md old=x new=y",
		command.Conflict:        "--expect 0123456789abcdef append path=a.md content=x",
		command.AccessDenied:    "append path=read.md content=x",
		command.HardLinkDenied:  "append path=linked.md content=x",
		command.NotConfigured:   "templates",
		command.NeedsApp:        "tabs",
		command.TargetRequired:  "read",
		command.Unapproved:      "--sparing note:set-section path=a.md heading=B content=y",
		command.VaultNotFound:   "vault=Other read path=a.md",
		command.BadValue:        "read path=",
		command.OtherFailure:    "undo",
		command.TooLong:         `vault:replace old=.* new=` + strings.Repeat("$&", 2000) + ` regex query=path:b.md`,
		{Code: frame.CodeTimeout, Hint: "narrow the filter, or make the expressions simpler"}:                `query where="aa".repeat(99999).split("").filter("aaaaaaaa".repeat(9999))`,
		{Code: frame.CodeOutputLimit, Hint: "ask for fewer rows or columns, or for shorter texts and lists"}: `query where="a".repeat(999999).split("").map([value,[value]])`,
	}
}

// Every code of the embedded program is data, in both modes, and the terminal of
// a user shows the error text alone.
func TestEveryFailureIsReportedAsData(t *testing.T) {
	h, calls := failing(t)
	w := h.worker()
	reported := map[string]bool{
		frame.CodeStateUnavailable: true, // in TestAChangeThatCannotBeKeptIsNotMade
	}
	for kind, line := range calls {
		words := strings.Fields(line)
		status, stdout, stderr := h.run(words...)
		assert.That(t, status != command.ExitDone && stdout != "" && stderr == "", "%s: status %d, %q, %q", line, status, stdout, stderr)
		first, _, _ := strings.Cut(stdout, "\n")
		want := frame.Failure{Code: kind.Code, Hint: kind.Hint, Reason: first}
		if len(want.Reason) > frame.MaxReason {
			want.Reason = want.Reason[:frame.MaxReason]
		}
		words = append([]string{command.FactsSwitch}, words...)
		_, _, alone := h.run(words...)
		resident := w.ask(nil, words...)
		for mode, stderr := range map[string]string{"alone": alone, "resident": resident.stderr} {
			rest, facts, got := frame.CutReport(stderr)
			assert.That(t, rest == "" && facts == (frame.Facts{}) && got == want, "%s, %s: %q, %+v, want %+v", mode, line, rest, got, want)
		}
		reported[kind.Code] = true
	}
	source, err := os.ReadFile("../../../exec/frame/report.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`(?m)^\tCode\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	assert.Equal(t, len(codes), len(reported), "%d codes were reported of", len(reported))
	for _, code := range codes {
		if !reported[code[1]] {
			t.Errorf("no call fails with %s", code[1])
		}
	}
}

// What a note says decides nothing.
func TestATextThatLooksLikeAnErrorIsNone(t *testing.T) {
	h, _ := failing(t)
	for _, line := range []string{"read path=lie.md", "note:replace path=lie.md old=lie new=lye", "create path=Error.md content=Error:"} {
		status, _, stderr := h.run(append([]string{command.FactsSwitch}, strings.Fields(line)...)...)
		if _, facts, failure := frame.CutReport(stderr); status != command.ExitDone || facts.Path == "" || failure != (frame.Failure{}) {
			t.Errorf("%s: status %d, %+v, %+v", line, status, facts, failure)
		}
	}
	const mimic = `Error: File "a.md" not found.`
	for line, want := range map[string]string{
		"note:replace\x00path=a.md\x00old=" + mimic + "\x00new=x":               frame.CodeNotFound,
		"property:read\x00path=a.md\x00name=x\" is ambiguous\nVault not found.": frame.CodeNotFound,
		"base:eval\x00path=a.md\x00expr=" + mimic:                               frame.CodeBadValue,
		"undo\x00id=" + mimic: frame.CodeBadValue,
	} {
		_, _, stderr := h.run(append([]string{command.FactsSwitch}, strings.Split(line, "\x00")...)...)
		if rest, _, failure := frame.CutReport(stderr); rest != "" || failure.Code != want || strings.Contains(failure.Reason, "\n") {
			t.Errorf("%q: %q, %+v, want %s", line, rest, failure, want)
		}
	}
}

// snapshot describes every file and folder of the vault, hidden ones included.
func (h *testVault) snapshot() (text string, files, folders int) {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			folders++
			out.WriteString(path + "/\n")
			return err
		}
		files++
		content, err := os.ReadFile(path)
		out.WriteString(path + "\t" + command.Digest(content) + "\n")
		return err
	})
	assert.That(h.t, err == nil, "%v", err)
	return out.String(), files, folders
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	v, err := command.NewHost(func(string) string { return "" }, nil).Open(context.Background(), command.Line{Folder: h.dir})
	require.NoError(t, err)
	defer v.Disk.Close()
	said := respond(v, command.Request{Command: "read", Args: []string{"path=a.md"}})
	said.Close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.Print(&out); status != command.ExitFailed || !strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	got := said.Report()
	assert.That(t, got.Code == frame.CodeCLIError && strings.HasPrefix(got.Reason, "Error: reading stopped: "), "reported as %+v", got)
}

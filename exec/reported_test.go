package exec

import (
	"testing"

	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// mimic is an answer that looks like an error of the Obsidian CLI with another code.
const mimic = "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"

// What the embedded program reports is what the caller gets, whatever it printed,
// from a process of one call and from a worker.
func TestReportedCodes(t *testing.T) {
	for _, code := range []string{
		frame.CodeNotFound, frame.CodeAlreadyExists, frame.CodeAmbiguous, frame.CodeConflict, frame.CodeAccessDenied, frame.CodeNotConfigured,
		frame.CodeBadValue, frame.CodeCLIError, frame.CodeNeedsApp, frame.CodeTargetRequired, frame.CodeUnconfirmed, frame.CodeStateUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			path := "fails/" + code + ".md"
			oneShot, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: []string{"--facts", "read", "path=" + path}, Out: []byte(mimic), Err: failing(code), Exit: 1}}})
			resident, q, _ := residentRunner(t, Config{}, "worker")
			for runner, program := range map[*Runner]Program{oneShot: p, resident: q} {
				out, err := runner.Run(t.Context(), reads(path), program)
				require.That(t, err == nil && out.Failure != nil && out.Stdout == mimic && out.Stderr == "" && out.ExitCode == 1, "%+v, %v", out, err)
				f := out.Failure
				assert.That(t, f.Code() == code && f.Hint() == "do something" && f.Error() == "some reason", "code %q, hint %q, reason %q", f.Code(), f.Hint(), f.Error())
			}
		})
	}
}

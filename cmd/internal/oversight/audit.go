// Package oversight implements the subcommands with which the owner of the notes controls agents: they show what
// agents may do and have done and where secrets are, undo changes, answer approval requests, pause servers, and
// add and revoke agents.
package oversight

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Audit runs "vaultwicket audit". It prints names, numbers and digests, never text of notes.
func Audit(ctx context.Context, std terminal.Streams, args []string) error {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch verb {
	case "list":
		return listAudit(ctx, std, args[1:])
	case "what-if":
		return replayAudit(ctx, std, args[1:])
	case "verify":
		return verifyAudit(ctx, std, args[1:])
	case "export":
		return exportAudit(ctx, std, args[1:])
	case "-h", "--help", "-V", "--version":
		_, err := terminal.ParseFlags("audit", args[:1], func(f terminal.FlagSet) {
			new(auditQuery).flags(f)
			new(whatIf).settings(f)
			new(verification).flags(f)
		})
		return err
	}
	return &terminal.UsageError{
		Reason: "usage: vaultwicket audit list | what-if | verify | export FILE",
		Advice: `"vaultwicket audit --help" shows the flags`,
	}
}

// exportAudit runs "vaultwicket audit export", which writes all lines, byte for byte as in the log.
func exportAudit(ctx context.Context, std terminal.Streams, args []string) error {
	rest, err := terminal.ParseFlags("audit export", args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 || rest[0] == "" {
		return &terminal.UsageError{
			Reason: "audit export requires one file",
			Advice: `"-" writes to standard output`,
		}
	}
	name := rest[0]
	noteState(std)
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	if name == "-" {
		exported, err := exportLines(ctx, std, state, std.Out)
		return exported.report(std, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("audit export: %q already exists", excerpt.Short(name)),
			Advice: "choose a file that does not exist",
		}
	}
	if err != nil {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("audit export %q: %v", excerpt.Short(name), errors.Unwrap(err)),
		}
	}
	exported, err := exportLines(ctx, std, state, file)
	if err == nil {
		err = file.Sync()
	}
	closeErr := file.Close()
	if err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(name) // it would be an incomplete log
	}
	return exported.report(std, err)
}

// auditPart is one of the two parts of the audit log: what it contains, and its folder.
type auditPart struct{ about, folder string }

// auditParts returns both parts of the log. The one with the longer retention is first.
func auditParts(state string) []auditPart {
	return []auditPart{
		{"changes, approvals and denials", audit.AuditFolder(state)},
		{"other calls", audit.CallsFolder(state)},
	}
}

// auditError returns an error of the audit log with its exit status and hint.
func auditError(err error) error {
	hint := "it must be a folder that only you can access"
	if _, ok := errors.AsType[*audit.Busy](err); ok {
		hint = "try again"
	}
	return terminal.Fail(terminal.ExitNotReady, err.Error(), hint)
}

// auditReport is what "audit verify --json" prints: the report about the part with changes,
// approvals and denials, and in Calls the report about the other part.
type auditReport struct {
	OK bool `json:"ok"` // true if both parts and the checkpoints are OK
	audit.Report
	Calls       *auditReport      `json:"calls,omitempty"`
	Checkpoints *auditCheckpoints `json:"checkpoints,omitempty"` // nil without the flag --checkpoints
}

type auditCheckpoints struct {
	OK bool `json:"ok"`
	audit.CheckedLog
}

// verification contains the flags of "audit verify" for checkpoints.
type verification struct{ checkpoints, key string }

func (v *verification) flags(f terminal.FlagSet) {
	f.StringVar(&v.checkpoints, "checkpoints", "", "verify: file with signed checkpoints, one JSON object a line")
	f.StringVar(&v.key, "key", "", "verify: public key of the checkpoints, in base64 (default: that of the first)")
}

// verifyAudit runs "vaultwicket audit verify", which checks that the log is unchanged since it was written.
func verifyAudit(ctx context.Context, std terminal.Streams, args []string) error {
	var asJSON bool
	var flags verification
	rest, err := terminal.ParseFlags("audit verify", args, func(f terminal.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		flags.flags(f)
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("audit verify: unexpected argument %q", excerpt.Short(rest[0])),
			Advice: "it verifies the whole log",
		}
	}
	noteState(std)
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	parts := auditParts(state)
	var reports []audit.Report
	for _, part := range parts {
		r, err := audit.Verify(ctx, part.folder)
		if err != nil {
			return lineError(err)
		}
		reports = append(reports, r)
	}
	var checked *audit.CheckedLog
	if flags.checkpoints != "" {
		checked, err = flags.check(ctx, state)
		if err != nil {
			return err
		}
	}
	if asJSON {
		return printVerification(std, reports, checked)
	}
	var broken terminal.Several
	for i, r := range reports {
		if r.Broken != nil {
			broken = append(broken, parts[i].broken(r))
			continue
		}
		fmt.Fprintf(std.Out, "OK: %s: %s\n", parts[i].about, intactLog(r))
	}
	switch {
	case checked != nil && checked.Broken != "" && len(broken) == 0:
		broken = append(
			broken,
			terminal.Fail(
				terminal.ExitFailed,
				"the audit log does not match the checkpoints: "+sanitize.Line(checked.Broken),
				"keep a copy of the log and of the checkpoints",
			),
		)
	case checked != nil && len(broken) == 0:
		fmt.Fprintf(
			std.Out,
			"OK: %s, the last of %s, signed with the key %s\n",
			sanitize.Counted(checked.Checkpoints, "checkpoint"),
			checked.Last.UTC().Format(time.RFC3339),
			checked.Key,
		)
	}
	if len(broken) > 0 {
		return broken
	}
	return nil
}

// check compares the log with the checkpoints in a file.
func (v *verification) check(ctx context.Context, state string) (*audit.CheckedLog, error) {
	file, err := os.Open(v.checkpoints)
	if err != nil {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("audit verify: checkpoints %q: %v", excerpt.Short(v.checkpoints), errors.Unwrap(err)),
		}
	}
	defer file.Close()
	checked, err := audit.VerifyCheckpoints(ctx, state, v.key, file, time.Now())
	if err != nil {
		return nil, lineError(err)
	}
	if checked.Checkpoints == 0 && checked.Broken == "" {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("audit verify: %q has no checkpoint", excerpt.Short(v.checkpoints)),
			Advice: "it is a file of lines that the setting export has sent, or of \"vaultwicket audit export\"",
		}
	}
	return &checked, nil
}

// printVerification prints the reports about both parts of the log as JSON. checked is nil without checkpoints.
func printVerification(std terminal.Streams, reports []audit.Report, checked *audit.CheckedLog) error {
	report := reportOf(reports[0])
	calls := reportOf(reports[1])
	report.Calls = &calls
	report.OK = report.OK && calls.OK
	if checked != nil {
		isIntact := checked.Broken == ""
		report.Checkpoints = &auditCheckpoints{isIntact, *checked}
		report.OK = report.OK && isIntact
	}
	if !report.OK {
		return terminal.PrintJSON(std.Out, report, terminal.ExitFailed)
	}
	return terminal.PrintJSON(std.Out, report, terminal.ExitDone)
}

// broken returns the error for a part that was changed. Each line is confirmed by the hash in the
// next one, so the line before the break may be the changed one.
func (p auditPart) broken(r audit.Report) error {
	hint := "no entry of it is reliable"
	if r.Lines > 1 {
		hint = fmt.Sprintf("entries up to number %d are intact, later ones are not reliable", r.Last-1)
	}
	return terminal.Fail(
		terminal.ExitFailed,
		fmt.Sprintf("audit log (%s) was changed or damaged: %s", p.about, sanitize.Line(r.Broken.String())),
		hint+"; keep a copy of "+sanitize.Line(p.folder),
	)
}

// reportOf returns a report for --json.
func reportOf(r audit.Report) auditReport {
	if b := r.Broken; b != nil {
		r.Broken = &audit.Break{File: sanitize.Line(b.File), Line: b.Line, Why: sanitize.Line(b.Why)}
	}
	return auditReport{OK: r.Broken == nil, Report: r}
}

// intactLog describes a log that passed verification.
func intactLog(r audit.Report) string {
	if r.Lines == 0 {
		return "no entries" + missedLines(r)
	}
	text := fmt.Sprintf(
		"%s verified, numbers %d to %d, complete since %s, SHA-256 of the last %s",
		entries(r.Lines),
		r.First,
		r.Last,
		r.Since.UTC().Format(time.RFC3339),
		r.Hash,
	)
	if r.First > 1 {
		text += fmt.Sprintf("; %s removed by age before them", entries(r.First-1))
	}
	if r.Gaps > 0 {
		text += fmt.Sprintf("; %s truncated by a crash", entries(r.Gaps))
	}
	if r.Torn > 0 {
		text += fmt.Sprintf("; %s at the end truncated by a crash", sanitize.Counted(r.Torn, "byte"))
	}
	return text + missedLines(r)
}

// missedLines describes the entries that could not be written, "" if there are none.
func missedLines(r audit.Report) (text string) {
	if r.Missed > 0 {
		text += fmt.Sprintf("; %s could not be written", entries(r.Missed))
	}
	if r.Waiting > 0 {
		text += fmt.Sprintf("; waiting until there is room: %s", sanitize.Counted(r.Waiting, "refusal"))
	}
	return text
}

type exportedLog struct {
	damaged int
	parts   []exportedPart
}

type exportedPart struct {
	auditPart
	lines int
	last  uint64
	hash  [sha256.Size]byte
}

// exportLines writes every readable line, one part of the log after the other, so that each part keeps its hash
// chain. It prints a note for each damaged line.
func exportLines(ctx context.Context, std terminal.Streams, state string, out io.Writer) (exported exportedLog, err error) {
	buffered := bufio.NewWriter(out)
	for _, part := range auditParts(state) {
		p := exportedPart{auditPart: part}
		damaged, err := eachLine(ctx, std, audit.List(ctx, part.folder, audit.Filter{}), func(line audit.Line) error {
			text, err := excerpt.JSON(line) // the same bytes as in the log
			if err == nil {
				p.lines++
				p.last = line.Seq
				p.hash = sha256.Sum256([]byte(text))
				_, err = buffered.WriteString(text + "\n")
			}
			return err
		})
		exported.damaged += damaged
		if err != nil {
			return exported, err
		}
		if p.lines > 0 {
			exported.parts = append(exported.parts, p)
		}
	}
	return exported, buffered.Flush()
}

// report prints the summary of an export, or returns the error err that stopped it.
func (e exportedLog) report(std terminal.Streams, err error) error {
	var coded interface{ Code() string }
	switch {
	case errors.Is(err, context.Canceled):
		return terminal.Fail(terminal.ExitInterrupted, "nothing was exported: cancelled", "")
	case errors.As(err, &coded):
		return auditError(err)
	case err != nil:
		return terminal.Fail(terminal.ExitNotReady, "nothing was exported: "+err.Error(), "")
	case e.damaged > 0:
		return terminal.Fail(
			terminal.ExitFailed,
			fmt.Sprintf("not in the export, because they cannot be read: %s of the audit log", sanitize.Counted(e.damaged, "line")),
			`"vaultwicket audit verify" shows details`,
		)
	case len(e.parts) == 0:
		terminal.Notef(std.Err, "no entries")
	}
	for _, p := range e.parts {
		terminal.Notef(std.Err, "%s: %s, last number %d, SHA-256 %x", p.about, entries(p.lines), p.last, p.hash)
	}
	return nil
}

// entries returns "1 entry" or "N entries".
func entries[N sanitize.Number](n N) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

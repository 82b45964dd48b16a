package oversight

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/policy"
)

// foundSecret is a row of "scan", as --json prints it.
type foundSecret struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Kind string `json:"kind"`
	// InName is set if the secret is in the name of a file or folder. Path then has "…" in its place, and Line is 0.
	InName bool `json:"inName,omitempty"`
}

// scanName adds the secrets in the name of a file or folder. They matter because answers show names unchanged: a
// redacted path would be useless.
func (s *scan) scanName(path string) {
	name := path[1+strings.LastIndexByte(path, '/'):]
	for _, found := range guard.Find([]byte(name), s.scope) {
		s.rows = append(s.rows, foundSecret{Path: s.redactPath(path), Kind: found.Kind, InName: true})
	}
}

// redactPath replaces the secrets in the names of a path with "…".
func (s *scan) redactPath(path string) string {
	names := strings.Split(path, "/")
	for i, name := range names {
		for _, found := range slices.Backward(guard.Find([]byte(name), s.scope)) {
			names[i] = names[i][:found.Start] + "…" + names[i][found.End:]
		}
	}
	return strings.Join(names, "/")
}

// isSearched reports whether the name of a file allows for text in it. Images, audio, video and PDF files are skipped,
// except for SVG, which is text.
func isSearched(path disk.Path) bool {
	kind := allowlist.FileKind(path.Ext())
	return !slices.Contains([]string{"image", "audio", "video", "pdf"}, kind) || strings.EqualFold(path.Ext(), "svg")
}

// scan searches a vault for secrets.
type scan struct {
	scope guard.Scope // what counts as a secret

	rows     []foundSecret
	searched int
	unread   []string // the paths of files and folders that could not be read
}

// run searches all files of a folder, and calls count after each one. It stops when ctx is done.
func (s *scan) run(ctx context.Context, folder *disk.Folder, count func(searched int)) error {
	folder = folder.Telling(func(p disk.Path) { s.unread = append(s.unread, s.redactPath(p.String())) })
	err := folder.Walk(disk.Path{}, func(e disk.Entry) {
		if ctx.Err() != nil {
			return
		}
		s.scanName(e.Path.String())
		if e.IsDir || !isSearched(e.Path) {
			return
		}
		text, _, err := e.Read()
		if err != nil {
			return // reported through Telling, unless the file has been removed
		}
		s.searched++
		count(s.searched)
		for _, found := range guard.Find(text, s.scope) {
			line := 1 + bytes.Count(text[:found.Start], []byte("\n"))
			s.rows = append(s.rows, foundSecret{Path: s.redactPath(e.Path.String()), Line: line, Kind: found.Kind})
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	slices.SortStableFunc(s.rows, func(a, b foundSecret) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(s.unread)
	s.unread = slices.Compact(s.unread)
	return err
}

// status returns the exit status with --strict.
func (s *scan) status() int {
	if len(s.rows)+len(s.unread) > 0 {
		return terminal.ExitFailed
	}
	return terminal.ExitDone
}

// cancelled returns the error of a scan that was stopped with Ctrl-C.
func (s *scan) cancelled() error {
	message := fmt.Sprintf("cancelled after %s: not all was searched", sanitize.Counted(s.searched, "file"))
	return terminal.Fail(terminal.ExitInterrupted, message, "")
}

// Scan runs "vaultwicket scan", which prints where a vault contains secrets, but not their values.
func Scan(ctx context.Context, std terminal.Streams, args []string) error {
	strict := false
	o, err := bootstrap.Open("scan", std, args, func(f *settings.Flags) {
		f.BoolVar(&strict, "strict", false, "end with status 1 if a secret is found, or a file cannot be read")
	})
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket scan",
			Advice: `"vaultwicket help scan" shows the flags`,
		}
	}
	folder, err := disk.Open(o.Vault.Folder)
	if o.Vault.Folder == "" || err != nil {
		return terminal.FailureOf(
			&failure.Error{
				Code:    failure.CodeVaultNotFound,
				Message: "the folder of the vault is not known",
				Hint:    "use --vault with a folder",
			},
		)
	}
	defer folder.Close()
	found := scan{rows: []foundSecret{}}
	if o.Policy.Secrets == policy.SecretsStrict {
		found.scope = guard.SecretsAndNumbers
	}
	progress := o.Progress("scan")
	err = found.run(ctx, folder, func(searched int) {
		progress.Count(sanitize.Counted(searched, "file"))
	})
	progress.Stop()
	if ctx.Err() != nil {
		return found.cancelled()
	}
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	status := terminal.ExitDone
	if strict {
		status = found.status()
	}
	for _, path := range found.unread {
		terminal.Notef(std.Err, "not searched, because it cannot be read: %s", sanitize.Line(path))
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, found.rows, status)
	}
	for _, row := range found.rows {
		if row.InName {
			fmt.Fprintf(std.Out, "%s\t%s in the name\n", sanitize.Line(row.Path), row.Kind)
			continue
		}
		fmt.Fprintf(std.Out, "%s:%d\t%s\n", sanitize.Line(row.Path), row.Line, row.Kind)
	}
	unread := ""
	if len(found.unread) > 0 {
		unread = fmt.Sprintf("; %d could not be read", len(found.unread))
	}
	terminal.Notef(std.Err, "%d found in %s%s", len(found.rows), sanitize.Counted(found.searched, "file"), unread)
	return terminal.Silent(status)
}

package oversight

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
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
}

// isSearched reports whether a file may be a text, by its name: in the bytes of images and of PDF files no secret can
// be recognized.
func isSearched(path disk.Path) bool {
	kind := allowlist.FileKind(path.Ext())
	return !slices.Contains([]string{"image", "audio", "video", "pdf"}, kind) || strings.EqualFold(path.Ext(), "svg")
}

// Scan is "vaultwicket scan": where a vault has secrets, without their values.
func Scan(_ context.Context, std terminal.Streams, args []string) error {
	o, err := bootstrap.Open("scan", std, args, nil)
	if err != nil {
		return err
	}
	if len(o.Rest) > 0 {
		return &terminal.UsageError{Reason: "usage: vaultwicket scan", Advice: `"vaultwicket help scan" shows the flags`}
	}
	folder, err := disk.Open(o.Vault.Folder)
	if o.Vault.Folder == "" || err != nil {
		return terminal.FailureOf(&failure.Error{Code: failure.CodeVaultNotFound, Message: "the folder of the vault is not known", Hint: "use --vault with a folder"})
	}
	defer folder.Close()
	rows := []foundSecret{}
	err = folder.Walk(disk.Path{}, func(e disk.Entry) {
		if e.IsDir || !isSearched(e.Path) {
			return
		}
		text, _, err := e.Read()
		if err != nil {
			return
		}
		for _, s := range guard.Find(text, o.Policy.Secrets == policy.SecretsStrict) {
			rows = append(rows, foundSecret{e.Path.String(), 1 + bytes.Count(text[:s.Start], []byte("\n")), s.Kind})
		}
	})
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	slices.SortStableFunc(rows, func(a, b foundSecret) int { return strings.Compare(a.Path, b.Path) })
	if o.JSON {
		return terminal.PrintJSON(std.Out, rows, terminal.ExitDone)
	}
	for _, row := range rows {
		fmt.Fprintf(std.Out, "%s:%d\t%s\n", sanitize.Line(row.Path), row.Line, row.Kind)
	}
	terminal.Notef(std.Err, "%d found", len(rows))
	return nil
}

package oversight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
)

// Access runs "vaultwicket access PATH", which prints what agents can do with a note or folder, and which
// rule or ignore file decides that. It starts no program.
func Access(_ context.Context, std terminal.Streams, args []string) error {
	opened, err := bootstrap.Open("access", std, args, nil)
	if err != nil {
		return err
	}
	if len(opened.Rest) != 1 {
		return &terminal.UsageError{
			Reason: "access requires one path of a note or folder in the vault",
			Advice: "for example: vaultwicket access Ideas/Bread.md",
		}
	}
	a, err := opened.Gateway.AccessOf("", opened.Rest[0])
	if err != nil {
		return err
	}
	if opened.JSON {
		return terminal.PrintJSON(std.Out, a, terminal.ExitDone)
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	rule := fmt.Sprintf("%q = %q (%s)", a.Rule, a.Level, a.Origin)
	switch {
	case a.Origin == "":
		rule = "no access rules"
	case a.Rule == "":
		rule = fmt.Sprintf("%s, no rule covers it (%s)", a.Level, a.Origin)
	}
	path := a.Path
	if isMissing(opened.Vault.Folder, a.Path) {
		path += " (does not exist)"
	}
	ignored := ""
	if i := a.Ignored; i != nil {
		ignored = fmt.Sprintf("hidden by line %d of %s: %s", i.Line, i.File, i.Pattern)
		if i.Line == 0 {
			ignored = fmt.Sprintf("%s cannot be used, so everything is hidden", i.File)
		}
	}
	hint := func(text string) string { return opened.OwnerHint(std, text) }
	facts := [][2]string{
		{"path", path},
		{"agent", a.Agent},
		{"rule", rule},
		{"note itself", a.Itself},
		{"made of", strings.Join(a.MadeOf, ", ")},
		{"ignore file", ignored},
		{"read", permittedText(a.Read, hint)},
		{"change", permittedText(a.Change, hint)},
		{"delete", permittedText(a.Delete, hint)},
	}
	for _, fact := range facts {
		name := fact[0]
		value := fact[1]
		if value != "" || name == "path" {
			fmt.Fprintf(w, "%s\t%s\n", name, terminal.Visible(value))
		}
	}
	w.Flush()
	return terminal.Write(std.Out, terminal.Fit(std.Out, text.String()))
}

// isMissing reports whether a path is known not to exist in a vault. It is false if the folder of the vault is unknown.
func isMissing(vault, path string) bool {
	if vault == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(vault, filepath.FromSlash(path)))
	return errors.Is(err, fs.ErrNotExist)
}

// permittedText returns "yes" or "no" with the reason. ownerHint rewrites hints for the owner.
func permittedText(p gateway.Permitted, ownerHint func(string) string) string {
	switch {
	case p.Allowed && p.Why == "":
		return "yes"
	case p.Allowed:
		return "yes: " + terminal.ForOwner(p.Why)
	case p.Hint == "":
		return "no: " + terminal.ForOwner(p.Why)
	}
	return "no: " + terminal.ForOwner(p.Why) + "; " + ownerHint(p.Hint)
}

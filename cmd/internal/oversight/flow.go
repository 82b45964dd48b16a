package oversight

import (
	"context"
	"fmt"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Flow runs "vaultwicket flow clear PATH", which forgets from which notes a note was made.
func Flow(_ context.Context, std terminal.Streams, args []string) error {
	opened, err := bootstrap.Open("flow", std, args, nil)
	if err != nil {
		return err
	}
	if len(opened.Rest) != 2 || opened.Rest[0] != "clear" {
		return &terminal.UsageError{
			Reason: "flow requires clear and one path of a note or folder in the vault",
			Advice: "for example: vaultwicket flow clear Ideas/Bread.md",
		}
	}
	if isMissing(opened.Vault.Folder, opened.Rest[1]) {
		return terminal.Fail(
			terminal.ExitFailed,
			fmt.Sprintf("%q does not exist in the vault", excerpt.Short(opened.Rest[1])),
			"name a note or a folder by its path, or / for all",
		)
	}
	path, err := opened.Gateway.ClearLineage("", opened.Rest[1])
	if err != nil {
		return err
	}
	if opened.JSON {
		return terminal.PrintJSON(std.Out, struct {
			Cleared string `json:"cleared"`
		}{path}, terminal.ExitDone)
	}
	fmt.Fprintf(std.Out, "cleared: for flow rules %s is of its own place alone\n", terminal.Visible(path))
	return nil
}

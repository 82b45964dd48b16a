package gateway

import (
	"context"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/registry"
)

// locate replaces the name of the note in a call by its path, and the policy judges the call
// again: the note that was judged is the one that the call is run on. The app is asked, because
// only the app knows which note it would take. The embedded program resolves and opens a note
// in one step, and reports its path. An Outcome with a Failure, or an error, is the answer to
// the whole call.
func (g *vaultGateway) locate(ctx context.Context, r route) (route, exec.Outcome, error) {
	name, _ := r.call.Named()
	asked, err := g.runner.Run(ctx, r.permit.Locate(), g.resolver(r))
	if err != nil || asked.Failure != nil {
		return r, asked, err
	}
	path := factOf(asked.Stdout, "path")
	if r.call, err = r.call.At(path); err != nil {
		return r, nothingRan(asked), failure.New(failure.CodeCLIError, "name the note with path=", "the app says that %q is the note %q, which is not a path", name, quote.Short(path))
	}
	if r, err = r.replaced(r.call); err == nil && r.permit.Confined() {
		err = g.accessError(r.call)
	}
	if err != nil {
		return r, nothingRan(asked), err
	}
	return r, asked, nil
}

// resolver returns the program that resolves the name of a note: that of the route, or the
// embedded program where the call may depend on hidden notes, for which a name never leads to
// a hidden one.
func (g *vaultGateway) resolver(r route) exec.Program {
	if r.permit.Confined() {
		if own := g.embeddedProgram(); own != nil {
			return *own
		}
	}
	return r.program
}

// locateNew replaces the name of the note that a call creates by its path. The folder for new
// notes is a setting of the vault, which the embedded program reads. Without the folder of the
// vault the call stays as it is.
func (g *vaultGateway) locateNew(ctx context.Context, r route) (route, exec.Outcome, error) {
	own := g.embeddedProgram()
	if own == nil {
		return r, exec.Outcome{}, nil
	}
	var err error
	change := r.change
	if change == nil {
		if change, err = g.planned(ctx, r, *own); err != nil {
			return r, exec.Outcome{ExitCode: -1}, err
		}
	}
	if change.failure != nil {
		return r, exec.Outcome{ExitCode: -1}, change.failure
	}
	if r.call, err = r.call.MadeAt(change.Path); err != nil {
		return r, exec.Outcome{ExitCode: -1}, err
	}
	if r, err = r.replaced(r.call); err == nil && r.permit.Confined() {
		err = g.accessError(r.call)
	}
	return r, exec.Outcome{ExitCode: -1}, err
}

// factOf returns the value of a line "key, tab, value", as the command file prints it.
func factOf(answer, key string) string {
	for line := range strings.Lines(answer) {
		if value, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), key+"\t"); ok {
			return value
		}
	}
	return ""
}

// hashed adds the path and the hash of the note to an answer of the app that is the text of
// one note.
//
// The app adds a missing final line break (inferred from counts of bytes, 1.12.7), so the size
// of the file tells which of two texts the note has. Without the folder of the vault, or when
// the note is changing, there is no hash.
func (g *vaultGateway) hashed(r route, out exec.Outcome) exec.Outcome {
	if r.program.Backend() != string(App) || out.Failure != nil {
		return out
	}
	if path, ok := r.call.Param("path"); ok && out.Path == "" && !r.call.Effect().Mutates() {
		out.Path = path
	}
	if r.call.PrintsNote() && out.Path != "" && !out.Cut {
		out.Hash = notes.HashOfPrinted(g.target().Folder, out.Path, out.Stdout)
	}
	return out
}

// checkPinnedVault asks the app for the folder of its vault, once, and refuses another one:
// the app confuses two vaults of one name, and takes an unknown name for the vault that it has
// open. After an error the next call asks again.
func (g *vaultGateway) checkPinnedVault(ctx context.Context, r route) error {
	if !g.vault.Pinned || g.vault.Folder == "" || r.program.Backend() != string(App) {
		return nil
	}
	g.pinned.Lock()
	defer g.pinned.Unlock()
	if g.pinned.confirmed {
		return nil
	}
	asked, err := g.runner.Run(ctx, r.permit.VaultPath(), r.program)
	switch {
	case err != nil:
		return err
	case asked.Failure != nil:
		return asked.Failure
	}
	if lies := strings.TrimSpace(asked.Stdout); !registry.SameFolder(lies, g.vault.Folder) {
		return failure.New(failure.CodeVaultNotFound, "the user can set the id of the vault, or correct its folder",
			"the app has the vault %q in the folder %q, the settings have %q", g.name(), quote.Short(lies), quote.Short(g.vault.Folder))
	}
	g.pinned.confirmed = true
	return nil
}

package gateway

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/paths"
)

// defaultUndoList is how many changes undo:list names.
const defaultUndoList = 20

// undoList returns the changes of the caller of a plan that undo can take back, one a
// line: id, local time, command, note, and the batch that it was a part of.
func (g *vaultGateway) undoList(plan Plan) (string, error) {
	folder := g.target().Folder
	if folder == "" {
		return "", errNoFolder
	}
	kept, err := g.journal(folder)
	if err != nil {
		return "", err
	}
	most := defaultUndoList
	if text, given := plan.call.Param("limit"); given {
		most, _ = strconv.Atoi(text) // it was parsed
	}
	var b strings.Builder
	sees := g.rules.Visible()
	err = kept.EachUndoable(journal.Filter{Caller: argument(plan.caller)}, func(e journal.Entry) bool {
		if e.SeenBy(sees) {
			b.WriteString(undoRow(e))
			most--
		}
		return most > 0
	})
	if err != nil {
		return "", failure.New(failure.CodeState, `the user can see more with "vaultwicket doctor"`, "the journal cannot be read: %v", err)
	}
	return cmp.Or(b.String(), "No change of yours can be undone.\n"), nil
}

// Undoable calls visit with the changes of a vault, "" for the default one, that undo can
// take back and that may be seen, newest first, until it returns false.
func (g *Gateway) Undoable(vault string, visit func(journal.Entry) bool) error {
	kept, err := g.Journal(vault)
	if err != nil {
		return err
	}
	sees := g.Visible(vault)
	return kept.EachUndoable(journal.Filter{}, func(e journal.Entry) bool { return !e.SeenBy(sees) || visit(e) })
}

func undoRow(e journal.Entry) string {
	row := fmt.Sprintf("%s\t%s\t%s", e.ID, e.Time.Local().Format(time.DateTime), clean.Line(e.Command))
	if len(e.Steps) > 0 {
		row += "\t" + clean.Line(e.Steps[0].Path)
	}
	if more := len(e.Steps) - 1; more > 0 {
		row += fmt.Sprintf(" and %d more", more)
	}
	if e.Batch != "" {
		row += "\tbatch " + clean.Line(e.Batch)
	}
	return row + "\n"
}

// journal returns the journal of the vault; both programs know it by the same
// path.
func (g *vaultGateway) journal(folder string) (*journal.Journal, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	state := paths.State(g.getenv, abs)
	if state == "" {
		return nil, failure.New(failure.CodeNotConfigured, "the user can set XDG_STATE_HOME to a folder outside of the vault", "no folder for the journal outside the vault")
	}
	return journal.OpenAs(filepath.Join(state, "journal"), g.folderIdentity(), abs, journal.Limits{}), nil
}

// Journal returns the journal of a vault, "" for the default one. The error is a
// [*failure.RequestError] if its folder is not known.
func (g *Gateway) Journal(vault string) (*journal.Journal, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, err
	}
	folder := d.target().Folder
	if folder == "" {
		return nil, failure.New(failure.CodeVaultNotFound, "the user can set vault to the folder of the vault", "no vault folder given")
	}
	return d.journal(folder)
}

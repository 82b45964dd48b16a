package metadata

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/scope"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/session"
)

// setProperties sets a property of all notes of a folder, or of all that a search
// finds, as one change. It changes nothing if one of them cannot be changed.
func setProperties(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	if session.NamesOneFile(p) {
		return command.Proposal{}, answer.Misuse("Use file=<name> or path=<path> for one note, or folder=<path> and query=<text> for several, not both.")
	}
	value, err := NewValue(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	notes, err := scope.Notes(v, p, false, func(*knowledge.Note) bool { return true })
	if err != nil {
		return command.Proposal{}, err
	}
	changes := scope.For(v)
	for _, path := range notes {
		if err := changes.Edit(path, func(text []byte) ([]byte, error) { return value.Set(path, text) }); err != nil {
			return command.Proposal{}, err
		}
	}
	return changes.Proposal("Set " + p["name"] + ": " + p["value"]), nil
}

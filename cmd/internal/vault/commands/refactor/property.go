package refactor

import (
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/metadata"
	"vaultwicket/cmd/internal/vault/commands/scope"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/session"
)

// renameProperty changes the name of a property and leaves its values as they are
// written. A note that has the new name, too, is a reason to change nothing: one of
// the two values would be lost.
func renameProperty(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	name, to := p["name"], strings.TrimSpace(p["to"])
	notes, err := scope.Indexed(v, p, func(f *index.File) bool {
		_, ok := f.Facts().Properties().Lookup(name)
		return ok
	})
	if err != nil {
		return command.Proposal{}, err
	}
	if len(notes) == 0 {
		known, err := metadata.PropertyNames(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return command.Proposal{}, answer.NotFound.DidYouMean(lookup.NearestNames(name, known), "Property %q not found.", answer.Verbatim(name))
	}
	changes := scope.For(v)
	for _, path := range notes {
		err := changes.Edit(path, func(text []byte) ([]byte, error) {
			edited, _, err := frontmatter.Rename(text, name, to)
			if err != nil {
				return nil, metadata.PropertyError(path, text, err)
			}
			return edited, nil
		})
		if err != nil {
			return command.Proposal{}, err
		}
	}
	said := changes.Proposal("Renamed property " + name + " to " + to)
	remark, err := leftType(v, name, to)
	said.Message += remark
	return said, err
}

// leftType says that the type which the user gave a property stays with the old name:
// the app keeps it in a settings file, which is the user's.
func leftType(v *session.Vault, name, to string) (string, error) {
	types, err := metadata.PropertyTypes(v)
	if err != nil {
		return "", err
	}
	kind, given := types[strings.ToLower(name)]
	if _, already := types[strings.ToLower(to)]; !given || already {
		return "", nil
	}
	return "\nThe type " + kind + " of " + name + " is not carried over: the user can set it for " + to + " in the app.", nil
}

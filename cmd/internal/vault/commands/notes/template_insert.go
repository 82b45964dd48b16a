package notes

import (
	"bytes"
	"errors"
	"fmt"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// insertTemplate merges the properties of a template into those of the note and
// adds its text at the end of the note: the app does so at the cursor, and there
// is none here.
func insertTemplate(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Proposal{}, err
	}
	filled, err := fromTemplate(v, p["name"], t.Path.Stem())
	if err != nil {
		return command.Proposal{}, err
	}
	return command.ProposeEdit(v, p, "Inserted into: ", func(text []byte) ([]byte, error) { return inserted(t.Path, text, filled, p["name"]) })
}

// inserted returns a note with a template in it. An empty one becomes what the
// template is, byte by byte.
func inserted(at disk.Path, text, template []byte, name string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return template, nil
	}
	found := markdown.Scan(template)
	properties, err := frontmatter.Parse(template[found.Frontmatter.Start:found.Frontmatter.End])
	if err != nil {
		return nil, answer.Failure("The properties of template %q cannot be read: %v", answer.Verbatim(name), inNote(err))
	}
	if text, err = merged(text, properties); err != nil {
		return nil, answer.Failure("The properties of %q cannot be changed: %v", answer.Verbatim(at.String()), inNote(err))
	}
	body := template[found.Body:]
	if len(bytes.TrimSpace(body)) == 0 {
		return text, nil
	}
	return edit.Append(text, string(body), false), nil
}

// merged returns a note with more properties. A value that is there stays, lists
// are united, and what has no value gets one.
func merged(text []byte, more frontmatter.Properties) ([]byte, error) {
	for _, property := range more {
		found := markdown.Scan(text)
		there, err := frontmatter.Parse(text[found.Frontmatter.Start:found.Frontmatter.End])
		if err != nil {
			return text, err
		}
		value := property.Value
		if old, has := there.Lookup(property.Key); has && old.Value.Kind() != frontmatter.Null {
			both, ok := old.Value.Union(value)
			if !ok {
				continue
			}
			value = both
		}
		edited, err := frontmatter.Set(text, property.Key, value)
		if err != nil {
			return text, err
		}
		text = edited
	}
	return text, nil
}

// inNote counts the line in an error about properties from the start of the
// note, where the line above the block is the first.
func inNote(err error) error {
	var malformed *frontmatter.Malformed
	if errors.As(err, &malformed) && malformed.Line > 0 {
		return fmt.Errorf("line %d: %s", malformed.Line+1, malformed.Reason)
	}
	return err
}

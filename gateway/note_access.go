package gateway

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
)

// NoteAccess is what agents can do with a note or folder, and why. It is for the owner of the
// vault: it reveals hidden notes.
type NoteAccess struct {
	Vault string `json:"vault,omitempty"` // as callers name it
	Agent string `json:"agent,omitempty"` // whose rights these are, "" where they are those of every caller
	Path  string `json:"path"`            // as the disk has it
	// Level is that of the access rules, Rule the path of the one that decides, "" if
	// none covers the note, and Origin where the rules come from.
	Level  string `json:"level"`
	Rule   string `json:"rule,omitempty"`
	Origin string `json:"origin,omitempty"`
	// Itself is the level to which the note narrows access to itself, "" if it does not.
	Itself string `json:"itself,omitempty"`
	// MadeOf are the notes that it was made of, as far as vaultwicket has made it; a folder ends with a slash.
	MadeOf []string `json:"madeOf,omitempty"`
	// Ignored is the line of the ignore file that hides it, nil if none does.
	Ignored *IgnoredBy `json:"ignored,omitempty"`
	Read    Permitted  `json:"read"`
	Change  Permitted  `json:"change"`
	Delete  Permitted  `json:"delete"`
}

// IgnoredBy is a line of the ignore file. Path is what it matches: the note, or a folder
// around it.
type IgnoredBy struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Path    string `json:"path,omitempty"`
}

// Permitted says whether something can be done, and why not or under which condition.
type Permitted struct {
	Allowed bool   `json:"allowed"`
	Why     string `json:"why,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// AccessOf returns what can be done with the note or folder at a path in the vault, or below the folder of
// the vault, by the policy in force and what is known of every call. The error is a [*allowlist.ParseError].
func (r *NoteRules) AccessOf(p policy.Policy, facts policy.Facts, path string) (NoteAccess, error) {
	switch folder := r.folder(); {
	case folder == "" || !filepath.IsAbs(path):
		path = strings.TrimSuffix(filepath.ToSlash(path), "/")
	default: // that of a file below the folder is one in the vault
		if below, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(below) {
			path = filepath.ToSlash(below)
		}
	}
	if named, err := r.names.Name(path); err == nil && r.folder() != "" {
		path = named
	}
	a := NoteAccess{Path: path, Agent: p.Agent, Level: p.Access.Level(path).String(), Rule: p.Access.Rule(path)}
	if p.Access.Restrict() {
		a.Origin = p.Origins["access"]
	}
	if text, ok := ignorePatterns(r.folder()); !ok { // a file that cannot be used hides everything
		a.Ignored = &IgnoredBy{File: filepath.Join(r.folder(), access.IgnoreFile)}
	} else {
		patterns := access.ParseIgnored(string(text))
		reason, hidden := patterns.Reason(path, access.File)
		if !hidden {
			reason, hidden = patterns.Reason(path, access.Folder)
		}
		if hidden {
			a.Ignored = &IgnoredBy{filepath.Join(r.folder(), access.IgnoreFile), reason.Line, reason.Pattern, reason.Path}
		}
	}
	itself := access.Delete
	if levels, known := r.Narrowing(path); !known {
		itself = access.None
	} else if level, narrowed := levels[path]; narrowed {
		itself = level
	}
	if itself < access.Delete {
		a.Itself = itself.String()
	}
	for _, one := range []struct {
		permitted *Permitted
		needs     access.Level
		command   string
		params    allowlist.Params
	}{
		{&a.Read, access.Read, "read", allowlist.Params{}},
		{&a.Change, access.Write, "append", allowlist.Params{"content": allowlist.Text("x")}},
		{&a.Delete, access.Delete, "delete", allowlist.Params{}},
	} {
		one.params["path"] = allowlist.Text(path)
		call, err := allowlist.Parse(one.command, one.params)
		if err != nil {
			return NoteAccess{}, err
		}
		switch *one.permitted = permitted(p, call, facts, a); {
		case p.Closed != "":
			one.permitted.Why = p.Closed
		case one.permitted.Allowed && itself < one.needs:
			*one.permitted = Permitted{
				Why:  "the note itself allows " + itself.String() + " by its properties or tags",
				Hint: "the user can change them in the app",
			}
		}
	}
	return a, nil
}

// permitted says whether a call is permitted on a note of which a is known.
func permitted(p policy.Policy, call allowlist.Call, facts policy.Facts, a NoteAccess) Permitted {
	switch {
	case a.Level == access.None.String():
		return Permitted{Why: "hidden by the access rules"}
	case a.Ignored != nil:
		return Permitted{Why: "hidden by the ignore file"}
	}
	err := p.Decide(call, facts).Err()
	var denial *policy.Denial
	switch {
	case err == nil:
		return Permitted{Allowed: true}
	case errors.As(err, &denial) && denial.NeedsApproval():
		return Permitted{Allowed: true, Why: denial.Reason, Hint: denial.Hint()}
	case denial != nil:
		return Permitted{Why: denial.Reason, Hint: denial.Hint()}
	}
	return Permitted{Why: err.Error()}
}

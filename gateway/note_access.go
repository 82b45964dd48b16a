package gateway

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
)

// NoteAccess is what agents can do with a note or folder, and why. It is only for the owner of the vault, because it
// reveals hidden notes.
type NoteAccess struct {
	Vault string `json:"vault,omitempty"` // the name that callers use
	Agent string `json:"agent,omitempty"` // the agent whose rights these are, "" for those of every caller
	Path  string `json:"path"`            // as spelled on the disk
	// Level is the level of the access rules. Rule is the path of the rule that decides, "" if none covers the note,
	// and Origin is where the rules were set.
	Level  string `json:"level"`
	Rule   string `json:"rule,omitempty"`
	Origin string `json:"origin,omitempty"`
	// Itself is the level to which the note restricts access to itself, "" if it does not.
	Itself string `json:"itself,omitempty"`
	// MadeOf are the notes that it was made from, as far as vaultwicket made it. Folders end with a slash.
	MadeOf []string `json:"madeOf,omitempty"`
	// Ignored is the line of the ignore file that hides it, nil if none does.
	Ignored *IgnoredBy `json:"ignored,omitempty"`
	Read    Permitted  `json:"read"`
	Change  Permitted  `json:"change"`
	Delete  Permitted  `json:"delete"`
}

// IgnoredBy is a line of the ignore file. Path is what it matches: the note, or a folder that contains it.
type IgnoredBy struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Path    string `json:"path,omitempty"`
}

// Permitted tells whether something can be done, and why not or under which condition.
type Permitted struct {
	Allowed bool   `json:"allowed"`
	Why     string `json:"why,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// AccessOf returns what can be done with a note or folder under a policy, given the facts of every call. path is
// relative to the vault, or an absolute path in its folder. The error is an [*allowlist.ParseError].
func (r *NoteRules) AccessOf(p policy.Policy, facts policy.Facts, path string) (NoteAccess, error) {
	folder := r.folder()
	if folder == "" || !filepath.IsAbs(path) {
		path = strings.TrimSuffix(filepath.ToSlash(path), "/")
	} else if below, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(below) {
		path = filepath.ToSlash(below)
	}
	if named, err := r.names.Name(path); err == nil && r.folder() != "" {
		path = named
	}
	a := NoteAccess{Path: path, Agent: p.Agent, Level: p.Access.Level(path).String(), Rule: p.Access.Rule(path)}
	if p.Access.Restrict() {
		a.Origin = p.Origins["access"]
	}
	if text, ok := ignorePatterns(r.folder()); !ok { // an unreadable file hides everything
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
	ownLevel := access.Delete
	if levels, known := r.Narrowing(path); !known {
		ownLevel = access.None
	} else if level, isNarrowed := levels[path]; isNarrowed {
		ownLevel = level
	}
	if ownLevel < access.Delete {
		a.Itself = ownLevel.String()
	}
	for _, operation := range []struct {
		permitted *Permitted
		needs     access.Level
		command   string
		params    allowlist.Params
	}{
		{&a.Read, access.Read, "read", allowlist.Params{}},
		{&a.Change, access.Write, "append", allowlist.Params{"content": allowlist.Text("x")}},
		{&a.Delete, access.Delete, "delete", allowlist.Params{}},
	} {
		operation.params["path"] = allowlist.Text(path)
		call, err := allowlist.Parse(operation.command, operation.params)
		if err != nil {
			return NoteAccess{}, err
		}
		*operation.permitted = permitted(p, call, facts, a)
		switch {
		case p.Closed != "":
			operation.permitted.Why = p.Closed
		case operation.permitted.Allowed && ownLevel < operation.needs:
			*operation.permitted = Permitted{
				Why:  "the note itself allows " + ownLevel.String() + " by its properties or tags",
				Hint: "the user can change them in the app",
			}
		}
	}
	return a, nil
}

// permitted tells whether a call is permitted on the note that a describes.
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

// Package acl reads the access control lists of Windows: who owns a file or folder, and
// which accounts are given which rights to it. It judges the text form of a security
// descriptor (SDDL), such as O:BAD:P(A;OICI;FA;;;SY), and so is the same on every system;
// only on Windows can it ask a file for its descriptor.
//
// What it does not understand counts as all rights for everybody. It changes nothing.
package acl

import (
	"slices"
	"strings"
)

// everybody is the account that every user belongs to.
const everybody = "S-1-1-0"

// Entry gives rights to one account, or takes them away.
type Entry struct {
	Account string // a SID; an alias such as DA where this system knows no SID for it
	Rights  Rights
	// Denies reports that the rights are taken away.
	Denies bool
	// InheritOnly reports that the entry is for what is made in the folder, and not for
	// the folder itself.
	InheritOnly bool
}

// Descriptor says who owns a file or folder and what is allowed to whom.
type Descriptor struct {
	Owner   string // a SID, as in [Entry]; "" if it is not known
	Entries []Entry
}

// Parse reads a security descriptor in its text form. It never fails: without a list, for
// an entry that cannot be read and where one has a condition, everybody has all rights.
func Parse(text string) Descriptor {
	d := Descriptor{Owner: ownerIn(text)}
	_, list, found := strings.Cut(text, "D:")
	if list, _, _ = strings.Cut(list, "S:"); !found || strings.Contains(list, "NO_ACCESS_CONTROL") || hasCondition(text) {
		d.Entries = []Entry{{Account: everybody, Rights: All}}
		return d
	}
	_, entries, found := strings.Cut(list, "(")
	if !found {
		return d // an empty list gives no rights
	}
	for entry := range strings.SplitSeq(entries, "(") {
		d.Entries = append(d.Entries, parseEntry(strings.TrimRight(entry, ")")))
	}
	return d
}

// hasCondition reports whether there are brackets in brackets. A condition can contain
// what looks like another part of the descriptor.
func hasCondition(text string) bool {
	inside := false
	for _, r := range text {
		switch {
		case r == '(' && inside:
			return true
		case r == '(', r == ')':
			inside = r == '('
		}
	}
	return false
}

// ownerIn returns the SID after O:, which ends where the next part begins.
func ownerIn(text string) string {
	owner, found := strings.CutPrefix(text, "O:")
	if !found {
		return ""
	}
	for _, next := range []string{"G:", "D:", "S:"} {
		owner, _, _ = strings.Cut(owner, next)
	}
	return SIDOf(owner)
}

// parseEntry reads an entry without its brackets.
func parseEntry(text string) Entry {
	fields := strings.Split(text, ";")
	if len(fields) < 6 || fields[5] == "" {
		return Entry{Account: everybody, Rights: All}
	}
	return Entry{
		Account: SIDOf(fields[5]), Rights: rightsIn(fields[2]), InheritOnly: hasFlag(fields[1], "IO"),
		Denies: slices.Contains([]string{"D", "OD", "XD"}, fields[0]),
	}
}

// hasFlag looks for a flag of two letters in a field of such flags.
func hasFlag(field, flag string) bool {
	for len(field) >= 2 {
		if field[:2] == flag {
			return true
		}
		field = field[2:]
	}
	return false
}

// Beyond returns an account that is given one of the rights to the file or folder itself
// and is none of trusted, "" if there is none. Entries that deny are not counted against
// those that allow.
func (d Descriptor) Beyond(trusted []string, rights Rights) (account string) {
	for _, e := range d.Entries {
		if !e.Denies && !e.InheritOnly && e.Rights&rights != 0 && !slices.Contains(trusted, e.Account) {
			return e.Account
		}
	}
	return ""
}

// OwnedBy reports whether the owner is one of trusted. An owner can change the list.
func (d Descriptor) OwnedBy(trusted []string) bool { return slices.Contains(trusted, d.Owner) }

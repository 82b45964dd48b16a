package ownerfiles

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// everybody is the account that every user belongs to.
const everybody = "S-1-1-0"

// AccessEntry grants rights to an account, or denies them.
type AccessEntry struct {
	Account     string // a SID, or an alias such as DA if this system knows no SID for it
	Rights      Rights
	Denies      bool
	InheritOnly bool // it applies to new files in the folder, and not to the folder itself
}

// Descriptor has the owner of a file or folder and its access list.
type Descriptor struct {
	Owner   string // a SID, as in [AccessEntry]; "" if it is not known
	Entries []AccessEntry
}

// ParseDescriptor parses a security descriptor in its text form. It never fails: if there is no list, if an entry
// cannot be parsed, or if an entry has a condition, everybody has all rights.
func ParseDescriptor(text string) Descriptor {
	var d Descriptor
	if owner, found := strings.CutPrefix(text, "O:"); found { // the SID ends where the next part begins
		for _, next := range []string{"G:", "D:", "S:"} {
			owner, _, _ = strings.Cut(owner, next)
		}
		d.Owner = SIDOf(owner)
	}
	_, list, found := strings.Cut(text, "D:")
	list, _, _ = strings.Cut(list, "S:")
	isOpenToAll := !found || strings.Contains(list, "NO_ACCESS_CONTROL")
	if isOpenToAll || hasCondition(text) {
		d.Entries = []AccessEntry{{Account: everybody, Rights: AllRights}}
		return d
	}
	_, entries, found := strings.Cut(list, "(")
	if !found {
		return d // an empty list grants no rights
	}
	for entry := range strings.SplitSeq(entries, "(") {
		fields := strings.Split(strings.TrimRight(entry, ")"), ";")
		if len(fields) < 6 || fields[5] == "" {
			d.Entries = append(d.Entries, AccessEntry{Account: everybody, Rights: AllRights})
			continue
		}
		inheritOnly := false
		for flag := range slices.Chunk([]byte(fields[1]), 2) {
			inheritOnly = inheritOnly || string(flag) == "IO"
		}
		d.Entries = append(d.Entries, AccessEntry{
			Account:     SIDOf(fields[5]),
			Rights:      rightsIn(fields[2]),
			Denies:      slices.Contains([]string{"D", "OD", "XD"}, fields[0]),
			InheritOnly: inheritOnly,
		})
	}
	return d
}

// hasCondition reports whether text has nested parentheses, as in conditions. A condition can
// contain text that looks like another part of the descriptor.
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

// Beyond returns an account other than the trusted ones that has one of the rights to the file or
// folder itself, "" if there is none. Deny entries are ignored.
func (d Descriptor) Beyond(trusted []string, rights Rights) (account string) {
	for _, e := range d.Entries {
		grants := !e.Denies && !e.InheritOnly && e.Rights&rights != 0
		if grants && !slices.Contains(trusted, e.Account) {
			return e.Account
		}
	}
	return ""
}

// OwnedBy reports whether the owner, who can change the access list, is one of the trusted accounts.
func (d Descriptor) OwnedBy(trusted []string) bool { return slices.Contains(trusted, d.Owner) }

// administrators returns the accounts that can take ownership of every file anyway: the system, the
// group of administrators, the installer of programs and updates, the built-in administrator of
// this machine, and the administrators of its domain and its forest.
var administrators = sync.OnceValue(func() []string {
	return []string{
		"S-1-5-18", "S-1-5-32-544", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
		SIDOf("LA"), SIDOf("DA"), SIDOf("EA"),
	}
})

// TrustedBy returns the accounts that a user trusts: the SID of the user, and the administrators.
// OWNER RIGHTS and CREATOR OWNER, which stand for the owner of a file, are included, because the
// owner is checked separately.
func TrustedBy(user string) []string {
	return append([]string{user, "S-1-3-4", "S-1-3-0"}, administrators()...)
}

// aliases maps the two-letter codes of accounts with the same SID on every machine to these SIDs.
var aliases = map[string]string{
	"WD": everybody, "CO": "S-1-3-0", "CG": "S-1-3-1", "OW": "S-1-3-4", "NU": "S-1-5-2", "IU": "S-1-5-4", "SU": "S-1-5-6", "AN": "S-1-5-7",
	"PS": "S-1-5-10", "AU": "S-1-5-11", "RC": "S-1-5-12", "SY": "S-1-5-18", "LS": "S-1-5-19", "NS": "S-1-5-20",
	"BA": "S-1-5-32-544", "BU": "S-1-5-32-545", "BG": "S-1-5-32-546", "PU": "S-1-5-32-547", "AC": "S-1-15-2-1",
}

// SIDOf returns the SID of an alias such as WD. Other text and unknown aliases are returned unchanged.
func SIDOf(alias string) string {
	if sid, known := aliases[alias]; known {
		return sid
	}
	return systemSID(alias)
}

// Rights is a set of rights to a file or folder, with the bits of Windows.
type Rights uint32

// Rights to change something. In a folder, WriteData allows adding files, and AppendData adding folders.
const (
	WriteData       Rights = 0x2
	AppendData      Rights = 0x4
	writeExtended   Rights = 0x10
	DeleteChild     Rights = 0x40
	WriteAttributes Rights = 0x100
	Delete          Rights = 0x10000
	WriteList       Rights = 0x40000
	WriteOwner      Rights = 0x80000
	maximumAllowed  Rights = 0x2000000
	genericAll      Rights = 0x10000000
	genericWrite    Rights = 0x40000000

	AllRights Rights = 0xffffffff
)

// Rights with which an account can replace a program or a file, or redirect a path.
const (
	// ChangeFile has the rights to write, delete or rename a file, or to grant oneself
	// such a right. WriteAttributes is included because an attribute can turn a file into a link.
	ChangeFile = WriteData | AppendData | writeExtended | WriteAttributes | genericWrite | takeOver | Delete
	ReplaceIn  = DeleteChild | takeOver                           // delete or rename entries of a folder
	AddTo      = WriteData | AppendData | genericWrite | takeOver // create files and folders in a folder
	MoveAway   = Delete | takeOver                                // delete or rename a folder or a link itself

	takeOver = WriteList | WriteOwner | genericAll | maximumAllowed
)

// rightsByCode maps two-letter codes to rights. Codes for the registry and for directory services are
// not meant for files, but some have the same bits as rights to files.
var rightsByCode = map[string]Rights{
	"GA": genericAll, "GW": genericWrite, "GX": 0x20000000, "GR": 0x80000000,
	"RC": 0x20000, "SD": Delete, "WD": WriteList, "WO": WriteOwner,
	"FA": 0x1f01ff, "FR": 0x120089, "FW": 0x120116, "FX": 0x1200a0,
	"CC": 0x1, "DC": WriteData, "LC": AppendData, "SW": 0x8, "RP": writeExtended, "WP": 0x20, "DT": DeleteChild, "LO": 0x80, "CR": WriteAttributes,
}

// rightsIn parses the rights of an entry: a number, or a sequence of two-letter codes.
func rightsIn(text string) Rights {
	if n, err := strconv.ParseUint(text, 0, 32); err == nil {
		return Rights(n)
	}
	var all Rights
	for len(text) > 0 {
		if len(text) < 2 {
			return AllRights
		}
		rights, known := rightsByCode[text[:2]]
		if !known {
			return AllRights
		}
		all |= rights
		text = text[2:]
	}
	return all
}

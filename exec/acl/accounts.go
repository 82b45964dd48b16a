package acl

import "sync"

// administrators are the accounts that can take every file anyway: the system, the group
// of the administrators, the one that installs programs and updates, and the first
// administrators of this machine, its domain and its forest.
var administrators = sync.OnceValue(func() []string {
	return []string{
		"S-1-5-18", "S-1-5-32-544", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
		SIDOf("LA"), SIDOf("DA"), SIDOf("EA"),
	}
})

// TrustedBy returns who may change what a user relies on: the user with this SID, and
// who has the rights of an administrator. Owner rights and the creator stand for the
// owner of a file, who is looked at as such.
func TrustedBy(user string) []string {
	return append([]string{user, "S-1-3-4", "S-1-3-0"}, administrators()...)
}

// aliases are the accounts that descriptors name by two letters and that have the same
// SID on every machine.
var aliases = map[string]string{
	"WD": everybody, "CO": "S-1-3-0", "CG": "S-1-3-1", "OW": "S-1-3-4", "NU": "S-1-5-2", "IU": "S-1-5-4", "SU": "S-1-5-6", "AN": "S-1-5-7",
	"PS": "S-1-5-10", "AU": "S-1-5-11", "RC": "S-1-5-12", "SY": "S-1-5-18", "LS": "S-1-5-19", "NS": "S-1-5-20",
	"BA": "S-1-5-32-544", "BU": "S-1-5-32-545", "BG": "S-1-5-32-546", "PU": "S-1-5-32-547", "AC": "S-1-15-2-1",
}

// SIDOf returns the SID for an alias such as WD. What is no alias, or one that this system
// does not know, is returned as it is.
func SIDOf(alias string) string {
	if sid, known := aliases[alias]; known {
		return sid
	}
	return fromSystem(alias)
}

package ownerfiles

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	me        = "S-1-5-21-1-2-3-1001"
	other     = "S-1-5-21-1-2-3-1002"
	installer = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
)

// Folders and files as Windows makes them, and what accounts that are not trusted can do
// with each: change it as a file, replace what is in it, add to it, and move it away.
func TestWhatOthersCanDo(t *testing.T) {
	const nobody, users, logons, world = "", "S-1-5-32-545", "S-1-5-11", everybody
	for _, tt := range []struct {
		name, descriptor           string
		foreign                    bool // another user owns it
		change, replace, add, move string
	}{
		{"the root of the first drive", "O:" + installer + "G:" + installer +
			"D:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;BU)(A;CIOIIO;SDGXGWGR;;;AU)(A;;LC;;;AU)", false, logons, nobody, logons, nobody},
		{"the root of another drive",
			"O:BAG:SYD:AI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICIIO;SDGXGWGR;;;AU)(A;;0x1301bf;;;AU)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)",
			false, logons, nobody, logons, logons},
		{"the folder of the profiles",
			"O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)(A;;0x1200a9;;;WD)(A;OICIIO;GXGR;;;WD)",
			false, nobody, nobody, nobody, nobody},
		{"a profile", "O:SYG:SYD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + me + ")", false, nobody, nobody, nobody, nobody},
		{"a file of a profile", "O:" + me + "G:DUD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;FA;;;" + me + ")", false, nobody, nobody, nobody, nobody},
		{"the folder of the programs",
			"O:" + installer + "G:" + installer +
				"D:PAI(A;OICIIO;GA;;;CO)(A;OICIIO;GA;;;SY)(A;;0x1301bf;;;SY)(A;OICIIO;GA;;;BA)(A;;0x1301bf;;;BA)" +
				"(A;OICIIO;GXGR;;;BU)(A;;0x1200a9;;;BU)(A;CIIO;GA;;;" + installer + ")(A;;FA;;;" + installer +
				")(A;;0x1200a9;;;AC)(A;OICIIO;GXGR;;;AC)", false, nobody, nobody, nobody, nobody},
		{"a folder that a user makes in the root of a drive",
			"O:" + me +
				"G:DUD:AI(A;OICIID;FA;;;BA)(A;OICIID;FA;;;SY)(A;OICIID;0x1200a9;;;BU)(A;ID;0x1301bf;;;AU)(A;OICIIOID;SDGXGWGR;;;AU)",
			false, logons, nobody, logons, logons},
		{"a folder with everything for everybody", "O:BAG:DUD:P(A;OICI;FA;;;WD)", false, world, world, world, world},
		{"a file that users can only read", "O:BAG:DUD:P(A;;FR;;;WD)(A;;GRGX;;;BU)(A;;FX;;;AU)(A;;0x1200a9;;;AC)", false, nobody, nobody, nobody, nobody},
		{"a file that users can append to", "O:BAG:DUD:P(A;;0x120089;;;BU)(A;;LC;;;BU)", false, users, nobody, users, nobody},
		{"a file that can be made a link", "O:BAG:DUD:P(A;;CR;;;BU)", false, users, nobody, nobody, nobody},
		{"a file that can be deleted", "O:BAG:DUD:P(A;;SD;;;BU)", false, users, nobody, nobody, users},
		{"a folder of which anything can be deleted", "O:BAG:DUD:P(A;;DT;;;BU)", false, nobody, users, nobody, nobody},
		{"what gives itself rights", "O:BAG:DUD:P(A;;WD;;;BU)", false, users, users, users, users},
		{"what can be taken over", "O:BAG:DUD:P(A;;WO;;;BU)", false, users, users, users, users},
		{"generic writing", "O:BAG:DUD:P(A;;GW;;;BU)", false, users, nobody, users, nobody},
		{"generic everything", "O:BAG:DUD:P(A;;GA;;;BU)", false, users, users, users, users},
		{"no list", "O:BAG:DU", false, world, world, world, world},
		{"a list that is not one", "O:BAG:DUD:NO_ACCESS_CONTROL", false, world, world, world, world},
		{"an empty list", "O:BAG:DUD:P", false, nobody, nobody, nobody, nobody},
		{"nothing at all", "", true, world, world, world, world},
		{"a denial alone", "O:BAG:DUD:(D;;FA;;;WD)(OD;;FA;;;WD)(XD;;FA;;;WD)", false, nobody, nobody, nobody, nobody},
		{"an allowance that is denied again", "O:BAG:DUD:(D;;FA;;;BU)(A;;FA;;;BU)", false, users, users, users, users},
		{"an allowance on a condition", `O:BAG:DUD:(XA;;FR;;;BA;(@User.Title=="PM"))`, false, world, world, world, world},
		{"a condition that looks like the end of the list", `O:BAG:DUD:(XA;;FR;;;BA;(@User.S:x))(A;;FA;;;BU)`, false, world, world, world, world},
		{"an entry that is cut off", "O:BAG:DUD:(A;;FR)", false, world, world, world, world},
		{"rights that are not known", "O:BAG:DUD:(A;;FRZZ;;;BU)", false, users, users, users, users},
		{"half a right", "O:BAG:DUD:(A;;FRG;;;BU)", false, users, users, users, users},
		{"a label and a list of the system", "O:BAG:DUD:P(A;;FA;;;BA)S:(ML;;NW;;;LW)(AU;SAFA;FA;;;WD)", false, nobody, nobody, nobody, nobody},
		{"of another user", "O:" + other + "G:DUD:P(A;;FA;;;" + me + ")", true, nobody, nobody, nobody, nobody},
		{"for another user", "O:" + me + "G:DUD:P(A;;FA;;;" + me + ")(A;;FA;;;" + other + ")", false, other, other, other, other},
		{"of a user whose SID begins alike", "O:" + me + "0G:DUD:P(A;;FR;;;" + me + "0)", true, nobody, nobody, nobody, nobody},
		{"of everybody", "O:WDG:DUD:P(A;;FR;;;WD)", true, nobody, nobody, nobody, nobody},
		{"of the creator and for the owner", "O:BAG:DUD:P(A;;FA;;;OW)(A;;FA;;;CO)", false, nobody, nobody, nobody, nobody},
		{"for administrators of the domain", "O:DAG:DUD:P(A;;FA;;;DA)(A;;FA;;;EA)(A;;FA;;;LA)", false, nobody, nobody, nobody, nobody},
		{"for power users", "O:BAG:DUD:P(A;;0x1301bf;;;PU)", false, "S-1-5-32-547", nobody, "S-1-5-32-547", "S-1-5-32-547"},
	} {
		d, trusted := ParseDescriptor(tt.descriptor), TrustedBy(me)
		assert.Equal(t, !d.OwnedBy(trusted), tt.foreign, "%s: the owner is %q", tt.name, d.Owner)
		for what, check := range map[string]struct {
			rights Rights
			want   string
		}{"change it": {ChangeFile, tt.change}, "replace in it": {ReplaceIn, tt.replace}, "add to it": {AddTo, tt.add}, "move it": {MoveAway, tt.move}} {
			got := d.Beyond(trusted, check.rights)
			assert.That(t, got == check.want, "%s: %q can %s, want %q", tt.name, got, what, check.want)
		}
	}
}

func TestEntries(t *testing.T) {
	d := ParseDescriptor("O:" + me + "G:DUD:PAI(A;OICIIO;0x1301bf;;;AU)(D;CIID;GR;;;ZZ)")
	want := []AccessEntry{{Account: "S-1-5-11", Rights: 0x1301bf, InheritOnly: true}, {Account: "ZZ", Rights: 0x80000000, Denies: true}}
	require.Equal(t, len(d.Entries), 2)
	require.Equal(t, d.Entries[0], want[0])
	require.Equal(t, d.Entries[1], want[1])
	assert.Equal(t, d.Owner, me)
}

// FuzzParse: an allowance to another account is seen whatever entries are before it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", ";;2;;;", "A;OICI;FA;;;BA", "D;;FA;;;WD", "A;;LC;;;AU)(A;;GR;;;SY", `XA;;FR;;;BA;(@User.S:x=="S:")`, "((", ")"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, before string) {
		if strings.Contains(before, ":") && !hasCondition("("+before+")") {
			return // nothing in an entry has a colon but a condition
		}
		d := ParseDescriptor("O:BAD:(" + before + ")(A;;FA;;;" + other + ")")
		assert.That(t, d.Beyond(TrustedBy(me), ChangeFile) != "", "%+v", d)
		assert.Equal(t, d.Owner, "S-1-5-32-544")
	})
}

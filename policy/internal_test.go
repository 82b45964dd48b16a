package policy

import (
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// What is here cannot be reached by a call of the table, because another
// rule or the table itself is in front of it. It has to hold all the same.

func TestLeaves(t *testing.T) {
	to := func(path string, folder bool) subject {
		return subject{spells: []allowlist.NamedPath{{Param: "path", Path: "A/n.md"}, {Param: "to", Path: path, To: true, Folder: folder}}}
	}
	for _, test := range []struct {
		name string
		s    subject
		from string
		want bool
	}{
		{"no destination", subject{}, "A/n.md", true},
		{"a path that is none", subject{spells: []allowlist.NamedPath{{Param: "path", Path: "A"}}}, "A/n.md", true},
		{"its own folder", to("A", true), "A/n.md", false},
		{"another name", to("A/m.md", false), "A/n.md", false},
		{"a folder below", to("A/B", true), "A/n.md", true},
		{"the folder above", to("", true), "A/n.md", true},
		{"a name in the folder above", to("n.md", false), "A/n.md", true},
		{"from the root into the root", to("", true), "n.md", false},
		{"another name in the root", to("m.md", false), "n.md", false},
		{"from the root into a folder", to("A", true), "n.md", true},
		{"a folder that is called like the note", to("A/n.md", true), "A/n.md", true},
	} {
		assert.Equal(t, test.s.leavesFolder(test.from), test.want, "%s", test.name)
	}
}

func TestNeeds(t *testing.T) {
	note := allowlist.NamedPath{Param: "path", Path: "A/n.md"}
	for _, test := range []struct {
		name    string
		s       subject
		spelled allowlist.NamedPath
		want    access.Level
	}{
		{"to read", subject{name: "x", effect: tiers.Reads}, note, access.Read},
		{"to show", subject{name: "x", effect: tiers.Shows}, note, access.Read},
		{"to write", subject{name: "x", effect: tiers.Writes}, note, access.Write},
		{"to destroy", subject{name: "x", effect: tiers.Destroys}, note, access.Delete},
		{"to publish", subject{name: "x", effect: tiers.Publishes}, note, access.Read},
		{"to look into a folder", subject{name: "x", effect: tiers.Reads}, allowlist.NamedPath{Folder: true}, access.None},
		{"to write into a folder", subject{name: "x", effect: tiers.Writes}, allowlist.NamedPath{Folder: true}, access.None},
		{"to move into a folder", subject{access: allowlist.AccessToMove, effect: tiers.Writes}, allowlist.NamedPath{Folder: true, To: true}, access.Write},
		{"a base", subject{access: allowlist.AccessToRead, effect: tiers.Writes}, note, access.Read},
		{"a bookmark", subject{access: allowlist.AccessToRead, effect: tiers.Writes}, note, access.Read},
		{"a bookmark that would destroy", subject{access: allowlist.AccessToRead, effect: tiers.Destroys}, note, access.Delete},
		{"a property", subject{access: allowlist.AccessToWrite, effect: tiers.Destroys}, note, access.Write},
	} {
		assert.Equal(t, test.s.needs(test.spelled), test.want, "%s", test.name)
	}
}

// A call that falls back on the note that is open is refused where there are
// rules; if it were not, it would be confined.
func TestACallThatFallsBackIsConfined(t *testing.T) {
	rules := require.Value(access.New(map[string]access.Level{"/": access.Delete}))(t)
	call, err := allowlist.Parse("outline", nil)
	require.NoError(t, err)
	require.That(t, call.UsesOpenNote(), "%v, %v", call, err)
	require.Equal(t, call.Effect(), tiers.Reads)
	assert.That(t, (Policy{Access: rules}).confines(call, ClearFacts(time.Now())), "not confined by the rules")
	assert.That(t, !(Policy{}).confines(call, ClearFacts(time.Now())), "not confined by the rules")
}

// A dry run names the version that a permit would ask for: the newer of what is
// set and what the command needs.
func TestTheVersionOfAVerdict(t *testing.T) {
	call, err := allowlist.Parse("create", allowlist.Params{"name": allowlist.Text("A")})
	if err != nil || call.Since() == (tiers.Version{}) || subjectOf(call, Facts{}).since != call.Since() {
		t.Errorf("the rules look at %v, the call is since %v, %v", subjectOf(call, Facts{}).since, call.Since(), err)
	}
	for _, test := range []struct{ set, since, want tiers.Version }{
		{tiers.Release(1, 12, 7), tiers.Release(1, 12, 2), tiers.Release(1, 12, 7)},
		{tiers.Release(1, 12, 7), tiers.Release(1, 13, 0), tiers.Release(1, 13, 0)},
	} {
		for _, rule := range rules {
			if rule.name == "version" {
				assert.Equal(t, rule.pass(Policy{MinVersion: test.set}, subject{since: test.since}), "requires Obsidian "+test.want.String()+" or newer")
			}
		}
	}
}

func TestHalfAPermitIsWorthless(t *testing.T) {
	assert.That(t, !(Permit{&grant{}}).Valid(), "a permit for the zero call")
	assert.That(t, !(Preview{grant: &grant{}}).Valid(), "a permit for the zero call")
}

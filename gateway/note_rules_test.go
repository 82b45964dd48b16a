package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// vault makes a vault of empty notes, with the lines of an ignore file if there are any.
func vault(t *testing.T, ignored string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		putRuleFile(t, dir, name, "")
	}
	if ignored != "" {
		putRuleFile(t, dir, access.IgnoreFile, ignored)
	}
	return dir
}

func putRuleFile(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
}

// rulesFor returns the rules of a vault whose policy permits every change without asking,
// but for what levels say.
func rulesFor(t *testing.T, dir string, levels map[string]access.Level) *NoteRules {
	t.Helper()
	rules := require.Value(access.New(levels))(t)
	p := policy.Policy{
		Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, Access: rules, MinVersion: tiers.DefaultMinimum,
		Origins: map[string]string{"access": "a test"},
	}
	return NewNoteRules(p, func() string { return dir }, nil)
}

var privateHidden = map[string]access.Level{"/": access.Delete, "Private": access.None, "Log.md": access.Read}

func call(t *testing.T, name string, params map[string]string) allowlist.Call {
	t.Helper()
	texts := allowlist.Params{}
	for key, value := range params {
		texts[key] = allowlist.Text(value)
	}
	return require.Value(allowlist.Parse(name, texts))(t)
}

func TestVisibleIsWhatNeitherRuleNorPatternHides(t *testing.T) {
	visible := rulesFor(t, vault(t, "*.draft.md\nOld/\n", "a.md"), privateHidden).Visible()
	for path, want := range map[string]bool{
		"a.md": true, "Sub/a.md": true, "Log.md": true, "Private/a.md": false, "private/a.md": false, "Private": false,
		"a.draft.md": false, "Sub/a.draft.md": false, "Old/a.md": false, "Sub/Old/a.md": false, "Older/a.md": true,
	} {
		assert.That(t, visible(path) == want, "%s is visible: %v", path, !want)
	}
}

// A file of patterns that cannot be used may have hidden anything.
func TestAnUnusableIgnoreFileHidesEverything(t *testing.T) {
	large := vault(t, strings.Repeat("#", access.MaxIgnoreFile+1), "a.md")
	folder := vault(t, "", "a.md", access.IgnoreFile+"/x.md")
	link := vault(t, "", "a.md")
	if err := os.Symlink(filepath.Join(large, "a.md"), filepath.Join(link, access.IgnoreFile)); err != nil {
		t.Skip(err)
	}
	for what, dir := range map[string]string{"too large": large, "a folder": folder, "a link": link} {
		r := rulesFor(t, dir, nil)
		_, facts := r.InForce(Fingerprint{})
		assert.That(t, !r.Visible()("a.md"), "%s: something is shown", what)
		assert.That(t, r.hiddenFilter()("a.md"), "%s: something is shown", what)
		assert.That(t, facts.Ignores.Holds(), "%s: something is shown", what)
		a, err := accessOf(r, "a.md")
		require.Equal(t, err, nil, "%s", what)
		require.That(t, !a.Read.Allowed, "%s: %+v, %v", what, a, err)
		require.That(t, !a.Change.Allowed, "%s: %+v, %v", what, a, err)
		require.That(t, !a.Delete.Allowed, "%s: %+v, %v", what, a, err)
		assert.That(t, a.Ignored != nil, "%s: %+v, %v", what, a, err)
	}
}

func TestHiddenByNamesTheRuleForThePathOrTheName(t *testing.T) {
	dir := vault(t, "*.draft.md\n", "a.md", "a.draft.md", "Private/p.md")
	r := rulesFor(t, dir, privateHidden)
	p, facts := r.InForce(Fingerprint{})
	for _, test := range []struct {
		command      string
		params       map[string]string
		rule, ofName string
	}{
		{"read", map[string]string{"path": "a.md"}, "", ""},
		{"read", map[string]string{"path": "Private/p.md"}, "access", ""},
		{"read", map[string]string{"path": "Private/none.md"}, "access", ""},
		{"read", map[string]string{"path": "a.draft.md"}, "ignore", ""},
		{"read", map[string]string{"file": "a"}, "", ""},
		{"read", map[string]string{"file": "Private/p"}, "", "access"},
		{"read", map[string]string{"file": "a.draft"}, "", "ignore"},
		{"files", map[string]string{"folder": "Private"}, "access", ""},
		{"move", map[string]string{"path": "a.md", "to": "Private/"}, "access", ""},
		{"tags", nil, "", ""},
	} {
		rule, ofName := r.HiddenBy(call(t, test.command, test.params), p, facts)
		assert.Equal(t, rule, test.rule, "%s %v: by %q, of the name by %q", test.command, test.params, rule, ofName)
		assert.Equal(t, ofName, test.ofName, "%s %v: by %q, of the name by %q", test.command, test.params, rule, ofName)
	}
	rule, ofName := r.HiddenBy(allowlist.Call{}, p, facts)
	assert.Equal(t, rule, "", "the zero call")
	assert.Equal(t, ofName, "", "the zero call")
}

func TestAPathIsCompletedOnlyToANoteThatIsSeen(t *testing.T) {
	dir := vault(t, "*.draft.md\n", "a.md", "plain", "plain.md", "b.draft.md", "Private/p.md")
	r := rulesFor(t, dir, privateHidden)
	for given, want := range map[string]string{
		"a": "a.md", "a.md": "a.md", "plain": "plain", "none": "none", "b.draft": "b.draft", "Private/p": "Private/p",
	} {
		named, hidden := r.Named(call(t, "read", map[string]string{"path": given}))
		got, _ := named.Param("path")
		assert.Equal(t, got, want, "%s became %q, hidden: %v", given, got, hidden)
		assert.That(t, !hidden, "%s became %q, hidden: %v", given, got, hidden)
	}
}

func TestAccessOfSaysWhatDecides(t *testing.T) {
	dir := vault(t, "# drafts\n*.draft.md\n", "a.md", "Log.md", "x.draft.md", "Private/p.md")
	r := rulesFor(t, dir, privateHidden)
	for _, test := range []struct {
		path, level, rule    string
		read, change, delete bool
		line                 int // of the ignore file
	}{
		{"a.md", "rwd", "/", true, true, true, 0},
		{filepath.Join(dir, "a.md"), "rwd", "/", true, true, true, 0},
		{"Log.md", "r", "Log.md", true, false, false, 0},
		{"Private/p.md", "none", "Private", false, false, false, 0},
		{"x.draft.md", "rwd", "/", false, false, false, 2},
	} {
		a, err := accessOf(r, test.path)
		if err != nil || a.Level != test.level || a.Rule != test.rule || a.Origin != "a test" {
			t.Errorf("%s: %+v, %v", test.path, a, err)
			continue
		}
		if a.Read.Allowed != test.read || a.Change.Allowed != test.change || a.Delete.Allowed != test.delete {
			t.Errorf("%s: read %+v, change %+v, delete %+v", test.path, a.Read, a.Change, a.Delete)
		}
		if (a.Ignored != nil) != (test.line > 0) || a.Ignored != nil && (a.Ignored.Line != test.line || a.Ignored.Pattern != "*.draft.md") {
			t.Errorf("%s: ignored by %+v", test.path, a.Ignored)
		}
	}
	_, err := accessOf(r, "../a.md")
	assert.That(t, err != nil, "a path out of the vault is no error")
}

// What is kept of an answer is shown again only while all of this is the same.
func TestAFingerprintIsAnotherOneWithOtherRules(t *testing.T) {
	dir := vault(t, "", "a.md")
	r := rulesFor(t, dir, nil)
	seen, digests := map[Fingerprint]string{}, map[string]string{}
	look := func(what string) {
		t.Helper()
		f, d := r.Fingerprint(), r.Digest()
		before, known := seen[f]
		assert.That(t, !known, "%s: the fingerprint of %s", what, before)
		before, known = digests[d]
		assert.That(t, !known, "%s: the digest of %s", what, before)
		assert.Equal(t, f, r.Fingerprint(), "%s: changes by itself", what)
		assert.Equal(t, d, r.Digest(), "%s: changes by itself", what)
		seen[f], digests[d] = what, what
	}
	look("no rules")
	putRuleFile(t, dir, access.IgnoreFile, "*.draft.md\n")
	look("patterns")
	putRuleFile(t, dir, access.IgnoreFile, "*.draft\n")
	look("other patterns")
	rules := require.Value(access.New(privateHidden))(t)
	p := r.Policy()
	p.Access = rules
	r.Tighten(p)
	look("access rules")
	assert.That(t, !r.Visible()("Private/p.md"), "a tightened policy hides nothing")
	r.Tighten(policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum})
	assert.That(t, !r.Visible()("Private/p.md"), "a wider policy has loosened the one in force")
}

func TestAVaultWithoutAFolderHidesByItsRulesAlone(t *testing.T) {
	r := rulesFor(t, "", privateHidden)
	visible := r.Visible()
	assert.That(t, visible("a.md"), "the access rules do not decide")
	assert.That(t, !visible("Private/p.md"), "the access rules do not decide")
	named, hidden := r.Named(call(t, "read", map[string]string{"path": "a"}))
	assert.That(t, !hidden, "%v is hidden", named)
	assert.That(t, access.IgnoreFileOf("") == "", "there is an ignore file of no folder")
}

func TestFolders(t *testing.T) {
	vault := t.TempDir()
	for _, path := range []string{"b/c", "a", ".obsidian", "b/d"} {
		require.NoError(t, os.MkdirAll(filepath.Join(vault, path), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(vault, "note.md"), nil, 0o600))
	_ = os.Symlink(t.TempDir(), filepath.Join(vault, "outside")) // not on every system
	for path, want := range map[string][]string{"": {"a", "b"}, "b": {"c", "d"}, "a": nil} {
		names, more, err := ListFolders(vault, path, 10)
		assert.EqualSlices(t, names, want, "%q", path)
		assert.That(t, !more, "%q: %q, %v, %v", path, names, more, err)
		assert.NoError(t, err, "%q", path)
	}
	names, more, err := ListFolders(vault, "", 1)
	assert.EqualSlices(t, names, []string{"a"}, "one")
	assert.That(t, more, "one: %q, %v, %v", names, more, err)
	assert.NoError(t, err, "one")
	for _, path := range []string{"..", "../x", "note.md", "missing", "outside", "/etc"} {
		names, _, err := ListFolders(vault, path, 10)
		assert.That(t, err != nil, "%q: %q", path, names)
	}
	_, _, err = ListFolders("", "", 10)
	assert.That(t, err != nil, "folders of an unknown vault")
}

func TestANoteIsReadByItsHash(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(vault, "a.md"), []byte("milk"), 0o600))
	sum := sha256.Sum256([]byte("milk"))
	text, ok := TextWithHash(vault, "a.md", hex.EncodeToString(sum[:]))
	assert.Equal(t, string(text.ForProgram()), "milk")
	assert.That(t, ok, "%q, %v", text, ok)
	for _, path := range []string{"a.md", "b.md", "../a.md"} {
		_, ok := TextWithHash(vault, path, "other")
		assert.That(t, !ok, "%q has another hash", path)
	}
}

// accessOf asks by what is in force.
func accessOf(r *NoteRules, path string) (NoteAccess, error) {
	p, facts := r.InForce(Fingerprint{})
	return r.AccessOf(p, facts, path)
}

// Of a note that shows by its bytes that it does not narrow access nothing is asked; of every other one it is.
func TestOnlyWhatANoteDoesNotShowIsAsked(t *testing.T) {
	dir := vault(t, "")
	long := strings.Repeat("long ", maxScanned/5+1)
	for name, text := range map[string]string{
		"plain.md": "# Plain\ntext #work\n", "Sub/plain.md": "---\ntitle: Plan\ntags: [work]\n---\nprivate words\n", "empty.md": "",
		"marked.md": "---\nprivate: true\n---\n", "tagged.md": "text #private\n", "odd.md": "a\x00b", "long.md": long, "open.md": "---\nagent: r\n",
		"canvas.canvas": "{}",
	} {
		putRuleFile(t, dir, name, text)
	}
	_ = os.Symlink(filepath.Join(dir, "plain.md"), filepath.Join(dir, "link.md")) // not on every system: then it is missing
	_ = os.Symlink(filepath.Join(dir, "Sub"), filepath.Join(dir, "Linked"))
	private := require.Value(access.NewPrivate([]string{"private", "agent"}, []string{"private"}))(t)
	for path, asks := range map[string]bool{
		"plain.md": false, "Sub/plain.md": false, "empty.md": false,
		"marked.md": true, "tagged.md": true, "odd.md": true, "long.md": true, "open.md": true, "canvas.canvas": true,
		"missing.md": true, "link.md": true, "Linked/plain.md": true, "Sub/../plain.md": true, "../plain.md": true, "/plain.md": true,
	} {
		asked := 0
		rules := NewNoteRules(policy.Policy{Private: private}, func() string { return dir },
			func(policy.Policy, protocol.Ask, []string) ([]string, error) {
				asked++
				return nil, nil
			})
		_, known := rules.Narrowing(path)
		assert.That(t, known, "whether %s narrows access is not known", path)
		assert.Equal(t, asked == 1, asks, "%s: %d questions", path, asked)
	}
}

// What cannot be read may not be seen, folders with all that is in them included, and is counted once; what is hidden for
// another reason is not.
func TestASightCountsWhatCannotBeRead(t *testing.T) {
	dir := vault(t, "ignored.md\n")
	private := require.Value(access.NewPrivate([]string{"private"}, nil))(t)
	levels := require.Value(access.New(map[string]access.Level{"/": access.Delete, "Closed": access.None}))(t)
	lines := []string{"none\thidden.md", "r\tnarrow.md", "unread\tlost.md", "unread\tLost/In", "unread\tClosed/lost.md", "unread\tignored.md"}
	var failed error
	rules := NewNoteRules(policy.Policy{Private: private, Access: levels}, func() string { return dir },
		func(policy.Policy, protocol.Ask, []string) ([]string, error) { return lines, failed })
	sight := rules.Sight()
	for path, want := range map[string]bool{
		"plain.md": true, "narrow.md": true, "Lost/plain.md": true, "Lost/Inside.md": true, "hidden.md": false,
		"Closed/lost.md": false, "ignored.md": false,
	} {
		assert.Equal(t, sight.Sees(path), want, "%s", path)
	}
	assert.Equal(t, sight.Unread(), 0)
	assert.Equal(t, sight.Remark(), "")
	assert.NoError(t, sight.Whole())
	for range 2 {
		for _, path := range []string{"lost.md", "Lost/In/deep/note.md"} {
			assert.That(t, !sight.Sees(path), "%s", path)
		}
	}
	assert.Equal(t, sight.Unread(), 2)
	assert.Contains(t, sight.Remark(), "2 notes could not be read")
	assert.Equal(t, failure.Of(sight.Whole()).Code, protocol.CodeVaultUnreadable)
	failed = os.ErrDeadlineExceeded
	unknown := rules.Sight()
	assert.That(t, !unknown.Sees("plain.md"), "without an answer any note may be hidden")
	assert.Equal(t, unknown.Unread(), 1)
}

package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// vaultTable is one of the tables [[vaults]] of the file.
type vaultTable struct {
	Vault
	tier   tiers.Tier              // only valid if tiered
	tiered bool                    // the table has the key tier
	levels map[string]access.Level // the access rules as written, nil if there are none
	rules  access.Rules
}

// label returns the name that the gateway uses for the vault: its name, otherwise the last element of its folder,
// otherwise its id.
func (t vaultTable) label() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Folder != "":
		return filepath.Base(t.Folder)
	}
	return t.ID
}

// sharesName reports whether the label of one of the vaults also identifies the other.
func (t vaultTable) sharesName(other vaultTable) bool {
	label := t.label()
	if label == "" || other.label() == "" {
		return false
	}
	return label == other.label() || label == other.ID || t.ID == other.label()
}

// vaultKeys returns the keys of a table [[vaults]].
func vaultKeys() []tableKey[vaultTable] {
	return []tableKey[vaultTable]{
		{
			"name",
			"what agents say",
			object{"type": "string", "pattern": `^[^/\\]+$`},
			readVaultName,
		},
		{
			"id",
			"the app's id",
			object{"type": "string", "pattern": "^[0-9a-f]{16}$"},
			readVaultID,
		},
		{
			"folder",
			"absolute; lets the embedded program serve the vault",
			object{"type": "string", "pattern": absolutePattern},
			readVaultFolder,
		},
		{
			"tier",
			"ceiling of this vault, at most the general one",
			object{"type": "string", "enum": tierNames},
			readVaultTier,
		},
		{"access", accessDescription, accessSchema(), readVaultAccess},
	}
}

func readVaultName(_ *reading, t *vaultTable, value any, _ []string) error {
	name, err := asText(value)
	if err != nil {
		return err
	}
	switch {
	case name == "":
		return fmt.Errorf("is empty; leave it out where an id or a folder says which vault it is")
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf(
			"%q contains a path separator; use the key \"folder\" for a folder",
			excerpt.Short(name),
		)
	}
	if err := checkName(name); err != nil {
		return err
	}
	t.Name = name
	return nil
}

func readVaultID(_ *reading, t *vaultTable, value any, _ []string) error {
	id, err := asText(value)
	if err != nil {
		return err
	}
	if !appvaults.IsID(id) {
		return fmt.Errorf("invalid id %q, want 16 hexadecimal digits", excerpt.Short(id))
	}
	t.ID = id
	return nil
}

func readVaultFolder(_ *reading, t *vaultTable, value any, _ []string) error {
	text, err := asText(value)
	if err != nil {
		return err
	}
	if why := appvaults.ForeignHere(text); why != "" {
		return errors.New(why)
	}
	if !filepath.IsAbs(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%q is not an absolute path", excerpt.Short(text))
	}
	t.Folder = filepath.Clean(text)
	return nil
}

func readVaultTier(_ *reading, t *vaultTable, value any, _ []string) error {
	text, err := asText(value)
	if err != nil {
		return err
	}
	t.tiered = true
	t.tier, err = tiers.ParseTier(text)
	return err
}

func readVaultAccess(r *reading, t *vaultTable, value any, at []string) (err error) {
	t.levels, t.rules, err = r.access(value, at, "[vaults.access]")
	return err
}

// vaults reads the tables [[vaults]].
func (r *reading) vaults(value any) []vaultTable {
	list, ok := value.([]any)
	if !ok {
		if value != nil {
			r.report([]string{"vaults"}, "%q is %s, want tables [[vaults]], one per vault", "vaults", typeName(value))
		}
		return nil
	}
	var tables []vaultTable
	for i, item := range list {
		at := []string{"vaults", strconv.Itoa(i)}
		values, ok := item.(map[string]any)
		if !ok {
			r.report(at, "%q contains %s, want tables [[vaults]], one per vault", "vaults", typeName(item))
			continue
		}
		var t vaultTable
		readKeys(r, vaultKeys(), &t, values, at, "vault setting %q", "", "unknown key")
		t.Pinned = t.Folder != "" && (t.Name != "" || t.ID != "")
		if values["name"] == nil && values["id"] == nil && values["folder"] == nil {
			r.report(at, "a table [[vaults]] needs a name, an id or a folder")
		}
		for _, other := range tables { // a request or a rule must identify exactly one vault
			switch {
			case t.ID != "" && t.ID == other.ID:
				r.report(append(at, "id"), "two vaults have the id %q", t.ID)
			case t.Folder != "" && other.Folder != "" && appvaults.SameFolder(t.Folder, other.Folder):
				r.report(append(at, "folder"), "two vaults have the folder %q", t.Folder)
			case t.sharesName(other):
				r.report(
					append(at, "name"),
					"two vaults have the name %q; give one of them another",
					excerpt.Short(other.label()),
				)
			}
		}
		tables = append(tables, t)
	}
	return tables
}

// checkName returns an error for a name that cannot be an argument of a command.
func checkName(text string) error {
	call, err := allowlist.Parse("version", nil)
	if err == nil {
		_, err = call.In(text)
	}
	return err
}

// access reads the access rules of a vault or an agent. header is the name of the table in messages. An empty
// table is an error: it could mean that nothing is restricted, or that nothing is allowed.
func (r *reading) access(value any, at []string, header string) (map[string]access.Level, access.Rules, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return nil, access.Rules{}, fmt.Errorf(
			`is %s, want a table %s with lines such as "Work" = "rw"`,
			typeName(value),
			header,
		)
	}
	if len(table) == 0 {
		return nil, access.Rules{}, fmt.Errorf(`has no rule; leave the table out, or write "/" = "r"`)
	}
	levels := map[string]access.Level{}
	for _, path := range slices.Sorted(maps.Keys(table)) {
		level, err := accessLevel(path, table[path])
		if err != nil {
			r.report(append(at, path), "access of %q: %v", excerpt.Short(path), err)
			continue
		}
		levels[path] = level
	}
	rules, err := access.New(levels)
	return levels, rules, err
}

func accessLevel(path string, value any) (access.Level, error) {
	text, ok := value.(string)
	if !ok {
		return access.None, fmt.Errorf(
			`is %s, want "none", "r", "rw" or "rwd"; a path with a dot or a slash is written in quotes`,
			typeName(value),
		)
	}
	level, err := access.ParseLevel(text)
	if err == nil {
		_, err = access.New(map[string]access.Level{path: level})
	}
	return level, err
}

// everyVault returns the vaults that the settings define, each with its policy: those of the tables [[vaults]], or
// without tables the vault of the setting vault.
func (f *Flags) everyVault(s Settings) []Served {
	if len(s.tables) == 0 {
		v := s.Vault
		label := vaultTable{Vault: v}.label()
		return []Served{{Vault: v, Policy: f.forAgent(s, policy.Unlimited(), label, v.Name, v.ID, v.Folder)}}
	}
	var vaults []Served
	for _, t := range s.tables { // a table can only restrict the general policy
		restricted := policy.Unlimited()
		origin := fmt.Sprintf("vault %s in %s", t.label(), f.file.base())
		restricted.Origins = map[string]string{"tier": origin, "access": origin}
		if t.tiered {
			restricted.Ceiling = t.tier
		}
		restricted.Access = t.rules
		vaults = append(vaults, Served{Vault: t.Vault, Policy: f.forAgent(s, restricted, t.label(), t.Name, t.ID, t.Folder)})
	}
	return vaults
}

// agree checks the settings against each other, once each was read, and sets the vaults that are served and the default
// one.
func (f *Flags) agree(s *Settings) error {
	if err := f.checkVaultTiers(s); err != nil {
		return err
	}
	if r := f.raws[settingIndex("vault")]; len(s.tables) > 0 && r.text != "" {
		if err := s.selectVault(r); err != nil {
			return err
		}
	}
	if err := f.checkAgent(s); err != nil {
		return err
	}
	s.Vault = s.Served[0].Vault
	return nil
}

// checkVaultTiers returns an error if the tier of a vault exceeds the general one. If the general tier comes from a
// flag, the environment or the managed settings, that is no error: the lower of the two applies.
func (f *Flags) checkVaultTiers(s *Settings) error {
	general := s.Policy.Ceiling
	origin := f.raws[settingIndex("tier")].origin
	isOverridden := slices.ContainsFunc(
		[]string{flagOrigin, envOrigin, policy.OriginManaged},
		func(source string) bool { return strings.HasPrefix(origin, source) },
	)
	for i, t := range s.tables {
		if t.tiered && t.tier > general && !isOverridden {
			reason := fmt.Sprintf(
				"vault setting %q: %s exceeds the general tier %s (%s)",
				"tier",
				t.tier,
				general,
				origin,
			)
			line := f.file.lineOf("vaults", strconv.Itoa(i), "tier")
			return &wrongFile{f.file.name, []problem{{line, reason}}}
		}
	}
	return nil
}

// selectVault makes the vault that the setting vault names the default one, and the only one served if the setting was
// given as a flag. s.Served has one element for each of s.tables, in the same order.
func (s *Settings) selectVault(r raw) error {
	i := slices.IndexFunc(s.tables, func(t vaultTable) bool {
		haveFolders := s.Vault.Folder != "" && t.Folder != ""
		isSameFolder := haveFolders && appvaults.SameFolder(s.Vault.Folder, t.Folder)
		return isSameFolder || r.text == t.label() || r.text == t.ID
	})
	if i < 0 {
		return s.unknownVault(r)
	}
	selected := s.Served[i]
	others := slices.Delete(slices.Clone(s.Served), i, i+1)
	s.Served = []Served{selected}
	if !r.byFlag() {
		s.Served = append(s.Served, others...)
	}
	return nil
}

// unknownVault returns the error for a setting vault that none of the tables [[vaults]] matches.
func (s *Settings) unknownVault(r raw) error {
	var words, labels []string
	for _, t := range s.tables {
		labels = append(labels, t.label())
		for _, word := range []string{t.Name, t.ID, t.Folder, t.label()} {
			if word != "" {
				words = append(words, word)
			}
		}
	}
	return &terminal.UsageError{
		Reason: fmt.Sprintf(
			"setting %q (%s): unknown vault %q%s",
			"vault",
			r.origin,
			excerpt.Short(r.text),
			excerpt.DidYouMean(r.text, words),
		),
		Advice: "the vaults are " + strings.Join(labels, ", "),
	}
}

// VaultFolders returns the folders of the vaults that the settings name or the app lists.
func (s Settings) VaultFolders(std terminal.Streams) (folders []string) {
	if s.Vault.Folder != "" {
		folders = append(folders, s.Vault.Folder)
	}
	for _, t := range s.tables {
		if t.Folder != "" {
			folders = append(folders, t.Folder)
		}
	}
	return append(folders, appvaults.VaultFolders(std.Getenv)...)
}

// VaultAround returns the folder of the vault that contains the file called name, or "". The file need not exist.
func (s Settings) VaultAround(std terminal.Streams, name string) string {
	return ownerfiles.VaultAround(name, s.VaultFolders(std))
}

// flowTexts is a table [[flow]] as written.
type flowTexts struct {
	name, action string
	from, to     []string
}

// flowKeys returns the keys of a table [[flow]].
func flowKeys() []tableKey[flowTexts] {
	return []tableKey[flowTexts]{
		{
			"name",
			"what questions, denials and logs call the rule",
			object{"type": "string"},
			flowText(func(f *flowTexts) *string { return &f.name }),
		},
		{
			"from",
			"places whose text is protected: folders and notes by their paths, tags such as \"#client\", or \"private\" for notes that restrict access to themselves",
			listSchema(),
			nameList(func(f *flowTexts) *[]string { return &f.from }, "places"),
		},
		{
			"to",
			"where text may not go then: publish, web, vaults (changes in other vaults), and folders by their paths (default: publish, web, vaults)",
			listSchema(),
			nameList(func(f *flowTexts) *[]string { return &f.to }, "places"),
		},
		{
			"action",
			"ask (the default: requires approval) or refuse",
			object{"type": "string", "enum": []string{"ask", "refuse"}},
			flowText(func(f *flowTexts) *string { return &f.action }),
		},
	}
}

// flowText returns a reader for a text.
func flowText(field func(*flowTexts) *string) func(*reading, *flowTexts, any, []string) error {
	return func(_ *reading, f *flowTexts, value any, _ []string) error {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("is %s, want a text", typeName(value))
		}
		*field(f) = text
		return nil
	}
}

// flows reads the tables [[flow]] at a path.
func (r *reading) flows(value any, path []string) (rules []policy.Flow) {
	list, ok := value.([]any)
	if !ok {
		if value != nil {
			key := path[len(path)-1]
			r.report(path, "%q is %s, want tables [[%s]], one per rule", key, typeName(value), key)
		}
		return nil
	}
	for i, item := range list {
		at := append(slices.Clone(path), strconv.Itoa(i))
		values, ok := item.(map[string]any)
		if !ok {
			r.report(at, "%q contains %s, want tables [[flow]], one per rule", "flow", typeName(item))
			continue
		}
		var f flowTexts
		if !readKeys(r, flowKeys(), &f, values, at, "flow rule: %q", "", "unknown key") {
			continue
		}
		rule, err := policy.ParseFlow(f.name, f.from, f.to, f.action)
		if err != nil {
			r.report(at, "flow rule %q: %v", excerpt.Short(f.name), err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

const flowDescription = "rules about where text may go after a session has read from some places"

func flowSchema() object {
	table := tableSchema(flowKeys())
	table["required"] = []string{"name", "from"}
	return object{"type": "array", "items": table}
}

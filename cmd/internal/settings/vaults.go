package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway"
	"vaultwicket/gateway/registry"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// vaultTable is one of the tables [[vaults]] of the file.
type vaultTable struct {
	gateway.Vault
	tier   tiers.Tier              // only with tiered
	tiered bool                    // the table has a tier
	levels map[string]access.Level // as written, nil if there are none
	rules  access.Rules
}

// label is what the gateway calls the vault: its name, or what stands for it.
func (t vaultTable) label() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Folder != "":
		return filepath.Base(t.Folder)
	}
	return t.ID
}

// vaultKeys are the keys of a table of a vault.
var vaultKeys = []string{"name", "id", "folder", "tier", "access"}

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
		tables = append(tables, r.vault(values, at))
		r.apart(tables, at)
	}
	return tables
}

func (r *reading) vault(values map[string]any, at []string) vaultTable {
	var t vaultTable
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := r.vaultKey(&t, key, values[key], at); err != nil {
			r.report(append(at, key), "vault setting %q: %v", quote.Short(key), err)
		}
	}
	t.Pinned = t.Folder != "" && (t.Name != "" || t.ID != "")
	named := false
	for _, key := range []string{"name", "id", "folder"} {
		_, has := values[key]
		named = named || has
	}
	if !named {
		r.report(at, "a table [[vaults]] needs a name, an id or a folder")
	}
	return t
}

func (r *reading) vaultKey(t *vaultTable, key string, value any, at []string) error {
	if key == "access" {
		return r.vaultAccess(t, value, append(at, key))
	}
	if !slices.Contains(vaultKeys, key) {
		return fmt.Errorf("unknown key%s", quote.DidYouMean(key, vaultKeys))
	}
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("is %s, want %s", typeName(value), wanted[textual])
	}
	switch key {
	case "name":
		return t.setName(text)
	case "id":
		if t.ID = text; !registry.IsID(text) {
			return fmt.Errorf("invalid id %q, want 16 hexadecimal digits", quote.Short(text))
		}
	case "folder":
		if t.Folder = filepath.Clean(text); !filepath.IsAbs(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%q is not an absolute path", quote.Short(text))
		}
	case "tier":
		var err error
		t.tier, err = tiers.ParseTier(text)
		t.tiered = true
		return err
	}
	return nil
}

func (t *vaultTable) setName(text string) error {
	t.Name = text
	switch {
	case text == "":
		return fmt.Errorf("is empty; leave it out where an id or a folder says which vault it is")
	case strings.ContainsAny(text, `/\`):
		return fmt.Errorf("%q contains a path separator; use the key \"folder\" for a folder", quote.Short(text))
	}
	return checkName(text)
}

// checkName refuses a name that cannot stand in an argument.
func checkName(text string) error {
	call, err := allowlist.Parse("version", nil)
	if err == nil {
		_, err = call.In(text)
	}
	return err
}

// vaultAccess reads the table [vaults.access]. An empty one could mean both that
// nothing is restricted and that nothing is allowed.
func (r *reading) vaultAccess(t *vaultTable, value any, at []string) error {
	table, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf(`is %s, want a table [vaults.access] with lines such as "Work" = "rw"`, typeName(value))
	}
	if len(table) == 0 {
		return fmt.Errorf(`has no rule; leave the table out, or write "/" = "r"`)
	}
	t.levels = map[string]access.Level{}
	for _, path := range slices.Sorted(maps.Keys(table)) {
		level, err := accessLevel(path, table[path])
		if err != nil {
			r.report(append(at, path), "access of %q: %v", quote.Short(path), err)
			continue
		}
		t.levels[path] = level
	}
	var err error
	t.rules, err = access.New(t.levels)
	return err
}

func accessLevel(path string, value any) (access.Level, error) {
	text, ok := value.(string)
	if !ok {
		return access.None, fmt.Errorf(`is %s, want "none", "r", "rw" or "rwd"; a path with a dot or a slash is written in quotes`, typeName(value))
	}
	level, err := access.ParseLevel(text)
	if err == nil {
		_, err = access.New(map[string]access.Level{path: level})
	}
	return level, err
}

// apart reports what the last of the tables has in common with one before: a
// request, and a rule, must mean one vault.
func (r *reading) apart(tables []vaultTable, at []string) {
	last := tables[len(tables)-1]
	for _, other := range tables[:len(tables)-1] {
		switch {
		case last.ID != "" && last.ID == other.ID:
			r.report(append(at, "id"), "two vaults have the id %q", last.ID)
		case last.Folder != "" && other.Folder != "" && registry.SameFolder(last.Folder, other.Folder):
			r.report(append(at, "folder"), "two vaults have the folder %q", last.Folder)
		case last.label() != "" && other.label() != "" && (last.label() == other.label() || last.label() == other.ID || last.ID == other.label()):
			r.report(append(at, "name"), "two vaults have the name %q; give one of them another", quote.Short(other.label()))
		}
	}
}

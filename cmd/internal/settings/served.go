package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec/trust"
	"vaultwicket/gateway"
	"vaultwicket/gateway/registry"
	"vaultwicket/tiers"
)

// everyVault returns the vaults that the settings speak of, each with what may
// be done in it: those of the file, or the one of the setting vault.
func (f *Flags) everyVault(s Settings) []gateway.Served {
	if len(s.tables) == 0 {
		return []gateway.Served{{Vault: s.Vault, Policy: s.Policy}}
	}
	var all []gateway.Served
	for _, t := range s.tables {
		all = append(all, f.servedOf(t, s))
	}
	return all
}

// servedOf lays the table of a vault over the general policy. Nothing in it
// opens more.
func (f *Flags) servedOf(t vaultTable, s Settings) gateway.Served {
	p := s.Policy
	p.Origins = maps.Clone(p.Origins)
	place := fmt.Sprintf("vault %s in %s", t.label(), f.file.base())
	if t.tiered && t.tier < p.Ceiling {
		p.Ceiling, p.Origins["tier"] = t.tier, place
	}
	if t.rules.Restrict() {
		p.Access, p.Origins["access"] = t.rules, place
	}
	return gateway.Served{Vault: t.Vault, Policy: p}
}

// agree refuses settings that are right one by one and do not fit together, and
// picks the vaults that are served.
func (f *Flags) agree(s *Settings) error {
	for i, t := range s.tables {
		if !f.tierFits(t, s.Policy.Ceiling) {
			return f.tierTooHigh(i, t, s.Policy.Ceiling)
		}
	}
	if err := f.pickVaults(s); err != nil {
		return err
	}
	s.Vault = s.Served[0].Vault
	return nil
}

// tierFits reports whether the tier of a vault is at most the general one. Where
// a flag or the environment closes what the file opens, the lower of the two
// holds.
func (f *Flags) tierFits(t vaultTable, general tiers.Tier) bool {
	origin := f.raws[settingIndex("tier")].origin
	return !t.tiered || t.tier <= general || strings.HasPrefix(origin, flagOrigin) || strings.HasPrefix(origin, envOrigin)
}

func (f *Flags) tierTooHigh(i int, t vaultTable, general tiers.Tier) error {
	line := f.file.lineOf("vaults", strconv.Itoa(i), "tier")
	reason := fmt.Sprintf("vault setting %q: %s exceeds the general tier %s (%s)", "tier", t.tier, general, f.raws[settingIndex("tier")].origin)
	return &wrongFile{f.file.name, []problem{{line, reason}}}
}

// pickVaults puts the vault of the setting vault first. Given as a flag, it is
// the only one.
func (f *Flags) pickVaults(s *Settings) error {
	r := f.raws[settingIndex("vault")]
	if len(s.tables) == 0 || r.text == "" {
		return nil
	}
	i := slices.IndexFunc(s.tables, func(t vaultTable) bool {
		return r.text == t.label() || r.text == t.ID || s.Vault.Folder != "" && t.Folder != "" && registry.SameFolder(s.Vault.Folder, t.Folder)
	})
	if i < 0 {
		return unknownVault(r, s.tables)
	}
	picked := s.Served[i]
	if r.byFlag() {
		s.Served = []gateway.Served{picked}
		return nil
	}
	s.Served = append([]gateway.Served{picked}, slices.Delete(slices.Clone(s.Served), i, i+1)...)
	return nil
}

func unknownVault(r raw, tables []vaultTable) error {
	var known, labels []string
	for _, t := range tables {
		labels = append(labels, t.label())
		for _, word := range []string{t.Name, t.ID, t.Folder, t.label()} {
			if word != "" {
				known = append(known, word)
			}
		}
	}
	return &exit.UsageError{
		Reason: fmt.Sprintf("setting %q (%s): unknown vault %q%s", "vault", r.origin, quote.Short(r.text), quote.DidYouMean(r.text, known)),
		Advice: "the vaults are " + strings.Join(labels, ", "),
	}
}

// folders returns the folders of vaults that the settings name.
func (s Settings) folders() []string {
	var folders []string
	if s.Vault.Folder != "" {
		folders = append(folders, s.Vault.Folder)
	}
	for _, t := range s.tables {
		if t.Folder != "" {
			folders = append(folders, t.Folder)
		}
	}
	return folders
}

// VaultFolders returns the folders of the vaults that the settings name and of those
// that the app lists.
func (s Settings) VaultFolders(std terminal.Streams) []string {
	return append(s.folders(), registry.VaultFolders(std.Getenv)...)
}

// VaultAround returns the folder of the vault that contains a file or would contain
// it, "" for none.
func (s Settings) VaultAround(std terminal.Streams, name string) string {
	return trust.VaultAround(name, s.VaultFolders(std))
}

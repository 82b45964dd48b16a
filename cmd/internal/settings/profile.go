package settings

import (
	"fmt"
	"maps"
	"slices"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
)

// fromProfile lays the chosen profile over the rest of the file. The name "" is
// no profile, so that a flag or the environment can do without the one that the
// file names.
func (f *Flags) fromProfile() error {
	chosen := f.raws[settingIndex("profile")]
	if chosen.text == "" {
		return nil
	}
	values, ok := f.file.profiles[chosen.text]
	if !ok {
		return f.unknownProfile(chosen)
	}
	for name, text := range values {
		f.fill(settingIndex(name), text, fmt.Sprintf("profile %s in %s", chosen.text, f.file.name))
	}
	return nil
}

func (f *Flags) unknownProfile(chosen raw) error {
	reason := fmt.Sprintf("setting %q (%s): no settings file defines [profiles.%s]", "profile", chosen.origin, quote.Short(chosen.text))
	if f.file.info != nil {
		reason = fmt.Sprintf("setting %q (%s): %s", "profile", chosen.origin, f.file.noProfile(chosen.text))
	}
	return &exit.UsageError{Reason: reason}
}

// noProfile says that the file has no such profile.
func (d document) noProfile(name string) string {
	return fmt.Sprintf("unknown profile %q%s", quote.Short(name), quote.DidYouMean(name, slices.Sorted(maps.Keys(d.profiles))))
}

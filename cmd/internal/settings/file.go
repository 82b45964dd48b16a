package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
)

// noFile as the name of the settings file means that no settings file is used.
const noFile = "none"

// place is where the settings file is or would be.
type place struct {
	name   string // absolute path, "" for no file
	origin string // the flag or variable that sets it, "" for the default place
}

// place returns where the settings file is. A relative name is relative to the working folder.
func (f *Flags) place(std terminal.Streams) (place, error) {
	name := f.config.text
	origin := f.config.origin
	if origin == "" {
		if name = std.Getenv(envPrefix + "CONFIG"); name != "" {
			origin = envOrigin + envPrefix + "CONFIG"
		}
	}
	switch {
	case name == noFile:
		return place{origin: origin}, nil
	case name == "" && origin != "":
		return place{}, &terminal.UsageError{
			Reason: "settings file (" + origin + "): the name is empty",
			Advice: `use "none" for no file`,
		}
	case name == "":
		return defaultPlace(std), nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return place{}, &terminal.UsageError{Reason: fmt.Sprintf("settings file %q (%s): %v", name, origin, err)}
	}
	return place{abs, origin}, nil
}

// defaultPlace returns the usual place of the settings file. Its name is "" if the home folder is not known.
func defaultPlace(std terminal.Streams) place {
	// As os.UserConfigDir, but with the environment in std.
	home := std.Getenv("HOME")
	folder := filepath.Join(home, ".config")
	switch runtime.GOOS {
	case "windows":
		home = ownerfiles.RoamingData(std.Getenv)
		folder = home
	case "darwin":
		folder = filepath.Join(home, "Library", "Application Support")
	default:
		if xdg := std.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
			home = xdg
			folder = xdg
		}
	}
	if !filepath.IsAbs(home) {
		return place{}
	}
	return place{name: filepath.Join(folder, "vaultwicket", "config.toml")}
}

// source is the content of the two settings files: the user's file and the managed settings of the machine.
type source struct {
	file   document
	bounds managed
	agents policy.Agents // the agents of file; those that the managed settings do not allow have no rights
	err    error
}

// fromFile sets the settings that neither a flag nor the environment gave, first from the profile, then from the rest
// of the file.
func (f *Flags) fromFile(std terminal.Streams) error {
	if f.source == nil {
		f.source = f.readSource(std)
	}
	f.file = f.source.file
	f.bounds = f.source.bounds
	if f.source.err != nil {
		return f.source.err
	}
	if text, ok := f.file.general["profile"]; ok {
		f.fill(settingIndex("profile"), raw{text: text, origin: f.file.origin(), priority: fromFile})
	}
	// With the empty name, a flag or the environment can disable the profile that the file selects.
	if chosen := f.raws[settingIndex("profile")]; chosen.text != "" {
		if err := f.fromProfile(chosen); err != nil {
			return err
		}
	}
	for name, text := range f.file.general {
		f.fill(settingIndex(name), raw{text: text, origin: f.file.origin(), priority: fromFile})
	}
	return nil
}

// readSource reads the settings file of the user and the managed settings.
func (f *Flags) readSource(std terminal.Streams) *source {
	s := &source{agents: policy.Agents{}}
	location, err := f.place(std)
	if err == nil {
		s.file, err = openDocument(location)
	}
	if err == nil {
		s.bounds, err = openManaged()
	}
	s.err = err
	maps.Copy(s.agents, s.file.agents)
	if s.bounds.agents == nil {
		return s
	}
	for _, name := range append(slices.Collect(maps.Keys(s.agents)), policy.DefaultAgent) {
		if !slices.Contains(s.bounds.agents, name) {
			agent := s.agents[name]
			agent.Ended = "the managed settings of this machine do not allow the agent"
			s.agents[name] = agent
		}
	}
	return s
}

// fromProfile sets the settings that no source of higher priority gave from the chosen profile.
func (f *Flags) fromProfile(chosen raw) error {
	values, ok := f.file.profiles[chosen.text]
	if !ok {
		why := fmt.Sprintf("no settings file defines [profiles.%s]", excerpt.Short(chosen.text))
		if f.file.info != nil {
			why = f.file.noProfile(chosen.text)
		}
		return &terminal.UsageError{Reason: fmt.Sprintf("setting %q (%s): %s", "profile", chosen.origin, why)}
	}
	origin := fmt.Sprintf("profile %s in %s", chosen.text, f.file.name)
	for name, text := range values {
		f.fill(settingIndex(name), raw{text: text, origin: origin, priority: fromProfile})
	}
	return nil
}

// openDocument reads the settings file at a place. A missing file is an error only if the user named it. The error
// for an invalid file contains all problems, and the document is returned with it.
func openDocument(location place) (document, error) {
	if location.name == "" {
		return document{}, nil
	}
	content, info, err := ownerfiles.ReadTrusted(location.name)
	if errors.Is(err, fs.ErrNotExist) && location.origin == "" {
		return document{place: location}, nil
	}
	if err != nil {
		return document{place: location}, unusable(location, err)
	}
	doc, problems := parseDocument(content)
	doc.place = location
	doc.info = info
	if len(problems) > 0 {
		return doc, &wrongFile{location.name, problems}
	}
	return doc, nil
}

// openForChange is like [openDocument], but a missing file is never an error, as the command will create it.
func openForChange(location place) (document, error) {
	if _, err := os.Lstat(location.name); errors.Is(err, fs.ErrNotExist) {
		return document{place: location}, nil
	}
	return openDocument(location)
}

// unusable returns the error for a settings file that cannot or must not be read.
func unusable(location place, err error) error { return unusableOn(runtime.GOOS, location, err) }

func unusableOn(goos string, location place, err error) error {
	source := ""
	if location.origin != "" {
		source = " (" + location.origin + ")"
	}
	if untrusted, ok := errors.AsType[*ownerfiles.Untrusted](err); ok {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("settings file %q%s: %s", location.name, source, untrusted.Reason),
			Advice: untrusted.Advice,
		}
	}
	if protocol.IsClosedByMacOS(goos, err) {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("settings file %q%s: macOS does not allow it to be read", location.name, source),
			Advice: protocol.HintPrivacy,
		}
	}
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		err = pathErr.Err
	}
	advice := ""
	if errors.Is(err, fs.ErrPermission) {
		advice = `give your user the right to read it, or name another one with --config ("none" for no file)`
	}
	return &terminal.UsageError{Reason: fmt.Sprintf("settings file %q%s: %v", location.name, source, err), Advice: advice}
}

const hintState = "set XDG_STATE_HOME to a private folder outside all vaults"

// CheckState returns an error if another user or an agent could write into the state folder, and so pause, resume,
// approve or forge. The warning is for a state folder that is missing or not writable: notes can be read then, but
// not changed.
func (s Settings) CheckState(std terminal.Streams) (warning string, err error) {
	state := ownerfiles.StateFolder(std.Getenv, "")
	if state == "" {
		return "no location for the state folder: changes and pause are unavailable", nil
	}
	if vault := s.VaultAround(std, state); vault != "" {
		return "", failure.New(
			failure.CodeState,
			hintState,
			"state folder %q: is inside the vault %q, where an agent may write",
			state,
			vault,
		)
	}
	if reason := ownerfiles.WhyUnsafe(state); reason != "" {
		hint := hintState
		if unsafe, ok := errors.AsType[*ownerfiles.Unsafe](ownerfiles.CheckFolder(state)); ok && unsafe.Remedy() != "" {
			hint = fmt.Sprintf("restrict it to your user (%s), or %s", unsafe.Remedy(), hintState)
		}
		return "", failure.New(failure.CodeState, hint, "state folder %q: %s", state, reason)
	}
	if err := ownerfiles.Unwritable(state); err != nil {
		return fmt.Sprintf("state folder %q: not writable, changes are unavailable: %v", state, err), nil
	}
	return "", nil
}

// codeUnsuitable has the value of exec.CodeUnsuitable: the code for a program that must not be started.
const codeUnsuitable = "cli_unsuitable"

// CheckCLI returns an error if the Obsidian CLI is inside a vault, where an agent could replace it.
func (s Settings) CheckCLI(f *Flags, std terminal.Streams) error {
	r := f.raws[settingIndex("cli")]
	if !filepath.IsAbs(s.CLI) {
		return nil // a bare name is checked when it is looked up
	}
	if vault := s.VaultAround(std, s.CLI); vault != "" {
		return failure.New(
			codeUnsuitable,
			"move the CLI out of the vault",
			"setting %q (%s): %q is inside the vault %q, where an agent may write",
			"cli",
			r.origin,
			s.CLI,
			vault,
		)
	}
	return nil
}

// StateFolder returns the folder that contains the pause, the audit log and the approvals.
func StateFolder(std terminal.Streams) (string, error) {
	if state := ownerfiles.StateFolder(std.Getenv, ""); state != "" {
		return state, nil
	}
	return "", terminal.Fail(
		terminal.ExitNotReady,
		"no location for the state folder",
		"set "+ownerfiles.HomeVariables(runtime.GOOS)+", or XDG_STATE_HOME, to an absolute path",
	)
}

// SecretsFolder returns the state folder for data that no agent may read, such as tokens. It is an error if the folder
// is inside a vault.
func (s Settings) SecretsFolder(std terminal.Streams) (string, error) {
	state, err := StateFolder(std)
	if vault := s.VaultAround(std, state); err == nil && vault != "" {
		err = terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("the state folder is inside the vault %q, where an agent may read", vault),
			"set XDG_STATE_HOME to a private folder outside all vaults",
		)
	}
	return state, err
}

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

// noFile is the name that means no settings file.
const noFile = "none"

// place is where the settings file is, or would be.
type place struct {
	name   string // absolute, "" for no file
	origin string // who named it, "" for the usual place
}

// place finds the settings file. A relative name counts from the working folder.
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
		// XDG on Linux, the like on macOS and Windows: os.UserConfigDir with our own view of the environment.
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
			return place{}, nil // without a home there is no file
		}
		return place{name: filepath.Join(folder, "vaultwicket", "config.toml")}, nil
	}
	whole, err := filepath.Abs(name)
	if err != nil {
		return place{}, &terminal.UsageError{Reason: fmt.Sprintf("settings file %q (%s): %v", name, origin, err)}
	}
	return place{whole, origin}, nil
}

// source is what the files of the settings say: the user's, and that of the machine.
type source struct {
	file   document
	bounds managed
	agents policy.Agents // with what the machine allows
	err    error
}

// fromFile fills in what neither a flag nor the environment gave: from the
// profile, then from the rest of the file.
func (f *Flags) fromFile(std terminal.Streams) error {
	if f.source == nil { // read the files: the user's at the usual place may be missing, one that was named may not
		s := &source{agents: policy.Agents{}}
		at, err := f.place(std)
		if err == nil {
			s.file, err = openDocument(at)
		}
		if err == nil {
			s.bounds, err = openManaged()
		}
		maps.Copy(s.agents, s.file.agents)
		for _, name := range append(slices.Collect(maps.Keys(s.agents)), policy.DefaultAgent) {
			if s.bounds.agents != nil && !slices.Contains(s.bounds.agents, name) {
				agent := s.agents[name]
				agent.Ended = "the managed settings of this machine do not allow the agent"
				s.agents[name] = agent
			}
		}
		s.err = err
		f.source = s
	}
	f.file = f.source.file
	f.bounds = f.source.bounds
	if f.source.err != nil {
		return f.source.err
	}
	if text, ok := f.file.general["profile"]; ok {
		f.fill(settingIndex("profile"), raw{text: text, origin: f.file.origin(), priority: fromFile})
	}
	// The name "" is no profile, so that a flag or the environment can do without the one that the file names.
	if chosen := f.raws[settingIndex("profile")]; chosen.text != "" {
		values, ok := f.file.profiles[chosen.text]
		if !ok {
			why := fmt.Sprintf("no settings file defines [profiles.%s]", excerpt.Short(chosen.text))
			if f.file.info != nil {
				why = f.file.noProfile(chosen.text)
			}
			return &terminal.UsageError{Reason: fmt.Sprintf("setting %q (%s): %s", "profile", chosen.origin, why)}
		}
		for name, text := range values {
			f.fill(
				settingIndex(name),
				raw{
					text:     text,
					origin:   fmt.Sprintf("profile %s in %s", chosen.text, f.file.name),
					priority: fromProfile,
				},
			)
		}
	}
	for name, text := range f.file.general {
		f.fill(settingIndex(name), raw{text: text, origin: f.file.origin(), priority: fromFile})
	}
	return nil
}

// openDocument reads the settings file at a place. The error names all that is wrong with it.
func openDocument(at place) (document, error) {
	if at.name == "" {
		return document{}, nil
	}
	content, info, err := ownerfiles.ReadTrusted(at.name)
	if errors.Is(err, fs.ErrNotExist) && at.origin == "" {
		return document{place: at}, nil
	}
	if err != nil {
		return document{place: at}, unusable(at, err)
	}
	doc, problems := parseDocument(content)
	doc.place = at
	doc.info = info
	if len(problems) > 0 {
		return doc, &wrongFile{at.name, problems}
	}
	return doc, nil
}

// unusable is the error for a file that is not even looked into.
func unusable(at place, err error) error { return unusableOn(runtime.GOOS, at, err) }

func unusableOn(goos string, at place, err error) error {
	who := ""
	if at.origin != "" {
		who = " (" + at.origin + ")"
	}
	if unsafe, ok := errors.AsType[*ownerfiles.Untrusted](err); ok {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("settings file %q%s: %s", at.name, who, unsafe.Reason),
			Advice: unsafe.Advice,
		}
	}
	if protocol.IsClosedByMacOS(goos, err) {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("settings file %q%s: macOS does not allow it to be read", at.name, who),
			Advice: protocol.HintPrivacy,
		}
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err
	}
	advice := ""
	if errors.Is(err, fs.ErrPermission) {
		advice = `give your user the right to read it, or name another one with --config ("none" for no file)`
	}
	return &terminal.UsageError{Reason: fmt.Sprintf("settings file %q%s: %v", at.name, who, err), Advice: advice}
}

const hintState = "set XDG_STATE_HOME to a private folder outside all vaults"

// CheckState is an error for a state folder in which another user, or an agent, could pause, resume, approve or
// forge. The warning is for one that nothing can be kept in: notes can be read then, and no change is made.
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

// codeUnsuitable is exec.CodeUnsuitable: the code of a program that must not be started.
const codeUnsuitable = "cli_unsuitable"

// CheckCLI refuses a client that is in a vault: an agent may write there.
func (s Settings) CheckCLI(f *Flags, std terminal.Streams) error {
	r := f.raws[settingIndex("cli")]
	if !filepath.IsAbs(s.CLI) {
		return nil // a name is looked up, and where it is found is looked at
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

// StateFolder returns the folder of the pause, the audit log and the approvals.
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

// SecretsFolder returns the state folder for what no agent may read, such as tokens.
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

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// initConfig runs "config init", which writes a settings file with every setting and its default as a comment. In a
// comment, a default can still be changed by a later release. An existing file is not changed.
func initConfig(f *Flags, std terminal.Streams) error {
	location, err := f.place(std)
	if err != nil {
		return err
	}
	if location.name == "" {
		return location.missing()
	}
	if _, err := os.Lstat(location.name); err == nil {
		return alreadyExists(location.name)
	}
	if err := f.fromEnvironment(std); err != nil {
		return err
	}
	var s Settings
	if err := f.apply(&s, settingIndex("vault")); err != nil {
		return err
	}
	if vault := s.VaultAround(std, location.name); vault != "" {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("%q is inside the vault %q, where an agent may write", location.name, vault),
			Advice: "choose another path with --config",
		}
	}
	if err := writeNew(location.name, []byte(initialConfig())); err != nil {
		return err
	}
	return f.printFile(std, location.name)
}

// alreadyExists returns the error for a settings file that already exists.
func alreadyExists(name string) error {
	return &terminal.UsageError{
		Reason: fmt.Sprintf("settings file %q already exists", name),
		Advice: `"vaultwicket config show" shows its settings`,
	}
}

// writeNew creates a file that only this user can read. It writes the whole file or nothing, and never replaces a
// file.
func writeNew(name string, content []byte) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return cannotWrite(name, err)
	}
	if err := ownerfiles.CheckFolderPath(folder); err != nil {
		return unusable(place{name: name}, err)
	}
	err := writeAside(name, content, 0o600, ownerfiles.Publish)
	if errors.Is(err, fs.ErrExist) {
		return alreadyExists(name)
	}
	if err != nil {
		return cannotWrite(name, err)
	}
	return nil
}

// writeAside writes a temporary file next to name, syncs it to disk, and calls move to give it its name.
func writeAside(name string, content []byte, mode fs.FileMode, move func(temporary, name string) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".config-*.toml") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err == nil {
		err = move(temporary.Name(), name)
	}
	return err
}

// cannotWrite returns the error for a settings file that cannot be written. The user has to choose another place.
func cannotWrite(name string, err error) error {
	return terminal.Fail(
		terminal.ExitNotReady,
		fmt.Sprintf("write the settings file %q: %v", name, err),
		"choose another path with --config",
	)
}

// initialConfig returns a settings file with every setting and table as a comment.
func initialConfig() string {
	folder := "/home/me/Main" // an example; it need not exist
	if runtime.GOOS == "windows" {
		folder = "C:/Users/me/Main" // a backslash would have to be doubled in TOML
	}
	var b strings.Builder
	b.WriteString(`# Settings of vaultwicket. Each is also a flag (--allow-mutations) and a variable of
# the environment (VAULTWICKET_ALLOW_MUTATIONS): the flag wins, then the
# variable, then the profile, then this file.
#
# Every setting is here with its default. Remove the # in front of a line to change it.
#
# "vaultwicket config show" says where each value comes from, "vaultwicket config
# check" what is wrong here, and "vaultwicket config schema" helps an editor.
`)
	for _, row := range table {
		fmt.Fprintf(&b, "\n# %s\n#%s\n", row.usage, row.line(row.fallback))
	}
	b.WriteString(`
# Several vaults, the first one being the default. Each needs a name, an id or a
# folder. Its table can only restrict.
#
#[[vaults]]
#name = "Main"
#id = "a1b2c3d4e5f60718"
#folder = "` + folder + `"
#tier = "v0"
#[vaults.access]        # none, r, rw or rwd, by folder or note; the most specific path wins
#"/" = "r"
#"Work" = "rwd"
#"Private" = "none"

# A profile overrides the settings above: --profile home, or profile = "home" above.
#
#[profiles.home]
#confirm = "writes"
`)
	return b.String()
}

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

// initConfig is "config init": a settings file with every setting and its default as a comment, so that a later
// release can change a default that the user has not chosen. A file that is there is left alone.
func initConfig(f *Flags, std terminal.Streams) error {
	at, err := f.place(std)
	if err != nil {
		return err
	}
	if at.name == "" {
		return at.missing()
	}
	if _, err := os.Lstat(at.name); err == nil {
		return thereAlready(at.name)
	}
	if err := f.fromEnvironment(std); err != nil {
		return err
	}
	var s Settings
	if err := f.apply(&s, settingIndex("vault")); err != nil {
		return err
	}
	if vault := s.VaultAround(std, at.name); vault != "" {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("%q is inside the vault %q, where an agent may write", at.name, vault),
			Advice: "choose another path with --config",
		}
	}
	if err := writeNew(at.name, []byte(initialConfig())); err != nil {
		return err
	}
	return f.printFile(std, at.name)
}

func thereAlready(name string) error {
	return &terminal.UsageError{
		Reason: fmt.Sprintf("settings file %q already exists", name),
		Advice: `"vaultwicket config show" shows its settings`,
	}
}

// writeNew writes a file that only this user can read, as a whole or not at all, and never over another one.
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
		return thereAlready(name)
	}
	if err != nil {
		return cannotWrite(name, err)
	}
	return nil
}

// writeAside writes a file next to its place, makes it durable, and has give give it its name.
func writeAside(name string, content []byte, mode fs.FileMode, give func(temporary, name string) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".config-*.toml") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err == nil {
		err = give(temporary.Name(), name)
	}
	return err
}

// cannotWrite is the error for a place where nothing can be written: the person
// named it, or has to name another.
func cannotWrite(name string, err error) error {
	return terminal.Fail(
		terminal.ExitNotReady,
		fmt.Sprintf("write the settings file %q: %v", name, err),
		"choose another path with --config",
	)
}

func initialConfig() string {
	folder := "/home/me/Main" // as this system writes one; it need not exist
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

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// file is the settings file. Pointers tell a missing key from a zero value.
type file struct {
	CLI            *string  `toml:"cli"`
	Backend        *string  `toml:"backend"`
	Vault          *string  `toml:"vault"`
	Tier           *string  `toml:"tier"`
	Disable        []string `toml:"disable"`
	EnableOnly     []string `toml:"enable-only"`
	AllowMutations *bool    `toml:"allow-mutations"`
	AllowPublish   *bool    `toml:"allow-publish"`
	AllowUI        *bool    `toml:"allow-ui"`
	Confirm        *string  `toml:"confirm"`
	Timeout        *string  `toml:"timeout"`
	MaxOutput      *string  `toml:"max-output"`
	MinCLIVersion  *string  `toml:"min-cli-version"`
	MaxParallel    *int     `toml:"max-parallel"`
}

// texts returns the keys that are set, as text by name of the setting.
func (f file) texts() map[string]string {
	texts := map[string]string{}
	for name, value := range map[string]*string{
		"cli": f.CLI, "backend": f.Backend, "vault": f.Vault, "tier": f.Tier, "confirm": f.Confirm,
		"timeout": f.Timeout, "max-output": f.MaxOutput, "min-cli-version": f.MinCLIVersion,
	} {
		if value != nil {
			texts[name] = *value
		}
	}
	for name, value := range map[string]*bool{"allow-mutations": f.AllowMutations, "allow-publish": f.AllowPublish, "allow-ui": f.AllowUI} {
		if value != nil {
			texts[name] = strconv.FormatBool(*value)
		}
	}
	for name, value := range map[string][]string{"disable": f.Disable, "enable-only": f.EnableOnly} {
		if value != nil {
			texts[name] = strings.Join(value, ",")
		}
	}
	if f.MaxParallel != nil {
		texts["max-parallel"] = strconv.Itoa(*f.MaxParallel)
	}
	return texts
}

const maxFile = 1 << 20 // settings are some hundred bytes

// fromFile fills in what neither a flag nor the environment gave. The default
// file may be missing; one that was named may not.
func (f *flags) fromFile(std streams) error {
	name, origin := f.config.text, "flag --config"
	if f.config.origin == "" {
		name, origin = std.getenv(envPrefix+"CONFIG"), "environment "+envPrefix+"CONFIG"
	}
	if name == "none" {
		return nil
	}
	named := name != ""
	if !named {
		folder, err := configFolder(std.getenv)
		if err != nil {
			return nil // without a home there is no file
		}
		name, origin = filepath.Join(folder, "vaultwicket", "config.toml"), "the default place"
	}
	content, err := readSettings(name)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return &wrongUse{reason: fmt.Sprintf("settings file from %s: %v", origin, err)}
	}
	parsed, err := parseFile(content)
	if err != nil {
		return &wrongUse{reason: fmt.Sprintf("settings file %q: %v", name, err)}
	}
	for key, text := range parsed.texts() {
		if key == "vault" && strings.ContainsAny(text, `/\`) && !filepath.IsAbs(text) {
			return &wrongUse{reason: fmt.Sprintf("settings file %q: setting %q: %q is a relative folder, want an absolute one", name, key, text)}
		}
		f.fill(settingIndex(key), text, "file "+name)
	}
	return nil
}

// configFolder is the user's folder for settings: XDG on Linux, the like on
// macOS and Windows. It is os.UserConfigDir with our own view of the
// environment.
func configFolder(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	folder := filepath.Join(home, ".config")
	switch runtime.GOOS {
	case "windows":
		home = getenv("APPDATA")
		folder = home
	case "darwin":
		folder = filepath.Join(home, "Library", "Application Support")
	default:
		if xdg := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
			return xdg, nil
		}
	}
	if !filepath.IsAbs(home) {
		return "", errors.New("no home folder")
	}
	return folder, nil
}

// readSettings reads a regular file that nobody else can write: whoever can
// write it can open every gate.
func readSettings(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file", name) // opening a pipe would wait for a writer
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%q can be written by others (mode %04o); chmod 600 mends it", name, info.Mode().Perm())
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, maxFile)
	}
	return content, err
}

// parseFile reads TOML strictly: an unknown key, a duplicate and a wrong type
// are errors with their line.
func parseFile(content []byte) (file, error) {
	var parsed file
	decoder := toml.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&parsed)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return parsed, nil
	case errors.As(err, &unknown):
		first := unknown.Errors[0]
		key := strings.Join(first.Key(), ".")
		row, _ := first.Position()
		return file{}, fmt.Errorf("line %d: %q is no setting%s", row, key, didYouMean(key, settingNames()))
	case errors.As(err, &wrong):
		row, _ := wrong.Position()
		if key := strings.Join(wrong.Key(), "."); key != "" {
			return file{}, fmt.Errorf("line %d: setting %q: %s", row, key, strings.TrimPrefix(wrong.Error(), "toml: "))
		}
		return file{}, fmt.Errorf("line %d: %s", row, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return file{}, err
}

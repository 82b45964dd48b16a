package bootstrap

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// accessVariable passes the access rules of a vault to the embedded CLI.
const accessVariable = "VAULTWICKET_ACCESS"

// VaultEnvironment returns the environment of the embedded CLI for args, the arguments after "vaultwicket
// vault". If the gateway has started this process, it is the environment of the process. If a user has typed the
// command, the access rules of the settings are added, and the error is the reason why the command must not run.
func VaultEnvironment(std terminal.Streams, args []string) (getenv func(string) string, err error) {
	if exec.StartedByGateway(std.Getenv) {
		return std.Getenv, nil
	}
	rules, err := typedRules(args, std)
	if err != nil {
		return nil, err
	}
	// The rules are added to those of the environment. Invalid rules there are passed on, so that every call is
	// denied.
	given, err := access.Parse(std.Getenv(accessVariable))
	if err != nil || !rules.Restrict() {
		return std.Getenv, nil
	}
	text := given.Meet(rules).String()
	return func(name string) string {
		if name == accessVariable {
			return text
		}
		return std.Getenv(name)
	}, nil
}

// typedRules returns the access rules of the settings and the managed settings for the folder in args. It returns an
// error if vaultwicket is or may be paused, if the managed settings do not allow changes, or if the folder is inside
// or around a vault with access rules, because the paths in these rules would not match.
func typedRules(args []string, std terminal.Streams) (access.Rules, error) {
	if state := ownerfiles.StateFolder(std.Getenv, ""); state != "" { // otherwise nothing can be paused
		paused, err := admission.IsPaused(state)
		switch {
		case err != nil:
			return access.Rules{}, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("state folder %q: %v", state, err),
				"the pause state is kept there; make it a folder that only you can access",
			)
		case paused:
			return access.Rules{}, terminal.Fail(
				terminal.ExitDenied,
				"vaultwicket is paused",
				`"vaultwicket resume" ends the pause`,
			)
		}
	}
	if len(args) == 0 {
		return access.Rules{}, nil
	}
	flags := settings.NewFlags("vault")
	s, _, err := flags.Load(std, nil)
	if err != nil {
		return access.Rules{}, err
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return access.Rules{}, err
	}
	if slices.Contains(args, "--write") && !flags.ManagedMutations() {
		return access.Rules{}, terminal.Fail(
			terminal.ExitDenied,
			"the managed settings of this machine do not allow changes",
			"the administrator of this machine can change allow-mutations",
		)
	}
	rules := flags.ManagedAccess(std, s, settings.Vault{Folder: folder})
	for _, served := range s.Served {
		if !served.Policy.Access.Restrict() {
			continue
		}
		folders := []string{served.Folder}
		if served.Folder == "" {
			folders = nil
			for _, listed := range appvaults.Read(std.Getenv) {
				isServed := served.Name == listed.Name()
				if served.ID != "" {
					isServed = served.ID == listed.ID
				}
				if isServed {
					folders = append(folders, listed.Folder)
				}
			}
		}
		for _, folder := range folders {
			switch {
			case appvaults.SameFolder(folder, args[0]):
				rules = rules.Meet(served.Policy.Access)
			case ownerfiles.VaultAround(args[0], []string{folder}) != "",
				ownerfiles.VaultAround(folder, []string{args[0]}) != "":
				return access.Rules{}, terminal.Fail(
					terminal.ExitDenied,
					fmt.Sprintf(
						"folder %q: overlaps the vault %q, which has access rules",
						args[0],
						folder,
					),
					"use the folder of the vault itself",
				)
			}
		}
	}
	return rules, nil
}

// WithoutSettings returns the streams with an environment that contains no settings of the user: only the
// variables of every child process and values. The clock is fixed at now.
func WithoutSettings(std terminal.Streams, now time.Time, values map[string]string) terminal.Streams {
	values[date.NowVariable] = now.Format(time.RFC3339)
	for _, entry := range exec.OwnersEnvironment(std.Getenv) {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	std.Environ = func() []string { return nil }
	std.Lookup = func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
	return std
}

// VaultsHere returns the folders of up to twenty vaults, without duplicates: those that the app lists, the one around
// the working folder, and those one or two levels below the home folder. A vault is a folder that contains .obsidian.
func VaultsHere(std terminal.Streams) (folders []string) {
	add := func(folder string) {
		if len(folders) < 20 && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range appvaults.VaultFolders(std.Getenv) {
		add(folder)
	}
	if folder := settings.NearestVault(); folder != "" {
		add(folder)
	}
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	if home == "" {
		return folders
	}
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, _ := filepath.Glob(filepath.Join(home, pattern, ".obsidian")) // an error would mean an invalid pattern
		for _, marker := range found {
			add(filepath.Dir(marker))
		}
	}
	return folders
}

// ExpandHome replaces "~" at the beginning of a path by the home folder, as shells do.
func ExpandHome(std terminal.Streams, name string) string {
	home := ownerfiles.Home(runtime.GOOS, std.Getenv)
	rest, isBelow := strings.CutPrefix(filepath.ToSlash(name), "~/")
	switch {
	case home == "":
		return name
	case name == "~":
		return home
	case isBelow:
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return name
}

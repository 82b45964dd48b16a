package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
)

// managed are the settings of an administrator for all users of this machine. They are limits that the
// user's file, the environment and flags can only narrow. The zero value limits nothing.
type managed struct {
	name   string      // path of the file, "" if it has no place
	info   fs.FileInfo // the state of the file when it was read
	rights policy.Policy
	agents []string          // agents that may have rights, nil for all
	export []string          // addresses that the audit log is also sent to
	silent bool              // the table [notify] of the user's file is ignored
	texts  map[string]string // the texts of the settings in the file, by setting
}

// machine finds and reads the managed settings. Only tests replace it: no variable or setting can change the place.
var machine = struct {
	file func() (string, error)
	read func(name string) ([]byte, fs.FileInfo, error)
}{ownerfiles.MachineFile, ownerfiles.ReadMachineFile}

func managedKeys() []tableKey[managed] {
	return append(settingKeys(append(policy.SettingNames(), "mark-untrusted"), setManaged), []tableKey[managed]{
		{
			"access",
			"what may be done with a folder or note of any vault, by its path in the vault, also where a folder of the vault or one around it is served; \"/\" is the vault",
			nil,
			func(r *reading, m *managed, value any, at []string) (err error) {
				_, m.rights.Access, err = r.access(value, at, "[access]")
				return err
			},
		},
		{
			"export",
			"where every server also sends the lines of the audit log; users can only add targets",
			nil,
			readSetting("export", setManaged),
		},
		{
			"checkpoints",
			"how the end of the audit log is signed; overrides what users set",
			nil,
			readSetting("checkpoints", setManaged),
		},
		{
			"flow",
			"flow rules in addition to those of the user",
			nil,
			func(r *reading, m *managed, value any, at []string) error {
				m.rights.Flows = r.flows(value, at)
				return nil
			},
		},
		{
			"agents",
			"agents that may have rights; \"default\" is that of a server without an agent (default: all)",
			nil,
			nameList(func(m *managed) *[]string { return &m.agents }, "names of agents"),
		},
		{
			"notify",
			"false ignores the table [notify] of the user's file: nothing is sent and no program is started (default: true)",
			nil,
			func(_ *reading, m *managed, value any, _ []string) error {
				notifies, ok := value.(bool)
				if !ok {
					return fmt.Errorf("is %s, want %s", typeName(value), wanted[boolean])
				}
				m.silent = !notifies
				return nil
			},
		},
	}...)
}

// setManaged sets a managed setting.
func setManaged(m *managed, row setting, text string) error {
	m.texts[row.name] = text
	s := Settings{Policy: m.rights, Export: m.export}
	err := row.set(&s, text)
	m.rights = s.Policy
	m.export = s.Export
	return err
}

// openManaged reads the managed settings. A missing file limits nothing. A file that cannot be read, that others
// than the administrator can write or that is invalid causes a [*failure.RequestError].
func openManaged() (m managed, err error) {
	name, err := machine.file()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, failure.New(
			failure.CodeBadRequest,
			"an administrator may have set limits there, so vaultwicket does not start without them; an administrator can restore the folder",
			"managed settings: their place is not known: %v",
			err,
		)
	}
	var content []byte
	var info fs.FileInfo
	if err == nil {
		content, info, err = machine.read(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return managed{name: name, rights: policy.Unlimited()}, nil
	}
	if err == nil {
		m, err = parseManaged(content)
	}
	m.name = name
	m.info = info
	if err == nil {
		return m, nil
	}
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		err = pathErr.Err
	}
	return m, failure.New(
		failure.CodeBadRequest,
		"the administrator of this machine can correct or remove the file",
		"managed settings %q: %v",
		name,
		err,
	)
}

// parseManaged parses the content of the managed settings. The error is the first problem.
func parseManaged(content []byte) (managed, error) {
	root, body, wrong := parseTOML(content)
	if wrong != nil {
		return managed{}, errors.New(wrong.String())
	}
	r := &reading{content: body}
	m := managed{rights: policy.Unlimited(), texts: map[string]string{}}
	readKeys(r, managedKeys(), &m, root, nil, "setting %q", "", "is not a managed setting")
	m.rights = m.rights.From(policy.OriginManaged)
	if len(r.problems) > 0 {
		return m, errors.New(r.problems[0].String())
	}
	return m, nil
}

// bound narrows the settings that were read from all other sources, before vaults and agents narrow them further. It
// becomes the origin of each setting that it changes.
func (m managed) bound(f *Flags, s *Settings) {
	set := func(name, text string) {
		f.raws[settingIndex(name)] = raw{name: name, text: text, origin: policy.OriginManaged + " " + m.name}
	}
	// The managed export targets are added to those of the user; the managed checkpoints replace them.
	if _, has := m.texts["export"]; has {
		for _, address := range slices.Backward(m.export) {
			if !slices.Contains(s.Export, address) {
				s.Export = slices.Insert(s.Export, 0, address)
			}
		}
		set("export", strings.Join(s.Export, ","))
	}
	if text, has := m.texts["checkpoints"]; has {
		s.Checkpoints = text
		set("checkpoints", text)
	}
	stricter := s.Policy.Stricter(m.rights)
	s.Policy = s.Policy.Meet(m.rights)
	for _, name := range stricter {
		if settingIndex(name) < 0 {
			continue // a table, not a setting
		}
		names, _ := s.Policy.Setting(name).([]string)
		text := strings.Join(names, ",")
		if text == "" { // not a list, or two lists without a common command
			text = m.texts[name]
		}
		set(name, text)
	}
}

// ManagedMutations reports whether the managed settings allow changes.
func (f *Flags) ManagedMutations() bool { return f.bounds.rights.Mutations }

// ManagedAccess returns the managed access rules for a vault. The rules name paths in a vault, and the same notes can
// also be reached through a vault around the folder of v or inside it. So the result also contains the rules of these
// vaults, translated to paths in v. A folder counts as a vault if it is known or contains a folder .obsidian; unknown
// vaults inside v are only found directly below its folder.
func (f *Flags) ManagedAccess(std terminal.Streams, s Settings, v Vault) access.Rules {
	if !f.bounds.rights.Access.Restrict() {
		return access.Rules{} // without reading the app's list of vaults
	}
	wanted := appvaults.Wanted{Name: v.Name, ID: v.ID, Folder: v.Folder}
	folder := appvaults.Locate(appvaults.Read(std.Getenv), wanted).Folder
	known := s.VaultFolders(std)
	rules := f.bounds.rights.Access
	if folder == "" {
		return rules
	}
	roots := []string{filepath.Clean(folder)}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil && resolved != roots[0] {
		roots = append(roots, resolved)
	}
	for i, root := range roots {
		for _, rest := range pathsFromVaultsAround(root, known) {
			rules = rules.Meet(f.bounds.rights.Access.Below(rest))
		}
		for _, vault := range vaultsInside(root, known) {
			isLast := i == len(roots)-1 // without symbolic links
			if resolved, err := filepath.EvalSymlinks(vault); err == nil && isLast {
				vault = resolved
			}
			rest, err := filepath.Rel(root, vault)
			isInside := err == nil && rest != "." && filepath.IsLocal(rest)
			if isInside {
				rules = rules.Meet(f.bounds.rights.Access.Above(filepath.ToSlash(rest)))
			}
		}
	}
	return rules
}

// pathsFromVaultsAround returns the path of root in each vault that contains it.
func pathsFromVaultsAround(root string, known []string) (paths []string) {
	for dir := root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		rest, err := filepath.Rel(dir, root)
		if err == nil && isVault(dir, known) {
			paths = append(paths, filepath.ToSlash(rest))
		}
	}
	return paths
}

// vaultsInside returns the known vaults, wherever they are, and the vaults directly below root.
func vaultsInside(root string, known []string) []string {
	vaults := slices.Clone(known)
	entries, _ := os.ReadDir(root)
	for _, entry := range entries {
		if below := filepath.Join(root, entry.Name()); isVault(below, known) {
			vaults = append(vaults, below)
		}
	}
	return vaults
}

// isVault reports whether a folder is a known vault or contains a folder .obsidian.
func isVault(dir string, known []string) bool {
	info, err := os.Stat(filepath.Join(dir, ".obsidian"))
	if err == nil && info.IsDir() {
		return true
	}
	return slices.ContainsFunc(known, func(vault string) bool { return appvaults.SameFolder(vault, dir) })
}

package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// drive is what an absolute path begins with, besides its slash.
var drive = map[bool]string{true: "C:"}[runtime.GOOS == "windows"]

// onDrive is an absolute path of this system.
func onDrive(path string) string { return filepath.FromSlash(drive + path) }

var threeVaults = `tier = "v2"
allow-mutations = true

[[vaults]]
name = "Main"
id = "a1b2c3d4e5f60718"
folder = "` + drive + `/home/me/Main"
tier = "v1"
[vaults.access]
"/" = "r"
"Work/Projects" = "rwd"
"Private" = "none"

[[vaults]]
folder = "` + drive + `/srv/Team"

[[vaults]]
id = "0123456789abcdef"
tier = "v2"
`

func TestEachVaultHasAPolicyOfItsOwn(t *testing.T) {
	file := writeSettings(t, threeVaults)
	s, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file})
	require.NoError(t, err)
	want := []Vault{
		{Name: "Main", ID: "a1b2c3d4e5f60718", Folder: onDrive("/home/me/Main"), Pinned: true}, {Folder: onDrive("/srv/Team")}, {ID: "0123456789abcdef"},
	}
	require.That(t, len(s.Served) == len(want), "serves %d vaults", len(s.Served))
	for i, served := range s.Served {
		assert.Equal(t, served.Vault, want[i], "vault %d is %+v", i, served)
		assert.That(t, served.Policy.Mutations, "vault %d is %+v", i, served)
	}
	first, second := s.Served[0].Policy, s.Served[1].Policy
	if first.Ceiling != tiers.V1 || first.Origins["tier"] != "vault Main in config.toml" || first.Origins["access"] != "vault Main in config.toml" {
		t.Errorf("the first: tier %v, origins %v", first.Ceiling, first.Origins)
	}
	for path, level := range map[string]access.Level{"a.md": access.Read, "Work/Projects/a.md": access.Delete, "Private/a.md": access.None} {
		assert.Equal(t, first.Access.Level(path), level, "%s has", path)
	}
	if second.Ceiling != tiers.V2 || second.Access.Restrict() || second.Origins["tier"] != "file config.toml" || second.Origins["access"] != "default" {
		t.Errorf("the second: tier %v, access %v, origins %v", second.Ceiling, second.Access, second.Origins)
	}
	if s.Served[2].Policy.Ceiling != tiers.V2 || s.Vault != want[0] {
		t.Errorf("the third: tier %v; the default is %+v", s.Served[2].Policy.Ceiling, s.Vault)
	}
}

func TestAVaultIsNeverOpenedFurther(t *testing.T) {
	for general := tiers.V0; general <= tiers.V3; general++ {
		for own := tiers.V0; own <= tiers.V3; own++ {
			vault := "[[vaults]]\nname = \"Main\"\ntier = \"" + own.String() + "\"\n"
			s, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + writeSettings(t, "tier = \""+general.String()+"\"\n"+vault)})
			if (err != nil) != (own > general) || err == nil && s.Served[0].Policy.Ceiling != own {
				t.Errorf("general %v, own %v in the file: %v", general, own, err)
			}
			s, _, err = NewFlags("run").Load(world(nil), []string{"--config=" + writeSettings(t, vault), "--tier=" + general.String()})
			require.Equal(t, err, nil, "general %v as a flag, own %v", general, own)
			assert.Equal(t, s.Served[0].Policy.Ceiling, min(own, general), "general %v as a flag, own %v", general, own)
			s, _, err = NewFlags("run").Load(world(map[string]string{"VAULTWICKET_TIER": general.String()}), []string{"--config=" + writeSettings(t, vault)})
			require.Equal(t, err, nil, "general %v in the environment, own %v", general, own)
			assert.Equal(t, s.Served[0].Policy.Ceiling, min(own, general), "general %v in the environment, own %v", general, own)
		}
	}
}

func TestWhichVaultIsTheDefault(t *testing.T) {
	file := writeSettings(t, threeVaults)
	inFile := writeSettings(t, "vault = \"Team\"\n"+threeVaults)
	inProfile := writeSettings(t, threeVaults+"[profiles.team]\nvault = \""+drive+"/srv/Team\"\n")
	for _, tt := range []struct {
		name, env string
		args      []string
		want      string // labels in their order
	}{
		{"the first", "", []string{"--config=" + file}, "Main Team 0123456789abcdef"},
		{"by the file", "", []string{"--config=" + inFile}, "Team Main 0123456789abcdef"},
		{"by a profile", "", []string{"--config=" + inProfile, "--profile=team"}, "Team Main 0123456789abcdef"},
		{"by the environment", "0123456789abcdef", []string{"--config=" + inFile}, "0123456789abcdef Main Team"},
		{"as a flag it is the only one", "Main", []string{"--config=" + inFile, "--vault=Team"}, "Team"},
		{"by id", "", []string{"--config=" + file, "--vault=a1b2c3d4e5f60718"}, "Main"},
		{"by folder", "", []string{"--config=" + file, "--vault=" + drive + "/srv/../srv/Team/"}, "Team"},
	} {
		env := map[string]string{}
		if tt.env != "" {
			env["VAULTWICKET_VAULT"] = tt.env
		}
		s, _, err := NewFlags("run").Load(world(env), tt.args)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var labels []string
		for _, served := range s.Served {
			labels = append(labels, vaultTable{Vault: served.Vault}.label())
		}
		got := strings.Join(labels, " ")
		require.Equal(t, got, tt.want, "%s", tt.name)
		assert.Equal(t, s.Vault, s.Served[0].Vault, "%s", tt.name)
	}
	for text, want := range map[string]string{
		"Mian":              `unknown vault "Mian"; did you mean "Main"?`,
		drive + "/srv/Taem": "did you mean " + strconv.Quote(onDrive("/srv/Team")) + "?", "Other": "unknown vault",
	} {
		_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file, "--vault=" + text})
		require.That(t, err != nil, "--vault=%s: %v, want %q", text, err, want)
		require.Contains(t, err.Error(), want, "--vault=%s", text)
		assert.Contains(t, err.Error(), "flag --vault", "--vault=%s", text)
	}
}

func TestAVaultIsFoundBehindALink(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip("links take a privilege")
	}
	file := writeSettings(t, "[[vaults]]\nname = \"Main\"\nfolder = '"+folder+"'\n")
	s, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file, "--vault=" + link})
	require.NoError(t, err)
	assert.Equal(t, s.Vault.Name, "Main")
	twice := writeSettings(t, "[[vaults]]\nname = \"Main\"\nfolder = '"+folder+"'\n[[vaults]]\nname = \"Other\"\nfolder = '"+link+"'\n")
	_, _, err = NewFlags("run").Load(world(nil), []string{"--config=" + twice})
	require.That(t, err != nil, "one folder under two names: %v", err)
	assert.Contains(t, err.Error(), "two vaults have the folder", "one folder under two names")
}

func TestOriginsNameEverySettingOfAPolicy(t *testing.T) {
	file := writeSettings(t, "allow-ui = false\n[profiles.p]\nconfirm = \"writes\"\n")
	s, _, err := NewFlags("run").Load(world(map[string]string{"VAULTWICKET_DISABLE": "read"}), []string{"--config=" + file, "--profile=p", "--allow-mutations"})
	require.NoError(t, err)
	want := map[string]string{
		"tier": "default", "disable": "environment VAULTWICKET_DISABLE", "enable-only": "default", "allow-mutations": "flag --allow-mutations",
		"allow-publish": "default", "allow-ui": "file config.toml", "confirm": "profile p in config.toml",
		"ask": "default", "min-answer-time": "default", "max-grant": "default", "min-cli-version": "default",
		"secrets": "default", "suspicious": "default", "remote-links": "default", "shadow": "default",
		"exceptions": "default", "private-property": "default", "private-tags": "default", "access": "default",
		"rate": "default", "rate-mutations": "default", "rate-mutations-hour": "default",
	}
	assert.Equal(t, len(s.Policy.Origins), len(want), "origins %v", s.Policy.Origins)
	for name, origin := range want {
		assert.Equal(t, s.Policy.Origins[name], origin, "%s comes from", name)
	}
}

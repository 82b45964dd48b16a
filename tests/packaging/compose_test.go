package packaging

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"vaultwicket/tests/rig"
)

// The compose file starts the program as its flags are, reachable through the proxy alone and
// without rights that it does not need.
func TestTheComposeFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", "compose", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type service struct {
		Image    string
		Command  []string
		Network  string `yaml:"network_mode"`
		Ports    []string
		ReadOnly bool     `yaml:"read_only"`
		Drops    []string `yaml:"cap_drop"`
		Options  []string `yaml:"security_opt"`
		Volumes  []string
		Profiles []string
	}
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	own, proxy := file.Services["vaultwicket"], file.Services["proxy"]
	if own.Ports != nil || own.Network != "service:proxy" || !own.ReadOnly || !slices.Equal(own.Drops, []string{"ALL"}) || !slices.Equal(own.Options, []string{"no-new-privileges:true"}) {
		t.Errorf("vaultwicket is %+v", own)
	}
	if registry := rig.JSON(t, decode(t, filepath.Join("..", "..", "packaging", "server.json"))); !strings.Contains(registry, `"`+own.Image+":") {
		t.Errorf("the image is %q", own.Image)
	}
	if len(proxy.Ports) == 0 || len(file.Services["syncthing"].Profiles) != 1 {
		t.Errorf("the proxy is %+v", proxy)
	}
	var args []string
	for _, arg := range own.Command {
		args = append(args, strings.ReplaceAll(arg, "${PUBLIC_NAME}", "notes.example"))
	}
	at := slices.Index(args, "--vault")
	if at < 0 || args[at+1] != "/vault" || !slices.ContainsFunc(own.Volumes, func(v string) bool { return strings.HasSuffix(v, ":/vault") }) {
		t.Fatalf("the vault of %q", args)
	}
	accepted(t, slices.Delete(args, at, at+2))
	caddy, err := os.ReadFile(filepath.Join("..", "..", "packaging", "compose", "Caddyfile"))
	if err != nil || !strings.Contains(string(caddy), "reverse_proxy "+args[slices.Index(args, "--http")+1]+" ") {
		t.Errorf("the proxy does not pass on to the server: %s, %v", caddy, err)
	}
}

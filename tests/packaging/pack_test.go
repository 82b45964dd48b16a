package packaging

import (
	"archive/zip"
	"bytes"
	"debug/macho"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/vaultwicket/vaultwicket/packaging"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var packOnce = sync.OnceValues(func() (string, error) {
	file := filepath.Join(filepath.Dir(harness.Binary), "pack.exe")
	return file, harness.Build("github.com/vaultwicket/vaultwicket/packaging/pack", file)
})

// pack runs the tool of a release at the root of the repository.
func pack(t *testing.T, args ...string) (stderr string, status int) {
	t.Helper()
	file := require.Value(packOnce())(t)
	c := exec.Command(file, args...)
	c.Dir = filepath.Join("..", "..")
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return log.String(), c.ProcessState.ExitCode()
}

// dist is a folder as goreleaser makes it, with the program of this system for all.
func dist(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"vaultwicket_linux_amd64_v1/vaultwicket", "vaultwicket_linux_arm64_v8.0/vaultwicket",
		"vaultwicket_darwin_amd64_v1/vaultwicket", "vaultwicket_darwin_arm64_v8.0/vaultwicket",
		"vaultwicket_windows_amd64_v1/vaultwicket.exe", "vaultwicket_windows_arm64_v8.0/vaultwicket.exe"} {
		content := []byte("program " + name)
		if strings.Contains(name, "darwin") {
			content = macProgram(name)
		}
		harness.WriteFile(t, filepath.Join(folder, filepath.FromSlash(name)), content)
	}
	// What stage.sh makes.
	harness.WriteFile(t, filepath.Join(folder, "THIRD-PARTY-LICENCES.txt"), []byte("modules"))
	return folder
}

// macProgram is the head of a program of macOS for the processor in the name.
func macProgram(name string) (head []byte) {
	cpu := macho.CpuAmd64
	if strings.Contains(name, "arm64") {
		cpu = macho.CpuArm64
	}
	for _, v := range []uint32{macho.Magic64, uint32(cpu), 0, uint32(macho.TypeExec), 0, 0, 0, 0} {
		head = binary.LittleEndian.AppendUint32(head, v)
	}
	return append(head, name...)
}

func decode(t *testing.T, file string) map[string]any {
	t.Helper()
	text := require.Value(os.ReadFile(file))(t)
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return value
}

// The list of what a program contains is that of the linker, and the same each time.
func TestTheSBOMNamesEveryModule(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "1.json"), filepath.Join(t.TempDir(), "2.json")
	for _, out := range []string{first, second} {
		if log, status := pack(t, "sbom", "--binary", harness.Binary, "--version", "1.2.3", "--out", out); status != 0 {
			t.Fatal(log)
		}
	}
	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	assert.That(t, len(a) != 0, "two lists of one program differ")
	assert.That(t, bytes.Equal(a, b), "two lists of one program differ")
	bill := decode(t, first)
	modules := require.Value(exec.Command("go", "version", "-m", harness.Binary).Output())(t)
	components, _ := bill["components"].([]any)
	if want := strings.Count(string(modules), "\tdep\t") + 1; len(components) != want { // and the standard library
		t.Errorf("%d components, want %d", len(components), want)
	}
	for _, c := range components {
		c := c.(map[string]any)
		name := c["name"].(string)
		assert.That(t, c["licenses"] != nil, "the component is %v", c)
		assert.That(t, name == "stdlib" || strings.Contains(string(modules), name+"\t"), "the component is %v", c)
	}
	if bill["bomFormat"] != "CycloneDX" || bill["specVersion"] != "1.6" || !strings.Contains(string(a), `"version": "1.2.3"`) {
		t.Errorf("the list begins with %.300s", a)
	}
}

func TestTheBundleHasItsPrograms(t *testing.T) {
	folder := dist(t)
	first, second := filepath.Join(t.TempDir(), "a.mcpb"), filepath.Join(t.TempDir(), "b.mcpb")
	for _, out := range []string{first, second} {
		if log, status := pack(t, "mcpb", "--dist", folder, "--stage", folder, "--version", version(t), "--out", out); status != 0 {
			t.Fatal(log)
		}
	}
	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	assert.That(t, bytes.Equal(a, b), "two bundles of one release differ")
	z := require.Value(zip.NewReader(bytes.NewReader(a), int64(len(a))))(t)
	there := map[string]bool{}
	for _, f := range z.File {
		there[f.Name] = true
	}
	manifest := decode(t, filepath.Join("..", "..", "packaging", "mcpb", "manifest.json"))
	server := manifest["server"].(map[string]any)
	commands := []string{server["entry_point"].(string)}
	config := server["mcp_config"].(map[string]any)
	commands = append(commands, config["command"].(string))
	for _, system := range config["platform_overrides"].(map[string]any) {
		commands = append(commands, system.(map[string]any)["command"].(string))
	}
	icons := []string{manifest["icon"].(string)}
	for _, i := range manifest["icons"].([]any) {
		icons = append(icons, i.(map[string]any)["src"].(string))
	}
	for _, command := range append(commands, icons...) {
		assert.That(t, there[strings.TrimPrefix(command, "${__dirname}/")], "the manifest names %s, and the bundle has %v", command, there)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "vaultwicket_darwin_arm64_v8.0")))
	log, status := pack(t, "mcpb", "--dist", folder, "--stage", folder, "--version", "1", "--out", first)
	assert.Equal(t, status, 1, "a missing program gives %d %s", status, log)
	assert.Contains(t, log, "0 programs for darwin on arm64", "a missing program gives %d %s", status, log)
}

func TestTheBundleStartsAReadOnlyServer(t *testing.T) {
	manifest := decode(t, filepath.Join("..", "..", "packaging", "mcpb", "manifest.json"))
	config := manifest["server"].(map[string]any)["mcp_config"].(map[string]any)
	asked := manifest["user_config"].(map[string]any)
	vault := t.TempDir()
	fill := func(text string) string {
		for key, field := range asked {
			value := vault
			if d, ok := field.(map[string]any)["default"]; ok {
				encoded, _ := json.Marshal(d)
				value = strings.Trim(string(encoded), `"`)
			} else if field.(map[string]any)["required"] != true {
				t.Errorf("%s has no default and is not required", key)
			}
			text = strings.ReplaceAll(text, "${user_config."+key+"}", value)
		}
		return text
	}
	var args []string
	for _, arg := range config["args"].([]any) {
		args = append(args, fill(arg.(string)))
	}
	r := harness.New(t, nil)
	c := exec.Command(harness.Binary, args...)
	c.Env = []string{"HOME=" + r.Home, "XDG_STATE_HOME=" + r.Home}
	for name, value := range config["env"].(map[string]any) {
		c.Env = append(c.Env, name+"="+fill(value.(string)))
	}
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
	out, err := c.Output()
	require.That(t, err == nil, "%v\n%s", err, out)
	assert.That(t, strings.Contains(string(out), `"readOnlyHint":true`), "the server answers %s", out)
	for _, tool := range packaging.Tools() {
		assert.That(t, strings.Contains(string(out), `"name":"`+tool.Name+`"`), "the manifest names the tool %s, the server does not", tool.Name)
	}
}

func TestNPMPackagesAreLaidOut(t *testing.T) {
	folder, out := dist(t), t.TempDir()
	if log, status := pack(t, "npm", "--dist", folder, "--stage", folder, "--version", version(t), "--out", out); status != 0 {
		t.Fatal(log)
	}
	main := decode(t, filepath.Join(out, "vaultwicket", "package.json"))
	wanted := main["optionalDependencies"].(map[string]any)
	for _, p := range packaging.Platforms() {
		package_ := filepath.Join(out, p.NodeOS+"-"+p.NodeArch)
		one := decode(t, filepath.Join(package_, "package.json"))
		if one["name"] != p.NPM() || one["version"] != version(t) || wanted[p.NPM()] != version(t) {
			t.Errorf("the package of %s on %s is %v %v, want %v", p.OS, p.Arch, one["name"], one["version"], wanted)
		}
		info, err := os.Stat(filepath.Join(package_, "bin", p.Program()))
		require.Equal(t, err, nil, "the program of %s: %v", p.NPM(), info)
		assert.That(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o755, "the program of %s: %v", p.NPM(), info)
		delete(wanted, p.NPM())
		for _, m := range []map[string]any{one, main} {
			if m["scripts"] != nil {
				t.Errorf("%v has scripts", m["name"])
			}
		}
	}
	assert.That(t, len(wanted) == 0, "there is no package for %v", wanted)
}

// schemaOf is the schema of a file of ours. That of server.json is the MCP registry's, that of
// goreleaser.yaml is what "goreleaser jsonschema" of 2.15.0 prints.
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("testdata", name+".schema.json")))(t)
	return require.Value(jsonschema.CompileString("schema.json", string(text)))(t)
}

func TestTheRegistryTakesOurServer(t *testing.T) {
	schema := schemaOf(t, "server")
	file := filepath.Join("..", "..", "packaging", "server.json")
	assert.NoError(t, schema.Validate(decode(t, file)))
	bundle, out := filepath.Join(t.TempDir(), "vaultwicket_1.2.3.mcpb"), filepath.Join(t.TempDir(), "server.json")
	harness.WriteFile(t, bundle, []byte("bundle"))
	if log, status := pack(t, "server-json", "--version", "1.2.3", "--mcpb", bundle, "--out", out); status != 0 {
		t.Fatal(log)
	}
	released := decode(t, out)
	assert.NoError(t, schema.Validate(released))
	for _, i := range released["icons"].([]any) {
		src := i.(map[string]any)["src"].(string)
		name, ours := strings.CutPrefix(src, packaging.Icons+"/")
		_, err := os.Stat(filepath.Join("..", "..", "packaging", filepath.FromSlash(name)))
		assert.That(t, ours, "the icon %s", src)
		assert.NoError(t, err, "the icon %s", src)
	}
	if packages := released["packages"].([]any); len(packages) != 3 ||
		packages[2].(map[string]any)["fileSha256"] != "1e6ed65d77d6364eeaed5a745ba5c4985ae2b700dd85d7cf7f027bdf294a33fc" {
		t.Errorf("the packages are %v", packages)
	}
	// The schema is one that refuses.
	for key, value := range map[string]any{"name": "no slash", "description": strings.Repeat("x", 101), "version": nil} {
		wrong := decode(t, file)
		wrong[key] = value
		assert.That(t, schema.Validate(wrong) != nil, "%s may be %v", key, value)
	}
}

func TestTheRegistryEntryNamesRealSettings(t *testing.T) {
	shown := harness.New(t, nil).Must("config", "show")
	server := decode(t, filepath.Join("..", "..", "packaging", "server.json"))
	names := 0
	for _, p := range server["packages"].([]any) {
		p := p.(map[string]any)
		for _, key := range []string{"packageArguments", "environmentVariables"} {
			list, _ := p[key].([]any)
			for _, a := range list {
				name, _ := a.(map[string]any)["name"].(string)
				name = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "--"), "VAULTWICKET_")), "_", "-")
				if name == "" {
					continue
				}
				names++
				assert.Contains(t, "\n"+shown, "\n"+name+" ", "%s is no setting", name)
			}
		}
	}
	assert.That(t, names >= 3, "only %d names", names)
}

func TestPackSaysWhatIsWrong(t *testing.T) {
	for want, args := range map[string][]string{
		"name what to make":     {},
		`unknown part "other"`:  {"other"},
		"--version is missing":  {"sbom", "--binary", "x"},
		`unexpected argument`:   {"debian-changelog", "--version", "1", "--seconds", "5", "x"},
		"--seconds is missing":  {"debian-changelog", "--version", "1"},
		"flag provided but not": {"licences", "--out", "x"},
	} {
		log, status := pack(t, args...)
		assert.Equal(t, status, 2, "%q ends with %d and says %q, want %q", args, status, log, want)
		assert.Contains(t, log, want, "%q ends with %d and says %q", args, status, log)
	}
}

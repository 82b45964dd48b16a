package packaging

import (
	"bytes"
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/packaging"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestGoInstall: this repository, served by a module proxy as one version, is installed with
// "go install MODULE/cmd/vaultwicket@VERSION". That fails for a module with a replace line,
// and for one whose file names no module may have. By default the go command only plans the
// installation (-n), which compiles nothing; with LONG_TESTS the program is installed, and
// its demo run.
func TestGoInstall(t *testing.T) {
	version := "v" + release.Version
	proxy := serveModule(t, version)
	bin := filepath.Join(t.TempDir(), "bin")
	target := packaging.ModulePath + "/cmd/" + packaging.Name + "@" + version
	if !testenv.Long() {
		planned := goInstall(t, proxy, bin, "-n", target)
		assert.That(t, strings.Contains(planned, packaging.Name), "the go command plans nothing: %s", planned)
		return
	}
	goInstall(t, proxy, bin, target)

	program := filepath.Join(bin, packaging.Name)
	said := require.Value(osexec.Command(program, "version").Output())(t)
	assert.Equal(t, strings.Fields(string(said))[1], release.Version)
	demo := osexec.Command(program, "demo")
	demo.Dir = t.TempDir()
	shown := require.Value(demo.Output())(t)
	assert.That(t, bytes.Contains(shown, []byte("daily:read")), "the demo shows no daily:read:\n%s", shown)
}

// serveModule makes a folder that is a module proxy of file:// with this repository as the
// only module, in one version, and returns its path.
func serveModule(t *testing.T, version string) string {
	t.Helper()
	proxy := t.TempDir()
	versions := filepath.Join(proxy, packaging.ModulePath, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	root := filepath.Join("..", "..")
	write := func(name string, content []byte) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), content, 0o644))
	}
	write("list", []byte(version+"\n"))
	write(version+".mod", require.Value(os.ReadFile(filepath.Join(root, "go.mod")))(t))
	write(version+".info", require.Value(json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}))(t))

	source := filepath.Join(t.TempDir(), "source")
	copySource(t, root, source)
	zip := require.Value(os.Create(filepath.Join(versions, version+".zip")))(t)
	require.NoError(t, modzip.CreateFromDir(zip, module.Version{Path: packaging.ModulePath, Version: version}, source))
	require.NoError(t, zip.Close())
	return proxy
}

// goInstall runs "go install" with a module cache of its own, in which other modules come
// from the cache of this machine, and returns what it printed. The checksum database is not
// asked: it does not know the version.
func goInstall(t *testing.T, proxy, bin string, args ...string) string {
	t.Helper()
	known := strings.TrimSpace(string(require.Value(osexec.Command("go", "env", "GOMODCACHE").Output())(t)))
	elsewhere := strings.TrimSpace(string(require.Value(osexec.Command("go", "env", "GOPROXY").Output())(t)))
	proxies := []string{fileURL(proxy), fileURL(filepath.Join(known, "cache", "download")), elsewhere}

	command := osexec.Command("go", append([]string{"install"}, args...)...)
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-modcacherw", "GOWORK=off", "GOSUMDB=off", "CGO_ENABLED=0",
		"GOPROXY="+strings.Join(proxies, ","), "GOMODCACHE="+filepath.Join(t.TempDir(), "modules"))
	out, err := command.CombinedOutput()
	require.That(t, err == nil, "go install: %v\n%s", err, out)
	return string(out)
}

func fileURL(folder string) string { return "file://" + filepath.ToSlash(folder) }

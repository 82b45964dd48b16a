package release

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestBuildsTellTheirCommitAndModules(t *testing.T) {
	info := &debug.BuildInfo{
		Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"}, {Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abcd"},
			{Key: "vcs.time", Value: "2026-11-21T08:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
		Deps: []*debug.Module{
			{Path: "example.org/a", Version: "v1.2.3", Sum: "h1:x="},
			{Path: "example.org/b", Version: "v0.1.0", Sum: "h1:y=", Replace: &debug.Module{Path: "./b"}},
		},
	}
	b := buildOf(info)
	platform := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	want := "commit 0123abcd of 2026-11-21T08:00:00Z, with local changes\n" + platform + ", -trimpath=true, CGO_ENABLED=0\n"
	got := b.Lines()
	assert.That(t, got == want, "got\n%s\nwant\n%s", got, want)
	text := require.Value(json.Marshal(b))(t)
	for _, want := range []string{
		`"commit":"0123abcd"`, `"modified":true`, `"settings":["-trimpath=true","CGO_ENABLED=0"]`,
		`{"path":"example.org/a","version":"v1.2.3","sum":"h1:x="}`, `{"path":"example.org/b","version":"v0.1.0","replacedBy":"./b"}`,
	} {
		assert.That(t, strings.Contains(string(text), want), "%s is missing in %s", want, text)
	}
}

func TestAReleaseIsToldItsCommit(t *testing.T) {
	commit, commitTime = "89abcdef", "2026-11-22T00:00:00Z"
	defer func() { commit, commitTime = "", "" }()
	text := buildOf(&debug.BuildInfo{}).Lines()
	assert.That(t, strings.HasPrefix(text, "commit 89abcdef of 2026-11-22T00:00:00Z\n"), "%q", text)
}

func TestAnUnknownBuildIsNoError(t *testing.T) {
	b := buildOf(&debug.BuildInfo{})
	assert.Equal(t, b.Version, Version, "%+v", b)
	assert.Equal(t, strings.Count(b.Lines(), "\n"), 1, "%+v", b)
	assert.That(t, b.Modules != nil, "%+v", b)
	assert.That(t, b.Settings != nil, "%+v", b)
	assert.That(t, ThisBuild().Go == runtime.Version(), "the version of Go is another")
}

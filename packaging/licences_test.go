package packaging

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// modules are those of the program on every system that there are packages for.
func modules(t *testing.T) []Module {
	t.Helper()
	return slices.Clone(require.Value(listed())(t))
}

var listed = sync.OnceValues(func() ([]Module, error) {
	// A result that go test has kept is good for these modules only.
	if _, err := os.ReadFile(filepath.Join("..", "go.sum")); err != nil {
		return nil, err
	}
	all := map[string]Module{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}",
			"github.com/vaultwicket/vaultwicket/cmd/vaultwicket")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) == 3 && f[0] != ModulePath {
				all[f[0]] = Module{f[0], f[1], f[2]}
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Module) int { return strings.Compare(a.Path, b.Path) }), nil
})

func TestEveryModuleIsPermissive(t *testing.T) {
	var b strings.Builder
	for _, m := range modules(t) {
		id, _, err := LicenceOf(m)
		assert.NoError(t, err)
		b.WriteString(m.Path + "\t" + id + "\n")
	}
	testenv.GoldenFile(t, "licences.tsv", b.String())
	if len(KnownLicences()) < 20 {
		t.Errorf("only %d modules", len(KnownLicences()))
	}
}

func TestPackagesCarryEveryText(t *testing.T) {
	all := modules(t)
	text := require.Value(LicenceTexts(append(all, Module{"example.org/other", "v1", t.TempDir()})))(t)
	for _, m := range all {
		if !strings.Contains(text, "\n"+m.Path+" "+m.Version+" (") {
			t.Errorf("%s is missing", m.Path)
		}
	}
	assert.That(t, !strings.Contains(text, "example.org/other"), "a module that is not in the program is there")
	if _, err := LicenceTexts(all[1:]); err == nil || !strings.Contains(err.Error(), all[0].Path) {
		t.Errorf("a missing module gives %v", err)
	}
}

const (
	mit = "Permission is hereby granted, free of charge, to any person\n obtaining a copy of … The above copyright notice and this permission notice shall be included in all"
	bsd = "Redistribution and use in source and binary forms, with or … Redistributions in binary form must reproduce the above"
)

func TestIdentify(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{mit, "MIT"},
		{bsd, "BSD-2-Clause"},
		{bsd + " … may not be used to endorse or promote products\nderived from this software without specific", "BSD-3-Clause"},
		{"GNU GENERAL PUBLIC LICENSE Version 3", ""},
		{mit + " Mozilla Public License Version 2.0", ""},
		{mit + " subject to the Commons Clause", ""},
		{"All rights reserved.", ""},
		{"", ""},
	} {
		if got, err := IdentifyLicence(test.text); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%.40q is %q (%v), want %q", test.text, got, err, test.want)
		}
	}
}

func TestEveryTextOfAModuleCounts(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	m := Module{"example.org/m", "v1", folder}
	if _, _, err := LicenceOf(m); err == nil {
		t.Error("a module without a text passes")
	}
	write("LICENSE", mit)
	write("license.go", "package m // GNU GENERAL PUBLIC LICENSE")
	if id, _, err := LicenceOf(m); id != "MIT" || err != nil {
		t.Error(id, err)
	}
	write("NOTICE", "a notice")
	if _, text, err := LicenceOf(m); !strings.Contains(text, "a notice") || err != nil {
		t.Error(text, err)
	}
	write("COPYING", "GNU GENERAL PUBLIC LICENSE")
	if id, _, err := LicenceOf(m); err == nil || !strings.Contains(err.Error(), "example.org/m: COPYING") {
		t.Errorf("a second text that is not permissive gives %q, %v", id, err)
	}
}

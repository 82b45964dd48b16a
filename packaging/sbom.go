package packaging

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

type object = map[string]any

// SBOM returns the list of modules of a binary as CycloneDX 1.6. It reads them from the binary, where
// the Go linker has stored them, so that the list matches what was built. The list contains no time
// and no random number: the same binary results in the same bytes. cyclonedx-gomod (v1.10.0) is not
// used because its output contains the time of the run.
//
// version is the version of the release, because a build outside of version control has none in the
// binary. licences has the licences of modules by path; unknown licences are left out. It returns an
// error if the file cannot be read or is not a Go program.
func SBOM(file, version string, licences map[string]string) ([]byte, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the modules of %q: %w", file, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	properties := buildProperties(info)
	components := []object{
		library("stdlib", strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go"), "", "BSD-3-Clause"),
	}
	for _, m := range info.Deps {
		components = append(components, library(m.Path, m.Version, m.Sum, licences[m.Path]))
	}
	var refs []any
	for _, c := range components {
		refs = append(refs, c["bom-ref"])
	}
	program := object{
		"type":       "application",
		"bom-ref":    info.Main.Path,
		"name":       Name,
		"version":    version,
		"licenses":   licensed(Licence),
		"hashes":     []object{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}},
		"properties": properties,
	}
	text, err := json.MarshalIndent(object{
		"bomFormat":    "CycloneDX",
		"specVersion":  "1.6",
		"version":      1,
		"components":   components,
		"metadata":     object{"component": program},
		"dependencies": []object{{"ref": info.Main.Path, "dependsOn": refs}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// buildProperties returns the build settings of a program as properties, sorted by name.
func buildProperties(info *buildinfo.BuildInfo) []object {
	properties := []object{property("go:version", info.GoVersion)}
	for _, s := range info.Settings {
		properties = append(properties, property("go:build:"+strings.TrimLeft(s.Key, "-"), s.Value))
	}
	slices.SortFunc(
		properties,
		func(a, b object) int { return strings.Compare(a["name"].(string), b["name"].(string)) },
	)
	return properties
}

func property(name, value string) object { return object{"name": name, "value": value} }

func library(path, version, sum, licence string) object {
	purl := "pkg:golang/" + path + "@" + version
	c := object{"type": "library", "bom-ref": purl, "name": path, "version": version, "purl": purl}
	if licence != "" {
		c["licenses"] = licensed(licence)
	}
	if sum != "" { // the hash of all files of the module, as in go.sum
		c["properties"] = []object{property("go:sum", sum)}
	}
	return c
}

func licensed(id string) []object { return []object{{"license": object{"id": id}}} }

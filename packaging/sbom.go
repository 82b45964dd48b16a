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

// Document is a CycloneDX 1.6 file, as far as a Go program needs one. It has no time and no
// random number: the same binary gives the same bytes. cyclonedx-gomod (v1.10.0) is not used
// because its output contains the time of the run and names a replaced module by its folder.
type Document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// ListModules returns the modules of the binary in a file, as the Go linker has written them
// into it, so that the list cannot differ from what was built. The version is that of the release,
// because a build outside of version control has none in the binary. licences says under
// which licence a module is, by its path; the list leaves out what it does not know. An
// error is a file that cannot be read or is not a Go program.
func ListModules(file, version string, licences map[string]string) (Document, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return Document{}, fmt.Errorf("read the modules of %q: %w", file, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return Document{}, err
	}
	sum := sha256.Sum256(content)
	all := []property{{"go:version", info.GoVersion}}
	for _, s := range info.Settings {
		all = append(all, property{"go:build:" + strings.TrimLeft(s.Key, "-"), s.Value})
	}
	slices.SortFunc(all, func(a, b property) int { return strings.Compare(a.Name, b.Name) })
	d := Document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{component{
		Type: "application", Ref: info.Main.Path, Name: Name, Version: version, Licences: licensed(Licence),
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Properties: all,
	}}}
	d.Components = append(d.Components, libraryComponent("stdlib", strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go"), "", "BSD-3-Clause"))
	for _, m := range info.Deps {
		c := libraryComponent(m.Path, m.Version, m.Sum, licences[m.Path])
		if m.Replace != nil { // a folder of this repository has the version of the module that it replaces
			c = libraryComponent(m.Path, m.Version, m.Replace.Sum, licences[m.Path])
			c.Properties = append(c.Properties, property{"go:replace", m.Replace.Path})
		}
		d.Components = append(d.Components, c)
	}
	root := dependency{Ref: info.Main.Path}
	for _, c := range d.Components {
		root.DependsOn = append(root.DependsOn, c.Ref)
	}
	d.Dependencies = []dependency{root}
	return d, nil
}

func libraryComponent(path, version, sum, licence string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl, Licences: licensed(licence)}
	if sum != "" { // of the module's files, not of one file: go.sum has the same
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

func licensed(id string) []licence {
	if id == "" {
		return nil
	}
	var l licence
	l.License.ID = id
	return []licence{l}
}

// JSON returns the document as a file.
func (d Document) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

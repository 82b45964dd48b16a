package packaging

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// npmManifest is the package.json of a package with a program.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Author      string            `json:"author"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	OS          []string          `json:"os"`
	CPU         []string          `json:"cpu"`
	Files       []string          `json:"files"`
	Publish     map[string]any    `json:"publishConfig"`
	// Without this some package managers keep the program in an archive.
	PreferUnplugged bool `json:"preferUnplugged"`
}

// NPMFolder is the name of the folder of a platform's package.
func NPMFolder(p Platform) string { return p.NodeOS + "-" + p.NodeArch }

// WriteNPM makes the npm package of a platform in a folder of its own below out: the program,
// its manifest, a short page and the licences, by name. An error is a file that cannot be
// written.
func WriteNPM(out string, p Platform, version string, program []byte, licences map[string][]byte) error {
	folder := filepath.Join(out, NPMFolder(p))
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
		return err
	}
	m := npmManifest{
		Name: p.NPM(), Version: version, Description: "The program of " + Name + " for " + p.OS + " on " + p.Arch, Licence: Licence, Author: Authors,
		Homepage: Homepage, Repository: map[string]string{"type": "git", "url": "git+" + Repository + ".git"},
		OS: []string{p.NodeOS}, CPU: []string{p.NodeArch}, Files: []string{"bin", "LICENSE", "THIRD-PARTY-LICENCES.txt"},
		Publish: map[string]any{"access": "public", "provenance": true}, PreferUnplugged: true,
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	page := "# " + p.NPM() + "\n\n" + m.Description + ". Install the package `" + Name + "`, which starts it.\n"
	files := map[string][]byte{"package.json": append(text, '\n'), "README.md": []byte(page)}
	for name, text := range licences {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "bin", p.Program()), program, 0o755)
}

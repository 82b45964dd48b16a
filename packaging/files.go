// Package packaging generates the files of packages that share names and texts: the
// configuration of goreleaser, manifests, services, and the page of an image.
//
// Each file in templates has the same path as the generated file in the repository. Template
// actions are written [[ ]], because goreleaser uses {{ }}. A test compares the generated files
// with those in the repository.
//
// The package also makes what goreleaser does not: MCP bundles, npm packages, the list of
// modules (SBOM) and the licence texts. packaging/pack is the command for it.
//
//go:generate go test -run TestFilesAreFresh|TestEveryModuleIsPermissive -update .
package packaging

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed all:templates
var templates embed.FS

var values = map[string]any{
	"Name": Name, "Title": Title, "Licence": Licence, "Tagline": Tagline, "Summary": Summary, "Description": Description,
	"Owner": Owner, "Module": ModulePath, "Authors": Authors, "Email": Email, "Repository": Repository, "Homepage": Homepage, "Issues": Issues,
	"Docs": Docs, "Image": Image, "Registry": Registry, "NPMScope": NPMScope, "Address": Address, "Icons": Icons, "IconSize": "512x512", // of mcpb/icon.png
	"Keywords": keywords, "Tools": Tools(), "Platforms": Platforms(),
	"ArchiveFiles": archiveFiles, "PackageFiles": packageFiles, "ZshFolders": zshFolders,
}

// Files returns the text of every generated file, by its path in the repository, for a version of
// the program. The error is one of a template.
func Files(version string) (map[string]string, error) {
	functions := template.FuncMap{
		"json":    quoted,
		"version": func() string { return version },
		"wrap":    wrapped,
		"label":   func(name string) string { return strings.ReplaceAll(name, "/", ".") }, // of launchd
	}
	files := map[string]string{}
	err := fs.WalkDir(templates, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(name)
		if err != nil {
			return err
		}
		t, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Funcs(functions).Parse(string(text))
		if err != nil {
			return err
		}
		var b strings.Builder
		err = t.Execute(&b, values)
		files[strings.TrimPrefix(name, "templates/")] = b.String()
		return err
	})
	return files, err
}

// quoted returns a string or a list of strings as JSON, which is also valid YAML.
func quoted(value any) (string, error) {
	switch value.(type) {
	case string, []string:
		text, err := json.Marshal(value)
		return strings.ReplaceAll(string(text), `","`, `", "`), err
	}
	return "", fmt.Errorf("json: not a text or a list of texts: %v", value)
}

// wrapped breaks text into lines of up to 76 characters, and puts margin before each of them.
func wrapped(margin, text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
			b.WriteString(margin)
		case width+1+len(word) > 76:
			b.WriteString("\n" + margin)
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// installed is a file of a Linux package: From is its path in the repository, or in the folder that
// stage.sh fills, and To the path where it is installed.
type installed struct{ From, To string }

const stage = "packaging/stage/"

// archiveFiles are the documents at the top of every archive.
var archiveFiles = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}

// packageFiles are the files of every Linux package except the program.
var packageFiles = []installed{
	{stage + "completions/" + Name + ".bash", "/usr/share/bash-completion/completions/" + Name},
	{stage + "completions/" + Name + ".fish", "/usr/share/fish/vendor_completions.d/" + Name + ".fish"},
	{"packaging/systemd/" + Name + ".service", "/usr/lib/systemd/user/" + Name + ".service"},
	{"packaging/systemd/" + Name + ".socket", "/usr/lib/systemd/user/" + Name + ".socket"},
	{"README.md", "/usr/share/doc/" + Name + "/README.md"},
	{"SECURITY.md", "/usr/share/doc/" + Name + "/SECURITY.md"},
	{stage + "THIRD-PARTY-LICENCES.txt", "/usr/share/doc/" + Name + "/THIRD-PARTY-LICENCES.txt"},
	{"skills/" + Name + "/SKILL.md", "/usr/share/" + Name + "/skills/" + Name + "/SKILL.md"},
}

// zshFolder is the folder for zsh completions in a kind of package.
type zshFolder struct{ Packager, Folder string }

// zshFolders lists the folders for zsh completions, because Debian uses a different one.
var zshFolders = []zshFolder{
	{"deb", "/usr/share/zsh/vendor-completions"},
	{"rpm", "/usr/share/zsh/site-functions"},
	{"apk", "/usr/share/zsh/site-functions"},
	{"archlinux", "/usr/share/zsh/site-functions"},
}

// Package packaging fills in the files of packages that repeat the same names and texts:
// the configuration of goreleaser, manifests, services, and the page of an image.
//
// A file below templates has the path of its result below the root of the repository. Its
// actions are written [[ ]], because goreleaser has {{ }} of its own. A test compares the
// results with the names and texts in facts.go.
//
// It also makes what goreleaser does not: MCP bundles, packages for npm, the list of modules
// (SBOM) and the texts of licences. packaging/pack is the command for it.
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

// Files returns the text of every file, by its path below the root of the repository, for
// a version of the program. An error is a mistake in a template.
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

// quoted writes a text or a list of texts as JSON, which is also YAML.
func quoted(value any) (string, error) {
	switch value.(type) {
	case string, []string:
		text, err := json.Marshal(value)
		return strings.ReplaceAll(string(text), `","`, `", "`), err
	}
	return "", fmt.Errorf("json: not a text or a list of texts: %v", value)
}

// wrapped breaks a text into lines of at most 76 characters, each after a margin.
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

// installed is a file of the repository, or of the folder that stage.sh fills, and where
// a package of a Linux system puts it.
type installed struct{ From, To string }

const stage = "packaging/stage/"

// archiveFiles are the documents at the top of every archive.
var archiveFiles = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}

// packageFiles are the files of every Linux package but the program.
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

// zshFolder is where a kind of package keeps the completions of zsh.
type zshFolder struct{ Packager, Folder string }

// zshFolders differ: Debian has a folder of its own.
var zshFolders = []zshFolder{
	{"deb", "/usr/share/zsh/vendor-completions"},
	{"rpm", "/usr/share/zsh/site-functions"},
	{"apk", "/usr/share/zsh/site-functions"},
	{"archlinux", "/usr/share/zsh/site-functions"},
}

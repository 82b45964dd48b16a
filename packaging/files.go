// Package packaging fills in the files of packages that repeat the same names and texts:
// the configuration of goreleaser, manifests, services, and the page of an image.
//
// A file below templates has the path of its result below the root of the repository. Its
// actions are written [[ ]], because goreleaser has {{ }} of its own. A test compares the
// results with the table of package facts.
//
//go:generate go test -run TestFilesAreFresh -update .
package packaging

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"vaultwicket/packaging/facts"
)

//go:embed all:templates
var templates embed.FS

// values is what a template can name.
var values = map[string]any{
	"Name": facts.Name, "Title": facts.Title, "Licence": facts.Licence, "Tagline": facts.Tagline, "Summary": facts.Summary, "Description": facts.Description,
	"Owner": facts.Owner, "Authors": facts.Authors, "Email": facts.Email, "Repository": facts.Repository, "Homepage": facts.Homepage, "Issues": facts.Issues,
	"Docs": facts.Docs, "Image": facts.Image, "Registry": facts.Registry, "NPMScope": facts.NPMScope, "Address": facts.Address, "Icons": facts.Icons, "IconSize": "512x512", // of mcpb/icon.png
	"Keywords": facts.Keywords(), "Tools": facts.Tools(), "Platforms": facts.Platforms(),
	"ArchiveFiles": archiveFiles, "PackageFiles": packageFiles, "ZshFolders": zshFolders,
}

// Files returns the text of every file, by its path below the root of the repository, for
// a version of the program. An error is a mistake in a template.
func Files(version string) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(templates, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fill(name, version)
		files[strings.TrimPrefix(name, "templates/")] = text
		return err
	})
	return files, err
}

func fill(name, version string) (string, error) {
	text, err := templates.ReadFile(name)
	if err != nil {
		return "", err
	}
	functions := template.FuncMap{
		"json":    quoted,
		"version": func() string { return version },
		"wrap":    wrapped,
		"label":   label,
	}
	t, err := template.New(name).Delims("[[", "]]").Option("missingkey=error").Funcs(functions).Parse(string(text))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, values)
	return b.String(), err
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

package packaging

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Module is a module of the program and the folder with its files.
type Module struct{ Path, Version, Folder string }

// licenceKinds are the permissive licences that modules of the program may have, each with phrases by which it is
// recognized. The order matters: BSD-3-Clause contains the text of BSD-2-Clause.
var licenceKinds = []struct {
	id    string
	words []string
}{
	{
		"Apache-2.0",
		[]string{
			"Apache License",
			"Version 2.0, January 2004",
			"TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
		},
	},
	{
		"MIT",
		[]string{
			"Permission is hereby granted, free of charge",
			"The above copyright notice and this permission notice",
		},
	},
	{
		"ISC",
		[]string{
			"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted",
		},
	},
	{
		"BSD-3-Clause",
		[]string{
			"Redistribution and use in source and binary forms",
			"used to endorse or promote products derived from this software without",
		},
	},
	{
		"BSD-2-Clause",
		[]string{"Redistribution and use in source and binary forms", "Redistributions in binary form must reproduce"},
	},
}

// copyleft has phrases of licences that are not permissive. A text with one of them only counts as
// permissive if it offers a permissive licence as an alternative.
var copyleft = []string{
	"GNU GENERAL PUBLIC LICENSE",
	"GNU LESSER GENERAL PUBLIC LICENSE",
	"GNU AFFERO",
	"GPL v2",
	"Mozilla Public License",
	"Eclipse Public License",
	"Server Side Public License",
	"Business Source License",
	"Commons Clause",
}

// licenceChoice is the phrase with which a text offers a permissive licence as an alternative.
const licenceChoice = "SPDX-License-Identifier: BSD-3-Clause OR "

// IdentifyLicence returns the SPDX name of the licence with this text. It returns an error if the
// text is not one of the permissive licences in licenceKinds.
func IdentifyLicence(text string) (string, error) {
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(phrase string) bool { return strings.Contains(words, strings.ToLower(phrase)) }
	for _, other := range copyleft {
		if has(other) && !has(licenceChoice) {
			return "", fmt.Errorf("the text names %q", other)
		}
	}
	for _, k := range licenceKinds {
		if !slices.ContainsFunc(k.words, func(w string) bool { return !has(w) }) {
			return k.id, nil
		}
	}
	return "", errors.New("no permissive licence is known by this text")
}

// exceptions are modules with another licence that are used nevertheless.
var exceptions = map[string]struct{ id, words, reason string }{
	"github.com/hashicorp/go-version": {
		"MPL-2.0",
		"Mozilla Public License, version 2.0",
		"it is used unchanged, and its terms concern its own files; packages name the module and its version",
	},
}

// licenceNames are the prefixes of the names of licence files, in lower case.
var licenceNames = []string{"license", "licence", "copying", "notice"}

// LicenceOf returns the SPDX name of the licence of a module, and all its licence texts. It returns
// an error, which names the module, if there is no text, or one that is not permissive.
func LicenceOf(m Module) (id, text string, err error) {
	entries, err := os.ReadDir(m.Folder)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", m.Path, err)
	}
	var texts []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		hasLicenceName := slices.ContainsFunc(licenceNames, func(n string) bool { return strings.HasPrefix(name, n) })
		isText := e.Type().IsRegular() && !strings.HasSuffix(name, ".go")
		if !hasLicenceName || !isText {
			continue
		}
		content, err := os.ReadFile(filepath.Join(m.Folder, e.Name()))
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", m.Path, err)
		}
		texts = append(texts, string(content))
		if strings.HasPrefix(name, "notice") {
			continue
		}
		found, err := IdentifyLicence(string(content))
		if e, ok := exceptions[m.Path]; ok && strings.Contains(string(content), e.words) {
			found = e.id
			err = nil
		}
		if err != nil {
			return "", "", fmt.Errorf("%s: %s: %w", m.Path, e.Name(), err)
		}
		if id == "" || found < id { // of several licences, the first one in the alphabet counts
			id = found
		}
	}
	if id == "" {
		return "", "", fmt.Errorf("%s: there is no licence in %s", m.Path, m.Folder)
	}
	return id, strings.Join(texts, "\n"), nil
}

//go:embed licences.tsv
var licenceList string

// KnownLicences returns the SPDX names of the licences of all modules of the program, by module path,
// from a list that a test compares with the modules themselves.
func KnownLicences() map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(licenceList) {
		if path, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			known[path] = id
		}
	}
	return known
}

// LicenceTexts returns one text with the licences of all modules of the program, for packages.
// Modules that the program does not contain are left out. It returns an error if a module of the
// program is missing in modules, or has a licence that is not allowed.
func LicenceTexts(modules []Module) (string, error) {
	var b strings.Builder
	b.WriteString("The program contains these modules.\n")
	missing := KnownLicences()
	for _, m := range modules {
		if _, ok := missing[m.Path]; !ok {
			continue
		}
		delete(missing, m.Path)
		id, text, err := LicenceOf(m)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(
			&b,
			"\n%s\n%s %s (%s)\n%s\n\n%s\n",
			licenceRule,
			m.Path,
			m.Version,
			id,
			licenceRule,
			strings.Trim(text, "\n"),
		)
	}
	for path := range missing {
		return "", fmt.Errorf("the module %s is missing", path)
	}
	fmt.Fprintf(
		&b,
		"\n%s\npatterns of secrets: github.com/gitleaks/gitleaks v8.30.1 (MIT)\n%s\n\n%s\n",
		licenceRule,
		licenceRule,
		strings.Trim(patternLicence, "\n"),
	)
	fmt.Fprintf(
		&b,
		"\n%s\nwords of about the same meaning: WordNet 3.1, Princeton University (WordNet licence)\n%s\n\n%s\n",
		licenceRule,
		licenceRule,
		strings.Trim(wordNetLicence, "\n"),
	)
	return b.String(), nil
}

// patternLicence is the licence of the patterns in internal/guard, which are from gitleaks.
//
//go:embed gitleaks-licence.txt
var patternLicence string

// wordNetLicence is the licence of the synonyms in internal/vault/ranking.
//
//go:embed wordnet-licence.txt
var wordNetLicence string

const licenceRule = "------------------------------------------------------------------------"

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/packaging"
)

func writeSBOM(o options, _ io.Reader, _ io.Writer) error {
	text, err := packaging.SBOM(o["binary"], o["version"], packaging.KnownLicences())
	if err != nil {
		return err
	}
	return os.WriteFile(o["out"], text, 0o644)
}

// program returns the binary for a platform from the folder dist. The names of its folders end
// with the level of the processor, which goreleaser adds.
func program(dist string, p packaging.Platform) ([]byte, error) {
	found, err := filepath.Glob(filepath.Join(dist, packaging.Name+"_"+p.OS+"_"+p.Arch+"*", p.Program()))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d programs for %s on %s in %s, want one", len(found), p.OS, p.Arch, dist)
	}
	return os.ReadFile(found[0])
}

func licenceTexts(stage string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for name, from := range map[string]string{licenceFile: licenceFile, modulesFile: filepath.Join(stage, modulesFile)} {
		content, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		texts[name] = content
	}
	return texts, nil
}

const (
	licenceFile = "LICENSE"
	modulesFile = "THIRD-PARTY-LICENCES.txt"
	iconFile    = "icon.png"
)

// writeBundle makes the MCP bundle. A bundle cannot choose by processor, so it contains one file
// for all Macs, and for Windows and Linux the program for the processor of most machines.
func writeBundle(o options, _ io.Reader, _ io.Writer) error {
	files := map[string]packaging.BundleFile{}
	for name, p := range map[string]packaging.Platform{
		"server/" + packaging.Name + ".exe":   {OS: "windows", Arch: "amd64"},
		"server/" + packaging.Name + "-linux": {OS: "linux", Arch: "amd64"},
	} {
		content, err := program(o["dist"], p)
		if err != nil {
			return err
		}
		files[name] = packaging.BundleFile{Content: content, Program: true}
	}
	universal, err := universalProgram(o["dist"])
	if err != nil {
		return err
	}
	files["server/"+packaging.Name] = packaging.BundleFile{Content: universal, Program: true}
	made, err := packaging.Files(o["version"])
	if err != nil {
		return err
	}
	files["manifest.json"] = packaging.BundleFile{Content: []byte(made["packaging/mcpb/manifest.json"])}
	icon, err := os.ReadFile("packaging/mcpb/" + iconFile)
	if err != nil {
		return err
	}
	files[iconFile] = packaging.BundleFile{Content: icon}
	texts, err := licenceTexts(o["stage"])
	if err != nil {
		return err
	}
	for name, content := range texts {
		files[name] = packaging.BundleFile{Content: content}
	}
	w, err := os.Create(o["out"])
	if err != nil {
		return err
	}
	return errors.Join(packaging.WriteBundle(w, files), w.Close())
}

// universalProgram returns the program for all Macs.
func universalProgram(dist string) ([]byte, error) {
	var programs [][]byte
	for _, arch := range []string{"amd64", "arm64"} {
		content, err := program(dist, packaging.Platform{OS: "darwin", Arch: arch})
		if err != nil {
			return nil, err
		}
		programs = append(programs, content)
	}
	return packaging.Universal(programs...)
}

// writeNPM writes the npm packages: one per platform, and the one that users install.
func writeNPM(o options, _ io.Reader, _ io.Writer) error {
	texts, err := licenceTexts(o["stage"])
	if err != nil {
		return err
	}
	for _, p := range packaging.Platforms() {
		if err := writePlatformPackage(o, p, texts); err != nil {
			return err
		}
	}
	return writeMainPackage(o, texts)
}

// writePlatformPackage writes the npm package of a platform: the program, its manifest, a short page and the licences.
func writePlatformPackage(o options, p packaging.Platform, texts map[string][]byte) error {
	content, err := program(o["dist"], p)
	if err != nil {
		return err
	}
	about := "The program of " + packaging.Name + " for " + p.OS + " on " + p.Arch
	manifest, err := json.MarshalIndent(map[string]any{
		"name":            p.NPM(),
		"version":         o["version"],
		"description":     about,
		"license":         packaging.Licence,
		"author":          packaging.Authors,
		"homepage":        packaging.Homepage,
		"repository":      map[string]string{"type": "git", "url": "git+" + packaging.Repository + ".git"},
		"os":              []string{p.NodeOS},
		"cpu":             []string{p.NodeArch},
		"files":           []string{"bin", licenceFile, modulesFile},
		"publishConfig":   map[string]any{"access": "public", "provenance": true},
		"preferUnplugged": true, // otherwise some package managers leave the program in an archive
	}, "", "  ")
	if err != nil {
		return err
	}
	folder := filepath.Join(o["out"], p.NodeOS+"-"+p.NodeArch)
	page := "# " + p.NPM() + "\n\n" + about + ". Install the package `" + packaging.Name + "`, which starts it.\n"
	return errors.Join(
		os.MkdirAll(filepath.Join(folder, "bin"), 0o755),
		os.WriteFile(filepath.Join(folder, "package.json"), append(manifest, '\n'), 0o644),
		os.WriteFile(filepath.Join(folder, "README.md"), []byte(page), 0o644),
		os.WriteFile(filepath.Join(folder, licenceFile), texts[licenceFile], 0o644),
		os.WriteFile(filepath.Join(folder, modulesFile), texts[modulesFile], 0o644),
		os.WriteFile(filepath.Join(folder, "bin", p.Program()), content, 0o755),
	)
}

// writeMainPackage writes the npm package that users install. It contains the launcher.
func writeMainPackage(o options, texts map[string][]byte) error {
	folder := filepath.Join(o["out"], packaging.Name)
	from := "packaging/npm/" + packaging.Name + "/"
	launcher, err := os.ReadFile(from + "launcher.js")
	if err != nil {
		return err
	}
	made, err := packaging.Files(o["version"])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "package.json"), []byte(made[from+"package.json"]), 0o644),
		os.WriteFile(filepath.Join(folder, "README.md"), []byte(made[from+"README.md"]), 0o644),
		os.WriteFile(filepath.Join(folder, "LICENSE"), texts[licenceFile], 0o644),
		os.WriteFile(filepath.Join(folder, "launcher.js"), launcher, 0o755),
	)
}

// writeServer writes the entry for the MCP registry. It adds the bundle, whose hash is only known now.
func writeServer(o options, _ io.Reader, _ io.Writer) error {
	made, err := packaging.Files(o["version"])
	if err != nil {
		return err
	}
	var server map[string]any
	if err := json.Unmarshal([]byte(made["packaging/server.json"]), &server); err != nil {
		return err
	}
	content, err := os.ReadFile(o["mcpb"])
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	packages, _ := server["packages"].([]any)
	server["packages"] = append(packages, map[string]any{
		"registryType": "mcpb",
		"identifier":   packaging.Repository + "/releases/download/v" + o["version"] + "/" + filepath.Base(o["mcpb"]),
		"fileSha256":   hex.EncodeToString(sum[:]),
		"transport":    map[string]any{"type": "stdio"},
	})
	text, err := json.MarshalIndent(server, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o["out"], append(text, '\n'), 0o644)
}

func writeLicences(_ options, in io.Reader, out io.Writer) error {
	list, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var modules []packaging.Module
	for line := range strings.Lines(string(list)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 3 {
			modules = append(modules, packaging.Module{Path: f[0], Version: f[1], Folder: f[2]})
		}
	}
	text, err := packaging.LicenceTexts(modules)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// writeChangelog writes the minimal changelog that Debian requires; it refers to the release for details.
func writeChangelog(o options, _ io.Reader, out io.Writer) error {
	seconds, err := strconv.ParseInt(o["seconds"], 10, 64)
	if err != nil {
		return err
	}
	at := time.Unix(seconds, 0).UTC().Format(time.RFC1123Z)
	_, err = fmt.Fprintf(out, "%s (%s) unstable; urgency=medium\n\n  * See %s/releases/tag/v%s\n\n -- %s <%s>  %s\n",
		packaging.Name, o["version"], packaging.Repository, o["version"], packaging.Authors, packaging.Email, at)
	return err
}

package vaultgen

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// digest is what a folder contains: names, bytes, times of change.
func digest(t *testing.T, folder string) (sum string, files int, bytes int64) {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(folder, name)
		fmt.Fprintf(h, "%q\n", filepath.ToSlash(rel))
		if entry.IsDir() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d %q\n", info.ModTime().Unix(), text)
		files++
		bytes += int64(len(text))
		return nil
	})
	require.NoError(t, err)
	return fmt.Sprintf("%x", h.Sum(nil)), files, bytes
}

func made(t *testing.T, notes int, seed uint64) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "vault")
	require.NoError(t, Write(folder, notes, seed))
	return folder
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	first, files, bytes := digest(t, made(t, 300, 7))
	again, _, _ := digest(t, made(t, 300, 7))
	assert.That(t, again == first, "the same seed gave another vault")
	other, _, _ := digest(t, made(t, 300, 8))
	assert.That(t, other != first, "another seed gave the same vault")
	average := bytes / int64(files)
	assert.That(t, average >= 2500 && average <= 6500, "%d files of %d bytes on the average, want about 4000", files, average)
}

// golden is the vault of 40 notes and seed 1. It changes only when the
// generator is meant to write other vaults.
const golden = "d627d51ca3dabe4020c83234b419e97516e794953db1d7dd84df2d090d636a06"

func TestTheBytesAreTheSameEverywhere(t *testing.T) {
	sum, _, _ := digest(t, made(t, 40, 1))
	assert.That(t, sum == golden, "the vault has the sum %s, want %s", sum, golden)
}

func TestAVaultHoldsSomethingOfEverything(t *testing.T) {
	folder := made(t, 300, 1)
	var all strings.Builder
	var forms [2]int
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !norm.NFC.IsNormalString(name) {
			forms[1]++
		} else if !norm.NFD.IsNormalString(name) {
			forms[0]++
		}
		text, err := os.ReadFile(name)
		all.Write(text)
		return err
	})
	require.NoError(t, err)
	if forms[0] == 0 || forms[1] == 0 {
		t.Errorf("%d names in NFC and %d in NFD", forms[0], forms[1])
	}
	for _, piece := range []string{
		"![[", "](<", "%20", "[[#", "#^b1", `\|`, "\r\n", "\n---\n", "\n```", "\n%%\n", "<!--", "[!note]", "\n===", "\t- [", "tags: [", "\"[[", "日本", "🎉",
	} {
		assert.That(t, strings.Contains(all.String(), piece), "no %q anywhere", piece)
	}
}

func TestAFolderThatHoldsSomethingIsRefused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "mine.md"), nil, 0o644))
	assert.That(t, Write(folder, 10, 1) != nil && Write(filepath.Join(folder, "none"), 0, 1) != nil, "wrote a vault over a file, or one of no notes")
	held, _ := os.ReadDir(folder)
	assert.That(t, len(held) == 1, "the folder contains %d files", len(held))
}

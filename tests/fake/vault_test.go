package fake

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func made(t *testing.T, notes int) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "vault")
	require.NoError(t, WriteVault(folder, notes, 1))
	return folder
}

// golden is the vault of 40 notes and seed 1. It changes only when the
// generator is meant to write other vaults.
const golden = "d627d51ca3dabe4020c83234b419e97516e794953db1d7dd84df2d090d636a06"

func TestTheBytesAreTheSameEverywhere(t *testing.T) {
	sum, folder := sha256.New(), made(t, 40)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(folder, name)
		fmt.Fprintf(sum, "%q\n", filepath.ToSlash(rel))
		if entry.IsDir() {
			return nil
		}
		info, err := entry.Info()
		require.NoError(t, err)
		text, err := os.ReadFile(name)
		fmt.Fprintf(sum, "%d %q\n", info.ModTime().Unix(), text)
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%x", sum.Sum(nil)), golden, "the vault has the sum")
}

func TestAVaultHoldsSomethingOfEverything(t *testing.T) {
	folder := made(t, 300)
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

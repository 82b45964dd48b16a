package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func CodeOf(r gateway.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

const ModernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func ToolCall(id int, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":%s}}`, id, arguments)
}

// Difference shows the lines that only one side has, a few of them.
func Difference(got, want string) string {
	if got == want {
		return ""
	}
	var out []string
	has := func(text, line string) bool { return slices.Contains(strings.Split(text, "\n"), line) }
	for line := range strings.Lines(got) {
		if line = strings.TrimSuffix(line, "\n"); !has(want, line) {
			out = append(out, "only the program: "+line)
		}
	}
	for line := range strings.Lines(want) {
		if line = strings.TrimSuffix(line, "\n"); !has(got, line) {
			out = append(out, "only the reference: "+line)
		}
	}
	if len(out) == 0 {
		return "the same lines in another order, or another number of them"
	}
	return strings.Join(out[:min(len(out), 12)], "\n")
}

func Repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func JSON(t *testing.T, v any) string {
	t.Helper()
	text := require.Value(json.Marshal(v))(t)
	return string(text)
}

// HashOfText is the hash by which the gateway knows a note.
func HashOfText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// TreeOf is everything in a folder, hidden files and times included.
func TreeOf(t *testing.T, folder string) [sha256.Size]byte {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode(), info.ModTime().UnixNano())
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%d ", len(text))
		sum.Write(text)
		return err
	})
	require.NoError(t, err)
	return [sha256.Size]byte(sum.Sum(nil))
}

func WriteFile(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, data, 0o644))
}

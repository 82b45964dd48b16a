package mcp

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An image is a content of its own in the answer of the tool, and its bytes are in no
// other; a dry run and another file have none.
func TestAnImageIsImageContent(t *testing.T) {
	t.Parallel()
	vault := filepath.Join(t.TempDir(), "Vault")
	picture := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x03\x00\x00\x00\x02\x08\x06\x00\x00\x00\x9d\x74\x66\x1a" + strings.Repeat("\x00\xff", 50_000)
	encoded := base64.StdEncoding.EncodeToString([]byte(picture))
	for name, text := range map[string]string{"pic.png": picture, "note.txt": "a text", "pic.bin": "\x00", "Private/secret.png": picture} {
		harness.WriteFile(t, filepath.Join(vault, filepath.FromSlash(name)), []byte(text))
	}
	harness.WriteFile(t, filepath.Join(vault, ".vaultwicketignore"), []byte("Private/\n"))
	s := harness.StartSession(t, t.TempDir(), append(harness.EverythingEnabled(vault), "--max-output=1KiB")...)
	for _, test := range []struct{ tool, arguments, stdout, image string }{
		{"obsidianCli", `{"command":"attachment:read","params":{"path":"pic.png"}}`, "image/png, 3x2, 100033 bytes\n", encoded},
		{"obsidianRead", `{"command":"attachment:read","params":{"file":"pic.png"}}`, "image/png, 3x2, 100033 bytes\n", encoded},
		{"obsidianCli", `{"command":"attachment:read","params":{"path":"note.txt"}}`, "a text\n", ""},
		{"obsidianCli", `{"command":"attachment:read","params":{"path":"pic.bin"}}`,
			"application/octet-stream, 1 byte: not a text, and not an image that can be shown\n", ""},
		{"obsidianCli", `{"command":"attachment:read","params":{"path":"Private/secret.png"}}`, "Error: File \"Private/secret.png\" not found.\n", ""},
		{"obsidianCli", `{"command":"attachment:read","params":{"path":"pic.png"},"dryRun":true}`, "", ""},
	} {
		answer := require.Value(s.Exchange("tools/call", map[string]any{"name": test.tool, "arguments": json.RawMessage(test.arguments)}))(t)
		var got struct {
			Result struct {
				StructuredContent struct{ Stdout, Path string }
				Content           []struct{ Type, Data, MimeType string }
			}
		}
		require.NoError(t, json.Unmarshal(answer, &got))
		content := got.Result.Content
		assert.Equal(t, got.Result.StructuredContent.Stdout, test.stdout, "%s: stdout", test.arguments)
		want := 0
		if test.image != "" {
			want = 1
		}
		assert.Equal(t, strings.Count(string(answer), encoded), want, "%s: the bytes are there, times", test.arguments)
		if test.image == "" && len(content) != 1 ||
			test.image != "" && (len(content) != 2 || content[1].Type != "image" ||
				content[1].MimeType != "image/png" || content[1].Data != encoded) {
			t.Errorf("%s: %d contents", test.arguments, len(content))
		}
	}
}

// The images of a batch follow its results in their order, up to a size for all of them.
func TestABatchShowsItsImages(t *testing.T) {
	t.Parallel()
	vault := filepath.Join(t.TempDir(), "Vault")
	header := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x03\x00\x00\x00\x02\x08\x06\x00\x00\x00\x9d\x74\x66\x1a"
	sizes := map[string]int{"a.png": 1000, "b.png": 1_900_000, "c.png": 1_900_000, "d.png": 2000}
	for name, size := range sizes {
		harness.WriteFile(t, filepath.Join(vault, name), []byte(header+strings.Repeat(name[:1], size)))
	}
	s := harness.StartSession(t, t.TempDir(), harness.EverythingEnabled(vault)...)
	var operations []map[string]any
	for _, name := range []string{"a.png", "b.png", "c.png", "d.png"} {
		// A change between them has them read one after the other.
		operations = append(operations,
			map[string]any{"clientId": name, "command": "attachment:read", "params": map[string]any{"path": name}},
			map[string]any{"clientId": "after " + name, "command": "create", "params": map[string]any{"path": name + ".md", "content": "x"}})
	}
	answer := require.Value(s.Exchange("tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": operations}}))(t)
	var got struct {
		Result struct {
			StructuredContent struct {
				OK      bool
				Results []struct {
					Result struct {
						Stdout  string
						Notices []string
					}
				}
			}
			Content []struct{ Type, Data string }
		}
	}
	require.NoError(t, json.Unmarshal(answer, &got))
	results, content := got.Result.StructuredContent.Results, got.Result.Content
	require.That(t, got.Result.StructuredContent.OK,
		"%d results and %d contents: %.500s", len(results), len(content), answer)
	require.Equal(t, len(results), 8, "%d results and %d contents: %.500s", len(results), len(content), answer)
	require.Equal(t, len(content), 4, "%d results and %d contents: %.500s", len(results), len(content), answer)
	for i, name := range []string{"a.png", "b.png", "d.png"} {
		if want := base64.StdEncoding.EncodeToString([]byte(header + strings.Repeat(name[:1], sizes[name]))); content[i+
			1].Type != "image" || content[i+1].Data != want {
			t.Errorf("content %d is %s of %d bytes", i+1, content[i+1].Type, len(content[i+1].Data))
		}
	}
	left := results[4].Result
	require.Equal(t, len(left.Notices), 1, "the image that is too much: %+v", left)
	assert.Contains(t, left.Notices[0], "left out", "the image that is too much: %+v", left)
	assert.HasPrefix(t, left.Stdout, "image/png", "the image that is too much: %+v", left)
}

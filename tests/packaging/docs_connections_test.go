package packaging

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// connecting are the files of the program that open connections, each with the row of the FAQ that says so.
var connecting = map[string]string{
	"cmd/internal/bootstrap/remote.go":              "`run --url`",
	"gateway/consent/notify.go":                     "`[notify] webhook`",
	"gateway/mcpserver/transport/listen.go":         "", // asks the socket of this machine whether another server listens
	"gateway/oauth/keys.go":                         "`oauth-issuer`",
	"gateway/oauth/clients.go":                      "`sign-in`",
	"gateway/oauth/server.go":                       "`sign-in`",
	"gateway/oauth/token.go":                        "`oauth-issuer`",
	"gateway/audit/export_target.go":                "`export`",
	"gateway/telemetry/export.go":                   "`OTEL_EXPORTER_OTLP_ENDPOINT`",
	"internal/httpguard/hosts.go":                   "", // makes the clients of the others
	"internal/vault/ranking/embeddings.go":          "`embeddings-url`",
	"internal/vault/ranking/embeddings_endpoint.go": "`embeddings-url`",
}

// opens finds what makes a client of HTTP or dials.
var opens = regexp.MustCompile(`http\.Client\{|httpguard\.Client\(|http\.DefaultClient|http\.(?:Get|Post|PostForm|Head)\(|net\.Dialer\{|tls\.Dialer\{|net\.Dial(?:Timeout|TCP|UDP|Unix)?\(|http\.NewRequestWithContext\(`)

// The page on which a reader decides about trust names each place of the code that opens a connection.
func TestTheFAQNamesEachPlaceThatConnects(t *testing.T) {
	root := filepath.Join("..", "..")
	page := string(require.Value(os.ReadFile(filepath.Join(root, "docs", "faq.md")))(t))
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		isHidden := len(entry.Name()) > 2 && strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() && (name == "tests" || name == "packaging" || isHidden) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && opens.Match(text) {
			found[name] = true
		}
		return err
	}))
	for name := range found {
		_, known := connecting[name]
		assert.That(t, known, "%s opens connections: name the setting in the FAQ, and here", name)
	}
	for name, row := range connecting {
		assert.That(t, found[name], "%s opens no connection", name)
		assert.Contains(t, page, "| "+row, "the FAQ")
	}
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// forAgents are the folders whose texts agents get: messages, hints, notices, questions and answers. The user gets the same
// at a terminal, in the words of terminal.ForOwner.
var forAgents = []string{"allowlist", "exec", "gateway", "internal", "policy"}

// notForAgents are folders and files below them whose texts agents do not get, each with the reason.
var notForAgents = map[string]string{
	"gateway/ui":                                "the page of the user",
	"gateway/consent/text.go":                   "the question to the user",
	"gateway/oauth/clients.go":                  "the page on which the user signs in",
	"gateway/oauth/passkeys.go":                 "the page on which the user signs in",
	"gateway/oauth/server.go":                   "the page on which the user signs in",
	"gateway/oauth/store.go":                    "the page on which the user signs in",
	"gateway/mcpserver/transport/access.go":     "said when the server starts, to whoever starts it",
	"gateway/mcpserver/transport/http_serve.go": "said when the server starts, to whoever starts it",
	"gateway/mcpserver/transport/listen.go":     "said when the server starts, to whoever starts it",
	"gateway/audit/export.go":                   "said when the server starts, to whoever starts it",
	"gateway/audit/export_target.go":            "said when the server starts, to whoever starts it",
	"gateway/telemetry/export.go":               "said when the server starts, to whoever starts it",
	"gateway/telemetry/metrics.go":              "said when the server starts, to whoever starts it",
	"gateway/telemetry/tracing.go":              "said when the server starts, to whoever starts it",
	"gateway/consent/notify.go":                 "said when the server starts, to whoever starts it",
	"internal/guard/signs.go":                   "what texts say that try to steer an agent",
	"internal/ownerfiles":                       "of the user's own files, which agents are not told about",
	"internal/vault/ranking/language.go":        "words of a language",
	"gateway/mcpserver/prompts_table.go":        "texts of prompts, which the user sends",
}

// said is a text in the source: a literal, or a sum of literals and values, of which each is "…".
type said struct{ where, text string }

// textsForAgents returns all texts in the source that agents can get.
func textsForAgents(t *testing.T) (all []said) {
	t.Helper()
	root := filepath.Join("..", "..")
	set := token.NewFileSet()
	for _, folder := range forAgents {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			if _, isLeftOut := notForAgents[name]; isLeftOut && entry.IsDir() {
				return filepath.SkipDir
			} else if isLeftOut || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				text, isText := textOf(n)
				if isText {
					all = append(all, said{strings.TrimPrefix(set.Position(n.Pos()).String(), root+string(filepath.Separator)), text})
				}
				_, isImport := n.(*ast.ImportSpec)
				return !isText && !isImport
			})
			return nil
		}))
	}
	return all
}

// textOf returns the text of a literal or of a sum with one.
func textOf(n ast.Node) (text string, isText bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(n.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return "", false
		}
		left, isLeft := textOf(n.X)
		right, isRight := textOf(n.Y)
		if !isLeft {
			left = "…"
		}
		if !isRight {
			right = "…"
		}
		return left + right, isLeft || isRight
	}
	return "", false
}

var (
	ofUser = regexp.MustCompile(`(?i)\b(the user|the owner|user approval)\b`)
	// unlikeYou is what no sentence says to its reader.
	unlikeYou = regexp.MustCompile(`(?i)\byou (is|was|has|takes|does|wants|decides)\b|\b(they|them|their) \b.*\byou\b|\byou\b.*\b(they want|them of|their own)\b`)
	toUser    = regexp.MustCompile(`\b(you can|only you can|you have to|your approval)\b|(^| )--[a-z]|vaultwicket approve\b`)
)

// Whoever reads a terminal is the user, and is told "you": every text that speaks of the user to an agent can be told so.
func TestEveryTextForAgentsCanBeToldToTheUser(t *testing.T) {
	found := 0
	for _, s := range textsForAgents(t) {
		bare := strings.Join(unquoted(s.text), " ")
		if !ofUser.MatchString(bare) || !strings.Contains(s.text, " ") {
			continue
		}
		found++
		told := strings.Join(unquoted(terminal.ForOwner(s.text)), " ")
		assert.That(t, !ofUser.MatchString(told), "%s: the user is told of the user: %s", s.where, told)
		assert.That(t, !unlikeYou.MatchString(told), "%s: the user is told in the words about another: %s", s.where, told)
	}
	assert.That(t, found > 60, "%d texts speak of the user", found)
}

// unquoted returns what of a text is not in quotes.
func unquoted(text string) (parts []string) {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// An agent is not the user: no text for agents tells the reader what only the user can do, or names flags, which an agent
// with a shell could try.
func TestNoTextForAgentsSpeaksToTheUser(t *testing.T) {
	for _, s := range textsForAgents(t) {
		isSentence := strings.Contains(strings.TrimSpace(s.text), " ")
		if isSentence {
			assert.That(t, !toUser.MatchString(s.text), "%s: an agent is told: %s", s.where, s.text)
		}
	}
	for name := range notForAgents {
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name)))
		assert.NoError(t, err)
	}
}

func TestQuotedTextIsToldAsItIs(t *testing.T) {
	for given, want := range map[string]string{
		`file "the user is here" not found`:                              `file "the user is here" not found`,
		`command "delete" requires user approval, and the user declined`: `command "delete" requires your approval, and you declined`,
		"the user can allow the user's notes":                            "you can allow your notes",
		"":                                                               "",
	} {
		assert.Equal(t, terminal.ForOwner(given), want)
	}
}

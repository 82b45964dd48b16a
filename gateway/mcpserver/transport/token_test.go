package transport

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTheFirstStartMakesAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "token")
	token, err := Token(path)
	require.NoError(t, err)
	require.Equal(t, Weakness(token), "")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := Token(path)
	assert.Equal(t, again, token, "the second start")
	assert.NoError(t, err, "the second start")
	left, _ := os.ReadDir(filepath.Dir(path))
	assert.Equal(t, len(left), 1, "left behind: %v", left)
}

// A folder that others can look into is no place for a token.
func TestATokenIsNotMadeInAFolderOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(dir, 0o755))
	_, err := Token(filepath.Join(dir, "token"))
	require.That(t, err != nil, "the error is %v", err)
	assert.Contains(t, err.Error(), "its folder is accessible to other users (mode 0755)", "the error is %v", err)
}

func TestServersThatStartTogetherAgreeOnAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "token")
	var all sync.WaitGroup
	tokens := make(chan string, 20)
	for range 20 {
		all.Go(func() {
			token, err := Token(path)
			assert.That(t, err == nil, "%v", err)
			tokens <- token
		})
	}
	all.Wait()
	close(tokens)
	different := map[string]bool{}
	for token := range tokens {
		different[token] = true
	}
	assert.That(t, len(different) == 1, "%d tokens", len(different))
}

func TestUnsafeTokenFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are a matter of Unix")
	}
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	good := write("good", goodToken+"\n", 0o600)
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(good, link))
	for _, test := range []struct{ name, path, want string }{
		{"a good one", good, ""},
		{"without newline", write("bare", goodToken, 0o600), ""},
		{"with the newline of Windows", write("crlf", goodToken+"\r\n", 0o400), ""},
		{"in hexadecimal digits", write("hex", strings.Repeat("0123456789abcdef", 4), 0o600), ""},
		{"readable by the group", write("group", goodToken, 0o640), "is accessible to other users (mode 0640)"},
		{"a link", link, "is not a regular file"},
		{"empty", write("empty", "", 0o600), "is missing"},
		{"a short one", write("short", goodToken[:minToken-1], 0o600), "is shorter than 43"},
		{"few digits", write("fewhex", strings.Repeat("0123456789abcdef", 3), 0o600), "is shorter than 64 hex"},
		{"a long one", write("long", strings.Repeat(goodToken, 100), 0o600), "is longer"},
		{"two lines", write("two", goodToken+"\n"+goodToken+"\n", 0o600), "a header cannot carry"},
		{"spaces", write("spaces", goodToken+" "+goodToken, 0o600), "a header cannot carry"},
		{"other letters", write("letters", goodToken+"ä", 0o600), "a header cannot carry"},
		{"always the same", write("same", strings.Repeat("ab", 40), 0o600), "is not random"},
	} {
		token, err := Token(test.path)
		if test.want == "" {
			assert.NoError(t, err, "%s", test.name)
			assert.That(t, token != "", "%s: %v", test.name, err)
			continue
		}
		var wrong *SettingError
		require.That(t, errors.As(err, &wrong), "%s: %q, %v", test.name, token, err)
		require.Contains(t, err.Error(), test.want, "%s", test.name)
		assert.Equal(t, token, "", "%s", test.name)
		assert.That(t, !strings.Contains(err.Error(), goodToken[:10]), "%s: the error shows the token: %v", test.name, err)
	}
}

func TestATokenFileOfSomebodyElseIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(goodToken), 0o600))
	require.NoError(t, os.Chown(path, 12345, -1))
	_, err := Token(path)
	require.That(t, err != nil, "%v", err)
	assert.Contains(t, err.Error(), "belongs to another user")
}

func TestATokenThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	token, err := Token(filepath.Join(file, "token"))
	assert.That(t, err != nil, "%q, %v", token, err)
	assert.Equal(t, token, "")
}

func TestOnlyTheTokenOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBearer(goodToken, slog.New(slog.DiscardHandler))
		for _, test := range []struct {
			name, header string
			want         bool
		}{
			{"the token", "Bearer " + goodToken, true},
			{"the scheme in another case", "bEARER " + goodToken, true},
			{"more than one space", "Bearer   " + goodToken, true},
			{"another token of the same length", "Bearer " + otherToken, false},
			{"all but the last letter", "Bearer " + goodToken[:len(goodToken)-1], false},
			{"one letter more", "Bearer " + goodToken + "x", false},
			{"a space behind", "Bearer " + goodToken + " ", false},
			{"another case", "Bearer " + strings.ToLower(goodToken), false},
			{"no scheme", goodToken, false},
			{"no token", "Bearer ", false},
			{"no token and no space", "Bearer", false},
			{"another scheme", "Basic " + goodToken, false},
			{"a tab", "Bearer\t" + goodToken, false},
			{"nothing", "", false},
		} {
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header.Set("Authorization", test.header)
			w := httptest.NewRecorder()
			if _, ok := b.admit(w, r); ok != test.want || !ok && (w.Code != 401 || w.Body.String() != "Unauthorized\n") {
				t.Errorf("%s: %v, %d %q", test.name, ok, w.Code, w.Body)
			}
		}
	})
}

// The token in the address is the token in every log.
func TestATokenInTheAddressDoesNotOpen(t *testing.T) {
	assert.Equal(t, open(t, nil).send(http.MethodGet, "/readyz?access_token="+goodToken, "", "Authorization", "").status, 401)
}

// Wrong tokens are slowed down, many at once are refused, and the right one never
// waits for them.
func TestWrongTokensHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told strings.Builder
		b := newBearer(goodToken, slog.New(slog.NewTextHandler(&told, nil)))
		codes := map[int]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		begin := time.Now()
		for range 1000 {
			all.Go(func() {
				code := attemptWith(t.Context(), b, otherToken)
				mu.Lock()
				defer mu.Unlock()
				codes[code]++
			})
		}
		synctest.Wait() // those that wait do
		code := attemptWith(t.Context(), b, goodToken)
		assert.Equal(t, code, 200, "the right token had %d after %v", code, time.Since(begin))
		assert.Equal(t, time.Since(begin), 0, "the right token had %d after %v", code, time.Since(begin))
		all.Wait()
		assert.Equal(t, codes[401], 20, "%v after %v", codes, time.Since(begin))
		assert.Equal(t, codes[429], 980, "%v after %v", codes, time.Since(begin))
		assert.Equal(t, time.Since(begin), wrongWait, "%v after %v", codes, time.Since(begin))
		assert.Equal(t, strings.Count(told.String(), "\n"), 1, "told %q", told.String())
		assert.That(t, !strings.Contains(told.String(), otherToken), "told %q", told.String())
		time.Sleep(time.Minute)
		code = attemptWith(t.Context(), b, otherToken)
		assert.Equal(t, code, 401, "%d, told %q", code, told.String())
		assert.Contains(t, told.String(), "times=1000", "%d, told %q", code, told.String())
	})
}

// A client that does not wait for its answer is not waited for.
func TestASlowAnswerEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBearer(goodToken, slog.New(slog.DiscardHandler))
		for range 10 {
			go attemptWith(t.Context(), b, otherToken)
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		code := attemptWith(ctx, b, otherToken)
		assert.Equal(t, code, 401, "%d after %v", code, time.Since(begin))
		assert.Equal(t, time.Since(begin), 0, "%d after %v", code, time.Since(begin))
		time.Sleep(wrongWait)
	})
}

func attemptWith(ctx context.Context, b *bearer, text string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+text)
	w := httptest.NewRecorder()
	_, _ = b.admit(w, r)
	return w.Code
}

// No comparison but the one in constant time looks at a token or its sum.
func TestTokensAreComparedInConstantTime(t *testing.T) {
	set := token.NewFileSet()
	file := require.Value(parser.ParseFile(set, "access.go", nil, 0))(t)
	constant := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == "ConstantTimeCompare" {
				constant++
			}
		case *ast.BinaryExpr:
			for _, side := range []ast.Expr{n.X, n.Y} {
				other := n.Y
				if side == n.Y {
					other = n.X
				}
				name, _ := side.(*ast.Ident)
				empty, _ := other.(*ast.BasicLit)
				if name != nil && (name.Name == "sum" || name.Name == "want" || name.Name == "token") && (empty == nil || empty.Value != `""`) {
					t.Errorf("%s compares %s otherwise", set.Position(n.Pos()), name.Name)
				}
			}
		}
		return true
	})
	assert.That(t, constant == 1, "%d comparisons in constant time, want 1", constant)
}

package streamable

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/tests/require"
)

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
			if _, _, ok := b.admit(w, r); ok != test.want || !ok && (w.Code != 401 || w.Body.String() != "Unauthorized\n") {
				t.Errorf("%s: %v, %d %q", test.name, ok, w.Code, w.Body)
			}
		}
	})
}

// The token in the address is the token in every log.
func TestATokenInTheAddressDoesNotOpen(t *testing.T) {
	r := open(t, nil)
	if answer := r.send(http.MethodGet, "/readyz?access_token="+goodToken, "", "Authorization", ""); answer.status != 401 {
		t.Errorf("%+v", answer)
	}
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
		if code := attemptWith(t.Context(), b, goodToken); code != 200 || time.Since(begin) != 0 {
			t.Errorf("the right token had %d after %v", code, time.Since(begin))
		}
		all.Wait()
		if codes[401] != 20 || codes[429] != 980 || time.Since(begin) != wrongWait {
			t.Errorf("%v after %v", codes, time.Since(begin))
		}
		if strings.Count(told.String(), "\n") != 1 || strings.Contains(told.String(), otherToken) {
			t.Errorf("told %q", told.String())
		}
		time.Sleep(time.Minute)
		if code := attemptWith(t.Context(), b, otherToken); code != 401 || !strings.Contains(told.String(), "times=1000") {
			t.Errorf("%d, told %q", code, told.String())
		}
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
		if code := attemptWith(ctx, b, otherToken); code != 401 || time.Since(begin) != 0 {
			t.Errorf("%d after %v", code, time.Since(begin))
		}
		time.Sleep(wrongWait)
	})
}

func attemptWith(ctx context.Context, b *bearer, text string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+text)
	w := httptest.NewRecorder()
	_, _, _ = b.admit(w, r)
	return w.Code
}

// No comparison but the one in constant time looks at a token or its sum.
func TestTokensAreComparedInConstantTime(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "access.go", nil, 0)
	require.NoError(t, err)
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
	if constant != 1 {
		t.Errorf("%d comparisons in constant time, want 1", constant)
	}
}

func TestARefusedRequestTellsNothing(t *testing.T) {
	r := open(t, nil)
	answers := map[string]bool{}
	for _, value := range []string{"", "Bearer x", "Bearer " + otherToken, "Basic x"} {
		answer := r.send(http.MethodPost, endpoint, "x", "Authorization", value)
		answer.header.Del("Date")
		var all strings.Builder
		_ = answer.header.Write(&all)
		_, _ = io.WriteString(&all, answer.body)
		answers[all.String()] = true
		if answer.status != 401 {
			t.Errorf("%q: %d", value, answer.status)
		}
	}
	if len(answers) != 1 {
		t.Errorf("refusals differ: %v", answers)
	}
}

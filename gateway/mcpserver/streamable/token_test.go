package streamable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"vaultwicket/tests/require"
)

func TestTheFirstStartMakesAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "token")
	token, err := Token(path)
	if err != nil || Weakness(token) != "" {
		t.Fatalf("%q, %v", token, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if again, err := Token(path); again != token || err != nil {
		t.Errorf("the second start: %q, %v", again, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// A folder that others can look into is no place for a token.
func TestATokenIsNotMadeInAFolderOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(dir, 0o755))
	_, err := Token(filepath.Join(dir, "token"))
	if err == nil || !strings.Contains(err.Error(), "its folder is accessible to other users (mode 0755)") {
		t.Errorf("the error is %v", err)
	}
}

func TestServersThatStartTogetherAgreeOnAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "token")
	var all sync.WaitGroup
	tokens := make(chan string, 20)
	for range 20 {
		all.Go(func() {
			token, err := Token(path)
			if err != nil {
				t.Error(err)
			}
			tokens <- token
		})
	}
	all.Wait()
	close(tokens)
	different := map[string]bool{}
	for token := range tokens {
		different[token] = true
	}
	if len(different) != 1 {
		t.Errorf("%d tokens", len(different))
	}
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
	dangling := filepath.Join(dir, "dangling")
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), dangling))
	for _, test := range []struct{ name, path, want string }{
		{"a good one", good, ""},
		{"without newline", write("bare", goodToken, 0o600), ""},
		{"with the newline of Windows", write("crlf", goodToken+"\r\n", 0o400), ""},
		{"in hexadecimal digits", write("hex", strings.Repeat("0123456789abcdef", 4), 0o600), ""},
		{"readable by the group", write("group", goodToken, 0o640), "is accessible to other users (mode 0640)"},
		{"readable by others", write("others", goodToken, 0o604), "is accessible to other users (mode 0604)"},
		{"writable by others", write("writable", goodToken, 0o602), "is accessible to other users (mode 0602)"},
		{"a link", link, "is not a regular file"},
		{"a link to nowhere", dangling, "is not a regular file"},
		{"a folder", dir, "is not a regular file"},
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
			if err != nil || token == "" {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		var wrong *SettingError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) || token != "" {
			t.Errorf("%s: %q, %v", test.name, token, err)
		}
		if strings.Contains(err.Error(), goodToken[:10]) {
			t.Errorf("%s: the error shows the token: %v", test.name, err)
		}
	}
}

func TestATokenFileOfSomebodyElseIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(goodToken), 0o600))
	require.NoError(t, os.Chown(path, 12345, -1))
	if _, err := Token(path); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Error(err)
	}
}

func TestATokenThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	if token, err := Token(filepath.Join(file, "token")); err == nil || token != "" {
		t.Errorf("%q, %v", token, err)
	}
}

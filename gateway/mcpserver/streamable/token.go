package streamable

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vaultwicket/gateway/state/private"
)

const (
	tokenBytes = 32
	minToken   = 43       // 32 bytes in base64, without padding
	minHex     = 64       // and in hexadecimal digits
	maxToken   = 1 << 10  // far below the limit of a request's head
	variety    = 10       // different characters; a random token in hex has fewer once in many millions
	tokenSet   = "-._~+/" // besides letters and digits, RFC 6750
)

// Token returns the token in the file at path, which it creates with a new token if it is missing. The file must be a regular one that only this user can read, with one token and at most
// a newline. The error is a *SettingError, without text of the file.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", tokenError(path, "cannot be made", "", err)
	}
	return readToken(path) // as the next start will
}

func tokenError(path, reason, hint string, cause error) error {
	return &SettingError{Setting: "token-file", Value: path, Reason: reason, hint: hint, cause: cause}
}

// readToken reads a file. The error wraps fs.ErrNotExist if there is none.
func readToken(path string) (string, error) {
	file, err := private.OpenLinked(path) // makeToken gives it two names for a moment
	var unsafe *private.Unsafe
	switch {
	case err == nil:
	case !errors.As(err, &unsafe):
		return "", tokenError(path, "cannot be read", "", err)
	case unsafe.Problem == private.NotRegular:
		return "", tokenError(path, unsafe.Reason(), "name the file itself, not a link to it", nil)
	case unsafe.Problem == private.OtherOwner:
		return "", tokenError(path, unsafe.Reason(), "name a file of your own, or none", nil)
	case unsafe.Problem == private.Accessible:
		return "", tokenError(path, unsafe.Reason(), unsafe.Remedy()+", and make a new token: this one may be known", nil)
	default:
		return "", tokenError(path, unsafe.Reason(), "try again", nil)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxToken+3))
	if err != nil {
		return "", tokenError(path, "cannot be read", "", err)
	}
	token := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if reason := Weakness(token); reason != "" {
		return "", tokenError(path, "contains a token that "+reason, "remove the file, and a new one is created at the next start", nil)
	}
	return token, nil
}

// makeToken creates the file with a new token, atomically. It never replaces a file: the error is
// then fs.ErrExist.
func makeToken(path string) error {
	dir := filepath.Dir(path)
	if !private.EnsureFolder(dir) {
		return fmt.Errorf("its folder %s", cmp.Or(private.WhyUnsafe(dir), "cannot be made"))
	}
	file, err := os.CreateTemp(dir, ".token-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	secret := make([]byte, tokenBytes)
	rand.Read(secret)
	_, err = fmt.Fprintln(file, base64.RawURLEncoding.EncodeToString(secret))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}

// Weakness returns why a text is not valid for Config.Token, "" if it is.
func Weakness(token string) string {
	different := map[rune]bool{}
	for _, c := range strings.TrimRight(token, "=") {
		different[c] = true
		if !strings.ContainsRune(tokenSet, c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "has characters that a header cannot carry"
		}
	}
	switch {
	case token == "":
		return "is missing"
	case len(token) < minToken:
		return fmt.Sprintf("is shorter than %d characters, which 32 random bytes need", minToken)
	case len(token) < minHex && strings.Trim(token, "0123456789abcdefABCDEF") == "":
		return fmt.Sprintf("is shorter than %d hexadecimal digits, which 32 random bytes need", minHex)
	case len(token) > maxToken:
		return fmt.Sprintf("is longer than %d characters", maxToken)
	case len(different) < variety:
		return "is not random"
	}
	return ""
}

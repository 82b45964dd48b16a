package main

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/gateway/mcpserver"
)

// httpSettings are those of MCP over HTTP.
type httpSettings struct {
	addr      string // "" for standard input and output
	tokenFile string
	cert, key string
	origins   []string
	hosts     []string
	sessions  int
}

// What a host and an origin look like as a browser sends them: in lower case, and
// with a port only where it is not that of the scheme.
const (
	hostPattern   = `^` + hostForm + `$`
	originPattern = `^[a-z][a-z0-9+.-]*://` + hostForm + `(:[1-9][0-9]{0,4})?$`
	hostForm      = `(\[[0-9a-f:.]+\]|[a-z0-9._-]+)`
)

const maxSessions = 100_000

func setMaxSessions(s *settings, text string) (err error) {
	s.http.sessions, err = parseNumber(text, 1, maxSessions)
	return err
}

func setToolsets(s *settings, text string) error {
	s.toolsets = nil
	for _, name := range names(text) {
		if !slices.Contains(mcpserver.ToolsetNames(), name) {
			return fmt.Errorf("%q is no set of tools, want %s%s", clip(name), strings.Join(mcpserver.ToolsetNames(), ", "), didYouMean(name, mcpserver.ToolsetNames()))
		}
		s.toolsets = append(s.toolsets, name)
	}
	return nil
}

// setHTTP takes host:port and unix:/path. An empty host would be every address of
// the machine, which is written out instead.
func setHTTP(s *settings, text string) error {
	s.http.addr = text
	if text == "" {
		return nil
	}
	if path, unix := strings.CutPrefix(text, "unix:"); unix {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%q is no absolute path of a socket", clip(path))
		}
		return nil
	}
	host, port, err := net.SplitHostPort(text)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("%q is no address, want one such as 127.0.0.1:8765 or unix:/path/socket", clip(text))
	}
	if host == "" {
		return fmt.Errorf("%q names no host; write 127.0.0.1%s for this machine alone, or 0.0.0.0%s for every network it is in", clip(text), text, text)
	}
	return nil
}

func setTokenFile(s *settings, text string) error { return setFile(&s.http.tokenFile, text) }

func setTLSCert(s *settings, text string) error { return setFile(&s.http.cert, text) }

func setTLSKey(s *settings, text string) error { return setFile(&s.http.key, text) }

// setFile takes an absolute path: a client starts us where it likes.
func setFile(to *string, text string) error {
	if text != "" && !filepath.IsAbs(text) {
		return fmt.Errorf("%q is no absolute path", clip(text))
	}
	*to = text
	return nil
}

// agree refuses one half of a certificate, with which no server could start. It
// is for "config check"; commands that serve nothing have no use for either.
func (h httpSettings) agree() error {
	switch {
	case h.cert != "" && h.key == "":
		return &wrongUse{reason: `setting "tls-key" is missing beside "tls-cert"`, hint: "name the file of the key"}
	case h.cert == "" && h.key != "":
		return &wrongUse{reason: `setting "tls-cert" is missing beside "tls-key"`, hint: "name the file of the certificate"}
	}
	return nil
}

func setOrigins(s *settings, text string) (err error) {
	s.http.origins, err = matching(text, originPattern, "origin, want one such as https://app.example")
	return err
}

func setHosts(s *settings, text string) (err error) {
	s.http.hosts, err = matching(text, hostPattern, "host name, want one such as notes.example, without a port")
	return err
}

// matching returns the names of a list, each of which must have a form.
func matching(text, pattern, wanted string) ([]string, error) {
	list := names(text)
	for _, name := range list {
		if ok, err := regexp.MatchString(pattern, name); !ok || err != nil {
			return nil, fmt.Errorf("%q is no %s", clip(name), wanted)
		}
	}
	return list, nil
}

// names returns the names of a list as a flag has it.
func names(text string) []string {
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

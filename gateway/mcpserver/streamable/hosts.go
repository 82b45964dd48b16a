package streamable

import (
	"crypto/x509"
	"net/netip"
	"strings"

	"vaultwicket/gateway/httpguard"
)

// newHosts returns the hosts of an address and a list of further names.
func newHosts(addr string, more []string, leaf *x509.Certificate) (httpguard.Hosts, error) {
	var names []string
	if name, ok := httpguard.HostName(addr); ok && !httpguard.Unspecified(name) {
		names = append(names, name)
	}
	for _, entry := range more {
		name, err := parseHost(entry)
		if err != nil {
			return httpguard.Hosts{}, err
		}
		names = append(names, name)
	}
	return httpguard.NewHosts(names, leaf), nil
}

// parseHost reads an entry of Config.Hosts. The error is a *SettingError.
func parseHost(entry string) (string, error) {
	name, ok := httpguard.HostName(httpguard.Bracketed(entry))
	if !ok || withPort(entry) {
		return "", &SettingError{Setting: "allow-host", Value: entry, Reason: "is not a host name", hint: `use a name or an address without a port, such as "notes.example"`}
	}
	return name, nil
}

func withPort(entry string) bool {
	_, err := netip.ParseAddr(entry)
	return err != nil && !strings.HasSuffix(entry, "]") && strings.Contains(entry, ":")
}

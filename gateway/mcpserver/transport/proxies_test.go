package transport

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestWhoseRequestItIsBehindAProxy: the header is believed of proxies that are named, and only what the last of them says.
func TestWhoseRequestItIsBehindAProxy(t *testing.T) {
	const named = "127.0.0.1,10.0.0.0/8,fd00::/8"
	for _, c := range []struct{ proxies, from, header, want string }{
		{"", "127.0.0.1:99", "203.0.113.9", "address 127.0.0.1"},
		{named, "203.0.113.1:99", "203.0.113.9", "address 203.0.113.1"},
		{named, "127.0.0.1:99", "", "address 127.0.0.1"},
		{named, "127.0.0.1:99", "203.0.113.9", "address 203.0.113.9"},
		{named, "[::ffff:127.0.0.1]:99", "203.0.113.9", "address 203.0.113.9"},
		{named, "127.0.0.1:99", "198.51.100.7, 203.0.113.9", "address 203.0.113.9"},
		{named, "127.0.0.1:99", "203.0.113.9, 10.1.2.3", "address 203.0.113.9"},
		{named, "127.0.0.1:99", "203.0.113.9|10.1.2.3", "address 203.0.113.9"}, // in two headers
		{named, "10.2.3.4:99", "10.0.0.9", "address 10.0.0.9"},
		{named, "127.0.0.1:99", "203.0.113.9, nobody", "address 127.0.0.1"},
		{named, "127.0.0.1:99", "203.0.113.9, nobody, 10.1.2.3", "address 10.1.2.3"},
		{named, "127.0.0.1:99", "203.0.113.9:4711", "address 203.0.113.9"},
		{named, "127.0.0.1:99", "[2001:db8::1]:4711", "address 2001:db8::"},
		{named, "127.0.0.1:99", "2001:db8::2", "address 2001:db8::"},
		{named, "[fd00::1%eth0]:99", "203.0.113.9", "address 203.0.113.9"},
		{named, "@", "203.0.113.9", "address @"},
		{"::ffff:127.0.0.1,::ffff:10.0.0.0/104", "127.0.0.1:99", "203.0.113.9, 10.1.2.3", "address 203.0.113.9"},
		{"unix", "@", "203.0.113.9", "address 203.0.113.9"},
		{"unix", "", "203.0.113.9", "address 203.0.113.9"},
		{"unix", "127.0.0.1:99", "203.0.113.9", "address 127.0.0.1"},
	} {
		var entries []string
		if c.proxies != "" {
			entries = strings.Split(c.proxies, ",")
		}
		p := require.Value(parseProxies(entries))(t)
		r := &http.Request{RemoteAddr: c.from, Header: http.Header{}}
		for value := range strings.SplitSeq(c.header, "|") {
			r.Header.Add(forwardedFor, value)
		}
		r.RemoteAddr = p.remote(r)
		assert.Equal(t, shares.Network(remoteHost(r)), shares.Payer(c.want), "from %q with %q, proxies %q", c.from, c.header, c.proxies)
	}
}

func TestProxiesAreRefusedWithAHint(t *testing.T) {
	for _, wrong := range []string{"", "*", "proxy.example", "127.0.0.1:80", "10.0.0.0/33", "10.0.0.0/", "fe80::1%eth0", "unix:/run/x"} {
		_, err := newHandler(HTTPConfig{Proxies: []string{wrong}}, httpguard.Hosts{})
		assert.That(t, isSetting(err, "trusted-proxies"), "proxy %q: %v", wrong, err)
	}
}

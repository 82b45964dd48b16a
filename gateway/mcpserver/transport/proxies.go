package transport

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFor is the header in which proxies report the origin of a request: each appends the address of its client.
const forwardedFor = "X-Forwarded-For"

// socketProxy is the entry of [HTTPConfig.Proxies] for everything that connects to a Unix socket, which must be a
// program on this machine.
const socketProxy = "unix"

// proxies is the set of proxies whose header forwardedFor is trusted. The zero value is empty.
type proxies struct {
	networks []netip.Prefix
	sockets  bool
}

// parseProxies parses HTTPConfig.Proxies. The error is a *SettingError.
func parseProxies(entries []string) (p proxies, err error) {
	for _, entry := range entries {
		if entry == socketProxy {
			p.sockets = true
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if address, addressErr := netip.ParseAddr(entry); addressErr == nil && address.Zone() == "" {
			network = netip.PrefixFrom(address, address.BitLen())
			err = nil
		}
		const mapped = 96 // bits of the prefix of an IPv4 address that is written as an IPv6 address
		if network.Addr().Is4In6() && network.Bits() >= mapped {
			network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
		}
		if err != nil {
			return proxies{}, &SettingError{
				Setting: "trusted-proxies",
				Value:   entry,
				Reason:  "is not an address of a proxy",
				hint:    `use an address, a network or unix, such as "127.0.0.1", "10.0.0.0/8" or "fd00::/8"`,
			}
		}
		p.networks = append(p.networks, network)
	}
	return p, nil
}

// has reports whether address belongs to a trusted proxy.
func (p proxies) has(address netip.Addr) bool {
	return slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// remote returns the address of the client, in the form of the field RemoteAddr of a request. Behind a trusted proxy it
// is the last address in the header that is not a trusted proxy: anybody can forge the ones before it. If the header
// has no such address, it is the last valid one, or else the address of the proxy.
func (p proxies) remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	address, addressErr := netip.ParseAddr(host)
	isSocket := err != nil || addressErr != nil
	isProxy := p.sockets
	if !isSocket {
		isProxy = p.has(address.Unmap().WithZone(""))
	}
	if !isProxy {
		return r.RemoteAddr
	}
	entries := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	client := r.RemoteAddr
	for _, entry := range slices.Backward(entries) {
		address, ok := parseForwarded(strings.TrimSpace(entry))
		if !ok {
			break
		}
		client = netip.AddrPortFrom(address, 0).String()
		if !p.has(address) {
			break
		}
	}
	return client
}

// parseForwarded parses an address in the header. Some proxies add a port.
func parseForwarded(entry string) (address netip.Addr, ok bool) {
	address, err := netip.ParseAddr(strings.Trim(entry, "[]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(entry)
		if err != nil {
			return netip.Addr{}, false
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), true
}

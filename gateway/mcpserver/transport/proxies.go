package transport

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFor is the header in which proxies say whom a request is from: each adds the address that it got it from.
const forwardedFor = "X-Forwarded-For"

// socketProxy is the entry of [HTTPConfig.Proxies] for whoever connects to a socket of Unix: a program of this machine.
const socketProxy = "unix"

// proxies are those whose header forwardedFor is believed. The zero value is none.
type proxies struct {
	networks []netip.Prefix
	sockets  bool
}

// parseProxies reads Config.Proxies. The error is a *SettingError.
func parseProxies(entries []string) (p proxies, err error) {
	for _, entry := range entries {
		if entry == socketProxy {
			p.sockets = true
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if address, wrong := netip.ParseAddr(entry); wrong == nil && address.Zone() == "" {
			network = netip.PrefixFrom(address, address.BitLen())
			err = nil
		}
		const mapped = 96 // bits in front of an address of version 4 that is written as one of version 6
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

// has reports whether an address is that of a proxy.
func (p proxies) has(address netip.Addr) bool {
	return slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// remote returns whose request it is, as the field RemoteAddr of a request has it. Behind a proxy that is the last address in its
// header that is not one of a proxy: what is in front of it can be from anybody. Without one it is the proxy.
func (p proxies) remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	address, wrong := netip.ParseAddr(host)
	isSocket := err != nil || wrong != nil
	isProxy := p.sockets
	if !isSocket {
		isProxy = p.has(address.Unmap().WithZone(""))
	}
	if !isProxy {
		return r.RemoteAddr
	}
	entries := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	from := r.RemoteAddr
	for _, entry := range slices.Backward(entries) {
		address, ok := forwarded(strings.TrimSpace(entry))
		if !ok {
			break
		}
		from = netip.AddrPortFrom(address, 0).String()
		if !p.has(address) {
			break
		}
	}
	return from
}

// forwarded reads an address of the header, which some proxies write with a port.
func forwarded(entry string) (address netip.Addr, ok bool) {
	address, err := netip.ParseAddr(strings.Trim(entry, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(entry)
		if err != nil {
			return netip.Addr{}, false
		}
		address = with.Addr()
	}
	return address.Unmap().WithZone(""), true
}

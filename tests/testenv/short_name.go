package testenv

import (
	"hash/fnv"
	"strings"
)

// ShortName returns a short name such as PROJ~XYZ or PROJ~XYZ.MD. It has the form
// that Wine gives them: on Windows they end in a number mostly, by which they are
// known, and not always.
func ShortName(name string) string {
	stem := strings.TrimLeft(name, ".")
	ext := ""
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 {
		stem, ext = stem[:dot], "."+plain(stem[dot+1:], 3)
	}
	sum := fnv.New32a()
	sum.Write([]byte(name))
	var hash [3]byte
	for i, n := 0, sum.Sum32(); i < len(hash); i++ {
		hash[i] = 'A' + byte(n%26)
		n /= 26
	}
	return plain(stem, 4) + "~" + string(hash[:]) + strings.TrimSuffix(ext, ".")
}

// plain returns the first letters and digits of a part of a name.
func plain(part string, most int) string {
	kept := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(part))
	return kept[:min(len(kept), most)]
}

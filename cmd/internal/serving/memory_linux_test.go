package serving

import (
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestWhatOfAProgramCanBeReleased(t *testing.T) {
	const smaps = `00400000-00ec6000 r-xp 00000000 00:1b 23549223                           /opt/a program
Size:              11032 kB
Rss:                5032 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00ec6000-0196d000 r--p 00ac6000 00:1b 23549223                           /opt/a program
Anonymous:             0 kB
01970000-01980000 r--p 00ac6000 00:1b 23549223                           /opt/a program
Anonymous:             4 kB
01980000-01990000 r--s 00ac6000 00:1b 23549223                           /opt/a program
Anonymous:             0 kB
0196d000-01a3f000 rw-p 0156d000 00:1b 23549223                           /opt/a program
Anonymous:             0 kB
7f1234560000-7f1234570000 r-xp 00000000 00:1b 1                          /opt/another program
Anonymous:             0 kB
7f1234570000-7f1234580000 r--p 00000000 00:00 0
Anonymous:             0 kB
7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
`
	got, want := releasable(strings.NewReader(smaps), "/opt/a program"), []mappedSpan{{0x400000, 0xec6000}, {0xec6000, 0x196d000}}
	assert.EqualSlices(t, got, want)
	got = releasable(strings.NewReader("x\nAnonymous: 0 kB\n\n"), "")
	assert.That(t, got == nil, "got %x", got)
}

func TestReleasingTheProgram(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	for range 3 {
		releaseProgram()
		maps, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Skip(err)
		}
		for _, s := range releasable(strings.NewReader(string(maps)), program) {
			assert.That(t, s.from < s.to, "from %x to %x", s.from, s.to)
		}
	}
}

package audit

import (
	"testing"

	"vaultwicket/tests/require"
)

func BenchmarkWrite(b *testing.B) {
	for name, durable := range map[string]bool{"plain": false, "durable": true} {
		b.Run(name, func(b *testing.B) {
			l := newLog(b, Limits{FileSize: 1 << 40})
			writeAll(b, l, 1, 1)
			line := sample(1)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, l.Write(line, durable))
			}
		})
	}
}

// BenchmarkWriteRotating keeps four files of a megabyte: the cost of laying
// aside, verifying and removing is shared by the lines.
func BenchmarkWriteRotating(b *testing.B) {
	l := newLog(b, Limits{FileSize: 1 << 20, Files: 4})
	line := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, l.Write(line, false))
	}
}

// BenchmarkWriteTwo has two writers that take turns, as two processes would.
func BenchmarkWriteTwo(b *testing.B) {
	l := newLog(b, Limits{})
	other := again(b, l)
	line := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, l.Write(line, false))
		require.NoError(b, other.Write(line, false))
	}
}

// BenchmarkWriteAnew opens everything for each line, as where an open file
// cannot be renamed.
func BenchmarkWriteAnew(b *testing.B) {
	l := newLog(b, Limits{})
	l.keepOpen = false
	line := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, l.Write(line, false))
	}
}

func BenchmarkDigest(b *testing.B) {
	l := newLog(b, Limits{})
	b.ReportAllocs()
	for b.Loop() {
		l.Digest("daily/2026-11-21.md")
	}
}

func BenchmarkVerify(b *testing.B) {
	l := newLog(b, Limits{})
	for range 10_000 {
		require.NoError(b, l.Write(sample(1), false))
	}
	b.SetBytes(l.tail.size)
	for b.Loop() {
		wantWhole(b, l, 10_000)
	}
}

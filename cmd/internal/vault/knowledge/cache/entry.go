package cache

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// entry is what the table says of a file, beside its path.
type entry struct {
	stamp               system.Stamp
	text, facts, filter span
}

// span is a piece of the pack.
type span struct {
	at   uint64
	size uint32
	sum  uint32 // CRC-32C of the bytes
}

// nothing is the span of what is not kept. That of an empty text lies somewhere.
var nothing = span{at: 1<<64 - 1}

func (s span) isKept() bool { return s.at != nothing.at }

// isWithin reports whether s is nothing, or lies in the first length bytes.
func (s span) isWithin(length uint64) bool {
	if !s.isKept() {
		return s == nothing
	}
	return s.at <= length && uint64(s.size) <= length-s.at
}

// The polynomial for which processors have an instruction.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }

// isWithin reports whether all spans of e are nothing, or lie in the first length bytes.
func (e entry) isWithin(length uint64) bool {
	return e.text.isWithin(length) && e.facts.isWithin(length) && e.filter.isWithin(length)
}

// In the table an entry has a fixed size, so that it can be taken from where it
// lies and opening the table makes nothing of its own for each.
const (
	stampSize = 4 * 8
	spanSize  = 8 + 4 + 4
	entrySize = stampSize + 3*spanSize
)

var order = binary.LittleEndian

func appendEntry(b []byte, e entry) []byte {
	b = order.AppendUint64(b, uint64(e.stamp.Size))
	b = order.AppendUint64(b, uint64(e.stamp.Modified))
	b = order.AppendUint64(b, uint64(e.stamp.Changed))
	b = order.AppendUint64(b, e.stamp.Inode)
	return appendSpan(appendSpan(appendSpan(b, e.text), e.facts), e.filter)
}

func appendSpan(b []byte, s span) []byte {
	b = order.AppendUint64(b, s.at)
	b = order.AppendUint32(b, s.size)
	return order.AppendUint32(b, s.sum)
}

func readStamp(b []byte) system.Stamp {
	return system.Stamp{
		Size: int64(order.Uint64(b)), Modified: int64(order.Uint64(b[8:])),
		Changed: int64(order.Uint64(b[16:])), Inode: order.Uint64(b[24:]),
	}
}

func readEntry(b []byte) entry {
	spans := b[stampSize:]
	return entry{readStamp(b), readSpan(spans), readSpan(spans[spanSize:]), readSpan(spans[2*spanSize:])}
}

func readSpan(b []byte) span {
	return span{order.Uint64(b), order.Uint32(b[8:]), order.Uint32(b[12:])}
}

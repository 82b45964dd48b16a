package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// MemoryOf returns the resident memory of a process in bytes, 0 when it is not
// known.
func MemoryOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // what cannot be read is not known
	return pages * int64(os.Getpagesize())
}

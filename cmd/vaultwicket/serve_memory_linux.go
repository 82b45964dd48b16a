package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram takes the pages of the program's file out of the memory of the process: most
// of them only the start needed. Those that are needed come back one by one, from what the
// system has in its cache of files, which costs the first call about a millisecond. It does
// nothing where the system does not tell which pages these are.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, s := range releasable(maps, program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, syscall.MADV_DONTNEED) // nothing depends on it
	}
}

// mappedSpan is a part of the memory of the process, from its first address up to the one behind it.
type mappedSpan struct{ from, to uintptr }

// releasable returns the parts that the file of a program is mapped to, as proc(5) describes
// smaps: those that cannot be written to and have no page of their own, such as one with a
// breakpoint, or with the addresses of a program that can be loaded anywhere. What is in them
// is what is in the file.
func releasable(smaps io.Reader, program string) (all []mappedSpan) {
	var at mappedSpan
	isProgram := false
	lines := bufio.NewReaderSize(smaps, os.Getpagesize())
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return all
		}
		text := strings.TrimSuffix(string(line), "\n")
		if value, found := strings.CutPrefix(text, "Anonymous:"); found && isProgram && strings.TrimSpace(value) == "0 kB" {
			all = append(all, at)
		}
		if addresses, rest, found := strings.Cut(text, " "); found && !strings.HasSuffix(addresses, ":") {
			permissions, _, _ := strings.Cut(rest, " ")
			at, isProgram = spanOf(addresses)
			isProgram = isProgram && (permissions == "r-xp" || permissions == "r--p") && strings.HasSuffix(rest, " "+program)
		}
	}
}

// spanOf reads two addresses.
func spanOf(text string) (s mappedSpan, ok bool) {
	first, last, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(first, 16, strconv.IntSize)
	to, err2 := strconv.ParseUint(last, 16, strconv.IntSize)
	return mappedSpan{uintptr(from), uintptr(to)}, err == nil && err2 == nil
}

package serving

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram drops the pages of the program's file from the memory of the process: most of
// them only the start needed. The others are read again from the page cache, which costs the first
// call about a millisecond. It does nothing if the system does not say which pages these are.
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
		_, _, _ = syscall.Syscall(
			syscall.SYS_MADVISE,
			s.from,
			s.to-s.from,
			syscall.MADV_DONTNEED,
		) // nothing depends on it
	}
}

// mappedSpan is a mapped range of memory, from its first address up to the one after it.
type mappedSpan struct{ from, to uintptr }

// releasable returns the ranges that the file of a program is mapped to, from smaps of proc(5):
// those that are read-only and have no private page, such as one with a breakpoint or relocated
// addresses. Their contents are those of the file.
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
		if value, found := strings.CutPrefix(text, "Anonymous:"); found && isProgram &&
			strings.TrimSpace(value) == "0 kB" {
			all = append(all, at)
		}
		if addresses, rest, found := strings.Cut(text, " "); found && !strings.HasSuffix(addresses, ":") {
			permissions, _, _ := strings.Cut(rest, " ")
			first, last, _ := strings.Cut(addresses, "-")
			from, errFrom := strconv.ParseUint(first, 16, strconv.IntSize)
			to, errTo := strconv.ParseUint(last, 16, strconv.IntSize)
			at = mappedSpan{uintptr(from), uintptr(to)}
			isSpan := errFrom == nil && errTo == nil
			isFixed := permissions == "r-xp" || permissions == "r--p"
			isProgram = isSpan && isFixed && strings.HasSuffix(rest, " "+program)
		}
	}
}

// ownInput reopens a pipe on standard input so that the runtime can wait for it without a thread: a
// request reaches its handler about 20 µs earlier. It is a file description of its own, so that other
// holders of the pipe do not find it non-blocking. Anything but a pipe is returned unchanged.
func ownInput(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok || file != os.Stdin {
		return in
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return in
	}
	again, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return in
	}
	return again
}

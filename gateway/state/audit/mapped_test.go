package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"vaultwicket/tests/memory"
)

// mappedFile has a test look at a file with a text, mapped where it ends: on the disk, and
// in memory where there is a file system for that.
func mappedFile(t *testing.T, text []byte, test func(*testing.T, *os.File, *mappedEnd)) {
	t.Helper()
	for where, dir := range map[string]string{"disk": t.TempDir(), "memory": memory.Folder(t)} {
		t.Run(where, func(t *testing.T) {
			file, err := os.OpenFile(filepath.Join(dir, "file"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
			must(t, err)
			defer file.Close()
			_, err = file.Write(text)
			must(t, err)
			e := &mappedEnd{}
			defer e.Close()
			if e.IsAt(int64(len(text))) {
				t.Error("a file that is not mapped is at its end")
			}
			e.Map(file, int64(len(text)))
			if e.none && memory.Holds(dir) {
				t.Error("a file in memory is not mapped")
			}
			if e.none {
				t.Skip("files are not mapped on this file system")
			}
			test(t, file, e)
		})
	}
}

func text(size int) []byte {
	return append(bytes.Repeat([]byte{'x'}, size-1), '\n')
}

func TestTheEndIsWhereItWasLeft(t *testing.T) {
	mappedFile(t, text(700), func(t *testing.T, file *os.File, e *mappedEnd) {
		if !e.IsAt(700) {
			t.Fatal("the end is not seen")
		}
		for _, size := range []int64{0, 1, 699, 701, 4096, partSize, partSize + 700} {
			if e.IsAt(size) {
				t.Errorf("it is at %d too", size)
			}
		}
		e.Close()
		if e.IsAt(700) {
			t.Error("it is seen without a mapping")
		}
	})
}

// After a full page nothing can be read.
func TestTheEndOfAPageIsNotTold(t *testing.T) {
	page := os.Getpagesize()
	mappedFile(t, text(page), func(t *testing.T, file *os.File, e *mappedEnd) {
		if e.IsAt(int64(page)) {
			t.Error("it is told")
		}
		_, err := file.WriteString("\n")
		must(t, err)
		if !e.IsAt(int64(page) + 1) {
			t.Error("one byte later it is not")
		}
	})
}

// Any writer, by another descriptor or a line that is not whole, is seen at once.
func TestWhatIsWrittenIsSeen(t *testing.T) {
	for _, more := range []string{"{", "\n", "line\n", strings.Repeat("x", 5000) + "\n"} {
		mappedFile(t, text(700), func(t *testing.T, file *os.File, e *mappedEnd) {
			other, err := os.OpenFile(file.Name(), os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			defer other.Close()
			_, err = other.WriteString(more)
			must(t, err)
			if e.IsAt(700) {
				t.Errorf("%.10q is not seen", more)
			}
			if size := int64(700 + len(more)); e.IsAt(size) != strings.HasSuffix(more, "\n") {
				t.Errorf("after %.10q: %v", more, e.IsAt(size))
			}
		})
	}
}

// A file that is cut off has no page where the end was, or zeros there.
func TestACutIsSeen(t *testing.T) {
	const size = 100_000
	for _, cut := range []int64{0, 1, 500, 65_536, size - 200, size - 1} {
		mappedFile(t, text(size), func(t *testing.T, file *os.File, e *mappedEnd) {
			must(t, file.Truncate(cut))
			if e.IsAt(size) {
				t.Errorf("cut at %d it is at its end", cut)
			}
			if was := debug.SetPanicOnFault(false); was {
				t.Error("faults are still panics")
			}
			_, err := file.Write(text(int(size - cut)))
			must(t, err)
			if !e.IsAt(size) {
				t.Error("written again it is not at its end")
			}
		})
	}
}

// Each size of a file that grows by lines is either seen or not told, and not told only
// where nothing can be read after it.
func TestAFileThatGrows(t *testing.T) {
	mappedFile(t, text(700), func(t *testing.T, file *os.File, e *mappedEnd) {
		size, unknown := int64(700), 0
		for size < 3*partSize {
			more := text(1 + int(size*7%509))
			_, err := file.Write(more)
			must(t, err)
			if e.IsAt(size) {
				t.Fatalf("more after %d is not seen", size)
			}
			size += int64(len(more))
			e.Map(file, size)
			if !e.IsAt(size) {
				if unknown++; size%int64(os.Getpagesize()) != 0 {
					t.Fatalf("the end at %d is not seen", size)
				}
			}
		}
		t.Logf("%d bytes, %d ends at the end of a page", size, unknown)
	})
}

// A pipe has no end to map, and a closed file none that can be found.
func TestWhatCannotBeMapped(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer w.Close()
	e := &mappedEnd{}
	e.Map(r, 700)
	if !e.none || e.IsAt(700) {
		t.Error("a pipe is mapped")
	}
	must(t, r.Close())
	closed := &mappedEnd{}
	closed.Map(r, 700)
	if !closed.none || closed.IsAt(700) {
		t.Error("a closed file is mapped")
	}
}

func TestOneMappingAtATime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc tells")
	}
	mappedFile(t, text(700), func(t *testing.T, file *os.File, e *mappedEnd) {
		must(t, file.Truncate(2*partSize))
		count := func() int {
			maps, err := os.ReadFile("/proc/self/maps")
			must(t, err)
			return len(slices.Collect(func(yield func(string) bool) {
				for line := range strings.Lines(string(maps)) {
					if strings.Contains(line, file.Name()) && !yield(line) {
						return
					}
				}
			}))
		}
		for range 3 {
			for _, size := range []int64{700, 900, partSize + 1, 2 * partSize} {
				e.Map(file, size)
				if n := count(); n != 1 {
					t.Fatalf("%d mappings", n)
				}
			}
		}
		e.Close()
		e.Close()
		if n := count(); n != 0 {
			t.Errorf("%d mappings are left", n)
		}
	})
}

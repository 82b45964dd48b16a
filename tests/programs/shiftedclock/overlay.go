package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shiftVariable is set by the linker, so that the standard library is compiled once
// for all days.
const shiftVariable = "syscall.clockShift"

// edit replaces the one place of a file of the standard library that is old.
type edit struct{ file, old, new string }

// edits are what shifts a clock: time.Now, and what the kernel says of files or is
// told of them. A bubble of testing/synctest has a clock of its own.
var edits = []edit{
	{"time/time.go", "\nfunc Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", `
func Now() Time {
	sec, nsec, mono := runtimeNow()
	if !runtimeIsBubbled() {
		sec += syscall.ClockShift
	}
`},
	{"time/time.go", "\nimport (\n", "\nimport (\n\t\"syscall\"\n"},
	{"syscall/syscall_linux.go", "\tr1, r2, err = RawSyscall6(trap, a1, a2, a3, 0, 0, 0)\n\truntime_exitsyscall()\n", `	r1, r2, err = RawSyscall6(trap, a1, a2, a3, 0, 0, 0)
	runtime_exitsyscall()
	shiftAnswer(trap, a2, 0, 0, err)
`},
	{"syscall/syscall_linux.go", "(r1, r2 uintptr, err Errno) {\n\truntime_entersyscall()\n\tr1, r2, err = RawSyscall6(trap, a1, a2, a3, a4, a5, a6)\n\truntime_exitsyscall()\n", `(r1, r2 uintptr, err Errno) {
	var times [2]Timespec
	a3 = shiftTimes(trap, a3, &times)
	runtime_entersyscall()
	r1, r2, err = RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	runtime_exitsyscall()
	shiftAnswer(trap, a2, a3, a5, err)
`},
}

// shiftSource is added to package syscall: the numbers of the calls are in a file
// for each architecture. What runs between a call and its caller must not grow the
// stack, to which the arguments may point.
const shiftSource = `package syscall

import "unsafe"

var clockShift string // set by the linker

// ClockShift is how many seconds the clock is ahead.
var ClockShift = func() (seconds int64) {
	digits, behind := clockShift, clockShift != "" && clockShift[0] == '-'
	if behind {
		digits = digits[1:]
	}
	for i := range len(digits) {
		seconds = seconds*10 + int64(digits[i]-'0')
	}
	if behind {
		return -seconds
	}
	return seconds
}()

//go:nosplit
func shiftAnswer(trap, a2, a3, a5 uintptr, err Errno) {
	if err != 0 {
		return
	}
	switch trap {
	case trapFstat:
		shiftStat((*Stat_t)(unsafe.Pointer(a2)))
	case trapFstatat:
		shiftStat((*Stat_t)(unsafe.Pointer(a3)))
	case trapStatx: // four times of 16 bytes from byte 64 on
		for i := uintptr(64); i < 128; i += 16 {
			*(*int64)(unsafe.Pointer(a5 + i)) += ClockShift
		}
	}
}

//go:nosplit
func shiftStat(stat *Stat_t) {
	stat.Atim.Sec += ClockShift
	stat.Mtim.Sec += ClockShift
	stat.Ctim.Sec += ClockShift
}

//go:nosplit
func shiftTimes(trap, a3 uintptr, times *[2]Timespec) uintptr {
	if trap != trapUtimensat || a3 == 0 {
		return a3
	}
	*times = *(*[2]Timespec)(unsafe.Pointer(a3))
	for i := range times {
		if times[i].Nsec < 1e9 { // else it means "now" or "leave it"
			times[i].Sec -= ClockShift
		}
	}
	return uintptr(unsafe.Pointer(times))
}
`

// traps are the numbers of the calls, by architecture.
var traps = map[string]string{
	"amd64": "const trapFstat, trapFstatat, trapStatx, trapUtimensat = SYS_FSTAT, SYS_NEWFSTATAT, 332, SYS_UTIMENSAT\n",
	"arm64": "const trapFstat, trapFstatat, trapStatx, trapUtimensat = SYS_FSTAT, SYS_FSTATAT, 291, SYS_UTIMENSAT\n",
}

// overlay returns the files of the standard library in which a clock can be shifted,
// by their paths below its source.
func overlay(source string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range edits {
		text, known := files[e.file]
		if !known {
			var err error
			if text, err = os.ReadFile(filepath.Join(source, filepath.FromSlash(e.file))); err != nil {
				return nil, err
			}
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times, want once, as in Go 1.26", e.file, e.old, n)
		}
		files[e.file] = bytes.Replace(text, []byte(e.old), []byte(e.new), 1)
	}
	return files, nil
}

// writeOverlay writes the overlay for Linux on arch into folder, and returns the
// name of the file for the go command.
func writeOverlay(goroot, arch, folder string) (string, error) {
	if traps[arch] == "" {
		return "", fmt.Errorf("clocks can be shifted on amd64 and arm64, not on %s", arch)
	}
	if strings.ContainsAny(folder, " '\"") {
		return "", fmt.Errorf("the folder %q has a space or quotation mark, which GOFLAGS cannot carry: set TMPDIR", folder)
	}
	source := filepath.Join(goroot, "src")
	files, err := overlay(source)
	if err != nil {
		return "", err
	}
	files["syscall/clockshift.go"] = []byte(shiftSource + traps[arch])
	replace := map[string]string{}
	for name, text := range files {
		replacement := filepath.Join(folder, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(replacement, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(source, filepath.FromSlash(name))] = replacement
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	result := filepath.Join(folder, "overlay.json")
	return result, os.WriteFile(result, text, 0o600)
}

package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ticks is how many units of processor time in the files of a process make a second. The kernel has the same number
// on every machine.
const ticks = 100

// DemandOf returns what a process demands now. ok is false if that is unknown.
func DemandOf(pid int) (d Demand, ok bool) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return Demand{}, false
	}
	for _, thread := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, thread.Name()))
		if err != nil {
			continue // the thread has ended
		}
		_, rest, _ := bytes.Cut(text, []byte(") ")) // behind the name, which may contain spaces
		fields := bytes.Fields(rest)
		if len(fields) < 13 {
			return Demand{}, false
		}
		d.IsRunnable = d.IsRunnable || string(fields[0]) == "R"
		for _, field := range fields[11:13] { // in user mode, and in the kernel
			used, _ := strconv.ParseInt(string(field), 10, 64)
			d.Used += time.Duration(used) * time.Second / ticks
		}
	}
	return d, true
}

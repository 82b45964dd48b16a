package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who waits for the end of a child is told of it while the child is still there: its exit
// status is not lost, and its output not yet read to the end.
func TestTheEndIsToldBeforeTheExitStatusIsTaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	told := 0
	c := Child{Path: "/bin/sh", Name: "sh", Args: []string{"-c", `echo $$ >"$0"; echo out; exit 7`, file}, Keep: 1 << 10, Ended: func() {
		told++
		pid, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		if err != nil || !isEndedChildOf(stat, os.Getpid()) {
			t.Errorf("%q, %v", stat, err)
		}
	}}
	e := c.Run(t.Context())
	out, _ := e.Stdout.Text()
	if told != 1 || e.Kind != Exited || e.Exit != 7 || out != "out\n" {
		t.Errorf("told %d times, kind %d, exit %d, %q", told, e.Kind, e.Exit, out)
	}
	if c.Path = "/nowhere"; c.Run(t.Context()).Kind != NotStarted || told != 1 {
		t.Error("the end of a program that was never started was told")
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fault is what goes wrong with one call.
type fault struct {
	Command string `json:"command"`
	// Kind is one of the cases of withFault.
	Kind string `json:"kind"`
	// Text is what is printed, or what the note becomes.
	Text string `json:"text,omitempty"`
	// Path is the note that Text is for, "" for the one of the call.
	Path string `json:"path,omitempty"`
}

const laterSwitch = "--later"

// withFault answers a call, in the way that the next fault for its command says.
func (c *call) withFault(self string, args []string, conf config) int {
	f, found := conf.take(self, c.command)
	if !found {
		fmt.Print(c.answer())
		return 0
	}
	switch f.Kind {
	case "says": // nothing is done
		fmt.Print(f.Text)
	case "does it and says": // another thing than what it did
		c.answer()
		fmt.Print(f.Text)
	case "does it twice":
		c.answer()
		fmt.Print(c.answer())
	case "does something else": // and says that it did what it was asked to
		said := c.answer()
		c.write(cmp.Or(f.Path, c.values["path"]), f.Text)
		fmt.Print(said)
	case "does it, and a plugin touches it": // as one that notes when a note was saved
		said := c.answer()
		at := cmp.Or(f.Path, c.values["path"])
		props, body, _ := split(c.read(at))
		key, value, _ := strings.Cut(f.Text, ": ")
		c.write(at, "---\n"+append(props, property{key, value}).yaml()+"---\n"+body)
		fmt.Print(said)
	case "does it late": // so long after the call, whether its client is there or not
		return startLater(task{Self: self, Args: args, After: f.Text})
	case "is slow": // so long, and then does what it should
		after, err := time.ParseDuration(f.Text)
		if err != nil {
			return refuse(self, args, err.Error())
		}
		time.Sleep(after) // slow on purpose
		fmt.Print(c.answer())
	case "hangs":
		hang()
	case "does it and hangs":
		c.answer()
		hang()
	case "does it when the client is gone":
		return startLater(task{Self: self, Args: args})
	case "does it in two steps when the client is gone": // the note is empty in between
		return startLater(task{Self: self, Args: args, Empty: c.values["path"]})
	case "crashes":
		c.answer()
		crash(self)
	case "crashes before":
		crash(self)
	default:
		return refuse(self, args, "no fault is called "+f.Kind)
	}
	return 0
}

// take returns the next fault for a command, and takes it from the config.
func (conf config) take(self, command string) (fault, bool) {
	for i, f := range conf.Faults {
		if f.Command != command {
			continue
		}
		conf.Faults = append(conf.Faults[:i:i], conf.Faults[i+1:]...)
		text, _ := json.Marshal(conf)
		if err := os.WriteFile(self+".json", text, 0o600); err != nil {
			syscall.Exit(unexpected)
		}
		return f, true
	}
	return fault{}, false
}

func hang() { select {} }

// crash ends the client by a signal. The app is ready for the next call.
func crash(self string) {
	_ = os.Remove(self + ".busy")
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	hang()
}

// onStop calls a function when the client is asked to end.
func onStop(then func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-asked
		then()
		syscall.Exit(143)
	}()
}

// startLater leaves the call to another process, as the app goes on with what a
// client has sent when the client is gone.
func startLater(t task) int {
	t.Client = os.Getpid()
	text, _ := json.Marshal(t)
	app := exec.Command(t.Self, laterSwitch, string(text))
	app.Dir = filepath.Dir(t.Self)
	detach(app)
	if err := app.Start(); err != nil {
		return refuse(t.Self, t.Args, err.Error())
	}
	hang()
	return 0
}

// task is a call that is carried out when its client is gone.
type task struct {
	Self   string   `json:"self"`
	Args   []string `json:"args"`
	Client int      `json:"client"`
	After  string   `json:"after"` // a duration, "" for until the client is gone
	// Empty is a note that is empty for a while before the call is carried out.
	Empty string `json:"empty"`
}

// emptyFor is longer than the gateway takes to look at a note once, and shorter
// than it takes a note that it does not know for finished.
const emptyFor = 120 * time.Millisecond

func later(text string) int {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return unexpected
	}
	if after, err := time.ParseDuration(t.After); err == nil {
		time.Sleep(after) // late on purpose
	}
	for t.After == "" && os.Getppid() == t.Client {
		time.Sleep(time.Millisecond) // there is no event for the end of a parent
	}
	var c config
	config, err := os.ReadFile(t.Self + ".json")
	if err != nil || json.Unmarshal(config, &c) != nil {
		return unexpected
	}
	call, err := parse(c, t.Args)
	if err != nil || call.vault == nil {
		return unexpected
	}
	if t.Empty != "" {
		call.before = map[string]string{t.Empty: call.read(t.Empty)}
		call.write(t.Empty, "")
		time.Sleep(emptyFor) // as long as the app leaves a note empty
	}
	if strings.HasPrefix(call.answer(), "Error: ") {
		return unexpected
	}
	return 0
}

// Command fakeobsidian behaves as the official Obsidian CLI with its app was
// recorded to behave (1.12.7 and 1.13.7), for tests:
//
//   - errors are printed on standard output with exit status 0;
//   - a change of one property writes the whole block of properties anew, without
//     comments, with lists in block form and line ends of its own, and leaves the
//     body alone;
//   - line breaks are put around text that is added, also where there is one;
//   - \n and \t in content are expanded, always;
//   - a name that is taken is numbered, daily:read makes a missing note, and a vault
//     is known by the name or the id that the app has for it, and by no other.
//
// It has its own code for reading and writing a vault, and shares none with
// vaultwicket: a fault in that cannot hide itself here. It is strict: a command or
// a parameter that it does not know, and a second call while one is being worked
// on, are answered with status 99 and kept in the log.
//
// It is called through a link. Next to the link, NAME.json is its [config], and
// NAME.log gets one line of JSON for each call.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// config is what a test tells the fake.
type config struct {
	// Vaults are those that the app has open, the active one first.
	Vaults []vault `json:"vaults"`
	// Version is what the app says of itself, "" for the one of 1.12.7.
	Version string `json:"version"`
	// Today is the day of the daily note, YYYY-MM-DD.
	Today string `json:"today"`
	// Minute is the minute of the day that unique notes are named after, hhmm; "" for 1042.
	Minute string `json:"minute"`
	// FinalBreak ends every text that is added with a line break.
	FinalBreak bool `json:"finalBreak"`
	// History and Sync are the versions of notes by their paths, the newest first.
	History map[string][]string `json:"history"`
	Sync    map[string][]string `json:"sync"`
	// Heads is set for an app that prints a head before the text of a version.
	Heads bool `json:"heads"`
	// Answers are what further commands print, whatever their parameters. They do nothing.
	Answers map[string]string `json:"answers"`
	// Away is set while the app does not run: the client cannot reach it.
	Away bool `json:"away"`
	// Faults happen in their order, each once, at the next call of their command.
	Faults []fault `json:"faults"`
}

// vault is one that the app knows.
type vault struct {
	ID     string `json:"id"`
	Name   string `json:"name"` // need not be that of its folder
	Folder string `json:"folder"`
}

// logged is one call.
type logged struct {
	Args       []string `json:"args"`
	Unexpected string   `json:"unexpected,omitempty"` // why it must not have come
}

const unexpected = 99

func main() {
	if len(os.Args) == 3 && os.Args[1] == laterSwitch {
		syscall.Exit(later(os.Args[2]))
	}
	syscall.Exit(serve(os.Args[0], os.Args[1:])) // os.Exit lets the race detector sleep for a second
}

// serve answers one call.
func serve(self string, args []string) int {
	var c config
	text, err := os.ReadFile(self + ".json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return refuse(self, args, err.Error())
	}
	// The app works on one call at a time, and was seen to swap answers otherwise.
	if err := os.Mkdir(self+".busy", 0o700); err != nil {
		return refuse(self, args, "another call is being worked on")
	}
	release := func() { _ = os.Remove(self + ".busy") }
	defer release()
	onStop(release)
	call, err := parse(c, args)
	if err != nil {
		return refuse(self, args, err.Error())
	}
	record(self, logged{Args: args})
	if c.Away {
		fmt.Fprintln(os.Stderr, "The CLI is unable to find Obsidian. Please make sure Obsidian is running and try again.")
		return 1
	}
	if call.vault == nil {
		fmt.Println("Vault not found.")
		return 0
	}
	return call.withFault(self, args, c)
}

// refuse answers a call that must not come.
func refuse(self string, args []string, why string) int {
	record(self, logged{Args: args, Unexpected: why})
	fmt.Fprintf(os.Stderr, "fake obsidian: %q: %s\n", args, why)
	return unexpected
}

func record(self string, l logged) {
	line, _ := json.Marshal(l)
	f, err := os.OpenFile(self+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		syscall.Exit(unexpected)
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// call is a command with its parameters, for one vault.
type call struct {
	vault   *vault
	config  config
	command string
	values  map[string]string // flags are "true"
	before  map[string]string // notes as the app has them in memory, in place of those on the disk
}

// parse reads [vault=NAME] COMMAND [key=value | flag ...].
func parse(c config, args []string) (*call, error) {
	called := &call{config: c, values: map[string]string{}}
	if len(c.Vaults) > 0 {
		called.vault = &c.Vaults[0]
	}
	if name, ok := strings.CutPrefix(first(args), "vault="); ok {
		called.vault = nil
		args = args[1:]
		if i := slices.IndexFunc(c.Vaults, func(v vault) bool { return v.Name == name || v.ID != "" && v.ID == name }); i >= 0 {
			called.vault = &c.Vaults[i]
		}
	}
	called.command = first(args)
	known, ok := commands[called.command]
	if _, prints := c.Answers[called.command]; prints {
		return called, nil
	}
	if !ok {
		return nil, fmt.Errorf("there is no command %q here", called.command)
	}
	for _, arg := range args[1:] {
		key, value, isPair := strings.Cut(arg, "=")
		if !isPair {
			value = "true"
		}
		if !slices.Contains(strings.Fields(known.params), key) {
			return nil, fmt.Errorf("%s has no parameter %q here", called.command, key)
		}
		called.values[key] = value
	}
	return called, nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (c *call) has(key string) bool { _, ok := c.values[key]; return ok }

// answer carries the call out and returns what the app prints.
func (c *call) answer() (said string) {
	defer func() {
		if failed := recover(); failed != nil {
			said = "Error: " + string(failed.(sentence))
		}
		if !strings.HasSuffix(said, "\n") && (said != "" || c.command == "read") {
			said += "\n"
		}
	}()
	if text, prints := c.config.Answers[c.command]; prints {
		return text
	}
	return commands[c.command].run(c)
}

// file returns the path of a file of the vault on the disk.
func (c *call) file(path string) string {
	return filepath.Join(c.vault.Folder, filepath.FromSlash(path))
}

package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// reading is a rule of a client by which it runs the tool that only reads without a question of its own, as it has to
// without a terminal. NAME is the name of the server, TOOL that of the tool. The zero value is for a client that needs none.
type reading struct {
	file   string // pattern of the file of the user that has the rule
	format format
	list   textedit.Place // the list in the file that has the rule; the zero Place if the rule is the whole file
	rule   string
	asked  bool // the user is asked about the rule alone
}

// isFile reports whether the rule is a file of its own.
func (r reading) isFile() bool { return r.list.Name == "" }

var (
	claudeReading = reading{
		file:   claudeFolder + "/settings.json",
		format: relaxedJSON,
		list:   textedit.Place{Path: []string{"permissions"}, Name: "allow"},
		rule:   toolRule,
		asked:  true,
	}
	qwenReading = reading{
		file:   "~/.qwen/settings.json",
		format: commentJSON,
		list:   textedit.Place{Path: []string{"permissions"}, Name: "allow"},
		rule:   toolRule,
	}
	geminiReading = reading{
		file:   "~/.gemini/policies/NAME.toml",
		format: tomlFormat,
		rule: "# Written by \"vaultwicket install gemini\": tools of vaultwicket that only read run without a question.\n" +
			"[[rule]]\n" +
			"mcpName = \"NAME\"\n" +
			"toolName = \"*\"\n" +
			"toolAnnotations = { readOnlyHint = true }\n" +
			"decision = \"allow\"\n" +
			"priority = 100\n",
	}
)

// toolRule is the rule of Claude Code and Qwen Code for one tool of a server.
const toolRule = "mcp__NAME__TOOL"

// edit is the change of one file.
type edit struct {
	before  file
	after   []byte
	deletes bool // the file is deleted
}

func (e *edit) none() bool { return !e.deletes && bytes.Equal(e.before.content, e.after) }

// ruleChange is what a change does with the rule for reading.
type ruleChange struct {
	edit   *edit    // of the file of the rule, which can be that of the entry
	adds   string   // the rule that is written, "" for none
	takes  []string // rules that are taken back
	folder string   // with the records of rules
}

// CanAllowReading reports whether a client has a rule for reading that can be written for a server.
func (c Client) CanAllowReading(scope Scope, s Server) bool {
	// Which of its tools only read is decided by the settings of a server that runs already.
	return c.reads.file != "" && scope == User && s.URL == ""
}

// AllowsReading reports whether the rule for reading is there, whoever wrote it. The error is an [*terminal.Failure].
func (i Installer) AllowsReading(c Client, s Server) (bool, error) {
	r := c.reads
	if r.file == "" {
		return false, nil
	}
	f, err := readFile(i.System.path(s.named(r.file)))
	switch {
	case err != nil:
		return false, err
	case r.isFile():
		return string(f.content) == s.named(r.rule), nil
	}
	editor := r.words()
	isThere := func(rule string) bool { return editor.HasWord(f.content, r.list, rule) }
	return isThere(s.named(r.rule)) || slices.ContainsFunc(i.recorded(c, f, s.Name), isThere), nil
}

// words returns the editor of the list of rules.
func (r reading) words() textedit.JSON {
	editor, _ := r.format.editor().(textedit.JSON)
	return editor
}

// AllowReading adds to a change that the rule for reading is written. The rules that were written for the server
// before, and are another one, are taken back. The error is an [*terminal.Failure].
func (c *Change) AllowReading(s Server) error { return c.setReading(s, s.named(c.Client.reads.rule)) }

// WithdrawReading adds to a change that the rules for reading that were written for the server before are taken back.
// The error is an [*terminal.Failure].
func (c *Change) WithdrawReading(s Server) error { return c.setReading(s, "") }

// setReading adds to a change that a rule is the only one for reading by the server, "" for none.
func (c *Change) setReading(s Server, wanted string) error {
	r := c.Client.reads
	if r.file == "" || c.Scope != User {
		return nil
	}
	name := c.installer.System.path(s.named(r.file))
	e := &c.edit
	if name != c.File {
		f, err := readFile(name)
		if err != nil {
			return err
		}
		e = &edit{before: f, after: f.content}
	}
	change := &ruleChange{edit: e, folder: c.installer.backupsOf(c.Client, e.before)}
	if r.isFile() {
		switch old := string(e.before.content); {
		case wanted != "" && e.before.missing():
			change.adds = wanted
			e.after = []byte(wanted)
		case wanted == "" && old == s.named(r.rule) && !e.before.missing():
			change.takes = []string{old}
			e.after = nil
			e.deletes = true
		}
	} else if err := change.editList(c.Client, c.installer.recorded(c.Client, e.before, s.Name), wanted); err != nil {
		return c.Client.unusable(name, err)
	}
	if change.adds != "" || len(change.takes) > 0 {
		c.rule = change
	}
	return nil
}

// editList plans to take the recorded rules back and to add the wanted one, "" for none. A rule that the list has
// already and that is not recorded is somebody else's, and stays.
func (change *ruleChange) editList(c Client, recorded []string, wanted string) (err error) {
	e := change.edit
	list := c.reads.list
	editor := c.reads.words()
	for _, rule := range recorded {
		if rule == wanted {
			continue
		}
		change.takes = append(change.takes, rule)
		if e.after, err = editor.RemoveWord(e.after, list, rule); err != nil {
			return err
		}
	}
	if wanted == "" || editor.HasWord(e.after, list, wanted) {
		return nil
	}
	change.adds = wanted
	e.after, err = editor.AddWord(e.after, list, wanted)
	return err
}

// recordEnding is that of an empty file with the name of a rule which was written.
const recordEnding = ".rule"

// recorded returns the rules that were written to a file for a server.
func (i Installer) recorded(c Client, f file, server string) (rules []string) {
	folder := i.backupsOf(c, f)
	if ownerfiles.CheckFolder(folder) != nil { // others could have put a name there
		return nil
	}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		rule, isRecord := strings.CutSuffix(entry.Name(), recordEnding)
		if isRecord && strings.HasPrefix(rule, "mcp__"+server+"__") {
			rules = append(rules, rule)
		}
	}
	return rules
}

// record notes that a rule is written, so that it is taken back later and one of the user is not.
func (change *ruleChange) record() error {
	if change.adds == "" || strings.ContainsAny(change.adds, "/\\\n") {
		return nil // a file of its own is known by what is in it
	}
	name := filepath.Join(change.folder, change.adds+recordEnding)
	out, err := ownerfiles.Disk{}.Create(name)
	if os.IsExist(err) {
		return nil
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return environment(name, err)
	}
	return nil
}

// forget removes the records of the rules that were taken back.
func (change *ruleChange) forget() {
	for _, rule := range change.takes {
		if !strings.ContainsAny(rule, "/\\\n") {
			_ = os.Remove(filepath.Join(change.folder, rule+recordEnding))
		}
	}
}

// verify returns an error if the file of the rule is not as it was planned.
func (change *ruleChange) verify(c Client) error {
	f, err := readFile(change.edit.before.name)
	if err != nil {
		return err
	}
	isKept := bytes.Equal(f.content, change.edit.after) && f.missing() == change.edit.deletes
	if !isKept {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%s did not keep the rule in %q", c.Name, change.edit.before.name),
			"",
		)
	}
	return nil
}

// says describes for the user what happens to the rule.
func (change *ruleChange) says(c Client) string {
	if change.adds != "" {
		return c.Name + " then runs the tool of vaultwicket that only reads without a question of its own, as it has to without a terminal."
	}
	return c.Name + " asks about reading again: the rule that was written for it is taken back."
}

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

// reading describes the rule in a client's settings that lets it run the read-only tool without asking, which is
// necessary without a terminal. In rule and file, NAME stands for the name of the server and TOOL for the tool. The
// zero value is for a client without such a rule.
type reading struct {
	file   string // pattern of the user's file that contains the rule
	format format
	list   textedit.Place // the list in the file that contains the rule; zero if the rule is the whole file
	rule   string
	asked  bool // the user is asked separately about the rule
}

// isFile reports whether the rule is a whole file.
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

// edit is a planned change of one file.
type edit struct {
	before  file
	after   []byte
	deletes bool // the file is deleted
}

func (e *edit) none() bool { return !e.deletes && bytes.Equal(e.before.content, e.after) }

// ruleChange is a planned change of the rule for reading.
type ruleChange struct {
	edit    *edit    // the change of the file with the rule, which can be the file with the entry
	adds    string   // the rule that is added, "" for none
	removes []string // the rules that are removed
	folder  string   // the folder with the records of added rules
}

// CanAllowReading reports whether a rule for reading can be added for a server.
func (c Client) CanAllowReading(scope Scope, s Server) bool {
	// For a server over HTTP, its own settings decide which of its tools are read-only.
	return c.reads.file != "" && scope == User && s.URL == ""
}

// AllowsReading reports whether the rule for reading exists, whoever added it. The error is a [*terminal.Failure].
func (i Installer) AllowsReading(c Client, s Server) (bool, error) {
	r := c.reads
	if r.file == "" {
		return false, nil
	}
	current, err := readFile(i.System.path(s.fillIn(r.file)))
	switch {
	case err != nil:
		return false, err
	case r.isFile():
		return string(current.content) == s.fillIn(r.rule), nil
	}
	editor := r.words()
	hasRule := func(rule string) bool { return editor.HasWord(current.content, r.list, rule) }
	return hasRule(s.fillIn(r.rule)) || slices.ContainsFunc(i.recorded(c, current, s.Name), hasRule), nil
}

// words returns the editor for the list of rules.
func (r reading) words() textedit.JSON {
	editor, _ := r.format.editor().(textedit.JSON)
	return editor
}

// AllowReading extends a change so that it adds the rule for reading and removes other rules that were added for the
// server before. The error is a [*terminal.Failure].
func (c *Change) AllowReading(s Server) error { return c.setReading(s, s.fillIn(c.Client.reads.rule)) }

// WithdrawReading extends a change so that it removes the rules for reading that were added for the server before.
// The error is a [*terminal.Failure].
func (c *Change) WithdrawReading(s Server) error { return c.setReading(s, "") }

// setReading extends a change so that wanted is the only rule for reading that was added for the server, "" for none.
func (c *Change) setReading(s Server, wanted string) error {
	r := c.Client.reads
	if r.file == "" || c.Scope != User {
		return nil
	}
	name := c.installer.System.path(s.fillIn(r.file))
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
		case wanted == "" && old == s.fillIn(r.rule) && !e.before.missing():
			change.removes = []string{old}
			e.after = nil
			e.deletes = true
		}
	} else if err := change.editList(c.Client, c.installer.recorded(c.Client, e.before, s.Name), wanted); err != nil {
		return c.Client.unusable(name, err)
	}
	if change.adds != "" || len(change.removes) > 0 {
		c.rule = change
	}
	return nil
}

// editList plans to remove the recorded rules and to add the wanted one, "" for none. A rule that is not recorded was
// added by somebody else, and stays.
func (change *ruleChange) editList(c Client, recorded []string, wanted string) (err error) {
	e := change.edit
	list := c.reads.list
	editor := c.reads.words()
	for _, rule := range recorded {
		if rule == wanted {
			continue
		}
		change.removes = append(change.removes, rule)
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

// recordEnding is the file name extension of records: empty files with the name of a rule that was added.
const recordEnding = ".rule"

// recorded returns the rules that were added to a file for a server.
func (i Installer) recorded(c Client, f file, server string) (rules []string) {
	folder := i.backupsOf(c, f)
	if ownerfiles.CheckFolder(folder) != nil { // others could have put files there
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

// record stores that a rule was added, so that later only such rules are removed, and never those of the user.
func (change *ruleChange) record() error {
	if change.adds == "" || strings.ContainsAny(change.adds, "/\\\n") {
		return nil // a rule that is a whole file is recognized by its content
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

// forget deletes the records of the removed rules.
func (change *ruleChange) forget() {
	for _, rule := range change.removes {
		if !strings.ContainsAny(rule, "/\\\n") {
			_ = os.Remove(filepath.Join(change.folder, rule+recordEnding))
		}
	}
}

// verify returns an error if the file with the rule is not as planned.
func (change *ruleChange) verify(c Client) error {
	written, err := readFile(change.edit.before.name)
	if err != nil {
		return err
	}
	isKept := bytes.Equal(written.content, change.edit.after) && written.missing() == change.edit.deletes
	if !isKept {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%s did not keep the rule in %q", c.Name, change.edit.before.name),
			"",
		)
	}
	return nil
}

// describe returns a sentence for the user about the change.
func (change *ruleChange) describe(c Client) string {
	if change.adds != "" {
		return c.Name + " then runs the tool of vaultwicket that only reads without a question of its own, as it has to without a terminal."
	}
	return c.Name + " asks about reading again: the rule that was written for it is taken back."
}

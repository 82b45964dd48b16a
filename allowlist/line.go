package allowlist

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of the ways an argument travels.
const (
	linuxItemBytes = 128<<10 - 1 // MAX_ARG_STRLEN with its NUL; beyond it execve answers E2BIG (measured)
	windowsLine    = 30000       // CreateProcess takes 32,767 UTF-16 units; the rest is for the program and the arguments before the command
	windowsItem    = 3 << 10     // the app's main process throws between 3584 and 4096 bytes (recorded on 1.12.7)
	macTotalBytes  = 8000        // multi-byte text across 8 KB is damaged without a word (reported on 1.12)
	stdinFromBytes = 4 << 10     // longer text goes to the embedded program on standard input
)

// Carrier is how a call reaches its program, with its limits; the zero Carrier has the narrowest.
type Carrier struct {
	embedded bool
	os       string
}

// ToApp is the Obsidian CLI on an operating system, named as in runtime.GOOS.
func ToApp(goos string) Carrier { return Carrier{os: goos} }

// ToEmbedded is the embedded CLI on an operating system. It takes one
// value on standard input, so that one text can be long or contain backslashes.
func ToEmbedded(goos string) Carrier { return Carrier{embedded: true, os: goos} }

// Line is a call as the arguments of a program.
type Line struct {
	// Argv begins with vault=… when a vault is set, then the command, its bare value, sorted key=value
	// items and sorted flags. The program itself is not in it.
	Argv       []string
	StdinParam string // names the parameter whose value is Stdin and not in Argv. It is "" when there is none.
	Stdin      string
}

// Line returns the arguments of the call for a carrier. A value arrives byte for byte or there is an
// error, a [*ParseError] with CodeContentUnsafe or CodeContentTooLong. A target that the app does not
// know is refused with CodeTargetRequired, because the app would work on the open note instead.
func (c Call) Line(k Carrier) (Line, error) {
	var line Line
	if c.row == nil {
		return line, &ParseError{code: CodeUnknownCommand, Reason: "is empty"}
	}
	if k.embedded {
		// A text that would be rewritten, otherwise a long one, is not put into an argument.
		i := slices.IndexFunc(c.args, func(a arg) bool { return a.kind.free() && rewritten(a.value) })
		if i < 0 {
			i = slices.IndexFunc(c.args, func(a arg) bool { return a.kind.free() && len(a.value) > stdinFromBytes })
		}
		if i >= 0 {
			line.StdinParam = c.args[i].key
			line.Stdin = c.args[i].value
		}
	} else if key := c.embeddedOnlyParam(); key != "" {
		return Line{}, c.refuse(CodeTargetRequired, key, "is known to the embedded vault CLI only, and the app would change the note that is open")
	}
	if i := slices.IndexFunc(c.row.embeddedWith, c.hasAll); i >= 0 && !k.embedded {
		return Line{}, c.refuse(
			CodeTargetRequired,
			c.row.embeddedWith[i][0],
			"the app does not take it together with "+strings.Join(c.row.embeddedWith[i][1:], ", "),
		)
	}
	unsafe := ""
	if rewritten(c.vault) {
		unsafe = "vault"
	} else if i := slices.IndexFunc(c.args, func(a arg) bool { return a.key != line.StdinParam && a.kind.free() && rewritten(a.value) }); i >= 0 {
		unsafe = c.args[i].key
	}
	if unsafe != "" {
		err := c.refuse(
			CodeContentUnsafe,
			unsafe,
			`contains a backslash followed by n, t or r, which the Obsidian CLI would turn into a line break or a tab`,
		)
		err.hint = `for a line break send the line break itself; text with backslashes needs the embedded backend: the user can set vault to the folder of the vault`
		return Line{}, err
	}
	line.Argv = c.itemsWithout(line.StdinParam)
	if reason, key := k.tooLong(line.Argv); reason != "" {
		err := c.refuse(CodeContentTooLong, key, reason)
		err.hint = "send less at once; the user can set vault to the folder of the vault, and the embedded backend takes it"
		return Line{}, err
	}
	return line, nil
}

// free reports whether a value of this kind can contain a backslash followed by a letter.
func (k kind) free() bool {
	switch k {
	case kindText, kindContent, kindData, kindName, kindURL:
		return true
	}
	return false
}

// takesNumber reports whether a value of this kind may be given as a number: it is read as its digits.
func (k kind) takesNumber() bool { return k == kindNumber || k == kindAge || k.free() }

// long reports whether values of the kind can be longer than what is shown of a parameter beside others.
func (k kind) long() bool {
	switch k {
	case kindText, kindContent, kindData, kindURL:
		return true
	}
	return false
}

// rewritten reports whether the client changes s on its way: it turns \n and \t into a line break and a
// tab, and no number of backslashes protects them (recorded on 1.12.7; \r by one report).
func rewritten(s string) bool {
	return strings.Contains(s, `\n`) || strings.Contains(s, `\t`) || strings.Contains(s, `\r`)
}

// Items returns the call as arguments, without regard to a carrier. No other call has the same.
func (c Call) Items() []string { return c.itemsWithout("") }

// HasValue reports whether is says so of the value of an argument.
func (c Call) HasValue(is func(value string) bool) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool { return is(a.value) })
}

func (c Call) itemsWithout(key string) []string {
	if c.row == nil {
		return nil
	}
	items := make([]string, 0, len(c.args)+2)
	if c.vault != "" {
		items = append(items, "vault="+c.vault)
	}
	items = append(items, c.row.name)
	for _, a := range c.args {
		switch {
		case a.key == key:
		case a.kind == kindFlag:
			items = append(items, a.key)
		case a.kind == kindWord:
			items = append(items, a.value)
		default:
			items = append(items, a.key+"="+a.value)
		}
	}
	return items
}

// tooLong returns the reason why items do not fit, and the key of the longest.
func (k Carrier) tooLong(items []string) (reason, key string) {
	longest := ""
	total := 0
	units := 0
	ascii := true
	for _, item := range items {
		total += len(item) + 1
		units += 3 // an upper bound: quotes around it, and every quote and backslash twice
		for _, r := range item {
			units += utf16.RuneLen(r)
			if r == '"' || r == '\\' {
				units++
			}
		}
		ascii = ascii && strings.IndexFunc(item, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if len(item) > len(longest) {
			longest = item
		}
	}
	key, _, _ = strings.Cut(longest, "=")
	// A system that is not known has the limits of all.
	app := !k.embedded
	windows := k.os != "linux" && k.os != "darwin"
	mac := k.os != "linux" && k.os != "windows"
	isDamaged := app && mac && !ascii
	switch {
	case app && windows && len(longest) > windowsItem:
		return fmt.Sprintf(
			"is %d bytes, and the app breaks off above %d in one argument on Windows",
			len(longest),
			windowsItem,
		), key
	case windows && units > windowsLine:
		return fmt.Sprintf("makes a command line of %d characters, Windows takes %d", units, windowsLine), key
	case isDamaged && total > macTotalBytes:
		return fmt.Sprintf(
			"makes %d bytes with other than ASCII characters, and the client damages such text above %d on macOS",
			total,
			macTotalBytes,
		), key
	case len(longest) > linuxItemBytes:
		return fmt.Sprintf("is %d bytes, an argument can have %d", len(longest), linuxItemBytes), key
	}
	return "", ""
}

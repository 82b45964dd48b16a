package allowlist

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of the operating systems and of the app for arguments.
const (
	linuxItemBytes = 128<<10 - 1 // MAX_ARG_STRLEN without its NUL; beyond it execve fails with E2BIG (measured)
	windowsLine    = 30000       // CreateProcess accepts 32,767 UTF-16 units; the rest is for the program and the arguments before the command
	windowsItem    = 3 << 10     // the app's main process throws between 3584 and 4096 bytes (recorded on 1.12.7)
	macTotalBytes  = 8000        // multi-byte text beyond 8 KB is silently damaged (reported on 1.12)
	stdinFromBytes = 4 << 10     // longer text is passed to the embedded CLI on standard input
)

// Carrier is the way in which a call reaches its program, with its limits. The zero Carrier has the
// narrowest limits.
type Carrier struct {
	embedded bool
	os       string
}

// ToApp returns the carrier to the Obsidian CLI on an operating system, named as in runtime.GOOS.
func ToApp(goos string) Carrier { return Carrier{os: goos} }

// ToEmbedded returns the carrier to the embedded CLI on an operating system, named as in runtime.GOOS. It
// passes one value on standard input, so that one text may be long or contain backslashes.
func ToEmbedded(goos string) Carrier { return Carrier{embedded: true, os: goos} }

// Line is a call as the arguments of a program.
type Line struct {
	// Argv begins with vault=… if a vault is set, followed by the command, its bare value, sorted key=value
	// items and sorted flags. It does not contain the program itself.
	Argv       []string
	StdinParam string // the parameter whose value is in Stdin and not in Argv, "" for none
	Stdin      string
}

// Line returns the arguments of the call for a carrier. If a value would not arrive byte for byte, the
// error is a [*ParseError] with CodeContentUnsafe or CodeContentTooLong. A parameter that the app does not
// know is refused with CodeTargetRequired, because the app would work on the open note instead.
func (c Call) Line(k Carrier) (Line, error) {
	var line Line
	if c.row == nil {
		return line, &ParseError{code: CodeUnknownCommand, Reason: "is empty"}
	}
	if k.embedded {
		// A text that would be rewritten, otherwise a long one, goes to standard input.
		i := slices.IndexFunc(c.args, func(a arg) bool { return a.kind.isFreeText() && isRewritten(a.value) })
		if i < 0 {
			i = slices.IndexFunc(c.args, func(a arg) bool { return a.kind.isFreeText() && len(a.value) > stdinFromBytes })
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
	if unsafe := c.rewrittenParam(line.StdinParam); unsafe != "" {
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

// rewrittenParam returns a parameter other than stdinParam whose value the Obsidian CLI would change, "" if there is none.
func (c Call) rewrittenParam(stdinParam string) string {
	if isRewritten(c.vault) {
		return "vault"
	}
	for _, a := range c.args {
		if a.key != stdinParam && a.kind.isFreeText() && isRewritten(a.value) {
			return a.key
		}
	}
	return ""
}

// isFreeText reports whether values of this kind can contain a backslash followed by a letter.
func (k kind) isFreeText() bool {
	switch k {
	case kindText, kindContent, kindData, kindName, kindURL:
		return true
	}
	return false
}

// takesNumber reports whether values of this kind may be given as a number, which is used with its digits.
func (k kind) takesNumber() bool { return k == kindNumber || k == kindAge || k.isFreeText() }

// isLong reports whether values of this kind can be too long to be shown in a list of parameters.
func (k kind) isLong() bool {
	switch k {
	case kindText, kindContent, kindData, kindURL:
		return true
	}
	return false
}

// isRewritten reports whether the Obsidian CLI would change s: it turns \n and \t into a line break and a
// tab, however many backslashes precede them (recorded on 1.12.7; \r by one report).
func isRewritten(s string) bool {
	return strings.Contains(s, `\n`) || strings.Contains(s, `\t`) || strings.Contains(s, `\r`)
}

// Items returns the arguments of the call, regardless of a carrier. Different calls have different arguments.
func (c Call) Items() []string { return c.itemsWithout("") }

// HasValue reports whether is returns true for the value of some argument.
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

// tooLong returns the reason why items are too long for the carrier, "" if they fit, and the key of the longest item.
func (k Carrier) tooLong(items []string) (reason, key string) {
	longest := ""
	total := 0
	units := 0
	isASCII := true
	for _, item := range items {
		total += len(item) + 1
		units += 3 // quotes around it and a blank; as an upper bound, every quote and backslash counts twice
		for _, r := range item {
			units += utf16.RuneLen(r)
			if r == '"' || r == '\\' {
				units++
			}
		}
		isASCII = isASCII && strings.IndexFunc(item, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if len(item) > len(longest) {
			longest = item
		}
	}
	key, _, _ = strings.Cut(longest, "=")
	// An unknown system has the limits of all systems.
	toApp := !k.embedded
	mayBeWindows := k.os != "linux" && k.os != "darwin"
	mayBeMac := k.os != "linux" && k.os != "windows"
	isDamaged := toApp && mayBeMac && !isASCII
	switch {
	case toApp && mayBeWindows && len(longest) > windowsItem:
		return fmt.Sprintf(
			"is %d bytes, and the app breaks off above %d in one argument on Windows",
			len(longest),
			windowsItem,
		), key
	case mayBeWindows && units > windowsLine:
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

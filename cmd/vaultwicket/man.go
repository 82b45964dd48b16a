package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

var helpOfMan = description{
	Name: "man", Usage: "[--list | --write FOLDER | PAGE]", Group: groupOther,
	Summary: "print a manual page, or write all of them",
	About:   []string{"Pages are mdoc source. There is one for the program, one for each command, and \"settings\"."},
	Examples: []example{
		{"read a page", "vaultwicket man run | man -l -"},
		{"install all pages for this user", "vaultwicket man --write ~/.local/share/man"},
	},
}

// printManual is "vaultwicket man": a manual page in mdoc, or the files of all of them.
func printManual(_ context.Context, std terminal.Streams, args []string) error {
	var list bool
	var folder string
	rest, err := terminal.ParseFlags("man", args, func(f terminal.FlagSet) {
		f.BoolVar(&list, "list", false, "list the files of the pages")
		f.StringVar(&folder, "write", "", "write all pages below this folder, in man1 and man5")
	})
	switch {
	case err != nil:
		return err
	case len(rest) > 1 || len(rest) > 0 && (list || folder != "") || list && folder != "":
		return &terminal.UsageError{Reason: "man takes one page, --list or --write", Advice: `"vaultwicket man run" prints the page of run`}
	case list:
		for _, page := range newManual().Pages() {
			fmt.Fprintln(std.Out, page.File())
		}
		return nil
	case folder != "":
		// Write the files of all pages, as a folder of MANPATH has them.
		for _, page := range newManual().Pages() {
			place := filepath.Join(folder, "man"+strconv.Itoa(page.Section))
			err := os.MkdirAll(place, 0o755)
			if err == nil {
				err = os.WriteFile(filepath.Join(place, page.File()), []byte(page.Text), 0o644)
			}
			if err != nil {
				return &terminal.UsageError{Reason: fmt.Sprintf("write the manual pages: %v", err), Advice: "choose a folder that you can write to"}
			}
		}
		return nil
	}
	name := "vaultwicket"
	if len(rest) == 1 {
		name = rest[0]
	}
	page, found := newManual().Page(name)
	if !found {
		return &terminal.UsageError{Reason: fmt.Sprintf("unknown manual page %q%s", quote.Short(name), quote.DidYouMean(name, manualNames())), Advice: `"vaultwicket man --list" lists the pages`}
	}
	if terminal.IsTerminal(std.Out) {
		terminal.Notef(std.Err, "this is the source of the page; read it with: vaultwicket man %s | man -l -", name)
	}
	_, err = io.WriteString(std.Out, page.Text)
	return err
}

// newManual returns the source of the manual pages.
func newManual() manualSource {
	s := manualSource{
		Date:  release.Date,
		Flags: func(command string) flagLists { return ownAndSettings(flagsOf(command)) },
	}
	for _, one := range settings.Describe() {
		s.Settings.List = append(s.Settings.List, settingText(one))
	}
	s.Settings.Vault, s.Settings.Levels = factsOf(settings.DescribeVault()), factsOf(settings.DescribeLevels())
	for _, one := range terminal.ExitMeanings {
		s.Statuses = append(s.Statuses, fact{Name: strconv.Itoa(one.Status), About: one.Meaning})
	}
	return s
}

func factsOf(pairs [][2]string) (facts []fact) {
	for _, pair := range pairs {
		facts = append(facts, fact{Name: pair[0], About: pair[1]})
	}
	return facts
}

// Command client stands for the official CLI: it answers at once, with no more
// work than printing, so that what is measured is not its own.
package main

import (
	"os"
	"strings"
)

func main() {
	for _, arg := range os.Args[1:] {
		if arg == "version" {
			os.Stdout.WriteString("1.12.7 (installer 1.12.7)\n")
			return
		}
	}
	os.Stdout.WriteString("Ideas/Tides.md\n" + strings.Repeat("Two high waters a day, fifty minutes later each time.\n", 20))
}

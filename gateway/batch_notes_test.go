package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// playNotes is an embedded program that keeps notes: a vault with a file .notes
// is one of it. It knows create, append and read, each with path=. It reports
// false for another vault.
func playNotes(vault string, args []string) (status int, plays bool) {
	if _, err := os.Stat(filepath.Join(vault, ".notes")); err != nil {
		return 0, false
	}
	values := map[string]string{}
	command := ""
	for _, word := range args[slices.Index(args, "--facts")+1:] {
		if key, value, found := strings.Cut(word, "="); found {
			values[key] = value
		} else {
			command = word
		}
	}
	name := filepath.Join(vault, values["path"])
	text, err := os.ReadFile(name)
	switch {
	case command == "create" && err == nil:
		fmt.Printf("Error: File \"%s\" already exists.\n", values["path"])
		return 1, true
	case command != "create" && err != nil:
		fmt.Printf("Error: File \"%s\" not found.\n", values["path"])
		return 1, true
	case command == "read":
		_, _ = os.Stdout.Write(text)
		return 0, true
	}
	if err := os.WriteFile(name, append(text, values["content"]+"\n"...), 0o600); err != nil {
		panic(err)
	}
	fmt.Printf("%s%s\n", map[string]string{"create": "Created: ", "append": "Appended to: "}[command], values["path"])
	return 0, true
}

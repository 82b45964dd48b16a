package gateway

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// An operation of a proposal needs the earlier operations without which it would do something else: those whose
// results it uses, and those that make, move or change a file or folder that it reads, changes or links to. In doubt
// an operation counts as needed: what the owner takes is planned again and shown in any case.

// touched is what an operation reads, writes and links to, as folded paths. The root of the vault is "".
type touched struct {
	writes []string // files and folders that it makes, moves, changes or deletes
	reads  []string // files that it names or takes text from; a folder stands for everything below it
	names  []string // link names of files that it makes or moves
	links  []string // link names in the lines that it adds
	takes  []string // operations whose results it uses
}

// needsOf returns, for each operation, the indexes of the earlier ones that it needs. Files for which isVisible
// returns false do not count.
func (r *rehearsal) needsOf(isVisible func(path string) bool) [][]int {
	touchedFiles := make([]touched, len(r.steps))
	needs := make([][]int, len(r.steps))
	for i := range r.steps {
		touchedFiles[i] = r.touchedBy(i, isVisible)
		for j := range i {
			if touchedFiles[i].needs(touchedFiles[j], r.steps[j].ClientID) {
				needs[i] = append(needs[i], j)
			}
		}
	}
	return needs
}

// needs reports whether an operation needs an earlier one, whose name is earlierID.
func (t touched) needs(earlier touched, earlierID string) bool {
	if slices.Contains(t.takes, earlierID) {
		return true
	}
	isWritten := func(path string) bool {
		return slices.ContainsFunc(earlier.writes, func(written string) bool { return overlap(path, written) })
	}
	if slices.ContainsFunc(t.writes, isWritten) || slices.ContainsFunc(t.reads, isWritten) {
		return true
	}
	return slices.ContainsFunc(t.links, func(link string) bool { return slices.Contains(earlier.names, link) })
}

// overlap reports whether two paths are the same, or one is a folder above the other. "" is the root.
func overlap(a, b string) bool {
	if a == "" || b == "" || a == b {
		return true
	}
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// searchedFolder is the parameter for a folder whose notes a call searches. The call is about those notes, not about
// the folder.
const searchedFolder = "folder"

// touchedBy returns what operation i has to do with.
func (r *rehearsal) touchedBy(i int, isVisible func(path string) bool) (t touched) {
	step := r.steps[i]
	call := step.plan.call
	for _, ref := range step.references() {
		t.takes = append(t.takes, ref.ClientID)
	}
	named := call.NamedPaths()
	for _, s := range named {
		t.reads = append(t.reads, access.Fold(s.Path))
		isFolderItself := s.Folder && !s.To && s.Param != searchedFolder
		if isFolderItself && call.Effect().Mutates() {
			t.writes = append(t.writes, access.Fold(s.Path))
		}
	}
	if notePath := r.results[i].Path; notePath != "" && isVisible(notePath) {
		t.reads = append(t.reads, access.Fold(notePath))
	}
	isSearch := call.Effect() == tiers.Reads && r.isReferredTo(i)
	if (call.ChangesMany() || isSearch) && len(t.reads) == 0 {
		t.reads = []string{""} // it may read any file
	}
	change := step.plan.change
	if change == nil {
		return t
	}
	for _, taken := range change.Takes {
		if isVisible(taken) {
			t.reads = append(t.reads, access.Fold(taken))
		}
	}
	for _, f := range change.Files {
		if !isVisible(f.Path) {
			continue
		}
		t.writes = append(t.writes, access.Fold(f.Path))
		if f.From != "" && isVisible(f.From) {
			t.writes = append(t.writes, access.Fold(f.From))
		}
		if f.Before == "" || f.From != "" {
			t.names = append(t.names, linkName(f.Path))
		}
		for _, l := range f.Lines {
			if l.Sign == difference.Added {
				t.links = append(t.links, linksIn(l.Text)...)
			}
		}
	}
	return t
}

// linkPattern matches the targets of wiki links and Markdown links.
var linkPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\[([^\]|#^\n]+)|\]\(<?([^)#>\n]+)`)
})

// linksIn returns the link names in a line.
func linksIn(line string) (names []string) {
	for _, match := range linkPattern().FindAllStringSubmatch(line, -1) {
		names = append(names, linkName(match[1]+markdownTarget(match[2])))
	}
	return names
}

// markdownTarget returns the path in the parentheses of a Markdown link, without a title after it.
func markdownTarget(inside string) string {
	if i := strings.IndexAny(inside, "\"'"); i > 0 && strings.HasSuffix(inside[:i], " ") {
		inside = inside[:i]
	}
	if decoded, err := url.PathUnescape(inside); err == nil {
		return decoded
	}
	return inside
}

// linkName returns the name of a file as it may be in a link: without its folder and without the extension of a note.
func linkName(target string) string {
	return strings.TrimSuffix(access.Fold(path.Base(strings.TrimSpace(target))), ".md")
}

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

// What an operation of a proposal needs are the operations before it without which it would do something else: whose
// results it takes, or that make, move or change a file or folder that it reads, changes or links to. In doubt an
// operation counts as needed: what the owner takes is planned again and shown in any case.

// touched is what an operation reads, writes and links to, as folded paths. The root of the vault is "".
type touched struct {
	writes []string // files and folders that it makes, moves, changes or deletes
	reads  []string // that it names, or takes text of; with a folder all that is below it
	names  []string // of files that it makes or moves, as links have them
	links  []string // names that the lines have which it adds
	takes  []string // operations whose results it takes
}

// needsOf returns, for each operation, the indexes of the earlier ones that it needs. Files that sees rejects do not
// count.
func (r *rehearsal) needsOf(sees func(path string) bool) [][]int {
	all := make([]touched, len(r.steps))
	needs := make([][]int, len(r.steps))
	for i := range r.steps {
		all[i] = r.touchedBy(i, sees)
		for j := range i {
			if all[i].needs(all[j], r.steps[j].ClientID) {
				needs[i] = append(needs[i], j)
			}
		}
	}
	return needs
}

func (t touched) needs(earlier touched, name string) bool {
	if slices.Contains(t.takes, name) {
		return true
	}
	for _, written := range earlier.writes {
		if slices.ContainsFunc(t.writes, func(p string) bool { return meets(p, written) }) ||
			slices.ContainsFunc(t.reads, func(p string) bool { return meets(p, written) }) {
			return true
		}
	}
	return slices.ContainsFunc(t.links, func(link string) bool { return slices.Contains(earlier.names, link) })
}

// meets reports whether two paths are the same, or one is a folder above the other.
func meets(a, b string) bool {
	if a == "" || b == "" || a == b {
		return true
	}
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// choosesNotes is the parameter with a folder whose notes a call looks through: it is about them, and not about the folder.
const choosesNotes = "folder"

func (r *rehearsal) touchedBy(i int, sees func(path string) bool) (t touched) {
	step := r.steps[i]
	call := step.plan.call
	for _, ref := range step.references() {
		t.takes = append(t.takes, ref.ClientID)
	}
	named := call.NamedPaths()
	for _, s := range named {
		t.reads = append(t.reads, access.Fold(s.Path))
		isFolderItself := s.Folder && !s.To && s.Param != choosesNotes
		if isFolderItself && call.Effect().Mutates() {
			t.writes = append(t.writes, access.Fold(s.Path))
		}
	}
	if at := r.results[i].Path; at != "" && sees(at) {
		t.reads = append(t.reads, access.Fold(at))
	}
	isSearch := call.Effect() == tiers.Reads && r.isReferredTo(i)
	if (call.ChangesMany() || isSearch) && len(t.reads) == 0 {
		t.reads = []string{""}
	}
	change := step.plan.change
	if change == nil {
		return t
	}
	for _, taken := range change.Takes {
		if sees(taken) {
			t.reads = append(t.reads, access.Fold(taken))
		}
	}
	for _, f := range change.Files {
		if !sees(f.Path) {
			continue
		}
		t.writes = append(t.writes, access.Fold(f.Path))
		if f.From != "" && sees(f.From) {
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

// links match the targets of links, as wiki links and in Markdown.
var links = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\[([^\]|#^\n]+)|\]\(<?([^)#>\n]+)`)
})

func linksIn(line string) (names []string) {
	for _, found := range links().FindAllStringSubmatch(line, -1) {
		names = append(names, linkName(found[1]+markdownTarget(found[2])))
	}
	return names
}

// markdownTarget returns the path in the parentheses of a link in Markdown, without a title behind it.
func markdownTarget(inside string) string {
	if at := strings.IndexAny(inside, "\"'"); at > 0 && strings.HasSuffix(inside[:at], " ") {
		inside = inside[:at]
	}
	if decoded, err := url.PathUnescape(inside); err == nil {
		return decoded
	}
	return inside
}

// linkName is the name of a file as a link may have it: without its folder and the extension of a note.
func linkName(target string) string {
	return strings.TrimSuffix(access.Fold(path.Base(strings.TrimSpace(target))), ".md")
}

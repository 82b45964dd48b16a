package consent

// [Grants] keeps what the owner has allowed an agent in advance. A grant answers the approval question about a change,
// and nothing else: it enables no command, folder or setting.
//
// [Grants.Take] judges changes by their plans and counts them before they are made, under one lock for all servers
// of the state folder: if two servers want the last change, one gets it. [GrantUse.Settle] removes changes from the
// count that were not made. The limits apply to the whole grant, so that many small changes cannot evade them.
//
// A grant ends when it expires, when its changes are used up, when the credentials of its agent or the rules of its
// vault change, and when the clock is set back. An altered file grants nothing. This protects against agents, not
// against another program of the same user that can read the key of the folder.

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// GrantsFolder returns the folder of grants in the state folder.
func GrantsFolder(state string) string { return filepath.Join(state, "grants") }

// GrantTerms describe what the owner allows. The counts are totals over the whole grant.
type GrantTerms struct {
	// Agent is the name of the agent that may use it. If no agents are defined, Server is instead the session of one
	// server over standard input and output. Exactly one of the two is set.
	Agent  string `json:"agent,omitempty"`
	Server string `json:"server,omitempty"`
	// Generation is that of the credentials of the agent: when they are renewed, the grant ends.
	Generation string `json:"generation,omitempty"`

	Vault    string   `json:"vault"`    // its name, for people
	Identity string   `json:"identity"` // of the vault
	Commands []string `json:"commands"`
	Folders  []string `json:"folders"` // paths in the vault, "/" for the whole vault
	Notes    int      `json:"notes"`   // how many different notes may be changed
	Changes  int      `json:"changes"`
	// Lines is how many lines may be removed or replaced; a long line counts as several. With 0, each note may lose
	// as much as a single change may remove without being destructive.
	Lines int `json:"lines,omitempty"`
	Links int `json:"links,omitempty"` // how many links may be broken or redirected
	// Destructive allows destructive changes. Lines must then be above 0.
	Destructive bool   `json:"destructive,omitempty"`
	Why         string `json:"why,omitempty"` // the reason, in the words of the owner
}

// Grant is a grant that the owner has given, and the part of it that was used.
type Grant struct {
	ID string `json:"id"`
	GrantTerms
	Made    time.Time    `json:"made"`
	Expires time.Time    `json:"expires"`
	Seen    time.Time    `json:"seen"` // the latest time at which it was used
	Used    GrantCount   `json:"used"`
	Open    []pendingUse `json:"open,omitempty"`  // changes that are counted, but perhaps not made yet
	Ended   string       `json:"ended,omitempty"` // why it ended before its time, "" if it did not
	EndedAt time.Time    `json:"endedAt,omitzero"`
}

// Bounds of a grant.
const (
	// MaxGrantTime is the maximum lifetime of a grant.
	MaxGrantTime = policy.LongestGrant
	// DefaultGrantTime, DefaultGrantNotes and DefaultGrantChanges suffice for one piece of work.
	DefaultGrantTime    = time.Hour
	DefaultGrantNotes   = 20
	DefaultGrantChanges = 50

	// MaxGrantChanges is the number of changes that can be undone together.
	MaxGrantChanges = 1000
	maxNotes        = 10_000
	maxLines        = 1_000_000
	maxItems        = 64   // commands, or folders
	maxTermText     = 1000 // bytes of a name, a path or a reason
)

// InvalidTerms reports which part of the terms of a grant is invalid, and why.
type InvalidTerms struct{ Field, Reason string }

func (e *InvalidTerms) Error() string { return e.Field + " " + e.Reason }

// Check returns an *[InvalidTerms] unless the terms are valid.
func (t GrantTerms) Check() error {
	if (t.Agent == "") == (t.Server == "") {
		return &InvalidTerms{"agent", "or server has to be named, and not both"}
	}
	for _, f := range []struct{ name, text string }{
		{"agent", t.Agent}, {"server", t.Server}, {"vault", t.Vault}, {"identity", t.Identity}, {"why", t.Why},
		{"generation", t.Generation},
	} {
		if err := checkTermText(f.name, f.text); err != nil {
			return err
		}
	}
	if t.Vault == "" || t.Identity == "" {
		return &InvalidTerms{"vault", "has to be known"}
	}
	if err := t.checkCommands(); err != nil {
		return err
	}
	if err := t.checkFolders(); err != nil {
		return err
	}
	return t.checkCounts()
}

func (t GrantTerms) checkCommands() error {
	if len(t.Commands) == 0 || len(t.Commands) > maxItems {
		return &InvalidTerms{"commands", fmt.Sprintf("have to be named, up to %d", maxItems)}
	}
	for _, name := range t.Commands {
		c, err := allowlist.Describe(name)
		if err != nil {
			return &InvalidTerms{"commands", fmt.Sprintf("name %q, which does not exist", excerpt.Short(name))}
		}
		changesNotes := c.Worst == tiers.Writes || c.Worst == tiers.Destroys
		if !changesNotes || c.Sends || c.Tier == tiers.Restricted {
			return &InvalidTerms{"commands", fmt.Sprintf("name %q: only commands that change notes can be granted", name)}
		}
	}
	return nil
}

func (t GrantTerms) checkFolders() error {
	if len(t.Folders) == 0 || len(t.Folders) > maxItems {
		return &InvalidTerms{"folders", fmt.Sprintf("have to be named, up to %d (\"/\" is the whole vault)", maxItems)}
	}
	for _, folder := range t.Folders {
		if err := checkTermText("folders", folder); err != nil {
			return err
		}
		plain, err := access.Path(folder)
		isFolder := err == nil && plain == folder && isPlainFolder(folder)
		if folder != wholeVault && !isFolder {
			return &InvalidTerms{"folders", fmt.Sprintf("name %q, which is not a folder of a vault", excerpt.Short(folder))}
		}
	}
	return nil
}

func (t GrantTerms) checkCounts() error {
	for _, f := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"notes", t.Notes, 1, maxNotes},
		{"changes", t.Changes, 1, MaxGrantChanges},
		{"lines", t.Lines, 0, maxLines},
		{"links", t.Links, 0, maxLines},
	} {
		if f.value < f.least || f.value > f.most {
			return &InvalidTerms{f.name, fmt.Sprintf("is %d, want %d to %d", f.value, f.least, f.most)}
		}
	}
	if t.Destructive && t.Lines == 0 {
		return &InvalidTerms{"lines", "has to be given with destructive: how many may be removed or replaced in all"}
	}
	return nil
}

func checkTermText(field, text string) error {
	switch {
	case len(text) > maxTermText:
		return &InvalidTerms{field, "is too long"}
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl), sanitize.Line(text) != text:
		return &InvalidTerms{field, "has characters that cannot be shown"}
	}
	return nil
}

const wholeVault = "/"

// GrantHolder identifies who wants to use a grant, and in which vault.
type GrantHolder struct {
	Agent, Server, Generation string // see [GrantTerms]
	Identity                  string // of the vault
	// MaxTime is how long a grant is in force at most, by the current policy; 0 means that grants are not accepted.
	MaxTime time.Duration
}

// isOf reports whether a grant, ended or not, belongs to the holder.
func (g Grant) isOf(h GrantHolder) bool {
	isNamed := g.Agent != "" || g.Server != ""
	isSame := g.Agent == h.Agent && g.Server == h.Server && g.Identity == h.Identity
	return isNamed && isSame
}

// Left returns how many changes, notes, lines and links are left of a grant. lines is -1 if the grant limits them by
// note.
func (g Grant) Left() (changes, notes, lines, links int) {
	used := g.counted()
	lines = -1
	if g.Lines > 0 {
		lines = max(0, g.Lines-used.Lines)
	}
	return max(0, g.Changes-used.Changes), max(0, g.Notes-len(used.Notes)), lines, max(0, g.Links-used.Links)
}

// Sentence describes to the owner what the terms allow until a time.
func (t GrantTerms) Sentence(until time.Time, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s may run %s on up to %s", t.Who(), list(t.Commands), sanitize.Counted(t.Notes, "note"))
	fmt.Fprintf(&b, " %s of %q, %s in all, until %s, without asking.", t.where(), t.Vault,
		sanitize.Counted(t.Changes, "change"), clockOf(until, now))
	switch {
	case t.Destructive:
		fmt.Fprintf(&b, " It may delete and overwrite: up to %s in all.", sanitize.Counted(t.Lines, "line"))
	case t.Lines > 0:
		fmt.Fprintf(&b, " It may remove or replace up to %s in all, and nothing that is destructive.",
			sanitize.Counted(t.Lines, "line"))
	default:
		fmt.Fprintf(&b, " Nothing that is destructive: of each note up to %d lines, or half of its text, in all.", maxRemoved)
	}
	if t.Links > 0 {
		fmt.Fprintf(&b, " It may break up to %s.", sanitize.Counted(t.Links, "link"))
	}
	return b.String()
}

// Who names the agent or server that may use the grant.
func (t GrantTerms) Who() string { return cmp.Or(t.Agent, "the server "+t.Server) }

// where describes the folders of the vault.
func (t GrantTerms) where() string {
	if slices.Contains(t.Folders, wholeVault) {
		return "anywhere"
	}
	quoted := make([]string, len(t.Folders))
	for i, folder := range t.Folders {
		quoted[i] = excerpt.Quoted(folder)
	}
	return "below " + list(quoted)
}

// list joins items as in a sentence: "a, b and c".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// clockOf formats a local time, with the date unless it is today.
func clockOf(at, now time.Time) string {
	at = at.Local()
	if at.Format(time.DateOnly) == now.Local().Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// EndedBy returns the reason why a grant has ended, or "" while it is in force.
func (g Grant) EndedBy(now time.Time) string {
	changes, _, _, _ := g.Left()
	switch {
	case g.Ended != "":
		return g.Ended
	case !now.Before(g.Expires):
		return GrantTimeOver
	case changes == 0:
		return "all of its changes are made"
	}
	return ""
}

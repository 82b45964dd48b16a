package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
)

// Flow is a rule about where text may go: once a session has read from one of the places From, a call that
// carries text to one of the places To requires approval, or is refused. The zero Flow applies to nothing.
type Flow struct {
	Name    string
	From    []string // folders and notes by their paths, tags with "#", and FromPrivate
	To      []string // paths, and the Flow constants
	Refuses bool
}

// The places of a [Flow] other than paths and tags.
const (
	FromPrivate = "private" // notes that restrict access to themselves
	ToPublish   = "publish" // calls that publish, or send text off the machine other than by opening a web address
	ToWeb       = "web"     // web addresses that are opened
	ToVaults    = "vaults"  // changes in another vault than the one that was read
)

// maxFlow is the maximum length of the name of a flow rule in bytes.
const maxFlow = 64

// ParseFlow returns the rule with a name of up to 64 bytes. from must not be empty; the default of to is publish, web
// and vaults. action is "ask", which is the default, or "refuse".
func ParseFlow(name string, from, to []string, action string) (f Flow, err error) {
	if name == "" || len(name) > maxFlow || strings.ContainsFunc(name, unicode.IsControl) {
		return Flow{}, fmt.Errorf("name %q: want 1 to %d bytes without control characters", name, maxFlow)
	}
	if len(from) == 0 {
		return Flow{}, fmt.Errorf("from is empty: want folders, tags such as \"#client\", or \"private\"")
	}
	if len(to) == 0 {
		to = []string{ToPublish, ToWeb, ToVaults}
	}
	if action != "" && action != "ask" && action != "refuse" {
		return Flow{}, fmt.Errorf("invalid action %q: want ask or refuse", action)
	}
	f = Flow{Name: name, Refuses: action == "refuse"}
	for _, place := range from {
		if tag, ok := strings.CutPrefix(place, "#"); ok {
			if _, err = access.NewPrivate(nil, []string{tag}); err != nil {
				return Flow{}, err
			}
		} else if place != FromPrivate {
			if place, err = access.Path(place); err != nil {
				return Flow{}, err
			}
		}
		f.From = append(f.From, place)
	}
	for _, place := range to {
		if !slices.Contains([]string{ToPublish, ToWeb, ToVaults}, place) {
			if place, err = access.Path(place); err != nil {
				return Flow{}, err
			}
		}
		f.To = append(f.To, place)
	}
	return f, nil
}

// Equal reports whether f and g are the same rule.
func (f Flow) Equal(g Flow) bool {
	haveSamePlaces := slices.Equal(f.From, g.From) && slices.Equal(f.To, g.To)
	return haveSamePlaces && f.Name == g.Name && f.Refuses == g.Refuses
}

// HasMark reports whether From contains one of the marks of a note: its tags with "#", and [FromPrivate].
func (f Flow) HasMark(marks []string) bool {
	return slices.ContainsFunc(f.From, func(place string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool {
			if tag, isTag := strings.CutPrefix(place, "#"); isTag {
				tags := access.Private{Tags: []string{access.Fold(strings.TrimSuffix(tag, "/"))}}
				return strings.HasPrefix(mark, "#") && tags.Covers(mark[1:])
			}
			return place == FromPrivate && mark == FromPrivate
		})
	})
}

// Action returns what the rule does: "ask" or "refuse".
func (f Flow) Action() string {
	if f.Refuses {
		return "refuse"
	}
	return "ask"
}

// consequences describes the actions of a flow rule, for people.
var consequences = map[string]string{"ask": "requires approval", "refuse": "is refused"}

// String returns the rule for people.
func (f Flow) String() string {
	follows := consequences[f.Action()]
	return fmt.Sprintf(
		"after reading from %s, carrying text to %s %s",
		strings.Join(f.From, ", "),
		strings.Join(f.To, ", "),
		follows,
	)
}

// Paths returns those of the places From or To of a rule that are paths; "/" is the whole vault.
func Paths(places []string) (paths []string) {
	for _, place := range places {
		if !strings.HasPrefix(place, "#") &&
			!slices.Contains([]string{FromPrivate, ToPublish, ToWeb, ToVaults}, place) {
			paths = append(paths, place)
		}
	}
	return paths
}

// Covers reports whether path is one of the places or below one, ignoring differences in case and spelling.
func Covers(places []string, path string) bool {
	path = access.Fold(path)
	return slices.ContainsFunc(Paths(places), func(place string) bool {
		place = access.Fold(place)
		return place == "/" || path == place || strings.HasPrefix(path, place+"/")
	})
}

// Leaves reports whether a call can send data off the machine.
func Leaves(call allowlist.Call) bool { return canSendData(subjectOf(call, Facts{})) }

func unionOfFlows(a, b []Flow) []Flow {
	all := slices.Clone(a)
	for _, f := range b {
		if !slices.ContainsFunc(all, f.Equal) {
			all = append(all, f)
		}
	}
	return all
}

// flowsWithin reports whether every rule of a is one of b.
func flowsWithin(a, b []Flow) bool {
	return !slices.ContainsFunc(a, func(f Flow) bool { return !slices.ContainsFunc(b, f.Equal) })
}

// denyFlow refuses a call that would carry text of notes that the session has read to where it must not go, or
// requires approval for it. The message names the rule and not the note.
func denyFlow(p Policy, s subject) *Denial {
	if p.Shadows(RuleFlow) {
		return nil
	}
	for _, refuses := range []bool{true, false} { // rules that refuse take precedence
		for _, f := range s.facts.Flowing.rulesUnder(p) {
			switch {
			case f.Refuses != refuses:
			case refuses:
				return deny(
					CodeAccess,
					RuleFlow,
					"flow rule \""+f.Name+"\": this session has read notes whose text must not go there",
					"the user can start a new session, clear what a note was made of (vaultwicket flow clear), "+
						"or change the tables [[flow]] of the settings file",
				)
			default:
				return deny(
					CodeUnconfirmed,
					RuleFlow,
					"flow rule \""+f.Name+"\": this session has read notes whose text would leave with it; requires user approval",
					"the user can approve it, or change the tables [[flow]] of the settings file",
				)
			}
		}
	}
	return nil
}

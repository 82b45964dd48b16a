package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Line is one line of the log. Names are cut to a hundred bytes, and invisible characters in them
// are escaped. There is no field for the text of a note or its path.
type Line struct {
	// Seq and Prev are set by the log. Seq counts the lines from 1, over all files. Prev is the
	// SHA-256 in hexadecimal of the line before, without its newline.
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	// Time is in UTC. Zero is the time of writing.
	Time time.Time `json:"time"`
	// Kind is what the line is about, a word in lower case: "decision", "end",
	// "setting", "checkpoint". "gap" and "break" are the log's own.
	Kind    string `json:"kind"`
	Call    string `json:"call,omitempty"` // joins a decision and an end
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"` // that called, "" where no agent is defined
	Client  string `json:"client,omitempty"`
	Surface string `json:"surface,omitempty"`
	Vault   string `json:"vault,omitempty"`
	Command string `json:"command,omitempty"`
	Effect  string `json:"effect,omitempty"`
	// Decision is "plan", "ask", "reply" (approved), "allow", "deny" or "skip" (an operation of a batch that did not
	// run); of an approval "approve", "deny" or "withdraw".
	Decision string `json:"decision,omitempty"`
	// By is where the user approved or denied: "terminal", "page" (the local one) or "sign-in" (with a
	// passkey); "grant" where a grant has approved it; "" in the client that asked.
	By string `json:"by,omitempty"`
	// Question is the id of the question that the user was asked about the call, see [Record.AskedIn]; "" for none.
	Question string `json:"question,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Code     string `json:"code,omitempty"`
	Backend  string `json:"backend,omitempty"`
	// Declined says of a denial that the user declined the call, or has declined the same one before.
	Declined bool `json:"declined,omitempty"`
	// Note is the digest of a note's path, by [Log.Digest].
	Note string `json:"note,omitempty"`
	// Before and After are the SHA-256 of a note, in hexadecimal, or a prefix of
	// at least 16 digits.
	Before   string `json:"before,omitempty"`
	After    string `json:"after,omitempty"`
	Change   string `json:"change,omitempty"`   // the id of a journal entry
	Grant    string `json:"grant,omitempty"`    // the id of the grant of the owner that has allowed the call
	Proposal string `json:"proposal,omitempty"` // the id of the proposal of an agent that the call is of
	// Found are what the rules about texts found in the answer or the change, each as the name of a
	// rule and a kind: "secrets github-pat". Shadow are the rules that would have had an effect and
	// are only logged.
	Found  []string `json:"found,omitempty"`
	Shadow []string `json:"shadow,omitempty"`
	// Because are the digests of the notes that were read, where a flow rule is about the call for
	// that.
	Because    []string `json:"because,omitempty"`
	Exit       *int     `json:"exit,omitempty"`
	DurationMs int64    `json:"durationMs,omitempty"`
	// Count is how many calls the line represents, 0 for one. They came within
	// DurationMs before Time.
	Count  uint64  `json:"count,omitempty"`
	Params []Param `json:"params,omitempty"`
	// MoreParams is how many were left out, because there were more than 64.
	MoreParams int `json:"moreParams,omitempty"`
	// Repair is set in the log's own lines, and nowhere else.
	Repair *Repair `json:"repair,omitempty"`
	// Checkpoint is set in lines of the kind "checkpoint", see [Checkpoints].
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// Param describes a parameter: its name, and of its value only the length in
// bytes and the digest, by [Log.Digest].
type Param struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest,omitempty"`
}

// Repair says what the log found when it went on.
type Repair struct {
	// Torn is the number of bytes between the previous line of the chain and this one, and Sum is
	// their SHA-256 in hexadecimal: the rest of lines that were never finished.
	Torn int64  `json:"torn,omitempty"`
	Sum  string `json:"sum,omitempty"`
	// Lost is how many lines are known to be missing.
	Lost uint64 `json:"lost,omitempty"`
	Why  string `json:"why,omitempty"` // one of a few fixed sentences
}

// NotSearched is the kind in Found of a rule that looked at nothing, so that what it would have found
// is not known.
const NotSearched = "not-searched"

// TextOutcomes returns what the rules about texts did with a call as far as a line says it, by their names:
// "shadow" for one that had no effect, "asked", "blocked", "redacted", or "noticed". Of all lines of a call one
// says it of a rule, but for an approval that was asked for.
func (line Line) TextOutcomes() map[string]string {
	did := map[string]string{}
	isEnd := line.Kind == "end"
	for _, f := range line.Found {
		switch rule, kind, _ := strings.Cut(f, " "); {
		case kind == NotSearched:
		case rule == policy.RuleSecrets && isEnd && line.Code == failure.CodeSecret:
			did[rule] = "blocked"
		case rule == policy.RuleSecrets && isEnd:
			did[rule] = "redacted"
		case rule == policy.RuleSuspicious && isEnd:
			did[rule] = "noticed"
		case rule == policy.RuleRemoteLinks && line.Decision == "ask":
			did[rule] = "asked"
		}
	}
	switch {
	case line.Rule == "" || !slices.Contains(policy.TextRules(), line.Rule):
	case line.Decision == "ask":
		did[line.Rule] = "asked"
	case (isEnd || line.Decision == "deny") && line.Code != policy.CodeUnconfirmed:
		did[line.Rule] = "blocked"
	}
	for _, rule := range line.Shadow {
		if delete(did, rule); isEnd {
			did[rule] = "shadow"
		}
	}
	return did
}

const (
	kindGap   = "gap"
	kindBreak = "break"

	maxParams = 64       // no command takes half as many
	maxLine   = 64 << 10 // with its end; what a line can hold is less than half of it
)

// prepared returns a line as it is written, but for its place in the chain.
func (line Line) prepared(now time.Time) (Line, error) {
	if !isKind(line.Kind) || line.Kind == kindGap || line.Kind == kindBreak {
		return Line{}, &Invalid{"kind", line.Kind, "is not a caller's"}
	}
	if line.Time.IsZero() {
		line.Time = now
	}
	if line.Time = line.Time.UTC(); line.Time.Year() < 1 || line.Time.Year() > 9999 {
		return Line{}, &Invalid{"time", line.Time.String(), "has no year of four digits"}
	}
	if line.Note != "" && !isHex(line.Note, digestLength, digestLength) {
		return Line{}, &Invalid{"note", line.Note, "is not a digest"}
	}
	for _, hash := range []string{line.Before, line.After} {
		if hash != "" && !isHex(hash, digestLength, hashLength) {
			return Line{}, &Invalid{"hash", hash, "is not a SHA-256"}
		}
	}
	for _, name := range line.names() {
		*name = clean(*name)
	}
	for _, list := range []*[]string{&line.Found, &line.Shadow} {
		*list = slices.Clone((*list)[:min(len(*list), maxParams)])
		for i, name := range *list {
			(*list)[i] = clean(name)
		}
	}
	line.Seq = 0
	line.Prev = ""
	line.Repair = nil
	line.MoreParams = max(0, len(line.Params)-maxParams)
	given := line.Params[:min(len(line.Params), maxParams)]
	line.Params = nil
	if len(given) > 0 {
		line.Params = make([]Param, len(given))
	}
	for i, p := range given {
		if p.Digest != "" && !isHex(p.Digest, digestLength, digestLength) {
			return Line{}, &Invalid{"digest", p.Digest, "is not a digest"}
		}
		line.Params[i] = Param{clean(p.Name), p.Bytes, p.Digest}
	}
	return line, nil
}

// isKind reports whether kind is one word in lower case: it is read before the
// line is known to be one.
func isKind(kind string) bool {
	return kind != "" && len(kind) <= maxName && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz") == ""
}

func (line *Line) names() []*string {
	return []*string{&line.Call, &line.Session, &line.Agent, &line.Client, &line.Surface, &line.Vault, &line.Command,
		&line.Effect, &line.Decision, &line.By, &line.Question, &line.Rule, &line.Code, &line.Backend, &line.Change, &line.Grant, &line.Proposal}
}

const (
	digestLength = 16
	hashLength   = 2 * sha256.Size
)

func isHex(text string, least, most int) bool {
	return len(text) >= least && len(text) <= most && strings.Trim(text, "0123456789abcdef") == ""
}

// point is a place in the chain: the number of a line and its hash. The zero
// point is that before the first line.
type point struct {
	seq  uint64
	hash [sha256.Size]byte
}

// encode appends line, which follows p, to buf, and returns its point in the chain.
func (p point) encode(buf []byte, line *Line) ([]byte, point, error) {
	var prev [2 * sha256.Size]byte // on the stack
	hex.Encode(prev[:], p.hash[:])
	line.Seq = p.seq + 1
	line.Prev = string(prev[:])
	out := bytes.NewBuffer(buf)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return buf, p, err
	}
	text := out.Bytes()[len(buf):]
	if len(text) > maxLine {
		return buf, p, &Invalid{"line", line.Kind, fmt.Sprintf("is longer than %d bytes", maxLine)}
	}
	return out.Bytes(), point{line.Seq, sha256.Sum256(text[:len(text)-1])}, nil
}

// link is the place of a line in the chain, as the line says.
type link struct {
	seq  uint64
	prev [sha256.Size]byte
	kind string
}

// readLink reads a link from the beginning of a line, which is always written in
// the same way. What follows it is not read.
func readLink(text []byte) (l link, ok bool) {
	var values [4]string
	for i, around := range [...][2]string{{`{"seq":`, `,`}, {`"prev":"`, `"`}, {`,"time":"`, `"`}, {`,"kind":"`, `"`}} {
		rest, begins := bytes.CutPrefix(text, []byte(around[0]))
		value, rest, ends := bytes.Cut(rest, []byte(around[1]))
		if !begins || !ends {
			return link{}, false
		}
		values[i] = string(value)
		text = rest
	}
	seq, err := strconv.ParseUint(values[0], 10, 63)
	prev, ok := hashOf(values[1])
	l = link{seq, prev, values[3]}
	isNumber := err == nil && values[0][0] != '0'
	return l, ok && isNumber && isKind(l.kind)
}

// parse reads a whole line, without its end.
func parse(text []byte) (Line, bool) {
	l, ok := readLink(text)
	var line Line
	if !ok || json.Unmarshal(text, &line) != nil {
		return Line{}, false
	}
	isSame := line.Seq == l.seq && line.Kind == l.kind && line.Prev == hex.EncodeToString(l.prev[:])
	if !isSame {
		return Line{}, false
	}
	return line, true
}

// maxName is the maximum length of a name in bytes: of a session, a client, a command. What is
// longer might be a text.
const maxName = 100

const ellipsis = "…"

// Name returns a name as the log keeps it, for what is to be found by the name in the log.
func Name(name string) string { return clean(name) }

// clean returns a name as it is kept: at most maxName bytes, with escapes for invisible and
// misleading characters. Names come from clients, and a log is read in terminals.
func clean(name string) string {
	if len(name) <= maxName &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) {
		return name
	}
	var out strings.Builder
	fits := 0 // the length up to which the ellipsis fits after it
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, name[0])
		case r == '\\':
			out.WriteString(`\\`)
		case unicode.IsPrint(r) && r != '\u2800' && // the empty braille pattern
			!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			out.WriteString(name[:size]) // printable, and with a glyph
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
		name = name[size:]
		if out.Len() > maxName {
			return out.String()[:fits] + ellipsis
		}
		if out.Len() <= maxName-len(ellipsis) {
			fits = out.Len()
		}
	}
	return out.String()
}

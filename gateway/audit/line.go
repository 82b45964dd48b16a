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

// Line is one line of the log. Names are shortened to 100 bytes, and invisible characters in them
// are escaped. No field holds the text of a note or its path.
type Line struct {
	// Seq and Prev are set by the log. Seq numbers the lines of all files from 1. Prev is the SHA-256
	// of the previous line without its newline, in hexadecimal.
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	// Time is in UTC. The zero Time is replaced by the time of writing.
	Time time.Time `json:"time"`
	// Kind is a word in lower case: "decision", "end", "setting" or "checkpoint". Only the log itself
	// writes "gap" and "break".
	Kind    string `json:"kind"`
	Call    string `json:"call,omitempty"` // id that the lines of one call share
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"` // agent that made the call, "" if no agents are defined
	Client  string `json:"client,omitempty"`
	Surface string `json:"surface,omitempty"`
	Vault   string `json:"vault,omitempty"`
	Command string `json:"command,omitempty"`
	Effect  string `json:"effect,omitempty"`
	// Decision is "plan", "ask", "reply" (approved), "allow", "deny" or "skip" (an operation of a batch
	// that did not run). In a line about an approval it is "approve", "deny" or "withdraw".
	Decision string `json:"decision,omitempty"`
	// By is where the user approved or denied: "terminal", "page" (the local one), "sign-in" (with a
	// passkey), or "" for the client that made the call. It is "grant" if a grant approved the call.
	By string `json:"by,omitempty"`
	// Question is the id of the approval request for the call, see [Record.AskedIn]; "" for none.
	Question string `json:"question,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Code     string `json:"code,omitempty"`
	Backend  string `json:"backend,omitempty"`
	// Declined reports, for a denial, whether the user declined this call or the same one before.
	Declined bool `json:"declined,omitempty"`
	// Note is the digest of the path of a note, see [Log.Digest].
	Note string `json:"note,omitempty"`
	// Before and After are the SHA-256 of the note before and after the call, in hexadecimal, or a
	// prefix of it with at least 16 digits.
	Before   string `json:"before,omitempty"`
	After    string `json:"after,omitempty"`
	Change   string `json:"change,omitempty"`   // the id of a journal entry
	Grant    string `json:"grant,omitempty"`    // the id of the owner's grant that allowed the call
	Proposal string `json:"proposal,omitempty"` // the id of the agent's proposal that the call is part of
	// Found lists the findings of content rules in the answer or the change, each as the name of a
	// rule and a kind: "secrets github-pat". Shadow lists the rules in test mode, which would have had
	// an effect but are only logged.
	Found  []string `json:"found,omitempty"`
	Shadow []string `json:"shadow,omitempty"`
	// Because has the digests of the notes that were read and made a flow rule apply to the call.
	Because    []string `json:"because,omitempty"`
	Exit       *int     `json:"exit,omitempty"`
	DurationMs int64    `json:"durationMs,omitempty"`
	// Count is how many calls the line represents; 0 means one. They were made in the DurationMs
	// milliseconds before Time.
	Count  uint64  `json:"count,omitempty"`
	Params []Param `json:"params,omitempty"`
	// MoreParams is how many parameters beyond the first 64 were left out.
	MoreParams int `json:"moreParams,omitempty"`
	// Repair is set only in the log's own lines.
	Repair *Repair `json:"repair,omitempty"`
	// Checkpoint is set only in lines of the kind "checkpoint", see [Checkpoints].
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// Param describes a parameter without its value: the name, and the value's length in bytes and its
// digest, see [Log.Digest].
type Param struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest,omitempty"`
}

// Repair describes damage that the log found when it continued.
type Repair struct {
	// Torn is the number of bytes between the previous line of the chain and this one, left by
	// incomplete writes. Sum is their SHA-256 in hexadecimal.
	Torn int64  `json:"torn,omitempty"`
	Sum  string `json:"sum,omitempty"`
	// Lost is how many lines are known to be missing.
	Lost uint64 `json:"lost,omitempty"`
	Why  string `json:"why,omitempty"` // one of a few fixed sentences
}

// NotSearched is the kind in Found for a rule that could not search the text: its findings are
// unknown.
const NotSearched = "not-searched"

// TextOutcomes returns the effects of content rules that the line records, by the name of the rule:
// "shadow" (test mode, no effect), "asked", "blocked", "redacted" or "noticed". Among the lines of a
// call only one has an outcome for a rule, besides a request for approval.
func (line Line) TextOutcomes() map[string]string {
	outcomes := map[string]string{}
	isEnd := line.Kind == "end"
	for _, finding := range line.Found {
		switch rule, kind, _ := strings.Cut(finding, " "); {
		case kind == NotSearched:
		case rule == policy.RuleSecrets && isEnd && line.Code == failure.CodeSecret:
			outcomes[rule] = "blocked"
		case rule == policy.RuleSecrets && isEnd:
			outcomes[rule] = "redacted"
		case rule == policy.RuleSuspicious && isEnd:
			outcomes[rule] = "noticed"
		case rule == policy.RuleRemoteLinks && line.Decision == "ask":
			outcomes[rule] = "asked"
		}
	}
	switch {
	case line.Rule == "" || !slices.Contains(policy.TextRules(), line.Rule):
	case line.Decision == "ask":
		outcomes[line.Rule] = "asked"
	case (isEnd || line.Decision == "deny") && line.Code != policy.CodeUnconfirmed:
		outcomes[line.Rule] = "blocked"
	}
	for _, rule := range line.Shadow {
		delete(outcomes, rule)
		if isEnd {
			outcomes[rule] = "shadow"
		}
	}
	return outcomes
}

const (
	kindGap   = "gap"
	kindBreak = "break"

	maxParams = 64       // no command has half as many
	maxLine   = 64 << 10 // including the newline; the limits of the fields keep lines below half of it
)

// prepare validates a line and returns it as it will be written, except for its place in the chain.
func (line Line) prepare(now time.Time) (Line, error) {
	if !isKind(line.Kind) || line.Kind == kindGap || line.Kind == kindBreak {
		return Line{}, &Invalid{"kind", line.Kind, "is not a caller's"}
	}
	if line.Time.IsZero() {
		line.Time = now
	}
	line.Time = line.Time.UTC()
	if year := line.Time.Year(); year < 1 || year > 9999 {
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
	for _, name := range line.nameFields() {
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
	params := line.Params[:min(len(line.Params), maxParams)]
	line.Params = nil
	if len(params) > 0 {
		line.Params = make([]Param, len(params))
	}
	for i, p := range params {
		if p.Digest != "" && !isHex(p.Digest, digestLength, digestLength) {
			return Line{}, &Invalid{"digest", p.Digest, "is not a digest"}
		}
		line.Params[i] = Param{clean(p.Name), p.Bytes, p.Digest}
	}
	return line, nil
}

// isKind reports whether kind is a single word in lower case. readLink checks it before the rest of
// the line is parsed.
func isKind(kind string) bool {
	return kind != "" && len(kind) <= maxName && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz") == ""
}

func (line *Line) nameFields() []*string {
	return []*string{&line.Call, &line.Session, &line.Agent, &line.Client, &line.Surface, &line.Vault, &line.Command,
		&line.Effect, &line.Decision, &line.By, &line.Question, &line.Rule, &line.Code, &line.Backend, &line.Change, &line.Grant, &line.Proposal}
}

const (
	digestLength = 16
	hashLength   = 2 * sha256.Size
)

func isHex(text string, minLength, maxLength int) bool {
	return len(text) >= minLength && len(text) <= maxLength && strings.Trim(text, "0123456789abcdef") == ""
}

// point is a position in the chain: the number of a line and its hash. The zero point is the
// position before the first line.
type point struct {
	seq  uint64
	hash [sha256.Size]byte
}

// encode appends line to buf as the successor of p, and returns the extended buffer and the line's
// point. It sets Seq and Prev.
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

// link is the position in the chain that a line claims.
type link struct {
	seq  uint64
	prev [sha256.Size]byte
	kind string
}

// readLink parses the link at the beginning of a line, whose format never varies. It ignores the
// rest of the line.
func readLink(text []byte) (l link, ok bool) {
	var values [4]string
	for i, delimiters := range [...][2]string{{`{"seq":`, `,`}, {`"prev":"`, `"`}, {`,"time":"`, `"`}, {`,"kind":"`, `"`}} {
		rest, hasStart := bytes.CutPrefix(text, []byte(delimiters[0]))
		value, rest, hasEnd := bytes.Cut(rest, []byte(delimiters[1]))
		if !hasStart || !hasEnd {
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

// parse parses a complete line without its newline.
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

// maxName is the maximum length of a name in bytes, such as that of a session, a client or a
// command. Anything longer might be note text.
const maxName = 100

const ellipsis = "…"

// Name returns a name in the form in which the log stores it, for looking it up there.
func Name(name string) string { return clean(name) }

// clean returns a name in the form in which it is stored: at most maxName bytes, with invisible and
// misleading characters escaped. Names come from clients, and logs are read in terminals.
func clean(name string) string {
	if len(name) <= maxName &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) {
		return name
	}
	var out strings.Builder
	fits := 0 // the longest prefix of out after which the ellipsis still fits
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

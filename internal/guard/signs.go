package guard

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Sign is a sign of prompt injection: the first piece of its kind in a text that tries to make a model
// act, or that sends text elsewhere when it is displayed. The kinds are
//
//	order      a sentence that orders a model to forget its instructions, to hide something from
//	           the user, to use tools, or to send notes somewhere
//	hidden     text that a reader does not see: hidden by CSS, or a comment addressed to a model
//	invisible  tag characters, direction overrides, runs of zero-width characters
//	delimiter  a delimiter of prompts, chats and tools, or of our own marks
//	carrier    an image on another machine whose address contains text or a placeholder for it, or
//	           a link that runs a script or contains a page
//
// The rules are few and public: anyone who knows them can avoid them.
type Sign struct {
	Kind string
	Line int // from 1
}

// Signs returns the signs of prompt injection in a text, in order. If spend returns an error, Signs returns
// it together with the signs found so far.
func Signs(text []byte, spend Spend) ([]Sign, error) {
	s := scan{text: text, spend: spend}
	s.charge(len(text) / 16)
	s.keywords(signWords())
	slices.SortFunc(s.found, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	var signs []Sign
	line := 1
	at := 0
	for _, f := range s.found {
		line += bytes.Count(text[at:f.Start], []byte("\n"))
		at = f.Start
		signs = append(signs, Sign{f.Kind, line})
	}
	return signs, s.err
}

// signWords is built for the first text that is searched for signs.
var signWords = sync.OnceValue(func() *keywords {
	rules := signRules()
	all := []*rule{}
	for i := range rules {
		all = append(all, &rules[i])
	}
	k := newKeywords(all)
	k.onlyAtWordStart = true
	return k
})

// sign returns a rule that matches the pattern at a keyword, against before bytes before it and most bytes
// from its start. With before 0, the pattern must match at the keyword itself, which must not begin inside
// a word.
func sign(kind string, before, most int, pattern string, keywords ...string) rule {
	if before == 0 {
		pattern = "^(?:" + pattern + ")"
	}
	re := lazily("(?i)" + pattern)
	return rule{kind: kind, keywords: keywords, most: most, find: func(s *scan, at, _ int) {
		if s.has(kind) || before == 0 && s.isInWord(at) {
			return
		}
		piece := s.text[max(0, at-before):min(len(s.text), at+most)]
		s.charge(len(piece))
		if s.err == nil && re().Match(piece) {
			s.add(at, at+1, kind)
		}
	}}
}

// need is a set of words, one of which must end within some bytes from the start of a keyword. The zero need
// is always met.
type need struct {
	bytes int
	words []string
}

func within(bytes int, words ...string) need { return need{bytes, words} }

// order returns a rule whose pattern is tried only if the needs are met, because a pattern costs a microsecond.
func order(needs need, pattern string, keywords ...string) rule {
	return rule{
		kind:     "order",
		keywords: keywords,
		needs:    needs.words,
		most:     needs.bytes,
		find:     sign("order", 0, 300, pattern).find,
	}
}

// meetsNeeds reports whether one of the words that a rule needs follows its keyword at at, within the bytes of the need.
func (s *scan) meetsNeeds(r *rule, at int) bool {
	end := min(len(s.text), at+r.most)
	s.charge(end - at)
	return slices.ContainsFunc(r.needs, func(word string) bool {
		piece := s.text[at:end]
		if isWord(word[len(word)-1]) {
			piece = s.lowered(at, end)
		}
		return containsAtWordStart(piece, word)
	})
}

// containsAtWordStart reports whether a text contains a word that does not begin inside another one.
func containsAtWordStart(text []byte, word string) bool {
	for from := 0; ; from++ {
		n := bytes.Index(text[from:], []byte(word))
		if n < 0 {
			return false
		}
		from += n
		isInWord := from > 0 && isWord(text[from]) && isWord(text[from-1])
		if !isInWord {
			return true
		}
	}
}

// lowered returns s.text[at:end] in lower case. Callers ask for pieces in the order of the text, and a piece is at most
// as long as the bytes of a need.
func (s *scan) lowered(at, end int) []byte {
	if at >= s.lowerEnd {
		s.lowerFrom = at
		s.lowerEnd = at
	}
	if end-s.lowerFrom > len(s.lower) {
		copy(s.lower[:], s.lower[at-s.lowerFrom:s.lowerEnd-s.lowerFrom])
		s.lowerFrom = at
	}
	for ; s.lowerEnd < end; s.lowerEnd++ {
		c := s.text[s.lowerEnd]
		if c-'A' < 26 {
			c |= 0x20
		}
		s.lower[s.lowerEnd-s.lowerFrom] = c
	}
	return s.lower[at-s.lowerFrom : end-s.lowerFrom]
}

// has reports whether a sign of this kind has been found.
func (s *scan) has(kind string) bool {
	return slices.ContainsFunc(s.found, func(f Span) bool { return f.Kind == kind })
}

// signRules returns the rules for signs. Once a rule of a kind has matched, the others of this kind are not tried.
func signRules() []rule {
	return slices.Concat(takeoverRules(), requestRules(), foreignRules(), hiddenRules(), markupRules())
}

// takeoverRules returns the rules for orders that set aside the instructions or the user of a model, or give it
// another role.
func takeoverRules() []rule {
	return []rule{
		order(
			within(160, "instruction", "prompt", "direction", "directive", "guideline", "guardrail", "programming"),
			`(?:ignore|disregard|forget|override|bypass)\W+(?:[\w']+\W+){0,4}?(?:previous|prior|above|earlier|preceding|foregoing|initial|original|your|system)\W+(?:\w+\W+){0,2}?(?:instructions?|prompts?|directions|directives|guidelines|guardrails|programming)\b`,
			"ignore ",
			"disregard ",
			"forget ",
			"override ",
			"bypass ",
		),
		order(
			within(40, "all", "any", "everyth", "whatever"),
			`(?:ignore|disregard|forget)\W+(?:all|any|everything|anything|whatever)\W+(?:(?:other|of|these|those|the|existing)\W+)*(?:instructions?\b|prompts?\b|(?:that )?the user (?:has )?(?:asked|said|told|wants)\b|(?:that )?you (?:were|have been|are|know)|(?:above|before|previous)\b)`,
			"ignore ",
			"disregard ",
			"forget ",
		),
		order(
			within(60, "tell", "mention", "inform", "notify", "alert", "reveal", "disclose", "show"),
			`(?:do not|don't|never)\W+(?:\w+\W+){0,2}?(?:tell|mention|inform|notify|alert|reveal|disclose|show)\W+(?:\w+\W+){0,4}?(?:the user|the human|the owner)(?:'s)?\s*(?:[.,;:!?]|about|of|that|this|what|when|why|anything|$)`,
			"do not ",
			"don't ",
			"never ",
		),
		order(
			within(60, "the user", "the human", "the owner"),
			`without\W+(?:telling|informing|notifying|alerting|asking)\W+(?:the user|the human|the owner)\b`,
			"without telling",
			"without informing",
			"without notifying",
			"without alerting",
		),
		order(
			within(100, "system prompt"),
			`(?:reveal|print|repeat|output|show|leak|send|disclose)\W+(?:\w+\W+){0,3}?(?:your|the)\W+(?:\w+\W+)?system prompt`,
			"reveal ",
			"print ",
			"repeat ",
			"output ",
			"leak ",
			"disclose ",
		),
		order(
			within(40, "instruction", "prompt", "task", "order", "role"),
			`(?:your new|new system|begin new|updated system)\W+(?:instructions?|prompt|task|orders?|role)\b`,
			"your new ",
			"new system ",
			"begin new ",
			"updated system ",
		),
		order(
			within(40, "task", "instruction", "goal", "purpose", "job", "mission"),
			`(?:your (?:real|actual|true|only|hidden)) (?:task|instructions?|goal|purpose|job|mission) (?:is|are)\b`,
			"your real ",
			"your actual ",
			"your true ",
			"your only ",
			"your hidden ",
		),
		order(
			need{},
			`you are now\W+(?:an? (?:\w+\W+){0,3}?(?:assistant|agent|ai|bot|chatbot|hacker)|dan\b|in (?:developer|admin|god|debug|maintenance|jailbreak) mode|unrestricted|free (?:from|of))`,
			"you are now ",
		),
		order(
			need{},
			`(?:developer|jailbreak|god|dan) mode (?:is )?(?:now )?(?:enabled|activated|on)\b`,
			"developer mode",
			"jailbreak mode",
			"god mode",
			"dan mode",
		),
		order(need{}, `from now on,? you (?:will|must|are|have to|only)\b`, "from now on"),
	}
}

// requestRules returns the rules for text addressed to a model, and orders about its tools, the notes and the user.
func requestRules() []rule {
	return []rule{
		order(
			within(60, " ai", "llm", "assistant", "language model", "artificial intelligence"),
			`(?:if you are|you are|attention|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|dear|hey|addressed to)[:,]? (?:an? |the |any |all |every )?(?:ai|llms?|language models?|artificial intelligence|assistants?|ai assistants?|ai agents?|ai models?)\b[^\n]{0,160}?(?:must|should|please|ignore|do not|don't|have to|need to|call|use|send|delete|publish|append|write|add|include|say|run|read)\b`,
			"if you are a",
			"attention",
			"note to",
			"note for",
			"message to",
			"message for",
			"instruction to",
			"instructions to",
			"instruction for",
			"instructions for",
			"dear a",
			"dear l",
			"hey a",
			"addressed to",
		),
		sign(
			"order",
			60,
			240,
			`\b(?:ai|llm|assistant|agent|model)s? (?:that|who|which)?\W*(?:is |are )?(?:reading|processing|summari[sz]ing|parsing|seeing) (?:this|these)\b[^\n]{0,120}?(?:must|should|please|ignore|do not|have to|need to|[:,])`,
			"reading this",
			"processing this",
			"summarizing this",
			"summarising this",
		),
		order(
			within(300, "://", "@"),
			`(?:send|post|upload|forward|e-?mail|submit|transmit|leak|exfiltrate|copy|report)\W+(?:[\w']+\W+){0,5}?(?:notes?|vault|conversation|chat history|passwords?|private keys?|api keys?|secrets?|credentials|personal data|files?)\W+(?:\w+\W+){0,4}?(?:to|at|via)\W+(?:\w+\W+){0,3}?(?:https?://|[\w.+-]+@[\w-]+\.\w)`,
			"send ",
			"post ",
			"upload ",
			"forward ",
			"email ",
			"e-mail ",
			"submit ",
			"transmit ",
			"leak ",
			"exfiltrate ",
			"copy ",
			"report ",
		),
		order(
			within(100, "tool", "mcp", "obsidian"),
			`(?:call|use|invoke|run|execute)\W+(?:your tools?|the [\w:"\x60'.-]+ tool|(?:the )?mcp server|(?:the )?obsidian(?:cli|batch)(?: tool)?)\W+(?:[\w:"\x60'.-]+\W+){0,4}?(?:to|and|with|on|for|:)\W+(?:\w+\W+){0,3}?(?:delete|publish|send|overwrite|upload|remove|exfiltrate|erase|post)\b`,
			"call ",
			"use ",
			"invoke ",
			"execute ",
		),
		order(
			within(60, "the user", "the human", "the owner"),
			`(?:do not|don't|never|must not|no longer)\W+(?:\w+\W+){0,2}?(?:follow|obey|listen to)\W+(?:\w+\W+){0,4}?(?:the user|the human|the owner)(?:'s)?\s*(?:[.,;:!?]|any|instructions?|orders?|requests?|$)`,
			"do not ",
			"don't ",
			"never ",
			"must not ",
			"no longer ",
		),
		order(
			within(60, "the user", "the human", "the owner"),
			`(?:pretend|assume|(?:act|behave) as (?:if|though))\W+(?:that )?(?:the user|the human|the owner) (?:has |had )?(?:already )?(?:approved|confirmed|agreed|allowed|consented|authori[sz]ed)\b`,
			"pretend ",
			"assume ",
			"act as ",
			"behave as ",
		),
		order(
			need{},
			`authori[sz]e you to\W+(?:skip|bypass|ignore|override|disable|publish|delete)\b`,
			"authorise you to",
			"authorize you to",
		),
		order(
			need{},
			`(?:when|before|while|after) summari[sz]ing (?:this|the) (?:note|page|document|text|e-?mail|file|article)s?\W+(?:you|always|please|add|append|include|insert|say|recommend|mention|do not|never)\b`,
			"when summari",
			"before summari",
			"while summari",
			"after summari",
		),
	}
}

// foreignRules returns the rules for orders in languages other than English.
func foreignRules() []rule {
	return []rule{
		order(
			within(160, "anweisung", "instruktion", "befehl", "vorgaben"),
			`(?:ignorier\w*|missacht\w*|vergiss\w*|vergesse\w*)\W+(?:\w+\W+){0,4}?(?:vorherig\w*|bisherig\w*|vorangegangen\w*|früher\w*|obig\w*|deine|alle)\W+(?:\w+\W+){0,2}?(?:anweisung\w*|instruktion\w*|befehl\w*|vorgaben)`,
			"ignorier",
			"missacht",
			"vergiss",
			"vergesse",
		),
		order(
			within(160, "instruction", "consigne", "directive"),
			`(?:ignor\w*|oubli\w*)\W+(?:\S+\s+){0,3}?(?:instructions?|consignes?|directives?)\s+(?:\S+\s+)?(?:précédentes?|antérieures?|ci-dessus|initiales?)`,
			"ignore",
			"oublie",
		),
		order(
			within(160, "istruzioni", "instru", "indicaciones", "rdenes"),
			`(?:ignor\w*|olvid\w*|descart\w*|dimentic\w*|esque\w*|desconsider\w*)\W+(?:\S+\s+){0,3}?(?:instrucciones|istruzioni|instruções|indicaciones|órdenes)`,
			"ignor",
			"olvid",
			"dimentic",
			"esque",
			"desconsider",
		),
		order(need{}, `(?:忽略|无视|無視|忘记|忘掉)[^\n。]{0,24}?(?:指令|指示|说明|提示|命令)`, "忽略", "无视", "無視", "忘记", "忘掉"),
		order(need{}, `(?:指示|命令)[^\n。]{0,12}?(?:無視|忘れ)`, "指示", "命令"),
		order(
			need{},
			`(?:Игнорируй\p{L}*|игнорируй\p{L}*|Забудь\p{L}*|забудь\p{L}*)\s+(?:\S+\s+){0,3}?(?:инструкци\p{L}*|указани\p{L}*)`,
			"Игнорируй",
			"игнорируй",
			"Забудь",
			"забудь",
		),
	}
}

// hiddenRules returns the rules for text that a reader does not see.
func hiddenRules() []rule {
	return []rule{
		sign(
			"hidden",
			0,
			800,
			`style\s*=\s*["'](?:[^"'\n]{0,200}?[;\s])?(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0\d*)?\s*[;"']|font-size\s*:\s*[01](?:px|pt|em|rem|%)?\s*[;"']|color\s*:\s*(?:white|transparent|#fff(?:fff)?)\s*[;"']|(?:left|top|text-indent)\s*:\s*-\d{3,})[^>]{0,200}>\s*[^<\s][^<]{16,}`,
			"style=",
		),
		sign(
			"hidden",
			0,
			300,
			`<font [^>]{0,100}color\s*=\s*["']?(?:white|#fff(?:fff)?)\b[^>]{0,100}>\s*[^<\s][^<]{16,}`,
			"<font ",
		),
		sign("hidden", 0, 300, `[ ]hidden(?:=["']?(?:hidden|true)?["']?)?\s*/?>\s*[^<\s][^<]{16,}`, " hidden"),
		{kind: "hidden", keywords: []string{"<!--"}, find: comment("-->")},
		{kind: "hidden", keywords: []string{"%%"}, find: comment("%%")},
		{kind: "hidden", keywords: []string{"[//]: #", "[comment]: #", "[//]:#"}, find: comment("\n")},
		{
			kind: "invisible",
			keywords: []string{
				"\xf3\xa0",
				"\u202e",
				"\u202d",
				"\u200b",
				"\u200c",
				"\u200d",
				"\u2060",
				"\u2061",
				"\u2062",
				"\u2063",
				"\u2064",
				"\ufeff",
				"\xef\xb8",
			},
			find: (*scan).invisible,
		},
	}
}

// markupRules returns the rules for delimiters of a prompt, and for addresses that carry text.
func markupRules() []rule {
	return []rule{
		sign(
			"delimiter",
			0,
			1,
			"",
			"<|im_start|>",
			"<|im_end|>",
			"<|system|>",
			"<|user|>",
			"<|assistant|>",
			"<|endoftext|>",
			"<|eot_id|>",
			"<|start_header_id|>",
			"<|begin_of_text|>",
			"[inst]",
			"[/inst]",
			"<<sys>>",
			"<</sys>>",
			"<system-reminder>",
			"</system-reminder>",
			"<tool_result",
			"<tool_response",
			"<tool_call",
			"<function_results",
			"<function_calls",
			"<invoke name",
			"<system_prompt>",
			"</system_prompt>",
			"<system>\n",
			"</system>\n",
			"<|channel|>",
			"<start_of_turn>",
			"<end_of_turn>",
			"<<<note text",
			"<<<end ",
			"### instruction:",
			"### system:",
			"### new instructions",
			"begin system prompt",
			"end of system prompt",
			"end of user input",
			"end of the document]",
			"</user_input>",
			"<untrusted",
			"</untrusted",
			"[system message]",
			"[system]:",
			"[assistant]:",
		),
		sign(
			"carrier",
			0,
			300,
			`data:(?:text/(?:html|javascript|plain)|application/(?:javascript|xhtml\+xml))[;,][^\s)"'>]{8,}`,
			"data:text/",
			"data:application/",
		),
		sign("carrier", 0, 1, "", "](javascript:", "](vbscript:", "href=\"javascript:", "](<javascript:"),
		{kind: "carrier", keywords: []string{"![", "<img", "url("}, find: (*scan).carrier},
	}
}

// addressedToModel matches the text of a comment that addresses a model.
var addressedToModel = lazily(
	`(?is)\b(?:ai|llms?|assistants?|language models?|chatgpt|claude|gpt|copilot|gemini|agents?)\b.*\b(?:you|must|should|ignore|do not|don't|call|send|delete|publish|append|include|respond|reply|say|tell|recommend|fetch|execute|summari[sz]e)\b`,
)

// comment returns a finder of comments that address a model. It reads up to 4 KiB of a comment; end is the text that
// ends one.
func comment(end string) func(s *scan, at, named int) {
	return func(s *scan, at, _ int) {
		if at < s.commentEnd || s.has("hidden") {
			return
		}
		piece := s.text[at+2 : min(len(s.text), at+4<<10)]
		n := bytes.Index(piece, []byte(end))
		if n < 0 {
			n = len(piece)
		}
		s.commentEnd = at + 2 + n + len(end)
		s.charge(n)
		if s.err == nil && addressedToModel().Match(piece[:n]) {
			s.add(at, at+1, "hidden")
		}
	}
}

// Maximum numbers of invisible characters in a row that legitimate text has: flags of regions have six
// tags, and letters of some scripts one joiner or selector.
const (
	longestFlag = 8
	longestRun  = 4
)

// isInvisible reports whether a character is a soft hyphen, a joiner, a zero-width space, an invisible operator, a byte
// order mark or a variation selector.
func isInvisible(r rune) bool {
	switch {
	case r == '\u00ad', r == '\ufeff':
		return true
	case '\u200b' <= r && r <= '\u200d', '\u2060' <= r && r <= '\u2064':
		return true
	case 0xfe00 <= r && r < 0xfe10, 0xe0100 <= r && r < 0xe01f0:
		return true
	}
	return false
}

// invisible finds direction overrides, and runs of invisible characters that are too long for legitimate text.
func (s *scan) invisible(at, _ int) {
	if at < s.runsEnd || s.has("invisible") {
		return
	}
	run := 0
	tags := 0
	hasOverride := false
	i := at
	for i < len(s.text) {
		r, size := utf8.DecodeRune(s.text[i:])
		isOverride := r == '\u202d' || r == '\u202e'
		isTag := 0xe0000 <= r && r < 0xe0080
		isOther := isInvisible(r)
		switch {
		case isOverride:
			hasOverride = true
		case isTag:
			tags++
		case isOther:
			run++
		}
		if !isOverride && !isTag && !isOther {
			break
		}
		i += size
	}
	s.runsEnd = i
	s.charge(i - at)
	if hasOverride || tags > longestFlag || run > longestRun {
		s.add(at, at+1, "invisible")
	}
}

// longestImage is how many bytes of an image are searched.
const longestImage = 2 << 10

// carrier finds an image whose address contains text or a placeholder for it.
func (s *scan) carrier(at, _ int) {
	if s.has("carrier") {
		return
	}
	piece := s.text[at:min(len(s.text), at+longestImage)]
	if n := bytes.IndexByte(piece, '\n'); n >= 0 {
		piece = piece[:n]
	}
	s.charge(len(piece))
	if !bytes.Contains(piece, []byte("://")) {
		return
	}
	addresses := Addresses(piece)
	if len(addresses) == 0 || !addresses[0].Image { // later images have their own keyword
		return
	}
	isProse := func(text string) bool { return len(strings.Fields(text)) >= 5 }
	query := addresses[0].query()
	if textPlaceholder().MatchString(query) || slices.ContainsFunc(partsOf(query), isProse) {
		s.add(at, at+1, "carrier")
	}
}

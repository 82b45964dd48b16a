package ranking

import (
	"math/bits"
	"regexp"
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// languageSet has a bit for each language of [languages].
type languageSet uint16

// inEnglish is the set with the first language, and inGerman is the index of the second.
const (
	inEnglish languageSet = 1
	inGerman  int         = 1
)

// language is a language whose word forms are known.
type language struct {
	name      string
	stem      func(*snowballstem.Env) bool
	stopWords string
}

// languages are the languages whose word forms are known. Their stop words are the most frequent words, in the form of
// [fold]. They identify the language of a note, and do not affect the ranking.
var languages = []language{
	{
		"english",
		english.Stem,
		"the of and to a in is it that for on with as was at by this are be from or have an not but you i my we they he she his her its had has were been do did does what which when where who how can will would there their about if so me our your am us than then them just should could into over some any against between during before after while because again under above without within",
	},
	{
		"german",
		german.Stem,
		"der die das und ist in den von zu mit sich auf fur nicht ein eine einer eines einem einen als auch es an werden aus er hat dass sie nach wird bei noch wie uber so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sind gegen ohne zwischen wahrend weil ich wir du mein dein unser was wo wann wer warum wenn kann im am um dem des",
	},
	{
		"french",
		french.Stem,
		"le la les de des du un une et est en que qui dans pour pas sur au avec ce il elle ne se plus par je son sa ses mon ma mes nous vous ou mais on sont cette aux leur comme ont ete etre fait quand quoi comment",
	},
	{
		"spanish",
		spanish.Stem,
		"el la los las de que y a en un una ser se no haber por con su para como estar tener le lo pero mas o este al del es son muy mi sin sobre ya cuando donde quien porque fue ha",
	},
	{
		"italian",
		italian.Stem,
		"il lo la i gli le di che e a in un una per con non del della dei delle al alla da dal si sono come ma anche nel nella questo su piu ho ha mi quando dove chi perche",
	},
	{
		"portuguese",
		portuguese.Stem,
		"o a os as de que e do da em um uma para com nao por mais dos das como mas ao ele se na no foi sua seu ou quando muito nos ja eu tambem so pelo pela ate isso onde",
	},
	{
		"dutch",
		dutch.Stem,
		"de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit naar heeft ik je we ze mijn dit deze over wat waar wie wanneer hoe kan",
	},
	{
		"swedish",
		swedish.Stem,
		"och att det i en jag hon som han pa den med var sig for sa till ar men ett om hade de av icke mig du da nu har inte hans kan vad nar hur min",
	},
	{
		"danish",
		danish.Stem,
		"og i jeg det at en den til er som pa de med han af for ikke der var mig sig men et har om vi min havde ham hun nu over da fra du ud sin hvad hvor kan",
	},
	{
		"norwegian",
		norwegian.Stem,
		"og i jeg det at en et den til er som pa de med han av ikke der sa var meg seg men ett har om vi min mitt ha hadde hun na over da ved fra du ut sin hva hvor kan",
	},
	{
		"finnish",
		finnish.Stem,
		"ja on ei se etta oli han mutta ovat joka kun niin myos kuin tai ole sen jos mina sina me te he olla mika missa kuka",
	},
	{
		"russian",
		russian.Stem,
		"и в не на я что он с как это по но они мы она так его же от за из у к бы вы о для все то был только до или если где когда кто",
	},
}

// fillers are words with which people ask for a note. They do not describe its content.
const fillers = "tip tips advice help hints find search show tell look note notes wrote write written writing anything something where what which did say said information info please page document text list vault obsidian " +
	"each every all more most other such only very too also out up own same here whose whom being having yet still ever never make makes made making use uses used using " +
	"why much many get gets got rid need needs must may might want give gives let doing done often again somebody someone nobody anybody everybody " +
	"tipp tipps rat finde suche zeig zeige notiz notizen geschrieben schrieb steht irgendwas etwas habe hatte viel viele oft muss mussen soll sollte werde werden mache machen macht tun brauche brauchen bekomme bekommen gibt los jemand niemand bitte seite welche welcher gibt " +
	"cherche trouve montre ecrit"

// faint are everyday words that notes on any subject have. They count less than others.
const faint = "new newest old good best better bad big small long short fast first last next buy bring brings take takes put keep keeps come comes go goes went see start end time day thing things way people kind part place cost costs work works working living " +
	"neu neue neuer neuen neues alt alte gut gute beste besten gross grosse klein kleine lang lange kurz erste ersten letzte nachste zeit tag tage ding sache leute mensch menschen kommen kommt gehen geht bringen nehmen arbeiten"

// faintness is the weight of a faint word relative to other words.
const faintness = 0.4

// stopWords maps each stop word to its languages.
var stopWords = sync.OnceValue(func() map[string]languageSet {
	set := map[string]languageSet{}
	for i, l := range languages {
		for w := range strings.FieldsSeq(l.stopWords) {
			set[w] |= 1 << i
		}
	}
	return set
})

// fillerWords is the set of fillers.
var fillerWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(fillers) {
		set[w] = true
	}
	return set
})

// chineseParticles are words of Chinese questions that do not describe what is asked about.
const chineseParticles = "什么时候|为什么|怎么办|怎么做|怎么样|怎么|怎样|什么|如何|多少钱|多少|多久|几点|几个|哪里|哪儿|在哪|哪个|哪些|是谁|请问|关于|我的|你的|可以|能不能|是不是|有没有|的|了|吗|呢|吧|啊" +
	"|什麼時候|為什麼|怎麼辦|怎麼|什麼|哪裡|關於|嗎"

// japaneseParticles are such words of Japanese in hiragana, and japaneseQuestions are its interrogative words.
const (
	japaneseParticles = "から|まで|より|について|において|という|ください|でしょうか|でしょう|でした|です|ました|ましたか|ませんか|ます|ません|している|していた|して|した|する|しますか|します|いつ|いくら|どのくらい|どうやって|どうして|どんな|どこ|どう|どれ|どの|なに|なぜ|ある|いる|こと|とき|もの|の|は|を|が|に|で|と|へ|も|や|か|な|ね|よ"
	japaneseQuestions = "何時|何曜日|何人|何日|何で|何を|何が|何の|何か|何|誰が|誰|幾ら|教えて"
)

// koreanParticles are endings of Korean words.
const koreanParticles = "에서|에게|으로|까지|부터|하고|처럼|이나|인가요|나요|을|를|은|는|이|가|에|의|도|로|와|과"

// particles are patterns that match particles in a question.
var particles = sync.OnceValue(func() []*regexp.Regexp {
	other := `(^|[^\p{Hiragana}])`
	return []*regexp.Regexp{
		regexp.MustCompile(chineseParticles),
		regexp.MustCompile(japaneseQuestions),
		regexp.MustCompile(other + `(?:` + japaneseParticles + `)+([^\p{Hiragana}]|$)`), // everything between two words
		regexp.MustCompile(`(\p{Hiragana})(?:について|において|という|とき|こと|ます|ました|でした|です|する|した|して)(?:` + japaneseParticles + `)*([^\p{Hiragana}]|$)`),
		regexp.MustCompile(`(\p{Hangul}{2})(?:` + koreanParticles + `)(\PL|$)`),
	}
})

// maxParticles is the maximum length in bytes of a question that is searched for particles: a paragraph.
const maxParticles = 4 << 10

// withoutParticles removes Chinese, Japanese and Korean particles from a question. It returns the question unchanged if
// nothing else would be left.
func withoutParticles(question string) string {
	if len(question) > maxParticles || !strings.ContainsFunc(question, isIdeographic) {
		return question
	}
	rest := question
	for _, particle := range particles() {
		for range 2 { // twice, because neighbouring matches share the letter between them
			if particle.NumSubexp() == 0 {
				rest = particle.ReplaceAllString(rest, " ")
			} else {
				rest = particle.ReplaceAllString(rest, "$1 $2")
			}
		}
	}
	if !strings.ContainsFunc(rest, isIdeographic) {
		return question
	}
	return rest
}

// faintWords is the set of faint words.
var faintWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(faint) {
		set[w] = true
	}
	return set
})

// stems returns the stems of a word in some languages, by the index of the language. The stem is "" in other languages.
func stems(word string, in languageSet) (list []string) {
	list = make([]string, len(languages))
	for set := uint16(in); set != 0; set &= set - 1 {
		i := bits.TrailingZeros16(set)
		env := snowballstem.NewEnv(word)
		languages[i].stem(env)
		list[i] = env.Current()
	}
	return list
}

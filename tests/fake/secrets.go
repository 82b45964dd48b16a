package fake

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// Secret is a secret in a line of text.
type Secret struct {
	Kind string // for messages
	Line string // without the ends of lines
	// Value is what nobody may see, without characters that a decoder changes.
	Value string
	// IsNamed says that it is a secret because of what is around it in its line.
	IsNamed bool
}

// The characters of which parts of secrets are drawn, by the letter that stands for them in a form.
var characters = map[byte]string{
	'w': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	'h': "0123456789abcdef",
	'd': "0123456789",
	'U': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'l': "abcdefghijklmnopqrstuvwxyz0123456789",
	'A': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	'q': "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	'b': "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
	'B': "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}

// tokens are the forms of what is recognized by itself: {w36} are 36 characters of a set.
var tokens = map[string]string{
	"github-pat":              "ghp_{w36}",
	"github-oauth":            "gho_{w36}",
	"github-app":              "ghs_{w36}",
	"github-fine-grained-pat": "github_pat_{w82}",
	"gitlab-pat":              "glpat-{w20}",
	"gitlab-runner":           "glrt-{w20}",
	"gitlab-deploy":           "gldt-{w20}",
	"gitlab-trigger":          "glptt-{h40}",
	"aws-access-token":        "AKIA{A16}",
	"slack-bot-token":         "xoxb-{d12}-{d12}-{w24}",
	"slack-user-token":        "xoxp-{d11}-{d11}-{d11}-{h32}",
	"slack-app-token":         "xapp-1-{U11}-{d13}-{l40}",
	"stripe":                  "sk_live_{w24}",
	"stripe-restricted":       "rk_test_{w32}",
	"npm":                     "npm_{l36}",
	"pypi":                    "pypi-AgEIcHlwaS5vcmc{w70}",
	"huggingface":             "hf_{a34}",
	"anthropic":               "sk-ant-api03-{w93}AA",
	"openai":                  "sk-proj-{w74}T3BlbkFJ{w74}",
	"gcp-api-key":             "AIza{w35}",
	"digitalocean":            "dop_v1_{h64}",
	"databricks":              "dapi{h32}",
	"doppler":                 "dp.pt.{l43}",
	"duffel":                  "duffel_live_{l43}",
	"dynatrace":               "dt0c01.{l24}.{l64}",
	"grafana":                 "glsa_{w32}_{h8}",
	"linear":                  "lin_api_{l40}",
	"notion":                  "ntn_{d11}{w35}",
	"perplexity":              "pplx-{w48}",
	"planetscale":             "pscale_tkn_{w40}",
	"postman":                 "PMAK-{h24}-{h34}",
	"prefect":                 "pnu_{w36}",
	"pulumi":                  "pul-{h40}",
	"rubygems":                "rubygems_{h48}",
	"sendgrid":                "SG.{w22}.{w43}",
	"shopify":                 "shpat_{h32}",
	"vault-service":           "hvs.{w95}",
	"1password":               "A3-{U6}-{U11}-{U5}-{U5}-{U5}",
	"age-secret-key":          "AGE-SECRET-KEY-1{q58}",
	"jwt":                     "eyJ{w30}.eyJ{w40}.{w43}",
	"shippo":                  "shippo_live_{h40}",
	"sentry":                  "sntryu_{h64}",
	"anthropic-oauth":         "sk-ant-oat01-{w80}",
	"openai, short":           "sk-proj-{w80}",
	"openrouter":              "sk-or-v1-{h64}",
	"groq":                    "gsk_{w52}",
	"xai":                     "xai-{w80}",
	"replicate":               "r8_{w37}",
	"google-client-secret":    "GOCSPX-{w28}",
	"google-access":           "ya29.{w60}",
	"google-refresh":          "1//0{w60}",
	"tailscale":               "tskey-auth-{w12}-{w32}",
	"resend":                  "re_{w8}_{w24}",
	"supabase":                "sbp_{h40}",
	"figma":                   "figd_{w40}",
	"docker":                  "dckr_pat_{w27}",
	"telegram":                "{d10}:AA{w33}",
	"discord-webhook":         "https://discord.com/api/webhooks/{d18}/{w68}",
	"nostr":                   "nsec1{b58}",
	"wallet":                  "xprv{B107}",
	"bcrypt":                  "$2b$12${w53}",
}

// named are lines in which a value is a secret because of its name: {p} is a password with letters and digits, {k} a key.
var named = map[string]string{
	"password, colon":         "password: {p}",
	"password, equals":        "db_password = {p}",
	"password, is":            "The password is {p}",
	"password, is, colon":     "The password for the router is: {p}",
	"password, German":        "Das Passwort lautet {p}",
	"password, arrow":         "password -> {p}",
	"password, dash":          "Password - {p}",
	"password, of something":  "Wifi password for guests: {p}",
	"password, option":        "mysql --password={p} boats",
	"password, variable":      "DB_PASSWORD={p}",
	"password, code":          "dbPassword := {p}",
	"password, bold":          "**Password:** {p}",
	"passcode, was":           "the old passcode was {p}",
	"address with password":   "postgres://boats:{p}@db.harbour.test/x",
	"bearer":                  "Authorization: Bearer {k}",
	"key, colon":              "api_key: {k}",
	"key, is":                 "my API key is {k}",
	"secret, equals":          "client_secret={k}",
	"token, of something":     "access token for the boats: {k}",
	"cookie":                  "Cookie: session={k}",
	"account key":             "AccountName=boats;AccountKey={k}",
	"private key, named":      "private key: {k}",
	"signing key":             "signing_key = '{k}'",
	"encryption key":          "encryption key: {k}",
	"session":                 "sessionid={k}",
	"signed address":          "https://boats.harbour.test/x?sig={k}{k}",
	"mysql":                   "mysql -u bob -p{p} boats",
	"docker login":            "docker login -u bob -p {p} harbour.test",
	"redis-cli":               "redis-cli -h harbour.test -a {p}",
	"password file":           "harbour.test:5432:boats:bob:{p}",
	"one-time keys":           "otpauth-migration://offline?data={k}",
	"private key in one line": "-----BEGIN PRIVATE KEY----- {w64} {w64} {w48} -----END PRIVATE KEY-----",
}

// Secrets returns 60 secrets and more, each of another kind, in the same order each time.
func Secrets() (all []Secret) {
	r := rand.New(rand.NewPCG(49, 60))
	for _, kind := range sorted(tokens) {
		value := drawn(r, tokens[kind])
		all = append(all, Secret{Kind: kind, Line: value, Value: value})
	}
	for _, kind := range sorted(named) {
		value := ""
		form := named[kind]
		for mark, length := range map[string]int{"{p}": 12, "{k}": 32} {
			if strings.Contains(form, mark) {
				value = mixed(r, length)
				form = strings.ReplaceAll(form, mark, value)
			}
		}
		line := drawn(r, form)
		if value == "" {
			value = strings.Fields(strings.TrimPrefix(line, "-----BEGIN PRIVATE KEY-----"))[0]
		}
		all = append(all, Secret{kind, line, value, true})
	}
	user := mixed(r, 12)
	basic := base64.StdEncoding.EncodeToString([]byte("bob:" + user))
	return append(all, Secret{"basic", "Authorization: Basic " + basic, strings.TrimRight(basic, "="), true})
}

// mixed draws a text of letters and digits, with at least two of each.
func mixed(r *rand.Rand, length int) string {
	return draw(r, 'a', 2) + draw(r, 'd', 2) + draw(r, 'w', length-6) + draw(r, 'd', 1) + draw(r, 'a', 1)
}

func draw(r *rand.Rand, set byte, count int) string {
	var out strings.Builder
	for range count {
		out.WriteByte(characters[set][r.IntN(len(characters[set]))])
	}
	return out.String()
}

// drawn fills in a form.
func drawn(r *rand.Rand, form string) string {
	var out strings.Builder
	for form != "" {
		text, rest, found := strings.Cut(form, "{")
		out.WriteString(text)
		if !found {
			break
		}
		field, after, _ := strings.Cut(rest, "}")
		count := 0
		for _, c := range field[1:] {
			count = 10*count + int(c-'0')
		}
		out.WriteString(draw(r, field[0], count))
		form = after
	}
	return out.String()
}

package fake

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// words are those of which harmless texts are made: names of services and of secrets among them.
var words = strings.Fields(
	"boat harbour token key secret password winter github stripe sentry cloudflare commit release twitter linear sail rope engine letter garden credential passphrase bearer",
)

// Innocent returns 2,000 texts that look like secrets in some way and have none, in the same order each time.
func Innocent() (all []string) {
	r := rand.New(rand.NewPCG(49, 2000))
	forms := innocentForms(r)
	for i := range 2000 {
		all = append(all, forms[i%len(forms)]())
	}
	return all
}

// uuid draws an identifier.
func uuid(r *rand.Rand) string {
	return strings.Join([]string{draw(r, 'h', 8), draw(r, 'h', 4), "4" + draw(r, 'h', 3), "a" + draw(r, 'h', 3), draw(r, 'h', 12)}, "-")
}

// picture draws the bytes of an image in base64.
func picture(r *rand.Rand) string {
	raw := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 60)...)
	for i := 8; i < len(raw); i++ {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func isbn(r *rand.Rand) string {
	return fmt.Sprintf("978-%d-%s-%s-%d", r.IntN(10), draw(r, 'd', 4), draw(r, 'd', 4), r.IntN(10))
}

func innocentForms(r *rand.Rand) []func() string {
	word := func() string { return words[r.IntN(len(words))] }
	upper := func() string { return strings.ToUpper(word()) }
	date := func() string { return fmt.Sprintf("2026-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) }
	forms := []func() string{
		// What has many digits.
		func() string { return "commit " + draw(r, 'h', 40) + " " + word() },
		func() string { return "fixed in `" + draw(r, 'h', 7) + "` and " + draw(r, 'h', 12) },
		func() string { return "id: " + uuid(r) },
		func() string { return "sha256:" + draw(r, 'h', 64) },
		func() string { return "ISBN " + isbn(r) },
		func() string { return "![](data:image/png;base64," + picture(r) + ")" },
		func() string {
			return "[" + word() + "](https://" + word() + ".example.org/" + draw(r, 'h', 12) + "?page=2)"
		},
		func() string { return "| " + word() + " | " + draw(r, 'd', 9) + " | " + uuid(r) + " |" },
		func() string { return "doi:10." + draw(r, 'd', 4) + "/" + draw(r, 'l', 8) + ", " + date() },
		func() string { return "call +49 30 " + draw(r, 'd', 7) + " or " + draw(r, 'd', 5) },
		func() string {
			return "version v" + draw(r, 'd', 1) + "." + draw(r, 'd', 2) + "." + draw(r, 'd', 1) + "-rc1 of the " + word()
		},
		func() string { return "^" + draw(r, 'h', 6) + " [[" + word() + "#^" + draw(r, 'h', 6) + "]]" },
		func() string {
			return "integrity sha512-" + base64.StdEncoding.EncodeToString([]byte(draw(r, 'w', 64)))
		},
		// Prose.
		func() string {
			return "The " + word() + " " + word() + ": " + word() + ", " + word() + " and " + word() + "."
		},
		func() string { return "The password is in the safe, next to the " + word() + "." },
		func() string { return "The password was changed on " + date() + " by the " + word() + "." },
		func() string { return "The password is 16-character long, with a " + word() + "." },
		func() string { return "A password for the " + word() + " is needed. See chapter 12." },
		func() string { return "The password is sha256-hashed and kept for " + draw(r, 'd', 2) + " days." },
		func() string { return "Password - a novel, part " + draw(r, 'd', 1) + ", " + date() },
		func() string { return "The token is valid until " + date() + "T10:00:00Z, the " + word() + " is not." },
		func() string { return "My API key is expired since " + date() + "." },
		func() string { return "The secret of " + word() + " is " + word() + " and " + word() + "." },
		func() string { return "- [ ] rotate the " + word() + " " + word() + " by " + date() },
		func() string {
			return "## Password\n\nIt has " + draw(r, 'd', 2) + " letters, and the " + word() + " has none.\n"
		},
		func() string { return "## Password policy\n\n" + date() + "\n" },
		func() string { return "# Token\n\n" + word() + "-" + word() + "-" + word() + "\n" },
		func() string { return "- Password\n- " + word() + "\n- " + date() + "\n" },
		func() string { return "The password is kept in [[" + word() + " " + draw(r, 'd', 4) + "]]." },
		func() string {
			return "Passwort: siehe [[Tresor]]; Kennwort ist im Tresor, Fach " + draw(r, 'd', 2) + "."
		},
		func() string {
			return "> A passphrase is made of words, such as those of a " + word() + ", at best 6 of them."
		},
		func() string {
			return strings.Join([]string{word(), word(), word(), word()}, " ") + "\nThe passphrase was lost in the " + word() + "."
		},
		func() string { return "Basic knowledge of biology" + draw(r, 'd', 5) + ", bearer of news" },
		// Code that has none in it.
		func() string { return "export " + upper() + "_TOKEN=<your-token-here>" },
		func() string { return word() + "_key: ${{ secrets." + upper() + " }}" },
		func() string { return "password = os.environ[\"" + upper() + "_PASSWORD_1\"]" },
		func() string { return "const apiKey = process.env." + upper() + "_API_KEY_V2;" },
		func() string { return "password := os.Getenv(\"DB_PASSWORD2\")" },
		func() string { return "```sh\nPASSWORD=\"$(pass show " + word() + "/2026)\"\n```" },
		func() string {
			return "```yaml\npassword: \"{{ " + word() + "_password2 }}\"\ntoken: $" + upper() + "_TOKEN\n```"
		},
		func() string { return "```yaml\npassword: !vault " + "\n```\n" + word() },
		func() string { return "token: https://" + word() + ".example.org/" + draw(r, 'l', 12) },
		func() string {
			return "if password == \"\" || len(password) < " + draw(r, 'd', 2) + " { return errPassword }"
		},
		func() string {
			return "<input type=\"password\" name=\"password" + draw(r, 'd', 1) + "\" id=\"p" + draw(r, 'h', 6) + "\">"
		},
		func() string { return "postgres://user:password@example.org/" + word() },
		func() string { return "secret_key_base: changeme" },
		func() string { return "x &amp; y &lt;" + word() + "&gt; &#8212; " + draw(r, 'h', 8) },
		func() string { return "C:\\Users\\" + word() + "\\" + draw(r, 'h', 8) + "\\password.txt" },
		func() string { return "| password | Password policy |\n|---|---|\n" },
		func() string {
			return "| word | " + "token count |\n|---|---|\n| " + word() + " | " + draw(r, 'd', 4) + " |\n"
		},
		// Layouts of secrets without one.
		func() string {
			return "<table><tr><th>where</th><th>password policy</th></tr><tr><td>" + word() + "</td><td>12 letters</td></tr></table>"
		},
		func() string {
			return "<table><tr><th>password</th><td>required</td></tr><tr><th>" + word() + "</th><td>kept in the safe</td></tr></table>"
		},
		func() string {
			return "<tr><td>password</td><td>" + word() + "</td></tr><tr><td>" + word() + "</td><td>" + date() + "</td></tr>"
		},
		func() string {
			return "<input type=\"password\" placeholder=\"your password\" maxlength=\"" + draw(r, 'd', 2) + "\">"
		},
		func() string {
			return "<input name=\"password\" value=\"\"><input name=\"user\" value=\"" + word() + "\">"
		},
		func() string { return "{\"name\": \"password\", \"type\": \"string\", \"value\": null}" },
		func() string { return "{\"name\": \"password_length\", \"value\": \"" + draw(r, 'd', 2) + "\"}" },
		func() string {
			return "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: " + word() + "\n"
		},
		func() string { return "- name: DB_PASSWORD\n  value: $" + upper() + "_PASSWORD\n" },
		func() string { return "password :: String -> " + word() + " -> Bool" },
		func() string { return "Auth::Password::reset(" + word() + ")" },
		func() string { return "Password:: [[" + word() + " " + draw(r, 'd', 4) + "]]" },
		func() string { return "error = \"the password for the " + word() + " was not found\"" },
		func() string { return "password: \"required\", " + word() + ": \"a few words about it\"" },
		func() string { return "The password is \"" + word() + " " + word() + "\", they say." },
		func() string { return "sha256 is the password hash, bcrypt2 as the password function of the " + word() },
		func() string { return "Chapter12 is the password chapter; see v2.10.3 of the " + word() },
		func() string { return "The password (12-character) and the token (SHA-256) are " + word() + "." },
		func() string { return "The password, 2FA-Code and " + word() + " of " + date() },
		func() string { return "<b>Password</b> policy2 and <i>token</i> " + word() + draw(r, 'd', 2) },
		func() string { return "password\t" + word() + "\t" + date() },
		func() string { return "Password\n========\n\nThe " + word() + " of " + draw(r, 'd', 4) + "\n" },
		// What is said where a code or a password could be.
		func() string { return "PIN: see the safe of the " + word() + ", drawer " + draw(r, 'd', 2) },
		func() string {
			return "pin: " + draw(r, 'd', 2) + " of the board, pin " + draw(r, 'd', 1) + " is ground"
		},
		func() string { return "## Backup codes\n\nThey are in the " + word() + " since " + date() + ".\n" },
		func() string { return "## Backup code\n\n- " + word() + ".go\n- reviewed " + date() + "\n" },
		func() string { return "Recovery key: kept by the " + word() + ", " + date() },
		func() string {
			return "Seed: " + draw(r, 'd', 2) + " words restore the " + word() + ", as the manual says of it"
		},
		func() string { return "mnemonic: a " + word() + " that helps to remember a " + word() },
		func() string { return "2FA: enabled since " + date() + ", TOTP: in the app" },
		func() string { return "Password: same as that of the " + word() + " account" },
		func() string { return "password: changed by the " + word() + " last " + word() },
		func() string { return "- Password: twelve letters, " + draw(r, 'd', 1) + " digits" },
		func() string { return "Password: " + word() + " " + word() + " " + word() },
		func() string { return "Password: ask " + word() + " or look into the " + word() },
		func() string { return "Passwords: " + word() + ", " + word() + ", " + word() + " and " + word() },
		func() string { return "WPA key: printed on the router, network key: missing" },
		func() string { return "Пароль: в сейфе " + draw(r, 'd', 2) + "; 密码：见保险箱" },
		func() string { return "pw is short for password, pw: none" },
		func() string { return "# Password: a history of " + word() + " until today\n" },
		func() string {
			return "<summary>Password</summary>\n\nIt is in the " + word() + " of " + date() + ".\n"
		},
	}
	return forms
}

package guard

import (
	"bytes"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// hostileLines are texts that, repeated, begin as much work at each place as there can be.
var hostileLines = []string{
	"\\", "\\\\n", "\\u005c", "&amp;", "&amp;#", "&#38;", "%25", "\x00a", "‹secret:", "‹secret:github-pat:000000›",
	"<tr><th>password</th>", "<tr><th>password</th></tr><tr><td>x</td>", "<th>password", "<password>", "<password>x</password>",
	"{\"name\":\"password\",", "name=\"password\" ", "name: password\n", "\"password\": [", "\"password\": {\"",
	"password::", "password:: ", "[password:: ", "password\n", "password: ", "password: \"", "password_", "secret-", "secret_",
	"password is the ", "the password is \"", "Zk7pQ2 is the password ", "password,", "password,\n", "password;token\n",
	"|password|\n|---|\n", "|password|\n|---|\n|x|\n", "password: |\n", "password: &a *a\n", "password: [", "password: {a: ",
	"-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----- ", "Private-Lines: ", "ghp_\\\n", "://a:b", "a://:", "ey", "Q~",
	"Bearer ", "basic ", "curl ", "wifi:P:", "cloudflare=", "```yaml\n", "~~~env\nPASSWORD=", "PASSWORD=", "password\r", "password:\r",
	"PIN: ", "pin:\n", "recovery codes\n", "recovery codes\n\n", "backup codes:\n1234 5678\n", "backup code: 12345678 ",
	"seed:\n", "seed phrase: abandon ", "abandon ", "totp: ", "TOTP: JBSWY3DPEHPK3PXP", "pw ", "pw: ", "pw is ",
	"password: correct horse battery staple\n", "password: correct horse ", "пароль：", "wpa key: ", "DB_PASSWORD=", "bitlocker 123456-",
	"Z2hwX1I4ZGsyTHgwUHFXM21adDdZYk41Y1ZqMUhzQTlmR2U0VW9UNg", "<!--",
	"a\u00ad", "\u200b", "a\u0301a", "\uff41", "<wbr>", "a<wbr>b\u200bc", "~~~\n", "```\n", "```yaml\n~~~yaml\n",
}

// TestWorkGrowsWithTheText: four times the text is four times the work, in a text and in properties.
func TestWorkGrowsWithTheText(t *testing.T) {
	const small, times = 4 << 10, 4
	const ofEach = 2000 // steps whatever the length
	for _, before := range []string{"", "---\n"} {
		for _, line := range hostileLines {
			steps := func(size int) (all int64) {
				text := append([]byte(before), bytes.Repeat([]byte(line), size/len(line))...)
				_, err := find(text, Secrets, func(n int64) error { all += n; return nil })
				assert.NoError(t, err)
				return all
			}
			once := steps(small)
			all := steps(times * small)
			assert.That(t, all <= times*once*5/4+ofEach, "%q after %q: %d steps, a quarter of it %d", line, before, all, once)
		}
	}
}

// TestViewsAreFew: a megabyte of escapes, nested or not, is decoded a few times, to texts that are no longer.
func TestViewsAreFew(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []string{`\`, `\\`, `\n`, `\u005c`, `\\u005c\\u005c`, "&amp;", "&amp;amp;#38;", "%25", "%255c", "\x00\\", `&#92;\u0026#92;`} {
		text := bytes.Repeat([]byte(piece), size/len(piece))
		levels, _ := levelsOf(text)
		bytesOfAll := 0
		parts := 0
		for _, l := range levels {
			bytesOfAll += len(l.text)
			parts += len(l.parts)
		}
		const most = 1 + maxPercentLevels + maxLevels + 2*maxEntityLevels
		assert.That(t, len(levels) <= most, "%q: %d views", piece, len(levels))
		assert.That(t, bytesOfAll <= most*len(text), "%q: %d bytes in views", piece, bytesOfAll)
		assert.That(t, parts <= most*len(text), "%q: %d parts of views", piece, parts)
	}
}

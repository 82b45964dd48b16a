package fake

// Layouts returns texts in which a value is a secret because of a name that is not on its line, or is any text because
// of where it is: %s is the value. Of those in Words it is words, of the others a password with letters and digits.
func Layouts() (mixed, inWords []string) {
	mixed = []string{
		"## Password\n\n%s\n", "# Wifi password\n%s\n", "### Passwort\n\n```\n%s\n```\n", "## Password:\n\n`%s`\n",
		"- Password\n  - %s\n", "- password:\n    - `%s`\n", "1. Password\n2. %s\n", "Password\n: %s\n", "**Password**\n%s\n", "Password:\n%s\n",
		"> [!info] Password\n> %s\n", "> Password:\n> %s\n", "- [ ] Password\n  - %s\n", "Password:\r\n%s\r\n",
		"| password | %s |\n", "| Wifi password for guests | %s |\n", "|Password|`%s`|\n",
		"<dt>Password</dt><dd>%s</dd>", "<td>password</td>\n<td>%s</td>", "<password>%s</password>",
		"Password → %s", "password => %s", "password is: %s", "password (wifi): %s", "the password for the boat is \"%s\".", "Password was `%s`, now another",
		"login bob, password %s", "user: bob pass: %s", "pw: %s", "passwd=%s", "PASSWORD=%s", "PGPASSWORD='%s' psql",
		"curl -u bob:%s https://harbour.test/x", "mysql -u bob --password %s",
		"sshpass -p %s ssh bob@harbour.test", "new password: %s (changed)", "Zugangsdaten: bob / Passwort %s",
		"Contraseña: %s", "mot de passe : %s", "wachtwoord: %s",
		"{\"user\":\"bob\",\"password\":\"%s\"}", "{'password': '%s'}", "password=\"%s\";", "password: str = '%s'", "WIFI:S:boat;T:WPA;P:%s;;",
		"Server=db;User Id=bob;Password=%s;Database=boat", "ftp://bob:%s@harbour.test/",
		"https://harbour.test/?user=bob&password=%s&x=1", "machine harbour.test login bob password %s",
		"<li>Password: <b>%s</b></li>", "<b>Password</b>: %s<br>", "<p>Password: %s</p>",
		"the password is <code>%s</code>", "<details><summary>Password</summary>%s</details>",
		"<details>\n<summary>Password</summary>\n\n%s\n</details>", "Password\n========\n\n%s\n", "Password\n---\n%s\n",
		"password\t%s", "Das Passwort ist %s", "Le mot de passe est %s",
		"The password (%s) works.", "The password, %s, works.", "use %s as the password",
		"%s is the password of the boat", "login with `%s` as the new password.", "password&colon; %s",
		"password&#58; %s",
		"Пароль: %s", "密码：%s", "パスワード: %s", "hasło: %s", "heslo = %s", "pw %s", "pw is %s", "pass = %s",
		"pass-word: %s", "password＝%s", "password -- %s", "WPA2 key: %s", "wifi key is %s",
		"| a | password&nbsp; |\n|---|---|\n| b | %s |",
	}
	inWords = []string{
		"```yaml\npassword: %s\n```\n", "```yml\ndb:\n  password: \"%s\"\n  user: bob\n```\n",
		"~~~yaml\npasswords:\n  - %s\n~~~\n", "```yaml\npassword: |\n  %s\n```\n",
		"```yaml\npassword: >-\n  %s\nuser: bob\n```\n", "- item\n\n  ```yaml\n  password: %s\n  ```\n",
		"> ```yaml\n> password: %s\n> ```\n", "````yaml\npassword:\n  wifi: %s\n````\n",
		"```ini\n[db]\npassword = %s\n```\n", "```toml\npassword = \"%s\"\n```\n", "```env\nDB_PASSWORD=%s\n```\n", "```properties\ndb.password=%s\n```\n",
		"---\npassword: %s\n---\n", "---\ndb:\n  password: '%s'\n---\n", "{\"password\": \"%s\"}", "```json\n{\"password\": \"%s\"}\n```\n",
		"| who | password |\n|---|---|\n| bob | %s |\n", "who,password,where\nbob,%s,harbour\namy,none,pier\n",
		"who\tpassword\nbob\t%s\n", "who;password\nbob;%s\n", "\"who\",\"password\"\n\"bob\",\"%s\"\n",
		"<table><tr><th>who</th><th>password</th></tr><tr><td>bob</td><td>%s</td></tr></table>",
		"<table>\n<thead>\n<tr>\n<th>Password</th>\n<th>who</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>none</td>\n<td>amy</td>\n</tr>\n<tr>\n<td><code>%s</code></td>\n<td>bob</td>\n</tr>\n</tbody>\n</table>\n",
		"<TABLE><TR><TH align=left><b>Wifi password</b>&nbsp;<TH>where<TR><TD>%s<TD>pier</TABLE>",
		"<input name=\"password\" value=\"%s\">", "<input type=password id=p value='%s'>",
		"<property name=\"db.password\" value=\"%s\"/>", "<entry key=\"password\">%s</entry>",
		"```yaml\nenv:\n  - name: DB_PASSWORD\n    value: %s\n```\n", "env:\n- name: DB_PASSWORD\n  value: \"%s\"\n",
		"{\"name\": \"DB_PASSWORD\", \"value\": \"%s\"}",
		"[{\"key\":\"password\",\"type\":\"text\",\"value\":\"%s\"}]",
		"Password:: %s\n", "- password:: %s\n", "The boat [password:: %s] is blue.\n", "The boat (wifi-password:: %s) is blue.\n",
		"passphrase: %s\n", "Passphrase = %s\n", "Password: %s staple\n", "- password: %s staple\n",
		"> **Password:** %s staple\n", "---\npw: %s\n---\n", "---\nwifi:\n  pw: '%s'\n---\n",
		"password: \"%s\"", "PASSWORD='%s' run", "password=\"%s\";", "const password = `%s`;",
		"the password is \"%s\".", "The password is: `%s`", "Das Passwort lautet „%s“.",
	}
	return mixed, inWords
}

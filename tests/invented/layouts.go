package invented

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
		"login bob, password %s", "user: bob pass: %s", "pw: %s", "passwd=%s", "PASSWORD=%s", "PGPASSWORD='%s' psql", "curl -u bob:%s https://harbour.test/x", "mysql -u bob --password %s",
		"sshpass -p %s ssh bob@harbour.test", "new password: %s (changed)", "Zugangsdaten: bob / Passwort %s", "Contraseña: %s", "mot de passe : %s", "wachtwoord: %s",
		"{\"user\":\"bob\",\"password\":\"%s\"}", "{'password': '%s'}", "password=\"%s\";", "password: str = '%s'", "WIFI:S:boat;T:WPA;P:%s;;",
		"Server=db;User Id=bob;Password=%s;Database=boat", "ftp://bob:%s@harbour.test/", "https://harbour.test/?user=bob&password=%s&x=1", "machine harbour.test login bob password %s",
	}
	inWords = []string{
		"```yaml\npassword: %s\n```\n", "```yml\ndb:\n  password: \"%s\"\n  user: bob\n```\n", "~~~yaml\npasswords:\n  - %s\n~~~\n", "```yaml\npassword: |\n  %s\n```\n",
		"```yaml\npassword: >-\n  %s\nuser: bob\n```\n", "- item\n\n  ```yaml\n  password: %s\n  ```\n", "> ```yaml\n> password: %s\n> ```\n", "````yaml\npassword:\n  wifi: %s\n````\n",
		"```ini\n[db]\npassword = %s\n```\n", "```toml\npassword = \"%s\"\n```\n", "```env\nDB_PASSWORD=%s\n```\n", "```properties\ndb.password=%s\n```\n",
		"---\npassword: %s\n---\n", "---\ndb:\n  password: '%s'\n---\n", "{\"password\": \"%s\"}", "```json\n{\"password\": \"%s\"}\n```\n",
		"| who | password |\n|---|---|\n| bob | %s |\n", "who,password,where\nbob,%s,harbour\namy,none,pier\n", "who\tpassword\nbob\t%s\n", "who;password\nbob;%s\n", "\"who\",\"password\"\n\"bob\",\"%s\"\n",
	}
	return mixed, inWords
}

package fake

// PlainWords returns texts in which a password of one plain word is labelled, each with one %s in its place, and texts that say
// something about a password where one would be.
func PlainWords() (labelled, sayings []string) {
	labelled = []string{
		"password: %s", "Password: %s\n", "user: bob\npassword: %s\nhost: harbour\n", "- Password: %s\n",
		"* password: %s", "1. Wifi password: %s", "- [ ] password: %s\n",
		"**Password:** %s", "**Password**: %s\n", "> password: %s\n", "> [!info] Password: %s\n", "password = %s", "password=%s\n", "Wi-Fi password: %s",
		"```\nuser: bob\npassword: %s\n```\n", "```sh\nexport DB_password=%s\n```\n", "~~~\npassword = %s\n~~~\n",
		"password: `%s`", "Password: **%s**\n", "password: \"%s\"", "password = '%s'",
		"| password | %s |\n", "| user | bob |\n|---|---|\n| password | %s |\n", "|Password|%s|",
		"user: bob, password: %s", "user: bob; password: %s\n", "login: bob / password: %s",
		"password: %s, user: bob",
		"Passwort: %s", "Kennwort: %s\r\nhost: harbour\r\n", "mot de passe : %s", "Contraseña: %s", "wachtwoord: %s",
		"пароль: %s", "password：%s", "password: %s # of the boat", "password: %s (the old one)",
		"login(user, password=\"%s\")", "const password = \"%s\";", "The password is \"%s\".", "the password is `%s`",
		"the password is <code>%s</code>", "Das Passwort ist „%s“.", "the password is %s", "The wifi password is %s.",
		"Our password was %s. It is another one now.", "Das Passwort lautet %s.\n",
		"machine harbour.test login bob password %s\n", "machine harbour.test\n  login bob\n  password %s\n",
	}
	sayings = []string{
		"password: required", "Password: see the vault", "password: none", "password: unknown", "Password: changed",
		"- password: reset", "password: stored in Bitwarden", "Password: Bitwarden", "password: ask Anna",
		"| password | required |", "| password | string | the password of the user |",
		"| field | type |\n|---|---|\n| password | string |\n", "password: string;", "password: str",
		"password = getpass()", "password: userPassword",
		"password = hash", "password: form.password", "password=\"required\"", "autocomplete=\"current-password\"",
		"password: \"Passwort\"", "password = \"Contraseña\"", "Password: Minimum eight characters",
		"## Password: sunflower",
		"the password is wrong", "the password is required.", "the password is sunflower-like",
		"The password is \"required\".", "Passwort: siehe Tresor", "Passwort: unbekannt", "Mot de passe : inconnu",
		"Contraseña: ninguna",
		"Forgot password: click the link", "password: encrypted", "password: yes", "password: same as before",
		"Password: empty", "password managers: Bitwarden", "password policy: strict", "password hint: sunflower",
		"the password: sunflower grows in it", "Password: new, strong and long", "password: TBD",
		"the password is stored", "the password is stored in the vault", "the password is too short", "The password is secret.",
		"the password is hashed.", "The password is case-sensitive.", "the password is mandatory", "the password is yours.",
		"the password is visible", "the password is personal.", "the password is longer.", "the password is incorrect!",
		"Das Passwort ist falsch.", "Das Passwort ist abgelaufen.", "Das Passwort ist gültig", "Das Passwort ist geheim.",
		"the password is useless.", "the password is guessable", "The password is here.", "the password was changed.",
		"the password is available", "the password is unknown. Ask Anna.", "the password is theirs.",
		"the password is sunflower and rain", "docker login -u bob --password-stdin", "mysql -u bob -p boats", "ENV DB_PASSWORD $PASSWORD",
		"redis-cli -a $PASSWORD ping", "the login and password required here", "7z a archive.7z boat", "zip -r boat.zip boat",
		"password: <password>", "password: null", "wachtwoord: onbekend", "пароль: неизвестен",
	}
	return labelled, sayings
}

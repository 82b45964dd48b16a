package streamable

// The settings of a door can be judged before it is opened: nothing here reads a
// file, opens a port or asks for a name. An error is a *SettingError.

// CheckAddr refuses what cannot be [Config].Addr on this system.
func CheckAddr(text string) error {
	_, err := parseAddr(text)
	return err
}

// CheckOrigin refuses what cannot be one of [Config].Origins.
func CheckOrigin(text string) error {
	_, err := parseOrigin(text)
	return err
}

// CheckHost refuses what cannot be one of [Config].Hosts.
func CheckHost(text string) error {
	_, err := parseHost(text)
	return err
}

// CheckTLS refuses a config whose TLSCert and TLSKey do not go together, or not
// with its Addr. What is in the files is not looked at.
func CheckTLS(c Config) error {
	at, err := parseAddr(c.Addr)
	if err != nil {
		return err
	}
	return checkTLS(c, at)
}

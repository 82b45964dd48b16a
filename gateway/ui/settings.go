package ui

// settings shows every setting with its origin, and what to write for another value. It
// changes nothing: what loosens the policy takes who starts the next server.
func (p *page) settings(r request) view {
	v := view{template: "settings", title: "Settings", data: Settings{}}
	if p.Settings == nil {
		return v
	}
	settings, err := p.Config.Settings()
	v.data = settings
	if err != nil {
		return v.failed(err)
	}
	return v
}

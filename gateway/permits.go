package gateway

// Permits reports whether the policy of the vault of req lets the call through,
// if need be after asking a person. It looks at nothing but the table and the
// policy: no program, no pause, no limit. The error is that of [Gateway.Plan]'s
// first half; nil is no promise that the call will be carried out.
func (g *Gateway) Permits(req Request) error {
	d, err := g.door(req.Vault)
	if err != nil {
		return err
	}
	call, err := req.parse()
	if err != nil {
		return err
	}
	call, _ = d.spelled(call)
	_, err = d.rules().Decide(call).Approved()
	return err
}

// Admits returns why no call at all is let through, nil where calls are. A caller
// that hands out what an earlier call has read asks it first.
func (g *Gateway) Admits() error { return g.admission.open() }

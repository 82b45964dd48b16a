package vault

// answer carries out one request. Every error becomes a reply here.
func answer(v *vault, r request) reply {
	row, err := lookUp(r.command)
	if err != nil {
		return explain(err)
	}
	values, err := row.syntax().parse(r)
	if err != nil {
		return explain(err)
	}
	if err := r.mayRun(row, values); err != nil {
		return explain(err)
	}
	said, err := reply{}, error(nil)
	switch {
	case row.writes():
		v.caller = r.how.caller
		said, err = v.write(row, values, r.how)
	case r.how != (manner{}):
		err = misuse("%s changes nothing: it takes no %s.", row.name, r.how.given())
	default:
		said, err = row.run(v, values)
	}
	if err != nil {
		return explain(err)
	}
	return said
}

// mayRun refuses a call that would change something, or have it kept in the journal,
// and was not allowed to.
func (r request) mayRun(c command, values params) error {
	shows := c.shows != nil && c.shows(values)
	if !c.writes() || shows || r.writes || r.how.task == planSwitch {
		return nil
	}
	return misuse("%s changes the vault, and this program only reads. Put %s before the command.", c.name, writeSwitch)
}

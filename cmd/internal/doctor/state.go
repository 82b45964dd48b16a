package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
)

// leastFree is the number of bytes that should be free where changes are recorded, enough to change a
// large note and record that in the journal.
const leastFree = 200 << 20

// state checks the state folder and what is stored in it.
func (m Machine) state(ctx context.Context, r *Report) {
	const noChange = "no change can be recorded, so none is made"
	switch {
	case m.State == "":
		r.problem(
			"state-none",
			"there is no place for the state folder",
			noChange+", and pause does nothing",
			"set "+ownerfiles.HomeVariables(m.OS)+", or XDG_STATE_HOME, to an absolute path",
		)
		return
	case m.StateUnsafe != nil:
		r.problem(
			"state-unsafe",
			m.StateUnsafe.Error(),
			"somebody else, or an agent, could approve requests or change the audit log there: no command runs",
			terminal.HintOf(m.StateUnsafe),
		)
		return
	case m.StateReadOnly != "":
		r.problem(
			"state-read-only",
			m.StateReadOnly,
			noChange,
			fmt.Sprintf("give your user the right to write in %q", m.State),
		)
		return
	}
	r.ok("state", fmt.Sprintf("state folder %q", m.State))
	for _, other := range ownerfiles.OtherStates(m.OS, m.Getenv, m.State) {
		r.warn(
			"state-other",
			fmt.Sprintf("there is another state folder, %q", other),
			"approvals, undo and pause in a terminal do not reach servers that use it, and its journal is not shown: a packaged client, or an earlier version, made it",
			fmt.Sprintf(
				"start the MCP client again, which uses %q from then on; XDG_STATE_HOME=%q for a command shows what is there; then remove it",
				m.State,
				filepath.Dir(other),
			),
		)
	}
	if free, known := m.Free(m.State); known && free < leastFree {
		r.warn(
			"disk-full",
			fmt.Sprintf("%d MB are free where the state folder is", free>>20),
			"when the disk is full changes are refused",
			"free some space",
		)
	}
	isPaused, err := m.Paused()
	if err != nil {
		r.warn(
			"paused",
			"it cannot be told whether vaultwicket is paused: every call is refused",
			excerpt.Reason(err),
			fmt.Sprintf("make the state folder %q one of your own, with mode 0700", m.State),
		)
	}
	if isPaused {
		r.warn(
			"paused",
			"vaultwicket is paused: every call is refused",
			"somebody ran \"vaultwicket pause\"",
			"vaultwicket resume",
		)
	}
	m.servers(r)
	for _, p := range audit.ExportProgressOf(m.State) {
		target := sanitize.Line(p.Target)
		if p.Dropped == 0 {
			sent := sanitize.Counted(p.Sent, "line")
			r.ok("export", fmt.Sprintf("%s has taken %s of the audit log, none is lost", target, sent))
			continue
		}
		r.warn(
			"export-dropped",
			fmt.Sprintf("%s: lost %s of the audit log", target, sanitize.Counted(p.Dropped, "line")),
			"it was down for longer than the log is kept, or rejected them",
			fmt.Sprintf(
				"make it accept lines again; the last ones were accepted at %s",
				p.Time.In(m.Now().Location()).Format(time.DateTime),
			),
		)
	}
	m.pending(r)
	m.journals(ctx, r)
	if m.Invalid != nil || m.Settings.Backend == settings.App {
		return
	}
	for _, v := range m.Settings.Served {
		if v.Folder == "" {
			continue
		}
		cache := ownerfiles.CacheFolder(m.Getenv, v.Folder)
		if cache == "" || ownerfiles.Unwritable(cache) != nil || ownerfiles.WhyUnsafe(cache) != "" {
			r.warn(
				"cache-unusable",
				fmt.Sprintf("nothing can be kept in the cache folder %q", cache),
				"the first call after each start reads every note again",
				"set XDG_CACHE_HOME to a private folder outside the vault",
			)
			return
		}
	}
}

// servers reports the running servers.
func (m Machine) servers(r *Report) {
	list, err := ownerfiles.Servers(ownerfiles.ServersFolder(m.State))
	if err != nil {
		r.warn(
			"servers-unknown",
			err.Error(),
			"running servers cannot be listed, here and on the local page",
			fmt.Sprintf("remove %q; each server that starts makes it again", ownerfiles.ServersFolder(m.State)),
		)
		return
	}
	if len(list) == 0 {
		r.ok("servers", "no server is running")
		return
	}
	var shown []string
	for _, s := range list[:min(len(list), maxServers)] {
		shown = append(
			shown,
			fmt.Sprintf(
				"%s %d (%s, since %s)",
				sanitize.Line(s.Transport),
				s.PID,
				sanitize.Line(strings.Join(s.Vaults, ", ")),
				s.Since.In(m.Now().Location()).Format(time.DateTime),
			),
		)
	}
	more := ""
	if len(list) > maxServers {
		more = ", …"
	}
	r.ok("servers", sanitize.Counted(len(list), "running server")+": "+strings.Join(shown, "; ")+more)
}

// maxServers is the maximum number of servers that a finding lists.
const maxServers = 8

// pending reports pending approvals and damaged ones.
func (m Machine) pending(r *Report) {
	questions, damaged, err := consent.OpenStore(consent.Folder(m.State), m.Now).List()
	if err != nil {
		r.problem(
			"approvals-unreadable",
			err.Error(),
			"requests that wait for approval cannot be approved",
			"remove the folder; open questions are asked again",
		)
		return
	}
	waiting := 0
	for _, q := range questions {
		if q.State == consent.Pending {
			waiting++
		}
	}
	if waiting > 0 {
		r.warn(
			"approvals-pending",
			sanitize.Counted(waiting, "request")+" pending approval",
			"an agent waits for the answer, or has given up",
			"vaultwicket approvals",
		)
	}
	if len(damaged) > 0 {
		r.warn(
			"approvals-damaged",
			fmt.Sprintf("%s cannot be read, such as %q", sanitize.Counted(len(damaged), "approval"), damaged[0].Name),
			"they count as no answer",
			fmt.Sprintf("remove them from %q", consent.Folder(m.State)),
		)
	}
}

// journals checks the journals of the served vaults.
func (m Machine) journals(ctx context.Context, r *Report) {
	if m.Invalid != nil {
		return
	}
	for _, v := range m.Settings.Served {
		if v.Folder == "" {
			continue
		}
		if err := m.Settle(ctx, v.Vault); err != nil {
			r.problem(
				"change-unfinished",
				err.Error(),
				"notes of the vault may be as before the change, or as after it",
				failure.Of(err).Hint,
			)
		}
		changes, err := m.Journal(v.Vault)
		var damage []journal.Damage
		if err == nil {
			damage, err = changes.Check(ctx)
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			r.problem(
				"journal-unusable",
				fmt.Sprintf("the journal of %q cannot be read: %v", v.Folder, err),
				"changes are refused, because they could not be taken back",
				"see the reason; restore the folder from a backup, or move it away",
			)
		case len(damage) > 0:
			r.warn(
				"journal-damaged",
				fmt.Sprintf("the journal of %q: %s cannot be read", v.Folder, sanitize.Counted(len(damage), "place")),
				"what they recorded cannot be taken back",
				"vaultwicket journal list shows what can",
			)
		}
	}
}

// logs checks the audit log.
func (m Machine) logs(ctx context.Context, r *Report) {
	if m.State == "" || m.StateUnsafe != nil {
		return
	}
	for _, part := range []struct{ about, folder string }{
		{"changes, approvals and denials", audit.AuditFolder(m.State)}, {"other calls", audit.CallsFolder(m.State)},
	} {
		folder := part.folder
		report, err := audit.Verify(ctx, folder)
		switch {
		case err != nil:
			r.problem(
				"audit-unusable",
				fmt.Sprintf("the audit log in %q cannot be read: %v", folder, err),
				"changes are refused while nothing can be recorded",
				"see the reason; restore the folder, or move it away",
			)
		case report.Broken != nil:
			r.problem(
				"audit-broken",
				fmt.Sprintf("the audit log in %q was changed: %s", folder, report.Broken),
				"what it says before that place may not be what happened",
				"vaultwicket audit verify; keep a copy of the folder, then move it away",
			)
		case report.Lines > 0:
			since := report.Since.Local().Format(time.DateOnly)
			r.ok(
				"audit",
				fmt.Sprintf("audit log of %s: %s, unbroken since %s", part.about, sanitize.Counted(report.Lines, "line"), since),
			)
		}
		if missed := report.Missed + uint64(report.Waiting); err == nil && missed > 0 {
			r.warn(
				"audit-missed",
				fmt.Sprintf("%s of the audit log in %q could not be written", sanitize.Counted(missed, "line"), folder),
				"these calls are not recorded; the disk was full or refused the lines",
				"free some space; lines of the kind gap in \"vaultwicket audit list\" say when",
			)
		}
	}
	var size int64
	entries, _ := os.ReadDir(audit.AuditFolder(m.State)) // empty if there is no log yet
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
	}
	if size > maxLasting*9/10 {
		r.warn(
			"audit-full",
			fmt.Sprintf("the lasting audit log has %d MB of %d", size>>20, maxLasting>>20),
			"when it is full changes are refused, since lines of 90 days must be kept",
			"keep a copy of the oldest files and remove them",
		)
	}
}

// maxLasting is the maximum size of the lasting audit log in bytes: 256 files of 8 MiB.
const maxLasting = 256 * 8 << 20

// settings reports invalid and risky settings.
func (m Machine) settings(_ context.Context, r *Report) {
	if m.Invalid != nil {
		r.problem(
			"settings-invalid",
			m.Invalid.Error(),
			"no command runs with invalid settings",
			cmp.Or(
				terminal.HintOf(m.Invalid),
				"correct the setting; \"vaultwicket config show\" tells where each comes from",
			),
		)
		return
	}
	s := m.Settings
	mutations := "off"
	if s.Policy.Mutations {
		mutations = "on"
	}
	r.ok(
		"settings",
		fmt.Sprintf(
			"tier %s, mutations %s",
			s.Policy.Ceiling,
			mutations,
		),
	)
	if !s.Enabled {
		r.warn("disabled", "every call is refused", "the setting enabled is false", "remove it, or set it to true")
	}
	if s.Policy.Mutations && s.Policy.Confirm == policy.ConfirmNever {
		r.warn(
			"unasked-changes",
			"an agent may delete and overwrite notes without approval",
			"the setting confirm is never; what an agent reads can tell it to",
			`set confirm to "destructive" or "writes"`,
		)
	}
	if s.Policy.Mutations && s.Policy.Publish {
		r.warn(
			"publishing",
			"an agent may publish notes to the web",
			"the setting allow-publish is true: what is published cannot be taken back",
			"remove allow-publish unless it is needed",
		)
	}
}

// system checks the clock, the time zone and the rights of this process.
func (m Machine) system(_ context.Context, r *Report) {
	now := m.Now()
	if now.Year() < 2026 || !m.Built.IsZero() && now.Before(m.Built.Add(-24*time.Hour)) {
		r.warn(
			"clock",
			fmt.Sprintf("the clock says %s, which is before this program was built", now.Format(time.DateOnly)),
			"daily notes of the wrong day are read and created",
			"set the clock",
		)
	}
	zone := strings.TrimPrefix(m.Getenv("TZ"), ":")
	// TZ may also be the path of a file. Go does not support POSIX time zones such as CET-1.
	if _, err := time.LoadLocation(zone); err != nil && !(strings.HasPrefix(zone, "/") && exists(zone)) {
		r.warn(
			"zone",
			fmt.Sprintf("the variable TZ names no time zone: %q", zone),
			"the day of daily notes is that of UTC",
			"set TZ to a name such as Europe/Berlin, or remove it",
		)
	} else {
		r.ok("clock", fmt.Sprintf("today is %s, %s", now.Format(time.DateOnly), now.Format("-07:00")))
	}
	if m.Elevated() {
		what := "this terminal has the rights of an administrator"
		if m.OS != "windows" {
			what = "running as root"
		}
		r.warn(
			"elevated",
			what,
			"files that are made now cannot be changed by your own user later, and an agent would have the same rights",
			"run vaultwicket as your own user",
		)
	}
}

package oversight

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/oauth"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Passkey runs "vaultwicket passkey", which adds, lists and removes the passkeys of the owner and the clients that
// signed in with them.
func Passkey(_ context.Context, std terminal.Streams, args []string) error {
	f := settings.NewFlags("passkey")
	var screenOptions terminal.ScreenOptions
	screenOptions.ColorFlag(f.FlagSet)
	s, rest, err := f.Load(std, args)
	if err != nil {
		return err
	}
	state, err := s.SecretsFolder(std)
	if err != nil {
		return err
	}
	store := oauth.OpenSignInStore(state)
	switch {
	case len(rest) == 1 && rest[0] == "add":
		link, err := newPasskeyLink(store, s.HTTP.PublicURL)
		if err != nil {
			return err
		}
		terminal.Notef(
			std.Err,
			"open this on the device with the passkey, within 15 minutes; whoever opens it first can sign in",
		)
		if f.JSON {
			return terminal.PrintJSON(std.Out, map[string]string{"link": link}, terminal.ExitDone)
		}
		return terminal.Write(std.Out, link+"\n")
	case len(rest) == 1 && rest[0] == "list":
		list, err := listSignedIn(store)
		if err != nil {
			return err
		}
		if f.JSON {
			return terminal.PrintJSON(std.Out, list, terminal.ExitDone)
		}
		if len(list) == 0 {
			terminal.Notef(std.Err, "no passkeys and no clients that signed in")
			return nil
		}
		return printSignedIn(terminal.NewScreen(std, screenOptions, time.Now()), list)
	case len(rest) == 2 && rest[0] == "remove":
		found, err := store.Remove(rest[1])
		if err == nil && !found {
			err = &terminal.UsageError{
				Reason: fmt.Sprintf("unknown id %q", excerpt.Short(rest[1])),
				Advice: `"vaultwicket passkey list" shows them`,
			}
		}
		if err == nil && f.JSON {
			return terminal.PrintJSON(std.Out, map[string]string{"removed": rest[1]}, terminal.ExitDone)
		}
		return unreadable(err)
	}
	return &terminal.UsageError{Reason: "usage: vaultwicket passkey add | list | remove ID"}
}

// newPasskeyLink returns a link to the page of the server at publicURL that adds a passkey.
func newPasskeyLink(store *oauth.SignInStore, publicURL string) (string, error) {
	if publicURL == "" {
		return "", &terminal.UsageError{
			Reason: `the setting "public-url" is missing`,
			Advice: "set the address at which clients reach the server, such as https://notes.example/mcp",
		}
	}
	code, err := store.NewSetup(time.Now())
	if err != nil {
		return "", unreadable(err)
	}
	u, _ := url.Parse(publicURL) // valid: the settings were checked
	return fmt.Sprintf("%s://%s%s#%s", u.Scheme, u.Host, oauth.SetupPath, code), nil
}

// listSignedIn returns the passkeys, and the clients that signed in with them.
func listSignedIn(store *oauth.SignInStore) ([]signedIn, error) {
	passkeys, grants, err := store.List()
	if err != nil {
		return nil, unreadable(err)
	}
	list := []signedIn{}
	for _, p := range passkeys {
		list = append(list, signedIn{ID: p.ID, Kind: "passkey", Since: p.Added})
	}
	for _, g := range grants {
		list = append(list, signedIn{
			ID:     g.ID,
			Kind:   "client",
			Client: terminal.Visible(g.Client.Name + " (" + g.Client.ID + ")"),
			Agent:  g.Agent,
			Scope:  g.Scope,
			Since:  g.Made,
			Used:   g.Used,
		})
	}
	return list, nil
}

// printSignedIn prints a table of passkeys and clients.
func printSignedIn(screen terminal.Screen, list []signedIn) error {
	table := screen.Table(
		terminal.Column{Title: "id"},
		terminal.Column{Title: "what"},
		terminal.Column{Title: "since"},
		terminal.Column{Title: "agent"},
		terminal.Column{Title: "scope"},
	)
	for _, entry := range list {
		what := entry.Kind
		if entry.Client != "" {
			what = entry.Client
		}
		table.Add(
			terminal.Text(entry.ID),
			terminal.Text(what),
			terminal.Text(entry.Since.Local().Format(time.DateTime)),
			terminal.Text(entry.Agent),
			terminal.Text(entry.Scope),
		)
	}
	return table.Flush()
}

// unreadable returns an error of the store of passkeys as an error of the state folder: the store only fails when its
// files do. It returns nil for nil, and a usage error unchanged.
func unreadable(err error) error {
	if err == nil || terminal.StatusOf(err) != terminal.ExitInternal {
		return err
	}
	return terminal.Fail(terminal.ExitNotReady, "passkeys: "+err.Error(), "they are in the state folder, which only you may access")
}

// signedIn is a passkey or a client that signed in, as "passkey list --json" prints it.
type signedIn struct {
	ID     string    `json:"id"`
	Kind   string    `json:"kind"` // passkey or client
	Client string    `json:"client,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	Scope  string    `json:"scope,omitempty"`
	Since  time.Time `json:"since"`
	Used   time.Time `json:"used,omitzero"`
}

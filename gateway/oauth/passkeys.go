package oauth

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// owner is the owner of the vault as a user for go-webauthn.
type owner struct{ content }

func (o owner) WebAuthnID() []byte          { return o.User }
func (o owner) WebAuthnName() string        { return "owner" }
func (o owner) WebAuthnDisplayName() string { return "Owner of the vault" }
func (o owner) WebAuthnCredentials() (credentials []webauthn.Credential) {
	for _, p := range o.Passkeys {
		credentials = append(credentials, p.Credential)
	}
	return credentials
}

var errSetup = errors.New(`this link is not valid any more; "vaultwicket passkey add" prints a new one`)

// beginSetup answers the page for adding a passkey, which sends a code of [SignInStore.NewSetup], with
// the challenge for the new passkey.
func (s *AuthorizationServer) beginSetup(r *http.Request) (any, error) {
	var a pageRequest
	if err := decode(r.Body, maxBody, &a); err != nil {
		return nil, err
	}
	c, err := s.store.read()
	isSetup := c.Setup != "" && c.Setup == hashOf(a.Code)
	if err != nil || !isSetup || !s.Now().Before(c.SetupEnd) {
		return nil, errSetup
	}
	if len(c.Passkeys) >= maxPasskeys {
		return nil, errors.New("there are too many passkeys; remove one in the terminal")
	}
	options, session, err := s.passkey.BeginRegistration(
		owner{c},
		webauthn.WithExclusions(webauthn.Credentials(owner{c}.WebAuthnCredentials()).CredentialDescriptors()),
	)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"ticket":  s.storeTicket(ticket{session: *session, setup: hashOf(a.Code), payer: payerOf(r)}),
		"options": options.Response,
	}, nil
}

func (s *AuthorizationServer) finishSetup(r *http.Request) (any, error) {
	t, a, err := s.takeTicket(r)
	if err != nil || t.setup == "" {
		return nil, cmp.Or(err, errTicket)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(a.Credential)
	if err != nil {
		return nil, errors.New("the passkey cannot be read")
	}
	err = s.store.change(func(c *content) error {
		if c.Setup != t.setup {
			return errSetup
		}
		credential, err := s.passkey.CreateCredential(owner{*c}, t.session, parsed)
		if err != nil {
			return errors.New("the passkey is not valid here")
		}
		c.Setup = ""
		c.SetupEnd = time.Time{}
		c.Passkeys = append(
			c.Passkeys,
			Passkey{ID: strings.ToLower(rand.Text()[:8]), Added: s.Now(), Credential: *credential},
		)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.Log.Warn("a passkey was added")
	return map[string]any{}, nil
}

// begin answers a sign-in page with a challenge. The challenge names no passkeys, so that it reveals
// nothing about the owner.
func (s *AuthorizationServer) begin(r *http.Request) (any, error) {
	options, session, err := s.passkey.BeginDiscoverableLogin(
		webauthn.WithUserVerification(protocol.VerificationRequired),
	)
	if err != nil {
		return nil, err
	}
	return map[string]any{"ticket": s.storeTicket(ticket{session: *session, payer: payerOf(r)}), "options": options.Response}, nil
}

var errPasskey = errors.New("this passkey is not the owner's")

// finish signs the owner in, and answers with the request of a client or with a question. The client is
// looked up only after that, so that nobody else can make this server fetch a URL.
func (s *AuthorizationServer) finish(r *http.Request) (any, error) {
	t, a, err := s.takeTicket(r)
	if err != nil || t.session.Challenge == "" || t.setup != "" {
		return nil, cmp.Or(err, errTicket)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(a.Credential)
	if err != nil {
		return nil, errPasskey
	}
	err = s.store.change(func(c *content) error {
		credential, err := s.passkey.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
			if len(c.Passkeys) == 0 || string(handle) != string(c.User) {
				return nil, errPasskey
			}
			return owner{*c}, nil
		}, t.session, parsed)
		if err != nil || credential.Authenticator.CloneWarning {
			return errPasskey
		}
		for i := range c.Passkeys {
			if string(c.Passkeys[i].Credential.ID) == string(credential.ID) {
				c.Passkeys[i].Credential = *credential
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if a.Question != "" {
		html, answer := s.Question(a.Question)
		if html == "" {
			return nil, errors.New("this question does not wait any more")
		}
		return map[string]string{"ticket": s.storeTicket(ticket{answer: answer}), "html": html}, nil
	}
	return s.authorize(r.Context(), a.Query)
}

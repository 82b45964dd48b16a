package suitable

import (
	"io/fs"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec/acl"
)

// safeFile refuses what another user than this one and the administrators owns or can
// change. The mode bits are made up on Windows: the access list decides.
func safeFile(_ Surroundings, path string, _ fs.FileInfo) string {
	reason, err := others(path, acl.ChangeFile)
	if err != nil {
		return "has access rights that cannot be read"
	}
	return reason
}

// others says what another user can do with a file or folder, in words that follow its
// name, "" for nothing.
func others(path string, rights acl.Rights) (reason string, err error) {
	descriptor, err := acl.Of(path)
	if err != nil {
		return "", err
	}
	found, err := descriptor.Check(rights)
	switch {
	case err != nil:
		return "", err
	case found.Own:
		return "belongs to another user", nil
	case found.Account != "":
		return "can be changed by " + quote.Quoted(found.Account), nil
	}
	return "", nil
}

// nonblocking is a flag for opening; there is none here.
const nonblocking = 0

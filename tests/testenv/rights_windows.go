package testenv

import (
	"testing"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// AllowRights leaves this user all rights at a file or folder, and gives others the rights of
// entries in the text form of access lists, such as (A;;FR;;;WD). Nothing is inherited.
func AllowRights(t testing.TB, name, entries string) {
	t.Helper()
	user := require.Value(windows.GetCurrentProcessToken().GetTokenUser())(t)
	descriptor := require.Value(windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;" + user.User.Sid.String() + ")" + entries))(t)
	list, _, err := descriptor.DACL()
	require.NoError(t, err)
	const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	require.NoError(t, windows.SetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, what, nil, nil, list, nil))
}

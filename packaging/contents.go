package packaging

import (
	"strings"

	"vaultwicket/packaging/facts"
)

// installed is a file of the repository, or of the folder that stage.sh fills, and where
// a package of a Linux system puts it.
type installed struct{ From, To string }

const stage = "packaging/stage/"

// archiveFiles are the documents at the top of every archive.
var archiveFiles = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}

// packageFiles are the files of every Linux package but the program.
var packageFiles = []installed{
	{stage + "completions/" + facts.Name + ".bash", "/usr/share/bash-completion/completions/" + facts.Name},
	{stage + "completions/" + facts.Name + ".fish", "/usr/share/fish/vendor_completions.d/" + facts.Name + ".fish"},
	{"packaging/systemd/" + facts.Name + ".service", "/usr/lib/systemd/user/" + facts.Name + ".service"},
	{"packaging/systemd/" + facts.Name + ".socket", "/usr/lib/systemd/user/" + facts.Name + ".socket"},
	{"README.md", "/usr/share/doc/" + facts.Name + "/README.md"},
	{"SECURITY.md", "/usr/share/doc/" + facts.Name + "/SECURITY.md"},
	{stage + "THIRD-PARTY-LICENCES.txt", "/usr/share/doc/" + facts.Name + "/THIRD-PARTY-LICENCES.txt"},
	{"skills/" + facts.Name + "/SKILL.md", "/usr/share/" + facts.Name + "/skills/" + facts.Name + "/SKILL.md"},
}

// zshFolder is where a kind of package keeps the completions of zsh.
type zshFolder struct{ Packager, Folder string }

// zshFolders differ: Debian has a folder of its own.
var zshFolders = []zshFolder{
	{"deb", "/usr/share/zsh/vendor-completions"},
	{"rpm", "/usr/share/zsh/site-functions"},
	{"apk", "/usr/share/zsh/site-functions"},
	{"archlinux", "/usr/share/zsh/site-functions"},
}

// label is a name for launchd: that of the registry with dots alone.
func label(name string) string { return strings.ReplaceAll(name, "/", ".") }

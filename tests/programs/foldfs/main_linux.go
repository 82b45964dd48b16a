// Foldfs shows a folder of this machine as the file systems of other machines
// would: a name is kept as it was written, and found in every case and every
// Unicode normal form, as on APFS and NTFS. It is for tests.
//
//	foldfs [-nfd] [-short]
//
// It makes an empty folder, prints its path once the file system can be used, and
// removes both when its standard input ends.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func main() {
	rules := &naming{}
	flag.BoolVar(&rules.decompose, "nfd", false, "store names decomposed (NFD), as HFS+ does")
	flag.BoolVar(&rules.short, "short", false, "find names by short ones (PROJ~V4F), as NTFS does")
	flag.Parse()
	if err := serve(rules); err != nil {
		fmt.Fprintln(os.Stderr, "foldfs:", err)
		os.Exit(1)
	}
}

func serve(rules *naming) error {
	top, err := os.MkdirTemp("", "foldfs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(top)
	source := filepath.Join(top, "files")
	mountpoint := filepath.Join(top, "mounted")
	if err := errors.Join(os.Mkdir(source, 0o755), os.Mkdir(mountpoint, 0o755)); err != nil {
		return err
	}
	unix.Umask(0) // the kernel has applied that of the caller
	root, err := newRoot(rules, source)
	if err != nil {
		return err
	}
	never := time.Duration(0) // the kernel asks each time, so that it never answers for another spelling
	server, err := fs.Mount(mountpoint, root, &fs.Options{
		EntryTimeout: &never, AttrTimeout: &never, NegativeTimeout: &never,
		MountOptions: fuse.MountOptions{FsName: "foldfs", Name: "foldfs", DirectMount: true, DisableXAttrs: true, Options: []string{"default_permissions"}},
	})
	if err != nil {
		return err
	}
	fmt.Println(mountpoint)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Unmount(); err != nil {
		return unix.Unmount(mountpoint, unix.MNT_DETACH) // a process still uses it
	}
	server.Wait()
	return nil
}

package main

import (
	"context"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is a file or folder, known by its number. Where that is now is in places.
type node struct {
	fs.Inode
	*shared
	number uint64
}

// shared is what all nodes have in common.
type shared struct {
	rules  *naming
	mu     sync.Mutex        // held while a name is looked for and used
	places map[uint64]string // one path of each file, with its stored names
}

func newRoot(rules *naming, source string) (*node, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(source, &st); err != nil {
		return nil, err
	}
	return &node{shared: &shared{rules: rules, places: map[uint64]string{st.Ino: source}}, number: st.Ino}, nil
}

// place returns a path of the file.
func (n *node) place() string { return n.places[n.number] }

// found returns the path of a child, or the one at which it would be made if there
// is none.
func (n *node) found(name string) (at string, ok bool) {
	stored, ok, err := n.rules.find(n.place(), name)
	if err != nil {
		panic(err) // to say that there is no such file would be a lie
	}
	if !ok {
		stored = n.rules.stored(name)
	}
	return path.Join(n.place(), stored), ok
}

// child returns the node of what is at a path.
func (n *node) child(ctx context.Context, at string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	var st syscall.Stat_t
	if err := syscall.Lstat(at, &st); err != nil {
		return nil, fs.ToErrno(err)
	}
	n.places[st.Ino] = at
	out.Attr.FromStat(&st)
	return n.NewInode(ctx, &node{shared: n.shared, number: st.Ino}, fs.StableAttr{Mode: st.Mode, Ino: st.Ino}), 0
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, ok := n.found(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, at, out)
}

// made returns the node of what was just made, and gives it to who asked.
func (n *node) made(ctx context.Context, at string, err error, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	if caller, ok := fuse.FromContext(ctx); ok {
		_ = unix.Lchown(at, int(caller.Uid), int(caller.Gid))
	}
	return n.child(ctx, at, out)
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	return n.made(ctx, at, unix.Mkdir(at, mode), out)
}

func (n *node) Mknod(ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	return n.made(ctx, at, unix.Mknod(at, mode, int(dev)), out)
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	return n.made(ctx, at, unix.Symlink(target, at), out)
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	if err := unix.Link(target.(*node).place(), at); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, at, out)
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	fd, err := unix.Open(at, int(flags)&^unix.O_APPEND|unix.O_CREAT|unix.O_CLOEXEC, mode)
	if err != nil {
		return nil, nil, 0, fs.ToErrno(err)
	}
	inode, errno := n.made(ctx, at, nil, out)
	return inode, fs.NewLoopbackFile(fd), 0, errno
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno { return n.remove(name, 0) }

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.remove(name, unix.AT_REMOVEDIR)
}

func (n *node) remove(name string, flags int) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := n.found(name)
	return fs.ToErrno(unix.Unlinkat(unix.AT_FDCWD, at, flags))
}

// Rename gives a file exactly the new name. A file that had it in another
// spelling is replaced, and if that is the file itself, its spelling changes.
func (n *node) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	to := newParent.(*node)
	from, ok := n.found(name)
	if !ok {
		return syscall.ENOENT
	}
	there, taken := to.found(newName)
	wanted := path.Join(to.place(), n.rules.stored(newName))
	switch {
	case !taken || there == wanted || flags&unix.RENAME_EXCHANGE != 0:
		return n.exchange(from, there, flags)
	case isSame(from, there):
		return n.exchange(from, wanted, 0)
	case flags&unix.RENAME_NOREPLACE != 0:
		return syscall.EEXIST
	}
	if errno := n.exchange(from, there, 0); errno != 0 {
		return errno
	}
	return n.exchange(there, wanted, 0)
}

// exchange renames a file of the machine, and notes where it is.
func (n *node) exchange(from, to string, flags uint32) syscall.Errno {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, uint(flags)); err != nil {
		return fs.ToErrno(err)
	}
	for number, at := range n.places {
		switch {
		case at == from || strings.HasPrefix(at, from+"/"):
			n.places[number] = to + at[len(from):]
		case flags&unix.RENAME_EXCHANGE != 0 && (at == to || strings.HasPrefix(at, to+"/")):
			n.places[number] = from + at[len(to):]
		}
	}
	return 0
}

func isSame(a, b string) bool {
	var stA, stB unix.Stat_t
	return unix.Lstat(a, &stA) == nil && unix.Lstat(b, &stB) == nil && stA.Ino == stB.Ino
}

package disk

import (
	"errors"
	"io/fs"
)

// The changes of one file, as a transaction makes them: what it leaves is removed at the second try.

func discard(f *Folder, draft Draft) error {
	err := f.Discard(draft)
	if err != nil {
		_ = f.Discard(draft)
	}
	return err
}

func textIs(text []byte) func() ([]byte, error) {
	return func() ([]byte, error) { return text, nil }
}

func swap(f *Folder, p Path, before, text []byte) error {
	draft := f.NewDraft(p)
	err := f.Stage(Staging{Draft: draft, Text: textIs(text), Like: p})
	if err == nil {
		err = f.Replace(p, Text(before), draft, Text(text))
	}
	return errors.Join(err, discard(f, draft))
}

func makeNote(f *Folder, p Path, text []byte) error {
	draft := f.NewDraft(p)
	err := f.Stage(Staging{Draft: draft, Text: textIs(text)})
	if err == nil {
		err = f.Publish(draft, p)
	}
	return errors.Join(err, discard(f, draft))
}

func remove(f *Folder, p Path, before Content) error {
	draft := f.NewDraft(p)
	err := f.SetAside(p, before, draft)
	if err == nil {
		err = f.Discard(draft)
	}
	if err == nil {
		return nil
	}
	if held, failed := f.Holds(draft, before); held || failed != nil {
		return errors.Join(err, failed, f.PutBack(draft, p))
	}
	return err
}

func trash(f *Folder, p Path, before Content) (name string, err error) {
	for next := 0; ; {
		if name, next, err = f.FreeTrashName(p, next); err != nil {
			return "", err
		}
		if err = f.Trash(p, name, before); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

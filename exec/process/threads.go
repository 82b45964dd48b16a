package process

import "errors"

// resumeFirst lets a process run that was made with its first thread suspended. Programs that watch over others, such as
// scanners for viruses, may have started threads of their own in it meanwhile, which cannot all be opened and may have
// ended: the first thread is the one that was suspended once. resume returns how often a thread had been suspended. It is
// no code of Windows alone so that every system can test it.
func resumeFirst(threads []uint32, resume func(id uint32) (suspended uint32, err error)) error {
	var failures error
	for _, id := range threads {
		suspended, err := resume(id)
		if err == nil && suspended == 1 {
			return nil
		}
		failures = errors.Join(failures, err)
	}
	return errors.Join(errors.New("the first thread of the process was not found"), failures)
}

package audit

// What a break may be told as. None of it comes from outside.
const (
	headMissing    = "the head is missing"
	headUnreadable = "the head cannot be read"
	keyReplaced    = "the key is not the one that the digests were made with"
	setBack        = "the log was set back while it was written"
	fileGone       = "the file is missing"
	fileShorter    = "the file is shorter than the head says"
	fileShorterNew = "the file is shorter than the head says, by lines that were not durable; losing power can do that"
	lastChanged    = "the last line is not the one that the head names"
	asideChanged   = "the file that was laid aside is not the one that the head names"
	tooManyAside   = "there are files that the head does not know"
	foreignLines   = "lines that do not follow stand at the end"
	droppedBroken  = "the file that was removed for its age was not whole"
	breakNotKept   = "a break was told in a line that is no longer kept"
)

package streamable

import ()

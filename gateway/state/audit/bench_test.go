package audit

import ()

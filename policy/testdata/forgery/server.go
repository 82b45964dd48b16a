package forgery

import "vaultwicket/policy"

var servers = []policy.ServerPermit{
	{folder: "F"},              // want "unexported field folder"
	{policy: &policy.Policy{}}, // want "unexported field policy"
	{&policy.Policy{}, "F"},    // want "implicit assignment to unexported field"
}

type serverTwin struct {
	policy *policy.Policy
	folder string
}

var serverConverted = policy.ServerPermit(serverTwin{}) // want "cannot convert"

func changeServer(s policy.ServerPermit) {
	s.folder = "/"     // want "s.folder undefined"
	s.policy.UI = true // want "s.policy undefined"
}

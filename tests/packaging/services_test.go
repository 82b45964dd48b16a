package packaging

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// unit reads a unit of systemd: the values of each key, by section.
func unit(t *testing.T, name string) map[string]map[string][]string {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "packaging", "systemd", name)))(t)
	sections, section := map[string]map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = strings.Trim(line, "[]")
			sections[section] = map[string][]string{}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		require.That(t, ok, "%s has the line %q", name, line)
		require.That(t, section != "", "%s has the line %q", name, line)
		require.Equal(t, key, strings.TrimSpace(key), "%s has the line %q", name, line)
		sections[section][key] = append(sections[section][key], value)
	}
	return sections
}

// The keys are those of systemd.unit(5), systemd.service(5), systemd.exec(5) and
// systemd.socket(5) that work in a user unit without user namespaces.
var unitKeys = map[string]string{
	"Unit":    "Description Documentation",
	"Service": "Type ExecStart ExecReload Restart RestartSec NoNewPrivileges LockPersonality RestrictRealtime RestrictSUIDSGID RestrictAddressFamilies SystemCallArchitectures UMask",
	"Socket":  "ListenStream",
	"Install": "WantedBy",
}

func TestUnitsOfSystemd(t *testing.T) {
	service, socket := unit(t, "vaultwicket.service"), unit(t, "vaultwicket.socket")
	for _, u := range []map[string]map[string][]string{service, socket} {
		for section, keys := range u {
			for key, values := range keys {
				assert.That(t, slices.Contains(strings.Fields(unitKeys[section]), key),
					"[%s] has %s=%q", section, key, values)
				require.Equal(t, len(values), 1, "[%s] has %s=%q", section, key, values)
				assert.That(t, values[0] != "", "[%s] has %s=%q", section, key, values)
			}
		}
	}
	start := strings.Fields(service["Service"]["ExecStart"][0])
	if start[0] != "/usr/bin/vaultwicket" || start[len(start)-1] != socket["Socket"]["ListenStream"][0] {
		t.Errorf("the service starts %q, the socket is at %q", start, socket["Socket"]["ListenStream"])
	}
	accepted(t, start[1:])
}

// accepted has the program look at a command line of a service. The service is refused
// for its missing vault folder only, so that nothing listens.
func accepted(t *testing.T, args []string) {
	t.Helper()
	r := harness.New(t, nil)
	stdout, stderr, status := r.Run(append(args, "--config=none", "--vault=./none")...)
	assert.Equal(t, status, 4, "%q ends with %d: %s%s", args, status, stdout, stderr)
	assert.NotContains(t, stderr, "unknown flag", "%q ends with %d: %s%s", args, status, stdout, stderr)
	assert.Equal(t, stdout, "", "%q ends with %d: %s%s", args, status, stdout, stderr)
}

// propertyList reads a plist: the arrays and values of its dictionary.
func propertyList(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", "launchd", name))
	require.NoError(t, err)
	values, key, depth := map[string][]string{}, "", 0
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		token, err := d.Token()
		if err == io.EOF {
			return values
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			var content string
			switch e.Name.Local {
			case "plist", "array":
			case "dict":
				depth++
			case "key", "string":
				require.NoError(t, d.DecodeElement(&content, &e))
				if e.Name.Local == "key" && depth == 1 {
					key = content
				} else {
					values[key] = append(values[key], content)
				}
			case "true", "false":
				values[key] = append(values[key], e.Name.Local)
			default:
				t.Errorf("a property list has no %s", e.Name.Local)
			}
		case xml.EndElement:
			if e.Name.Local == "dict" {
				depth--
			}
		}
	}
}

func TestTheAgentOfLaunchd(t *testing.T) {
	list := propertyList(t, "vaultwicket.plist")
	for key := range list {
		assert.That(t, slices.Contains([]string{"Label", "ProgramArguments", "RunAtLoad", "KeepAlive", "ProcessType",
			"StandardErrorPath"}, key), "there is the key %s", key)
	}
	args := list["ProgramArguments"]
	if len(list["Label"]) != 1 || len(args) < 3 || !strings.HasPrefix(args[0], "/") || !slices.Equal(list["KeepAlive"], []string{"SuccessfulExit", "false"}) {
		t.Fatalf("the list is %v", list)
	}
	accepted(t, args[1:])
}

var uses = regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)

// A tag of an action can be moved; a commit cannot.
func TestWorkflowsPinTheirActions(t *testing.T) {
	folder := filepath.Join("..", "..", ".github", "workflows")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	pinned, versions := regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`), map[string]string{}
	for _, e := range entries {
		text := require.Value(os.ReadFile(filepath.Join(folder, e.Name())))(t)
		for _, use := range uses.FindAllStringSubmatch(string(text), -1) {
			found := pinned.FindStringSubmatch(use[1])
			if found == nil {
				t.Errorf("%s uses %s, want a commit and its version", e.Name(), use[1])
				continue
			}
			if before := versions[found[1]]; before != "" && before != found[2]+found[3] {
				t.Errorf("%s uses two versions of %s", e.Name(), found[1])
			}
			versions[found[1]] = found[2] + found[3]
		}
		for _, want := range []string{"\npermissions: {}\n", "\nconcurrency:\n", "persist-credentials: false", "timeout-minutes: "} {
			assert.That(t, strings.Contains(string(text), want), "%s has no %q", e.Name(), strings.TrimSpace(want))
		}
		if strings.Contains(string(text), "pull_request_target") || strings.Contains(string(text), "write-all") {
			t.Errorf("%s gives rights to strangers", e.Name())
		}
	}
	assert.That(t, len(versions) >= 5, "only %d actions were found", len(versions))
}

// Has the terminal programs of real clients, with a model that is faked on loopback, ask for changes that need the
// owner's approval, and looks at what a person saw, what the agent was told and what was done:
//
//	node asked.mjs VAULTWICKET CLIENT PROGRAM [MODE...]
//
// The modes are headless, terminal (in tmux) and full (no question of the client itself, for Claude Code also a hook that
// answers in the place of the user). Each has four acts: delete for good, overwrite, replace in 22 notes, a batch. The
// owner decides each on the page, in a terminal or by the link. Nothing may be done before, and all of it after. The mode
// reads has an entry that only reads, as install writes it, and one call without a terminal, which must be answered.
// The mode night has a job done under a grant, see night.mjs.
// ASKED_FOLDER keeps the screens. ASKED_ACTS has only some of the acts.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { open } from "./model.mjs";
import { night } from "./night.mjs";

const run = promisify(execFile);
const [vaultwicket, client, program, ...chosen] = process.argv.slice(2);
if (!program) {
  console.error("usage: node asked.mjs VAULTWICKET CLIENT PROGRAM [MODE...]");
  process.exit(2);
}
const work = realpathSync(mkdtempSync(join(tmpdir(), "asked-")));
const socket = join(work, "tmux");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const call = (tool, input) => `CALL ${tool} ${JSON.stringify(input)}`;
const notes = Array.from({ length: 22 }, (_, i) => `N${i + 1}.md`);

// acts are the changes, with the way in which the owner decides about each.
const acts = {
  delete: {
    way: "terminal", tool: "obsidianCli", input: { command: "delete", params: { path: "Gone.md", permanent: true } },
    isDone: (v) => v.read("Gone.md") === null, isKept: (v) => v.read("Gone.md") === "one\ntwo\n",
  },
  overwrite: {
    way: "page", tool: "obsidianCli", input: { command: "create", params: { path: "Over.md", content: "new text", overwrite: true } },
    isDone: (v) => v.read("Over.md")?.trim() === "new text", isKept: (v) => v.read("Over.md") === "one\ntwo\nthree\n",
  },
  replace: {
    way: "link", tool: "obsidianCli", input: { command: "vault:replace", params: { old: "alpha", new: "beta" } },
    isDone: (v) => notes.every((n) => v.read(n) === "beta\n"), isKept: (v) => notes.every((n) => v.read(n) === "alpha\n"),
  },
  batch: {
    way: "page", tool: "obsidianBatch", input: { operations: [
      { clientId: "a", command: "append", params: { path: "Log.md", content: "added" } },
      { clientId: "b", command: "delete", params: { path: "Last.md", permanent: true } },
    ] },
    isDone: (v) => v.read("Last.md") === null && v.read("Log.md").includes("added"), isKept: (v) => v.read("Last.md") === "one\n" && v.read("Log.md") === "log\n",
  },
};

// clients say how each is set up and started; prompt is a file. Every client may call the tools without a question of its
// own: what is looked at here is the question of vaultwicket.
const json = (value) => JSON.stringify(value, null, 2);
const clients = {
  "claude-code": {
    environment: (s) => ({
      ANTHROPIC_BASE_URL: s.model.url, ANTHROPIC_API_KEY: "sk-ant-faked-faked-faked-faked-faked", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1",
    }),
    setUp(s) {
      s.write(".claude.json", json({
        hasCompletedOnboarding: true, theme: "dark", numStartups: 9, bypassPermissionsModeAccepted: true,
        customApiKeyResponses: { approved: ["sk-ant-faked-faked-faked-faked-faked".slice(-20)], rejected: [] },
        projects: { [s.folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, allowedTools: [] } },
      }));
      const hook = "sleep 2; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"Elicitation\",\"action\":\"accept\",\"content\":{\"allow\":true}}}'";
      s.write(".claude/settings.json", json({
        ...(s.mode === "reads" ? {} : { permissions: { allow: ["mcp__vaultwicket__obsidianCli", "mcp__vaultwicket__obsidianBatch"] } }),
        ...(s.mode === "full" ? { hooks: { Elicitation: [{ hooks: [{ type: "command", command: hook }] }] }, skipDangerousModePermissionPrompt: true } : {}),
      }));
    },
    ready: /manual mode/, // its first request does not wait for the servers: the prompt is typed when they are there
    command: { headless: '"$1" -p "$(cat "$2")"', terminal: '"$1" --permission-mode default', full: '"$1" --dangerously-skip-permissions -p "$(cat "$2")"' },
  },
  codex: {
    environment: () => ({ FAKED_KEY: "x" }),
    setUp: (s) => s.write(".codex/config.toml", `model = "gpt-5"\nmodel_provider = "faked"\ncheck_for_update_on_startup = false\n\n[model_providers.faked]\nname = "faked"\nbase_url = "${s.model.url}/v1"\nwire_api = "responses"\nenv_key = "FAKED_KEY"\n\n[projects."${s.folder}"]\ntrust_level = "trusted"\n`),
    command: {
      headless: '"$1" exec --skip-git-repo-check "$(cat "$2")"', terminal: '"$1" "$(cat "$2")"',
      full: '"$1" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$(cat "$2")"',
    },
  },
  gemini: {
    environment: (s) => ({ GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: s.model.url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    setUp(s) {
      s.write(".gemini/settings.json", json({ security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } }, general: { enableAutoUpdate: false, disableAutoUpdate: true }, privacy: { usageStatisticsEnabled: false }, ui: { hideTips: true } }));
      s.write("all.toml", '[[rule]]\nmcpName = "vaultwicket"\ntoolName = "*"\ndecision = "allow"\npriority = 100\n');
    },
    command: {
      headless: '"$1" -m gemini-2.5-flash --policy "$HOME/all.toml" -p "$(cat "$2")"', terminal: '"$1" -m gemini-2.5-flash --policy "$HOME/all.toml" -i "$(cat "$2")"',
      full: '"$1" -m gemini-2.5-flash --yolo -p "$(cat "$2")"', reads: '"$1" -m gemini-2.5-flash -p "$(cat "$2")"',
    },
  },
  qwen: {
    environment: (s) => ({ OPENAI_API_KEY: "x", OPENAI_BASE_URL: s.model.url + "/v1", OPENAI_MODEL: "faked" }),
    setUp: (s) => s.write(".qwen/settings.json", json({
      security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } }, general: { enableAutoUpdate: false, disableAutoUpdate: true }, privacy: { usageStatisticsEnabled: false },
      ...(s.mode === "reads" ? {} : { permissions: { allow: ["mcp__vaultwicket__obsidianCli", "mcp__vaultwicket__obsidianBatch"] } }),
    })),
    command: { headless: '"$1" -p "$(cat "$2")"', terminal: '"$1" -i "$(cat "$2")"', full: '"$1" --yolo -p "$(cat "$2")"' },
  },
  opencode: {
    environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    setUp: (s) => s.write(".config/opencode/opencode.json", json({
      $schema: "https://opencode.ai/config.json", autoupdate: false, model: "faked/faked", small_model: "faked/faked",
      provider: { faked: { npm: "@ai-sdk/openai-compatible", name: "faked", options: { baseURL: s.model.url + "/v1", apiKey: "x" }, models: { faked: { name: "faked", tool_call: true } } } },
    })),
    command: { headless: '"$1" run "$(cat "$2")"', terminal: '"$1" --prompt "$(cat "$2")"' },
  },
  copilot: {
    environment: (s) => ({ COPILOT_OFFLINE: "true", COPILOT_PROVIDER_BASE_URL: s.model.url + "/v1", COPILOT_PROVIDER_API_KEY: "x", COPILOT_MODEL: "gpt-4.1", COPILOT_AUTO_UPDATE: "false" }),
    setUp: (s) => s.write(".copilot/config.json", json({ trusted_folders: [s.folder], trustedFolders: [s.folder], banner: "never" })),
    command: { headless: '"$1" --allow-tool vaultwicket -p "$(cat "$2")"', terminal: '"$1" --allow-tool vaultwicket -i "$(cat "$2")"', full: '"$1" --yolo -p "$(cat "$2")"', reads: '"$1" -p "$(cat "$2")"' },
  },
};

// Owner is the home of a user with a vault, the page, and a browser that is paired.
class Owner {
  constructor(mode, model) {
    Object.assign(this, { mode, model, home: join(work, mode), cookies: new Map() });
    this.vault = join(this.home, "Notes");
    this.folder = join(this.home, "project");
    mkdirSync(this.vault, { recursive: true });
    mkdirSync(this.folder);
    this.environment = {
      PATH: `${dirname(program)}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: this.home, TERM: "xterm-256color", LANG: "C.UTF-8", TMPDIR: work,
      ...clients[client].environment(this),
    };
  }

  write(name, text) {
    mkdirSync(dirname(join(this.home, name)), { recursive: true });
    writeFileSync(join(this.home, name), text);
  }

  read(name) {
    try { return readFileSync(join(this.vault, name), "utf8"); } catch { return null; }
  }

  // seed makes the notes of all acts anew.
  seed() {
    const texts = { "Gone.md": "one\ntwo\n", "Over.md": "one\ntwo\nthree\n", "Log.md": "log\n", "Last.md": "one\n", ...Object.fromEntries(notes.map((n) => [n, "alpha\n"])) };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(this.vault, name), text);
  }

  async own(...args) {
    const { stdout } = await run(vaultwicket, args, { env: this.environment, cwd: this.folder });
    return stdout;
  }

  async questions() {
    return JSON.parse(await this.own("approvals", "--json"));
  }

  // pane starts a command in a window of a terminal of its own.
  async pane(name, command, words = [], width = 120) {
    await run("tmux", ["-S", socket, "new-session", "-d", "-s", name, "-x", String(width), "-y", "45", "-c", this.folder, "sh", "-c", command, "sh", ...words], { env: this.environment });
  }

  async screen(name) {
    try { return (await run("tmux", ["-S", socket, "capture-pane", "-p", "-t", name])).stdout; } catch { return ""; }
  }

  async type(name, ...keys) {
    await run("tmux", ["-S", socket, "send-keys", "-t", name, ...keys]);
  }

  async close(name) {
    await run("tmux", ["-S", socket, "kill-session", "-t", name]).catch(() => {});
  }

  // browse sends a request as a browser on the same page does.
  async browse(address, form) {
    const url = new URL(address);
    const headers = { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "), "sec-fetch-site": "same-origin" };
    if (form) Object.assign(headers, { origin: url.origin, "content-type": "application/x-www-form-urlencoded" });
    const answer = await fetch(url, { method: form ? "POST" : "GET", redirect: "manual", headers, body: form && new URLSearchParams(form).toString() });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";")[0].split(/=(.*)/s);
      this.cookies.set(name, value);
    }
    if (answer.status === 200) this.shown = url.href.slice(this.base?.length);
    return answer.status === 303 || answer.status === 302 ? this.browse(new URL(answer.headers.get("location"), url)) : answer.text();
  }

  // send sends the form of a view that has an action, with further fields.
  async send(page, action, more) {
    const [, form] = page.match(new RegExp(`<form method="post"[^>]*action="[^"]*${action}">(.*?)</form>`, "s")) ?? fail(`no form for ${action}`);
    const fields = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    return this.browse(this.base + action, [...fields, ...more]);
  }

  async openPage() {
    await this.pane("page-" + this.mode, `exec "$0" ui`.replace("$0", "$1"), [vaultwicket], 300);
    const link = await until("the page", async () => (await this.screen("page-" + this.mode)).match(/http:\S+\/open\/\S+/)?.[0], 20);
    this.base = link.slice(0, link.indexOf("open/"));
    await this.browse(link);
  }

  // decide approves a question in one of the ways.
  async decide(way, question) {
    if (way === "terminal") {
      const name = "approve-" + question.code;
      await this.pane(name, '"$1" approve "$2"; echo ended; sleep 30', [vaultwicket, question.code]);
      await until("the question in the terminal", async () => /Allow this\?|Type /.test(await this.screen(name)), 30);
      keep(`${client}-${this.mode}-approve`, await this.screen(name));
      await this.type(name, "yes", "Enter");
      await until("the approval in the terminal", async () => /approved \S+:/.test(await this.screen(name)), 10);
      await this.close(name);
      return;
    }
    const address = way === "page" ? this.base + "approvals" : this.link ?? fail("the agent was told of no link, and none was opened");
    const page = await this.browse(address);
    const form = [...page.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)].find(([, action, body]) => body.includes('id="approve') && (way === "link" || body.includes(question.code)));
    if (!form) fail(`the ${way} has no button for ${question.code}: ${page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").slice(0, 600)}`);
    const fields = Object.fromEntries([...form[2].matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    await this.browse(new URL(form[1], address), fields);
  }
}

function fail(reason) { throw new Error(reason); }

async function until(what, isSo, seconds) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(200)) {
    const value = await isSo();
    if (value) return value;
  }
  return fail(`${what}: not within ${seconds} s`);
}

function keep(name, text) {
  if (!process.env.ASKED_FOLDER) return;
  mkdirSync(process.env.ASKED_FOLDER, { recursive: true });
  writeFileSync(join(process.env.ASKED_FOLDER, name + ".txt"), text.replace(/\s+$/, "") + "\n");
}

// untrue are sentences that nobody may be told: no person has declined, and none is asked again in vain.
const untrue = /the user (has )?declined|were dismissed|not asked again/;

// act has one act asked for, and decided. It returns what was seen.
async function act(owner, name, told) {
  const { way, tool, input, isDone, isKept } = acts[name];
  const isTerminal = owner.mode === "terminal";
  owner.seed();
  owner.link = undefined;
  told.length = 0;
  const prompt = join(owner.home, "prompt");
  writeFileSync(prompt, [call(tool, input), call("obsidianCli", { command: "approvals", params: { wait: 50 } }), call(tool, input)].join(" ;; "));
  const command = clients[client].command[owner.mode];
  const began = Date.now();
  const seconds = () => ((Date.now() - began) / 1000).toFixed(1);
  let printed = "";
  let child;
  const pane = `${client}-${name}`;
  if (isTerminal) {
    await owner.pane(pane, `${command}; echo ended; sleep 60`, [program, prompt]);
    const { ready } = clients[client];
    if (ready) {
      await until("the prompt", async () => ready.test(await owner.screen(pane)), 30);
      await pause(5000);
      await run("tmux", ["-S", socket, "load-buffer", prompt]);
      await run("tmux", ["-S", socket, "paste-buffer", "-p", "-t", pane]);
      await pause(500);
      await owner.type(pane, "Enter");
    }
  } else {
    child = spawn("sh", ["-c", command, "sh", program, prompt], { env: owner.environment, cwd: owner.folder, stdio: ["ignore", "pipe", "pipe"], detached: true });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => { printed += part; });
    child.ended = new Promise((resolve) => child.on("exit", resolve));
  }
  try {
    const question = await until("the question", async () => (await owner.questions())[0], 150);
    const asked = seconds();
    let saw = "nothing";
    if (isTerminal) {
      await pause(2500);
      const screen = await owner.screen(pane);
      keep(`${client}-${owner.mode}-${name}`, screen);
      const isDialog = told.length === 0;
      if (isDialog) owner.link = screen.replace(/\n/g, "").match(/http:\/\/127\.0\.0\.1:\d+\/question\/[A-Z0-9]+/)?.[0];
      saw = !isDialog ? "no dialog" : owner.link ? "a link" : "a dialog";
      if (isDialog) {
        await owner.type(pane, "Enter"); // as a person who types for something else
        await pause(2000);
        keep(`${client}-${owner.mode}-${name}-accepted`, await owner.screen(pane));
      }
    } else {
      await until("the answer to the agent", () => told.length > 0, 60);
    }
    if (!isKept(owner)) fail("it was done before the owner had decided");
    owner.link ??= told[0]?.match(/http:\/\/127\.0\.0\.1:\d+\/question\/[A-Za-z0-9_-]+/)?.[0];
    await owner.decide(way, question);
    const decided = Date.now();
    await until("the change", () => isDone(owner), 60);
    const after = ((Date.now() - decided) / 1000).toFixed(1);
    if (saw === "a link") await until("the end of the dialog", async () => !(await owner.screen(pane)).includes("/question/"), 20);
    await until("the answer to the agent", () => !told.at(-1)?.includes("unconfirmed") && told.length % 2 === 1, 20);
    keep(`${client}-${owner.mode}-${name}-told`, told.join("\n----\n"));
    const lie = told.find((text) => untrue.test(text));
    if (lie) fail("the agent was told: " + lie);
    const left = await owner.questions();
    if (left.length > 0) fail(`${left.length} questions are left`);
    return { saw, asked, after, way, told: told.length };
  } catch (problem) {
    keep(`${client}-${owner.mode}-${name}-failed`, (isTerminal ? await owner.screen(pane) : printed) + "\n----\n" + told.join("\n----\n"));
    throw problem;
  } finally {
    if (isTerminal) await owner.close(pane);
    else {
      await Promise.race([child.ended, pause(5000)]);
      try { process.kill(-child.pid, "SIGKILL"); } catch { /* all of them have ended */ }
    }
    for (const q of await owner.questions()) await owner.own("deny", q.code).catch(() => {});
  }
}

let failures = 0;
const told = [];
const model = await open((text) => told.push(text));
try {
  for (const mode of chosen.length > 0 ? chosen : ["headless", "terminal", "full"]) {
    if (mode !== "reads" && mode !== "night" && !clients[client].command[mode]) continue;
    const owner = new Owner(mode, model);
    owner.seed();
    clients[client].setUp(owner);
    if (mode === "reads") {
      await owner.own("install", client, "--vault", owner.vault, "--tier", "v1", "--headless", "--yes");
      told.length = 0;
      const prompt = join(owner.home, "prompt");
      writeFileSync(prompt, call("obsidianCli", { command: "read", params: { path: "Over.md" } }));
      const { reads, headless } = clients[client].command;
      const answering = run("sh", ["-c", reads ?? headless, "sh", program, prompt], { env: owner.environment, cwd: owner.folder, timeout: 60_000 });
      answering.child.stdin.end();
      const printed = await answering.catch((problem) => problem);
      const isRead = told.some((text) => text.includes("three"));
      console.log(isRead ? `ok   ${client} | reads` : `FAIL ${client} | reads: ${told[0] ?? (printed.stderr || printed.stdout || printed.message)}`);
      if (!isRead) failures++;
      continue;
    }
    if (mode === "night") {
      const command = clients[client].command.headless;
      const done = await night(owner, { client, program, vaultwicket, command, told, until, keep, call }).catch((problem) => problem);
      console.log(done instanceof Error ? `FAIL ${client} | night: ${done.message}` : `ok   ${client} | night | ${done}`);
      if (done instanceof Error) failures++;
      await owner.type("page-night", "C-c").catch(() => {});
      await pause(1000);
      continue;
    }
    await owner.own("install", client, "--vault", owner.vault, "--tier", "v2", "--edit", "--headless", "--yes");
    await owner.openPage();
    for (const name of process.env.ASKED_ACTS?.split(" ") ?? Object.keys(acts)) {
      try {
        const { saw, asked, after, way, told: answers } = await act(owner, name, told);
        console.log(`ok   ${client} | ${mode} | ${name} | ${saw} | asked after ${asked} s, approved by ${way}, done ${after} s later, ${answers} answers to the agent`);
      } catch (problem) {
        failures++;
        console.log(`FAIL ${client} | ${mode} | ${name}: ${problem.message}`);
      }
    }
    await owner.type("page-" + mode, "C-c"); // it outlives its terminal otherwise
    await pause(1000);
    await owner.close("page-" + mode);
  }
} finally {
  model.close();
  await run("tmux", ["-S", socket, "kill-server"]).catch(() => {});
  rmSync(work, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }); // a client may still write
}
process.exit(failures > 0 ? 1 : 0);

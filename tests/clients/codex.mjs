// Has the app server of Codex be the client of a built vaultwicket:
//
//	node codex.mjs PATH/TO/codex PATH/TO/vaultwicket [stdio | http]
//
// It starts a thread without a model, calls the tool through it and answers the
// questions that come back. Neither a login nor a network is needed.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [codex, vaultwicket, transport = "stdio"] = process.argv.slice(2);
if (!codex || !vaultwicket || !["stdio", "http"].includes(transport)) {
  console.error("usage: node codex.mjs CODEX VAULTWICKET [stdio | http]");
  process.exit(2);
}

// Codex does not take a home below the temporary folder without a warning.
const base = process.env.CODEX_TEST_HOME ?? homedir();
mkdirSync(base, { recursive: true });
const home = mkdtempSync(join(base, ".vaultwicket-codex-"));
const vault = join(home, "Notes");
const note = join(vault, "Note.md");
mkdirSync(vault);
const quote = JSON.stringify;
const args = ["serve", "--config=none", "--backend=embedded", "--vault=" + vault, "--tier=v1", "--allow-mutations", "--confirm=writes", "--ask=client", "--min-answer-time=0s"];
const places = { XDG_STATE_HOME: join(home, "state"), HOME: home };

// behind is the server over HTTP, if it is to be one.
let behind = null;
const token = randomBytes(32).toString("hex");
const serveHTTP = () => new Promise((resolve, reject) => {
  behind = spawn(vaultwicket, [...args, "--http=127.0.0.1:0"], {
    env: { ...process.env, ...places, VAULTWICKET_TOKEN: token }, stdio: ["ignore", "ignore", "pipe"],
  });
  behind.on("exit", (status) => reject(new Error(`vaultwicket ended with ${status}`)));
  createInterface({ input: behind.stderr }).on("line", (line) => {
    const url = line.match(/http:\S+\/mcp/);
    url ? resolve(url[0]) : console.error(line);
  });
});
const settings = transport === "http" ? `
url = ${quote(await serveHTTP())}
bearer_token_env_var = "NOTES_TOKEN"
` : `
command = ${quote(vaultwicket)}
args = ${quote(args)}
env = { "XDG_STATE_HOME" = ${quote(places.XDG_STATE_HOME)}, "HOME" = ${quote(home)} }
`;
writeFileSync(join(home, "config.toml"), "[mcp_servers.notes]" + settings);

const server = spawn(codex, ["app-server"], {
  env: { ...process.env, CODEX_HOME: home, RUST_LOG: "error", NOTES_TOKEN: token }, stdio: ["pipe", "pipe", "inherit"],
});
const ended = new Promise((resolve) => server.on("exit", resolve));
const waiting = new Map();
const asked = [];
let answer = null;
let ids = 0;

const send = (message) => server.stdin.write(JSON.stringify(message) + "\n");
const request = (method, params) => new Promise((resolve, reject) => {
  const id = ++ids;
  waiting.set(id, { resolve, reject });
  send({ id, method, params });
});

createInterface({ input: server.stdout }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.method && m.id !== undefined) {
    if (m.method === "mcpServer/elicitation/request") {
      asked.push(m.params);
      send({ id: m.id, result: answer });
    } else {
      send({ id: m.id, error: { code: -32601, message: "nobody answers this" } });
    }
    return;
  }
  const call = waiting.get(m.id);
  if (!call) return;
  waiting.delete(m.id);
  m.error ? call.reject(new Error(JSON.stringify(m.error))) : call.resolve(m.result);
});

let failures = 0;
const check = (what, ok, seen) => {
  console.log(`${ok ? "ok  " : "FAIL"} ${what}${ok ? "" : ": " + JSON.stringify(seen)}`);
  if (!ok) failures++;
};

// limit bounds the whole session.
const limit = setTimeout(() => {
  console.error("codex: not within two minutes");
  server.kill("SIGKILL");
  behind?.kill("SIGKILL");
  process.exit(1);
}, 120_000);

try {
  await request("initialize", { clientInfo: { name: "vaultwicket-tests", title: "tests", version: "1" }, capabilities: null });
  send({ method: "initialized" });
  const { thread } = await request("thread/start", { cwd: vault, ephemeral: true });
  const call = (command, params) => request("mcpServer/tool/call", {
    threadId: thread.id, server: "notes", tool: "obsidianCli", arguments: { command, params },
  });
  const text = () => (existsSync(note) ? readFileSync(note, "utf8") : null);
  writeFileSync(note, "one\n");

  let got = await call("read", { path: "Note.md" });
  check("a read is not asked about", got.structuredContent?.ok === true && asked.length === 0, got);

  for (const [what, said] of [
    ["declined", { action: "decline", content: null, _meta: null }],
    ["cancelled", { action: "cancel", content: null, _meta: null }],
    ["accepted with what was not asked for", { action: "accept", content: { confirm: false }, _meta: null }],
  ]) {
    const before = asked.length;
    answer = said;
    // Another text each time: what was refused is not asked about again.
    got = await call("append", { path: "Note.md", content: what });
    check(what, asked.length === before + 1 && got.isError === true && got.structuredContent?.error?.code === "unconfirmed" && text() === "one\n", { got, text: text(), asked: asked.length });
  }
  const refused = asked.length;
  answer = { action: "accept", content: { allow: true }, _meta: null };
  got = await call("append", { path: "Note.md", content: "declined" });
  check("what was declined is not asked about again", asked.length === refused && got.structuredContent?.error?.code === "unconfirmed" && text() === "one\n", { got, text: text(), asked: asked.length });

  const question = asked[0] ?? {};
  check("the question is a form with the note in it", question.mode === "form" && question.serverName === "notes" &&
    question.message.startsWith('Change "Note.md" (vault "Notes"): +1 line\n') &&
    Object.keys(question.requestedSchema?.properties ?? { none: 1 }).length === 1, question);

  got = await call("append", { path: "Note.md", content: "two" });
  check("accepted", got.structuredContent?.ok === true && text() === "one\ntwo", { got, text: text() });
  answer = { action: "accept", content: { allow: true }, _meta: null };
  got = await call("delete", { path: "Note.md" });
  check("a delete is accepted", got.structuredContent?.ok === true && text() === null, { got, text: text() });

  // What does not fit the form is no answer, and keeps no later question back.
  answer = { action: "accept", content: "deny", _meta: null };
  for (const [what, more] of [["accepted with a text", 1], ["a question after three without an answer", 1]]) {
    const before = asked.length;
    got = await call("create", { path: "Note.md", content: what });
    check(what, asked.length === before + more && got.structuredContent?.error?.code === "unconfirmed" && text() === null, { got, text: text(), asked: asked.length });
  }
} catch (err) {
  check("the session", false, String(err));
} finally {
  server.stdin.end();
  const status = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000, "still running"))]);
  if (status === "still running") server.kill("SIGKILL");
  behind?.kill("SIGTERM");
  clearTimeout(limit);
  rmSync(home, { recursive: true, force: true });
}
process.exit(failures ? 1 : 0);

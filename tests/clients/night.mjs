// A job that nobody watches: ten changes under a grant, a proposal that the owner takes in part, and a question that
// the owner answers by its link, as on a phone. It is the mode night of asked.mjs. With ASKED_FOLDER and Chromium it
// keeps pictures of what the owner sees, none of which may be wider than its window; AXE is the file axe.min.js, which
// may find nothing in them.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const fail = (reason) => { throw new Error(reason); };

// job returns the prompt: every call is made, one after the other.
export function job(call) {
  const calls = [];
  for (let i = 1; i <= 5; i++) {
    calls.push(call("obsidianCli", { command: "create", params: { path: `Projects/Note${i}.md`, content: `made ${i}` } }));
    calls.push(call("obsidianCli", { command: "append", params: { path: `Projects/Note${i}.md`, content: `added ${i}` } }));
  }
  calls.push(call("obsidianBatch", { propose: true, operations: [
    { clientId: "index", command: "create", params: { path: "Index.md", content: "all notes" } },
    { clientId: "link", command: "append", params: { path: "Log.md", content: "see [[Index]]" } },
    { clientId: "over", command: "append", params: { path: "Over.md", content: "not wanted" } },
  ] }));
  const question = call("obsidianCli", { command: "delete", params: { path: "Gone.md", permanent: true } });
  calls.push(question, call("obsidianCli", { command: "approvals", params: { wait: 50 } }), question);
  return "DO EACH ;; " + calls.join(" ;; ");
}

// night has a client do the job, and the owner answer. tools are from asked.mjs. It returns what was seen.
export async function night(owner, { client, program, vaultwicket, command, told, until, keep, call }) {
  owner.write("Notes/Projects/Here.md", "here\n");
  owner.write(".config/vaultwicket/config.toml", `vault = "${owner.vault}"\ntier = "v2"\nallow-mutations = true\nconfirm = "writes"\n`);
  await owner.own("install", client, "--agent=" + client, "--vault", owner.vault, "--tier", "v2", "--edit", "--headless", "--yes");
  await owner.pane("grant", '"$1" grant --agent "$2" --commands append,create --in Projects/ --notes 5 --changes 10 --for 1h; echo ended; sleep 30', [vaultwicket, client]);
  await until("the question about the grant", async () => /Allow this\?/.test(await owner.screen("grant")), 20);
  await owner.type("grant", "yes", "Enter");
  const given = await until("the grant", async () => JSON.parse(await owner.own("grants", "--json"))[0], 10);
  keep(`${client}-night-grant`, await owner.screen("grant"));
  await owner.openPage();
  await owner.close("grant"); // after the other window: the last one ends the server of tmux
  told.length = 0;
  const prompt = join(owner.home, "prompt");
  writeFileSync(prompt, job(call));
  const child = spawn("sh", ["-c", command, "sh", program, prompt], { env: owner.environment, cwd: owner.folder, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => { printed += part; });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  try {
    const began = Date.now();
    const question = await until("the question", async () => (await owner.questions()).find((q) => q.command === "delete"), 150);
    const asked = ((Date.now() - began) / 1000).toFixed(1);
    await until("the answer to the agent", () => told.some((text) => text.includes("unconfirmed")), 30);
    const early = (await owner.questions()).filter((q) => !q.proposal);
    if (early.length !== 1) fail(`${early.length} questions wait, and not one`);
    for (let i = 1; i <= 5; i++) {
      const text = owner.read(`Projects/Note${i}.md`)?.trim();
      if (text !== `made ${i}\nadded ${i}`) fail(`Note${i} is ${JSON.stringify(text)}`);
    }
    if (owner.read("Index.md") !== null || owner.read("Gone.md") === null) fail("it was done before the owner had decided");
    const list = await owner.browse(owner.base + "approvals");
    const code = list.match(/approvals\/proposal\/([^"]+)"/)?.[1] ?? fail("no proposal is on the page");
    const link = told.join("\n").match(/http:\/\/127\.0\.0\.1:\d+\/question\/[A-Za-z0-9_-]+/)?.[0] ?? fail("the agent was told of no link");
    const pictures = await openBrowser(owner, client);
    await pictures?.take("approvals", owner.base + "approvals");
    await pictures?.take("proposal", owner.base + "approvals/proposal/" + code);
    await pictures?.take("question", link);

    // The phone: the question by its link. The agent waits for it.
    owner.link = link;
    await owner.decide("link", question);
    await until("the change", () => owner.read("Gone.md") === null, 60);

    // The morning: two operations of the proposal, drawn anew.
    const proposal = await owner.browse(owner.base + "approvals/proposal/" + code);
    const drawn = await owner.send(proposal, "approvals/draft", [["pick", "1"], ["says", "not the third"]]);
    if (!drawn.includes("1 other operation is declined")) fail("the part is drawn otherwise: " + textOf(drawn));
    await pictures?.take("draft", owner.base + owner.shown);
    const done = await owner.send(drawn, "approvals/take", []);
    if (!done.includes("Done: 2 of 3 operations.")) fail("the part is not taken: " + textOf(done));
    if (owner.read("Index.md")?.trim() !== "all notes" || !owner.read("Log.md").includes("[[Index]]")) fail("the part is not made");
    if (owner.read("Over.md").includes("not wanted")) fail("what was declined is made");
    await pictures?.take("review", owner.base + "review");
    await pictures?.take("agents", owner.base + "agents");
    await pictures?.close();

    const review = JSON.parse(await owner.own("review", "--json", "--grant", given.id));
    const made = new Set(review.flatMap((note) => note.changes.map((change) => change.id)));
    if (made.size !== 10 || review.length !== 5) fail(`the journal has ${made.size} changes of ${review.length} notes under the grant`);
    const lines = (await owner.own("audit", "list", "--json", "--limit", "100")).split(given.id).length - 1;
    if (lines < 10) fail(`the audit log names the grant ${lines} times`);
    await Promise.race([ended, pause(30_000)]);
    keep(`${client}-night-told`, told.join("\n----\n"));
    if ((await owner.questions()).length > 0) fail("questions are left");
    return `10 changes under the grant and no question, one question after ${asked} s approved by its link, 2 of 3 operations taken; the journal has the grant 10 times, the audit log ${lines}`;
  } catch (problem) {
    keep(`${client}-night-failed`, printed + "\n----\n" + told.join("\n----\n"));
    throw problem;
  } finally {
    try { process.kill(-child.pid, "SIGKILL"); } catch { /* all of them have ended */ }
  }
}

const textOf = (page) => page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").slice(0, 600);

// openBrowser starts Chromium with the cookies of the owner, if pictures are kept and it is installed. It is driven by
// its protocol for tools.
async function openBrowser(owner, client) {
  const folder = process.env.ASKED_FOLDER;
  const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!folder || typeof WebSocket === "undefined" || !await run(chromium, ["--version"]).then(() => true, () => false)) return null;
  const profile = mkdtempSync(join(tmpdir(), "asked-browser-"));
  const child = spawn(chromium, ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"], { stdio: "ignore", detached: true });
  let port;
  for (let i = 0; i < 100 && !port; i++) {
    await pause(100);
    try { port = readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n")[0]; } catch { /* not yet */ }
  }
  if (!port) fail("Chromium does not start");
  const [page] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()).filter((target) => target.type === "page");
  const socket = new WebSocket(page.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = () => reject(new Error("no connection to Chromium")); });
  let last = 0;
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  const ask = (method, params = {}) => new Promise((resolve) => {
    waiting.set(++last, resolve);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
  for (const [name, value] of owner.cookies) {
    for (const path of ["/", new URL(owner.base).pathname, "/question/"]) {
      await ask("Network.setCookie", { name, value, url: new URL(path, owner.base).href, path, httpOnly: true, sameSite: "Strict" });
    }
  }
  const evaluate = async (expression) => (await ask("Runtime.evaluate", { expression, awaitPromise: true })).result.value;
  const take = async (name, address) => {
    for (const width of [360, 1100]) {
      await ask("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
      await ask("Page.navigate", { url: address });
      await pause(1500);
      const wide = await evaluate("document.documentElement.scrollWidth");
      if (wide > width) fail(`${name} is ${wide} wide in a window of ${width}`);
      if (process.env.AXE) {
        await evaluate(readFileSync(process.env.AXE, "utf8") + ";0");
        const found = await evaluate("axe.run().then(({ violations }) => violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.target).join(' ')).join('; '))");
        if (found !== "") fail(`axe finds in ${name}: ${found}`);
      }
      const { data } = await ask("Page.captureScreenshot", { captureBeyondViewport: true });
      writeFileSync(join(folder, `${client}-night-${name}-${width}.png`), Buffer.from(data, "base64"));
    }
  };
  return {
    take,
    close: async () => {
      socket.close();
      process.kill(-child.pid, "SIGTERM");
      await pause(1000);
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    },
  };
}

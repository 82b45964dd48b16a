// The pages on which the owner adds a passkey, signs in, and decides what a client may do.
"use strict";

const $ = (id) => document.getElementById(id);

async function post(path, body) {
  const answer = await fetch("/oauth/" + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error || answer.statusText);
  return content;
}

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// The options of a ceremony have bytes as text, and so has what is sent back.
function decoded(options) {
  options.challenge = bytes(options.challenge);
  if (options.user) options.user.id = bytes(options.user.id);
  for (const list of [options.excludeCredentials, options.allowCredentials]) for (const one of list || []) one.id = bytes(one.id);
  return options;
}

function encoded(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = text(credential.response[name]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response, clientExtensionResults: credential.getClientExtensionResults() };
}

const words = {
  "vault:read": "only read notes",
  "vault:write": "read notes, and create and add to them",
  "vault:destructive": "read notes, and create, replace, move and delete them",
};

function option(select, value, label) {
  const one = document.createElement("option");
  one.value = value;
  one.textContent = label;
  select.append(one);
}

function title(text) {
  document.querySelector("h1").textContent = text;
}

// decide shows what waits for the decision, and sends it.
function decide(wanted) {
  if (wanted.location) return location.replace(wanted.location);
  $("begin").hidden = $("intro").hidden = true;
  if (wanted.html) {
    $("question").innerHTML = wanted.html; // of this server, with the text of notes escaped
    $("question").hidden = false;
    const isGrave = $("question").querySelector("[data-grave]") !== null;
    for (const part of [$("question"), $("decision")]) part.classList.toggle("grave", isGrave);
    $("allow").textContent = "Approve";
    $("decision").dataset.question = location.pathname; // see read.js
    $("decision").dataset.part = "1";
    title("Approve this call?");
    $("consent").hidden = true;
  } else {
    consent(wanted);
  }
  for (const allow of [true, false]) {
    $(allow ? "allow" : "deny").addEventListener("click", () => act(async () => {
      $("allow").disabled = $("deny").disabled = true;
      const decided = await post("decide", { ticket: wanted.ticket, agent: $("agent").value, scope: $("scope").value, allow });
      if (decided.location) return location.replace(decided.location);
      $("decision").hidden = true;
      $("intro").hidden = false;
      $("intro").textContent = allow ? "Approved, for one call, on the notes as they were shown. You can close this page." : "Denied. You can close this page.";
    }));
  }
  $("decision").hidden = false;
  document.dispatchEvent(new Event("replaced"));
  $("deny").focus({ preventScroll: true });
}

function consent(wanted) {
  title("Allow this client?");
  $("client").textContent = wanted.client.name || "without a name";
  $("id").textContent = wanted.client.id;
  $("returns").textContent = wanted.client.returns;
  if (wanted.agents.length > 1) option($("agent"), "", "choose an agent"); // the owner says which one
  for (const agent of wanted.agents) option($("agent"), agent.name, agent.name);
  for (const scope of wanted.scopes) option($("scope"), scope, words[scope] || scope);
  $("scope").value = wanted.scopes[0];
  const rights = () => {
    const agent = wanted.agents.find((one) => one.name === $("agent").value);
    $("allow").disabled = !agent;
    $("rights").textContent = agent ? "In " + agent.vaults.join(", ") + ", the agent " + agent.rights + "." : "";
  };
  rights();
  $("agent").addEventListener("change", rights);
}

async function act(step) {
  $("problem").textContent = "";
  try {
    await step();
  } catch (problem) {
    $("problem").textContent = problem.message;
  }
}

$("begin").addEventListener("click", () => act(async () => {
  if (location.pathname === "/oauth/passkey") {
    const code = location.hash.slice(1);
    const { ticket, options } = await post("setup/begin", { code });
    await post("setup/finish", { ticket, credential: encoded(await navigator.credentials.create({ publicKey: decoded(options) })) });
    history.replaceState(null, "", location.pathname);
    $("begin").hidden = true;
    $("intro").textContent = "The passkey was added. You can close this page.";
    return;
  }
  const { ticket, options } = await post("begin", {});
  const question = location.pathname.startsWith("/oauth/question/") ? location.pathname.split("/").pop() : "";
  decide(await post("finish", { ticket, question, query: location.search, credential: encoded(await navigator.credentials.get({ publicKey: decoded(options) })) }));
}));

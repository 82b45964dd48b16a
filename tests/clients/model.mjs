// A model on loopback for the clients that are driven here. It speaks the protocols of Anthropic, OpenAI (both) and
// Google, and does what the prompt says: each "CALL tool {json}" in it, one after the other, as long as the answers say
// that the user has not approved, or to the end if it says "DO EACH". It keeps what the client tells it about each call.
import { createServer } from "node:http";

const calls = /CALL (\w+) (\{.*?\})(?= ;;|\s*$)/gm;

// open starts the model. told gets the text of each result of a tool, once.
export async function open(told) {
  const seen = new Set();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => { text += part; });
    request.on("end", () => answer(request, response, text));
  });
  const log = process.env.CLIENTS_MODEL_LOG ? console.error : () => {};

  function answer(request, response, text) {
    const path = new URL(request.url, "http://model").pathname;
    let asked = {};
    try { asked = JSON.parse(text || "{}"); } catch { /* what is no JSON asks for nothing */ }
    log(request.method, path, text.length);
    if (process.env.CLIENTS_MODEL_LOG === "all") log(text);
    if (path.endsWith("/count_tokens") || path.endsWith(":countTokens")) return json(response, { input_tokens: 1, totalTokens: 1 });
    if (path.endsWith("/models") || path.includes("/models/") && request.method === "GET") return json(response, { object: "list", data: [{ id: "faked", object: "model" }] });
    if (path.endsWith("/messages")) return anthropic(response, asked);
    if (path.endsWith("/responses")) return responses(response, asked);
    if (path.endsWith("/chat/completions")) return completions(response, asked);
    if (/:(streamG|g)enerateContent$/.test(path)) return google(response, asked, path);
    json(response, {});
  }

  // next returns the call that comes next, null for the end. tools are the names that the client offers, said the texts
  // of the user, results those of the tools.
  function next(tools, said, results) {
    for (const result of results) {
      if (!seen.has(result)) {
        seen.add(result);
        told(result);
      }
    }
    const wanted = [...said.map(unquoted).join("\n").matchAll(calls)];
    const last = results.at(-1) ?? "";
    const isForEach = said.some((text) => text.includes("DO EACH")); // whatever the answers are
    const isOver = !isForEach && results.length > 0 && results.length % 2 === 1 && !last.includes("unconfirmed");
    const call = wanted[results.length];
    if (!call || isOver) return null;
    const name = tools.find((tool) => tool === call[1] || new RegExp(`[_.:-]${call[1]}$`).test(tool));
    log("call", call[1], name ?? "is not offered", tools.length);
    return name && isJSON(call[2]) ? { name, input: JSON.parse(call[2]), id: `call_${Date.now()}_${results.length}` } : null;
  }

  // unquoted returns the prompt of a client that sends it as a JSON string.
  const unquoted = (text) => text.trim().startsWith('"') && isJSON(text) ? JSON.parse(text) : text;

  function isJSON(text) {
    try { return JSON.parse(text) !== undefined; } catch { return false; }
  }

  const textOf = (content) => typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? (part.content ? textOf(part.content) : "")).join("\n");

  function anthropic(response, asked) {
    const tools = (asked.tools ?? []).map((tool) => tool.name);
    const parts = (asked.messages ?? []).flatMap((m) => typeof m.content === "string" ? [{ role: m.role, type: "text", text: m.content }] : m.content.map((part) => ({ role: m.role, ...part })));
    const said = parts.filter((part) => part.role === "user" && part.type === "text").map((part) => part.text);
    const results = parts.filter((part) => part.type === "tool_result").map((part) => textOf(part.content));
    const call = next(tools, said, results);
    const block = call ? { type: "tool_use", id: call.id, name: call.name, input: {} } : { type: "text", text: "" };
    const delta = call ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) } : { type: "text_delta", text: "ALL DONE" };
    const stop = call ? "tool_use" : "end_turn";
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null, stop_sequence: null, usage };
    if (!asked.stream) return json(response, { ...message, content: [call ? { ...block, input: call.input } : { type: "text", text: "ALL DONE" }], stop_reason: stop });
    stream(response, [
      { type: "message_start", message }, { type: "content_block_start", index: 0, content_block: block }, { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 }, { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage }, { type: "message_stop" },
    ], (event) => event.type);
  }

  function responses(response, asked) {
    const tools = (asked.tools ?? []).flatMap((tool) => tool.tools ? tool.tools.map((inner) => inner.name) : [tool.name]).filter(Boolean);
    const spaces = new Map((asked.tools ?? []).flatMap((tool) => (tool.tools ?? []).map((inner) => [inner.name, tool.name])));
    const input = typeof asked.input === "string" ? [{ role: "user", content: asked.input }] : asked.input ?? [];
    const said = input.filter((item) => item.role === "user").map((item) => textOf(item.content));
    const results = input.filter((item) => item.type === "function_call_output").map((item) => typeof item.output === "string" ? item.output : textOf(item.output));
    const call = next(tools, said, results);
    const item = call
      ? { type: "function_call", id: "fc_" + call.id, call_id: call.id, name: call.name, arguments: JSON.stringify(call.input), status: "completed", ...(spaces.has(call.name) ? { namespace: spaces.get(call.name) } : {}) }
      : { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "ALL DONE", annotations: [] }] };
    const whole = { id: "resp_1", object: "response", status: "completed", model: asked.model, output: [item], usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 } };
    if (!asked.stream) return json(response, whole);
    stream(response, [
      { type: "response.created", response: { ...whole, status: "in_progress", output: [] } }, { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item }, { type: "response.completed", response: whole },
    ], (event) => event.type);
  }

  function completions(response, asked) {
    const tools = (asked.tools ?? []).map((tool) => tool.function?.name).filter(Boolean);
    const said = (asked.messages ?? []).filter((m) => m.role === "user").map((m) => textOf(m.content));
    const results = (asked.messages ?? []).filter((m) => m.role === "tool").map((m) => textOf(m.content));
    const call = next(tools, said, results);
    const message = call
      ? { role: "assistant", content: null, tool_calls: [{ index: 0, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.input) } }] }
      : { role: "assistant", content: "ALL DONE" };
    const base = { id: "chat_1", created: 1, model: asked.model };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const stop = call ? "tool_calls" : "stop";
    if (!asked.stream) return json(response, { ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: stop }], usage });
    stream(response, [
      { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: stop }], usage },
    ], null, "[DONE]");
  }

  function google(response, asked, path) {
    const tools = (asked.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map((f) => f.name));
    const parts = (asked.contents ?? []).flatMap((c) => (c.parts ?? []).map((part) => ({ role: c.role, ...part })));
    const said = parts.filter((part) => part.role === "user" && part.text).map((part) => part.text);
    const results = parts.filter((part) => part.functionResponse).map((part) => JSON.stringify(part.functionResponse.response));
    const call = next(tools, said, results);
    const part = call ? { functionCall: { name: call.name, args: call.input } } : { text: "ALL DONE" };
    const whole = { candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    if (!path.includes(":streamG")) return json(response, whole);
    stream(response, [whole]);
  }

  function json(response, value) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  }

  function stream(response, events, name, end) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write((name ? `event: ${name(event)}\n` : "") + `data: ${JSON.stringify(event)}\n\n`);
    if (end) response.write(`data: ${end}\n\n`);
    response.end();
  }

  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}

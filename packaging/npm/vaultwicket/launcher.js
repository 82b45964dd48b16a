#!/usr/bin/env node
// Starts the program that npm installed for this system and gets out of its way: it has
// our standard streams, gets our signals, and we end as it ends. Standard output is the
// channel of the protocol, so nothing else is ever written to it.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const scope = require("./package.json").optionalDependencies;
const name = Object.keys(scope).find((n) => n.endsWith(`/${process.platform}-${process.arch}`));

function fail(message) {
  process.stderr.write(`vaultwicket: error: ${message}\n`);
  process.exit(4);
}

function program() {
  if (!name) {
    fail(`there is no package for ${process.platform} on ${process.arch}`);
  }
  try {
    return require.resolve(`${name}/bin/vaultwicket${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(`the package ${name} is not installed; install again with npm install --include=optional vaultwicket`);
  }
}

// At a terminal the keys reach the whole group of processes: passing them on would count
// as the second time, which ends the program at once. A signal that comes now waits until
// there is a child: handlers run after this script.
const passed = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"];
for (const signal of passed) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || !isatty(0)) {
      child.kill(signal);
    }
  });
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });

child.on("error", (error) => fail(`cannot start ${name}: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  passed.forEach((s) => process.removeAllListeners(s));
  process.kill(process.pid, signal); // end the same way
  setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 1000);
});

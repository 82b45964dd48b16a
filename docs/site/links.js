// Checks the site: every link between its pages leads to a file and, with a #, to an
// element that is there. Ends with 1 and the links that do not.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const root = process.argv[2];
const pages = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".html"));
const ids = new Map();
for (const page of pages) {
  const text = readFileSync(posix.join(root, page), "utf8");
  ids.set(page, new Set([...text.matchAll(/ id="([^"]+)"/g)].map((m) => m[1])));
}

const wrong = [];
let checked = 0;
for (const page of pages) {
  const text = readFileSync(posix.join(root, page), "utf8");
  for (const [, link] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
    if (/^[a-z]+:/.test(link)) {
      continue;
    }
    checked++;
    const [file, anchor] = decodeURI(link).split("#");
    const to = file ? posix.join(posix.dirname(page), file) : page;
    if (!existsSync(posix.join(root, to)) || (anchor && !ids.get(to)?.has(anchor))) {
      wrong.push(`${page}: ${link}`);
    }
  }
}
if (pages.length < 20 || checked < 500) {
  wrong.push(`only ${pages.length} pages with ${checked} links`);
}
wrong.forEach((line) => console.error(line));
console.log(`${pages.length} pages, ${checked} links`);
process.exit(wrong.length ? 1 : 0);

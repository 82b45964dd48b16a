// The site is made of the Markdown files of docs as they are, and of documents at the top
// of the repository. Links between the files become links between the pages.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import nav from "./nav.js";

const repository = JSON.parse(readFileSync("../packaging/server.json", "utf8")).repository.url;

// Documents outside of docs, by the page that each becomes.
const documents = { "security.md": "SECURITY.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md" };
const pageOf = Object.fromEntries(Object.entries(documents).map(([page, file]) => [file, page]));

// sourceOf is the path below the repository of the file that a page is made of.
const sourceOf = (inputPath) => {
  const page = posix.normalize(inputPath);
  return documents[page] ?? posix.join("docs", page);
};

// target returns where a link of a file leads on the site.
function target(href, source) {
  if (/^[a-z]+:|^#/.test(href)) {
    return href;
  }
  const [file, anchor] = href.split("#");
  const path = posix.join(posix.dirname(source), file);
  const page = pageOf[path] ?? (path.startsWith("docs/") ? path.slice("docs/".length) : undefined);
  if (page === undefined) {
    return `${repository}/blob/main/${path}`;
  }
  const from = pageOf[source] ?? source.slice("docs/".length);
  return posix.relative(posix.dirname(from), page).replace(/\.md$/, ".html") + (anchor ? `#${anchor}` : "");
}

// slug names a heading as GitHub does.
const slug = (title) => title.toLowerCase().replaceAll(" ", "-").replace(/[^\p{L}\p{Nd}_-]/gu, "");

function headingsAndLinks(md) {
  md.core.ruler.push("site", (state) => {
    const source = sourceOf(state.env.page.inputPath);
    state.tokens.forEach((token, i) => {
      if (token.type === "heading_open") {
        const title = state.tokens[i + 1].children.map((c) => c.content).join("");
        token.attrSet("id", slug(title));
      }
      for (const child of token.children ?? []) {
        const name = { link_open: "href", image: "src" }[child.type];
        if (name) {
          child.attrSet(name, target(child.attrGet(name), source));
        }
      }
    });
  });
}

export default function (config) {
  for (const [page, file] of Object.entries(documents)) {
    config.addTemplate(page, readFileSync(`../${file}`, "utf8"));
  }
  config.ignores.add("site/**");
  config.addPassthroughCopy("pictures");
  config.addPassthroughCopy("screenshots");
  config.addPassthroughCopy({ "site/style.css": "style.css" });
  config.amendLibrary("md", (md) => md.set({ html: true }).use(headingsAndLinks));
  config.addGlobalData("layout", "page.njk");
  config.addGlobalData("nav", nav);
  config.addGlobalData("repository", repository);
  config.addGlobalData("permalink", () => (data) => `${data.page.filePathStem}.html`);
  config.addGlobalData("eleventyComputed", {
    title: (data) => /^# (.*)$/m.exec(data.page.rawInput)?.[1] ?? "vaultwicket",
    root: (data) => "../".repeat(data.page.filePathStem.split("/").length - 2),
    source: (data) => sourceOf(data.page.inputPath),
  });
  return {
    dir: { input: ".", includes: "site", output: "site/out" },
    templateFormats: ["md"],
    markdownTemplateEngine: false,
  };
}

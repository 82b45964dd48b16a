// The pages in the order in which people read them.
export default [
  { title: "Start", pages: [["index", "Overview"], ["quick-start", "Quick start"], ["packages", "Packages"], ["clients", "Clients"]] },
  { title: "Use", pages: [["permissions", "Permissions and approvals"], ["recipes", "Recipes"], ["services", "Services"], ["remote", "Remote access"], ["scale", "Records and scale"], ["ui", "The local page"], ["bases", "Bases"], ["tasks", "Tasks and periodic notes"], ["organising", "Moving, merging and folders"], ["refactoring", "Changes across the vault"], ["find", "Finding a note"], ["faq", "FAQ"]] },
  { title: "Reference", pages: [["cli", "Command line"], ["commands", "Commands"], ["settings", "Settings"], ["codes", "Codes"], ["prompts", "Prompts"], ["mcp", "MCP"], ["vault", "Embedded CLI"]] },
  { title: "Judge", pages: [["security", "Security"], ["comparison", "Comparison"], ["architecture", "Architecture"], ["performance", "Performance"], ["contributing", "Contributing"], ["testers", "Testing on a real machine"], ["changelog", "Changelog"]] },
];

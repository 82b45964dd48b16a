// Checks lists of modules against the strict schema of CycloneDX 1.6:
//
//	NODE_PATH=FOLDER/node_modules node validate-sbom.cjs FILE...
"use strict";

const { Spec, Validation } = require("@cyclonedx/cyclonedx-library");
const { readFileSync } = require("node:fs");

(async () => {
  let wrong = 0;
  for (const file of process.argv.slice(2)) {
    const fault = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(readFileSync(file, "utf8"));
    if (fault !== null) {
      wrong++;
      console.error(file, JSON.stringify(fault));
    }
  }
  process.exit(wrong ? 1 : 0);
})();

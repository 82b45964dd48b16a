#!/bin/sh
# Builds the site of the documents into docs/site/out and checks its links. It needs Node
# and, the first time, npm; package-lock.json says what is installed.
set -eu
cd "$(dirname "$0")"
[ -x node_modules/.bin/eleventy ] || npm ci --silent --no-audit --no-fund --ignore-scripts >/dev/null
npm run --silent build

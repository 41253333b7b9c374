// Bundles the page into dist/: index.html, viewer.js, viewer.css. Nothing is fetched at run time.
import { cpSync, mkdirSync } from "node:fs";
import { build } from "esbuild";

mkdirSync("dist", { recursive: true });
await build({
  entryPoints: ["src/main.ts"],
  outfile: "dist/viewer.js",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "eof",
  logLevel: "warning",
});
cpSync("src/index.html", "dist/index.html");
cpSync("src/viewer.css", "dist/viewer.css");

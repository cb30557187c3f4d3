// bundle.mjs FOLDER -- writes the pages, each all in one file; their data go where <!--data--> stands.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const here = new URL("src/", import.meta.url);
const bundled = async (entry) => {
  const result = await build({
    entryPoints: [new URL(entry, here).pathname], bundle: true, minify: true, write: false,
    format: "iife", target: "es2023", legalComments: "none", charset: "utf8",
  });
  return result.outputFiles[0].text.trim();
};

// The page of runs asks the server that it came from for what is new; the others ask for nothing.
const pages = [
  { name: "trace", entry: "main.ts", connect: "" },
  { name: "runs", entry: "runs.ts", connect: "; connect-src 'self'" },
  { name: "history", entry: "history.ts", connect: "" },
];
const style = await bundled("style.css");
const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
for (const { name, entry, connect } of pages) {
  const script = (await bundled(entry)).replaceAll("</script", "<\\/script");
  const page = readFileSync(new URL("page.html", here), "utf8")
    .replace("/*connect*/", () => connect)
    .replace("/*style*/", () => style)
    .replace("/*script*/", () => script);
  writeFileSync(join(folder, `${name}.html`), page);
}

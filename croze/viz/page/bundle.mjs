// bundle.mjs FILE -- writes the page, all in one file; the trace goes where <!--trace--> stands.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const here = new URL("src/", import.meta.url);
const bundled = async (entry) => {
  const result = await build({
    entryPoints: [new URL(entry, here).pathname], bundle: true, minify: true, write: false,
    format: "iife", target: "es2023", legalComments: "none", charset: "utf8",
  });
  return result.outputFiles[0].text.trim();
};

const script = (await bundled("main.ts")).replaceAll("</script", "<\\/script");
const style = await bundled("style.css");
const page = readFileSync(new URL("page.html", here), "utf8")
  .replace("/*style*/", () => style)
  .replace("/*script*/", () => script);
writeFileSync(process.argv[2], page);

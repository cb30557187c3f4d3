// bundle_test.mjs PAGE: the bundles that are checked in are what their sources make, and those are
// sound.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const page = process.argv[2];
if (!existsSync(join(page, "node_modules", "esbuild"))) {
  console.log("skipped: esbuild is not installed (npm ci in croze/viz/page)");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "croze-page-"));
try {
  execFileSync(process.execPath, [join(page, "bundle.mjs"), folder], { stdio: "inherit" });
  const names = new Set([...readdirSync(folder), ...readdirSync(join(page, "bundles"))]);
  for (const name of names) {
    const [made, kept] = [join(folder, name), join(page, "bundles", name)];
    if (!existsSync(made) || !existsSync(kept) || !readFileSync(made).equals(readFileSync(kept))) {
      console.error(`bundles/${name} is not what its sources make: npm run bundle in croze/viz/page`);
      process.exitCode = 1;
    }
  }
  execFileSync(process.execPath, [join(page, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "-p", page], { stdio: "inherit" });
} finally {
  rmSync(folder, { recursive: true });
}

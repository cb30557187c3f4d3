// bundle_test.mjs PAGE: the bundle that is checked in is what its sources make, and they are sound.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const page = process.argv[2];
if (!existsSync(join(page, "node_modules", "esbuild"))) {
  console.log("skipped: esbuild is not installed (npm ci in croze/viz/page)");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "croze-page-"));
try {
  const made = join(folder, "bundle.html");
  execFileSync(process.execPath, [join(page, "bundle.mjs"), made], { stdio: "inherit" });
  if (!readFileSync(made).equals(readFileSync(join(page, "bundle.html")))) {
    console.error("bundle.html is not what its sources make: npm run bundle in croze/viz/page");
    process.exitCode = 1;
  }
  execFileSync(process.execPath, [join(page, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "-p", page], { stdio: "inherit" });
} finally {
  rmSync(folder, { recursive: true });
}

// looks.mjs -- pictures of all views, light and dark, and at 200 %.
import assert from "node:assert/strict";
import { join } from "node:path";
import { press, settle } from "../browser.mjs";
import { turnTo } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

test("all views, light and dark, and at 200 %", async (browser, { open, folder }) => {
  for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["zoomed", { width: 640, height: 400 }]]) {
    const { page, complaints } = await open(browser, "step", options);
    for (const [i, name] of ["timeline", "memory", "kernels", "graph", "rewrites"].entries()) {
      await press(page, String(i + 1));
      if (name === "timeline") await press(page, "l");
      if (name === "kernels") await turnTo(page, "Tiles");
      await settle(page);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is as wide as the window`);
    }
    await press(page, "3");
    for (const tab of ["Assembly", "Roofline"]) {
      await turnTo(page, tab);
      if (tab === "Assembly") await press(page, "n");
      await settle(page);
      await page.screenshot({ path: join(folder, `${tab.toLowerCase()}-${look}.png`) });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${tab} is as wide as the window`);
    }
    assert.deepEqual(complaints, []);
    const block = await open(browser, "block", options);
    await press(block.page, "4", "c");
    await block.page.screenshot({ path: join(folder, `graph-${look}.png`) });
    assert.deepEqual(block.complaints, []);
  }
  // T turns the colours.
  const { page } = await open(browser, "step");
  await press(page, "t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 22, 26)");
});

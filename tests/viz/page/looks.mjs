// looks.mjs -- every view of real traces, light and dark, and at 200 %; pictures of them are left.
import assert from "node:assert/strict";
import { join } from "node:path";
import { colourOf, colours, press, settle, text } from "../browser.mjs";
import { GRAPH, KERNELS, REAL, of, turnTo } from "./views.mjs";

const tests = [], test = (name, run) => tests.push([name, run]);
export default tests;

// What is said of every view: it fits the window, its text can be read, and its canvas has room.
async function assertReadable(page, name) {
  const found = await page.evaluate(() => {
    const shown = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.childNodes.length > 0 && [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim() !== ""));
    const canvas = document.querySelector("#view canvas"), main = document.getElementById("view"), bottom = main.querySelector(".details") ?? main.firstElementChild;
    bottom.scrollIntoView({ block: "end" });
    const end = bottom.getBoundingClientRect().bottom;
    main.scrollTop = 0;
    return { width: document.documentElement.scrollWidth - innerWidth, smallest: Math.min(...shown.map((e) => parseFloat(getComputedStyle(e).fontSize))),
             canvas: canvas?.clientHeight ?? 1000, below: end - innerHeight,
             cut: [...document.querySelectorAll("button, select")].filter((e) => e.checkVisibility() && e.tagName === "BUTTON" && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent) };
  });
  assert.ok(found.width <= 0, `${name} is as wide as the window`);
  assert.ok(found.smallest >= 12, `${name} has letters of ${found.smallest} pixels`);
  assert.ok(found.canvas >= 100, `${name} has a canvas ${found.canvas} pixels high`);
  assert.ok(found.below <= 1, `${name} ends ${found.below} pixels below the window`);
  assert.deepEqual(found.cut, [], `${name} has words that are cut`);
}

// Of the kernels that compute a tile of two ranges at once, the one whose launches take longest.
async function chooseTiled(page) {
  await turnTo(page, "Tiles");
  await of(page, KERNELS, (v) => {
    const launches = croze.model.kinds.map((k, i) => [k, i]).sort(([a], [b]) => b.ns - a.ns);
    for (const [kind, i] of launches) for (const kernel of kind.kernels) {
      v.choose(i, kernel);
      const ranges = v.root.querySelector(".tiles p")?.textContent.match(/\(r\d+, (lane|unroll)\)/g) ?? [];
      if (ranges.length > 1 && v.root.querySelector(".plane")) return;
    }
    v.choose(launches[0][1]);
  });
  await settle(page);
}

const LOOKS = [["light", {}], ["dark", { dark: true }], ["zoomed", { width: 640, height: 400 }]];
const VIEWS = ["timeline", "memory", "kernels", "graph", "rewrites"];

for (const [look, options] of LOOKS) {
  test(`all views, ${look}`, async (browser, { open, folder }) => {
    for (const name of REAL) {
      const { page, complaints } = await open(browser, name, options);
      const picture = (view) => name === "step" ? page.screenshot({ path: join(folder, `${view}-${look}.png`) }) : null;
      for (const [i, view] of VIEWS.entries()) {
        await press(page, String(i + 1));
        if (view === "timeline") await press(page, "l");
        if (view === "kernels") await chooseTiled(page);
        await settle(page);
        await picture(view);
        await assertReadable(page, `${view} of ${name}`);
        if (!await page.$("#view canvas")) continue;
        const counts = await colours(page), most = Object.entries(counts).sort((a, b) => b[1] - a[1])[0][0];
        assert.equal(most, await colourOf(page, "ground"), "the ground of a canvas is that of the page");
        assert.ok(Object.keys(counts).length > 5, `${view} of ${name} is drawn`);
      }
      await press(page, "3");
      for (const tab of ["Assembly", "Roofline"]) {
        await turnTo(page, tab);
        if (tab === "Assembly") await press(page, "n");
        await settle(page);
        await picture(tab.toLowerCase());
        await assertReadable(page, `${tab} of ${name}`);
      }
      assert.deepEqual(complaints, []);
    }
  });
}

test("pictures of graphs in boxes", async (browser, { open, folder }) => {
  for (const [look, options] of LOOKS) {
    const { page, complaints } = await open(browser, "block", options);
    await press(page, "4", "c");
    await page.screenshot({ path: join(folder, `graph-${look}.png`) });
    await press(page, "PageUp", "c");
    assert.equal(await of(page, GRAPH, (v) => v.level.name), "tensors");
    await page.screenshot({ path: join(folder, `tensors-${look}.png`) });
    assert.deepEqual(complaints, []);
  }
});

test("keys say what there is, and turn light and dark", async (browser, { open }) => {
  const { page, complaints } = await open(browser, "step");
  await press(page, "t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 22, 26)");
  assert.equal(Object.entries(await colours(page)).sort((a, b) => b[1] - a[1])[0][0], "20,22,26", "canvases, too");
  await press(page, "?");
  const help = await text(page, "dialog");
  for (const key of ["W S, A D", "PgUp PgDn", "Shift+N", "Esc"]) assert.ok(help.includes(key), key);
  await press(page, "2");
  assert.equal(await page.$eval("[role=tab][aria-selected=true]", (e) => e.textContent), "Timeline", "while the keys are shown");
  await press(page, "Escape", "2");
  assert.equal(await page.$eval("[role=tab][aria-selected=true]", (e) => e.textContent), "Memory");
  // Tabs are reached by Tab, too, and Enter opens one.
  await page.focus("#tabs button:nth-child(4)");
  await press(page, "Enter");
  assert.equal(await page.$eval("[role=tab][aria-selected=true]", (e) => e.textContent), "Graph");
  assert.deepEqual(complaints, []);
});

// report.html and compare.html in headless Chromium, from the disk and without a network:
// node report.mjs PLIANT SCENE ARTEFACTS
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { artefacts, command, newPage, picture, scene, withBrowser } from "./harness.mjs";

async function openFile(browser, path, faults) {
  const address = pathToFileURL(path).href;
  const page = await newPage(browser, address, faults, { offline: true });
  await page.goto(address);
  return page;
}

/** Stops the playback between its ends. Look and click are one turn of the page's loop, so that none is missed. */
async function stopOnTheWay(page) {
  await page.waitForFunction(() => {
    const slider = document.getElementById("slider"), frame = Number(slider.value);
    if (frame === 0 || frame === Number(slider.max)) return false;
    document.getElementById("play").click();
    return true;
  });
}

/** The report of a run: its playback moves by itself, stops, and follows the slider. */
async function report(browser, run) {
  const faults = [];
  const page = await openFile(browser, join(run, "report.html"), faults);
  assert.equal(await page.locator("#nogl").isVisible(), false, "there is WebGL");
  await stopOnTheWay(page);
  const last = Number(await page.locator("#slider").getAttribute("max"));
  assert.ok(last > 10, `the playback has ${last + 1} frames`);
  const show = async (frame, name) => {
    await page.locator("#slider").evaluate((slider, n) => {
      slider.value = String(n);
      slider.dispatchEvent(new Event("input"));
    }, frame);
    return picture(page, name);
  };
  const first = await show(0, "report-first");
  assert.ok(first.count > 100, `the canvas is blank (${first.count} colours)`);
  assert.ok(first.red > 1000, `the cloth is not in the picture (${first.red} pixels)`);
  const again = await show(0, "report-first");
  assert.ok(again.png.equals(first.png), "a stopped playback stands still");
  const end = await show(last, "report-last");
  assert.ok(!end.png.equals(first.png), "the picture changes over the time of the run");
  await page.locator("#play").click(); // from its end it begins anew
  await stopOnTheWay(page);
  const moving = await picture(page, "report-moving");
  assert.ok(!moving.png.equals(end.png), "it plays");
  assert.ok((await page.locator("svg.plot").count()) >= 5, "there are plots");
  assert.match(await page.locator("body").textContent(), /Nothing passes through anything/);
  await imagesLoad(page);
  assert.deepEqual(faults, [], "no error in the console, nothing from elsewhere");
  await page.context().close();
}

async function imagesLoad(page) {
  const widths = await page.locator("img").evaluateAll((all) => all.map((image) => image.naturalWidth));
  assert.ok(widths.length > 0 && widths.every((w) => w > 0), `images load (${widths})`);
  return widths.length;
}

async function comparison(browser, directory) {
  const faults = [];
  const page = await openFile(browser, join(directory, "compare.html"), faults);
  assert.equal(await imagesLoad(page), 6, "three instants of two variants");
  assert.equal(await page.locator("table.compare tr").first().locator("th").count(), 3);
  assert.ok((await page.locator("svg.plot").count()) >= 8, "there are plots");
  await page.screenshot({ path: join(artefacts, "compare.png"), fullPage: true });
  assert.deepEqual(faults, [], "no error in the console, nothing from elsewhere");
  await page.context().close();
}

await withBrowser(async (browser, place) => {
  const run = join(place, "run"), variants = join(place, "variants");
  command("run", scene, "-o", run, "--quiet", "--set", "time.fps=60");
  await report(browser, run);
  console.log("the report shows a moving scene");
  command("compare", scene, "-o", variants, "-q", "--methods", "implicit,none", "--pictures", "3", "--end", "0.24");
  await comparison(browser, variants);
  console.log("the comparison shows its variants");
});

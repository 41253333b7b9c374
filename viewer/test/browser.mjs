// The page in headless Chromium, as a user meets it: node browser.mjs PLIANT SCENE ARTEFACTS
import assert from "node:assert/strict";
import { join } from "node:path";
import { command, newPage, picture, scene, view, withBrowser } from "./harness.mjs";

async function end(server) {
  const code = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGINT");
  assert.equal(await code, 0, "Ctrl-C ends the server in order");
}

const frame = (page, number) => page.waitForFunction((n) => document.body.dataset.frame === String(n), number);
const scrub = (page, number) =>
  page.locator("#slider").evaluate((slider, n) => {
    slider.value = String(n);
    slider.dispatchEvent(new Event("input"));
  }, number);

async function openPage(browser, address, faults) {
  const page = await newPage(browser, address, faults);
  await page.goto(address);
  await page.waitForFunction(() => document.body.dataset.frame !== undefined);
  return page;
}

async function storedRun(browser, place) {
  const run = join(place, "run");
  command("run", scene, "-o", run, "--quiet", "--no-report", "--every-step");
  const { server, address } = await view(run);
  const faults = [];
  const page = await openPage(browser, address, faults);

  const first = await picture(page, "view-first");
  assert.ok(first.count > 200, `the canvas is blank (${first.count} colours)`);
  assert.ok(first.red > 1000, `the cloth is not in the picture (${first.red} pixels)`);
  const last = Number(await page.locator("#slider").getAttribute("max"));
  assert.ok(last > 10);
  await scrub(page, last);
  await frame(page, last);
  const second = await picture(page, "view-last");
  assert.ok(!first.png.equals(second.png), "scrubbing changes the picture");
  assert.match(await page.locator("#time").textContent(), new RegExp(`step ${last}$`));
  assert.match(await page.locator("#report").textContent(), /kinetic energy/);

  await page.locator("#contacts").check();
  const forces = await picture(page, "view-contacts");
  assert.ok(!forces.png.equals(second.png), "contact forces are drawn");
  await page.locator("#contacts").uncheck();
  await page.locator("#colour").selectOption("elongation");
  const coloured = await picture(page, "view-elongation");
  assert.ok(coloured.red < second.red, "cloth is coloured by elongation");
  await page.locator("#colour").selectOption("stress");
  const stressed = await picture(page, "view-stress");
  assert.ok(stressed.red < second.red && !stressed.png.equals(coloured.png), "cloth is coloured by its tension");
  assert.match(await page.locator("#legend").textContent(), /\d m?N tension/);
  await page.locator("#colour").selectOption("body");
  await page.locator("#bodies input").first().uncheck();
  const hidden = await picture(page, "view-hidden");
  assert.ok(hidden.red < 100, "a hidden body is not drawn");
  await page.locator("#bodies input").first().check();
  await page.locator("#wireframe").check();
  const wires = await picture(page, "view-wireframe");
  assert.ok(!wires.png.equals(second.png), "wires are drawn");
  await page.locator("#wireframe").uncheck();
  await page.locator("#theme").click();
  await picture(page, "view-dark");

  const box = await page.locator("#plots canvas").first().boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction((n) => Math.abs(Number(document.body.dataset.frame) - n / 2) <= 1, last);
  await page.locator("#play").click();
  await page.waitForFunction((n) => Number(document.body.dataset.frame) > n / 2 + 3, last);
  assert.deepEqual(faults, [], "no error in the console, nothing from elsewhere");
  await page.close();
  await end(server);
}

async function liveScene(browser) {
  const { server, address } = await view(scene, "--set", "time.end=1000 s");
  const faults = [];
  const page = await openPage(browser, address, faults);
  const stored = () => page.evaluate(() => Number(document.body.dataset.frames));
  assert.equal(await stored(), 1, "it waits at the start");
  const first = await picture(page, "live-first");
  await page.locator("#single").click();
  await frame(page, 1);
  assert.equal(await stored(), 2, "one step is one step");
  await page.locator("#simulate").click();
  await page.waitForFunction(() => Number(document.body.dataset.frame) > 10);
  const second = await picture(page, "live-moving");
  assert.match(await page.locator("#report").textContent(), /kinetic energy/, "the step's report keeps up");
  assert.ok(!first.png.equals(second.png), "the scene moves");
  await page.locator("#simulate").click();
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("paused"));
  const paused = await stored();
  await page.waitForTimeout(600);
  assert.equal(await stored(), paused, "a paused scene stands still");
  await page.locator("#reset").click();
  await page.waitForFunction(() => document.body.dataset.frames === "1" && document.body.dataset.frame === "0");
  const again = await picture(page, "live-reset");
  assert.ok(again.png.equals(first.png), "reset leads back to the start");
  await page.locator("#simulate").click();
  await page.waitForFunction(() => Number(document.body.dataset.frame) > 3);
  assert.deepEqual(faults, [], "no error in the console, nothing from elsewhere");
  await page.close();
  await end(server); // in the middle of a simulation
}

await withBrowser(async (browser, place) => {
  await storedRun(browser, place);
  console.log("the viewer shows a stored run");
  await liveScene(browser);
  console.log("the viewer simulates a scene");
});

// How many frames a second the page draws of the beginning of a scene: node test/speed.mjs PLIANT SCENE ARTEFACTS
import { join } from "node:path";
import { command, newPage, scene, view, withBrowser } from "./harness.mjs";

const seconds = 20;

await withBrowser(async (browser, place) => {
  const run = join(place, "run");
  command("run", scene, "-o", run, "--quiet", "--no-report", "--end", "1", "--set", "time.fps=100");
  const { server, address } = await view(run);
  const page = await newPage(browser, address, [], { viewport: { width: 640, height: 360 } });
  let bytes = 0;
  page.on("response", async (r) => (bytes += (await r.body().catch(() => "")).length));
  await page.goto(address);
  await page.waitForFunction(() => document.body.dataset.frame !== undefined);
  const size = await page.evaluate(() => {
    const canvas = document.querySelector("#view");
    return `${canvas.width} x ${canvas.height}`;
  });
  // Each frame is asked for when the one before has been drawn.
  const draw = (number) =>
    new Promise((done) => {
      const slider = document.querySelector("#slider");
      slider.value = String(number);
      slider.dispatchEvent(new Event("input"));
      const wait = () => {
        if (document.body.dataset.frame !== String(number)) return setTimeout(wait, 5);
        requestAnimationFrame(() => requestAnimationFrame(done));
      };
      wait();
    });
  const before = bytes;
  const start = Date.now();
  let frames = 0;
  while (Date.now() - start < 1000 * seconds && frames < 100) await page.evaluate(draw, ++frames);
  const taken = (Date.now() - start) / 1000;
  console.log(`${frames} frames of ${size} pixels in ${taken.toFixed(1)} s: ${(frames / taken).toFixed(2)} a second,`,
    `${((bytes - before) / frames / 1e6).toFixed(2)} MB each`);
  server.kill("SIGINT");
});

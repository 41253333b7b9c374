// What the browser tests share: headless Chromium, a place for files, and how a picture is judged.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** Command line of a test: node test.mjs PLIANT SCENE ARTEFACTS. */
export const [pliant, scene, artefacts] = process.argv.slice(2);

const servers = [];

/** Runs a test with a browser and a directory of its own; exits with 77 (skipped) where there is no Chromium. */
export async function withBrowser(test) {
  const browserPath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
  if (!browserPath || !existsSync(browserPath)) {
    console.log("skipped: there is no Chromium (CHROMIUM names one in another place)");
    process.exit(77);
  }
  const place = mkdtempSync(join(tmpdir(), "pliant-viewer-"));
  mkdirSync(artefacts, { recursive: true });
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: [
      "--headless", "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--no-first-run", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
      // A page that nobody looks at would get less of a busy processor than anyone else.
      "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
    ],
  });
  try {
    await test(browser, place);
  } finally {
    for (const server of servers) if (server.exitCode === null) server.kill("SIGKILL");
    await browser.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs pliant to its end; throws with its words when it fails. */
export function command(...args) {
  const made = spawnSync(pliant, args);
  if (made.status !== 0) throw new Error(`pliant ${args.join(" ")}: ${made.status} ${made.stderr}`);
}

/** Starts `pliant view` and gives its address. */
export function view(...args) {
  const server = spawn(pliant, ["view", ...args, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  return new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (part) => {
      text += part;
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) resolve({ server, address: found[0] });
    });
    server.on("exit", (code) => reject(new Error(`pliant view ended with ${code}: ${text}`)));
  });
}

/** A page that notes in `faults` every error and every request to another place than `address`. */
export async function newPage(browser, address, faults, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(200000); // software rendering on a busy machine
  page.on("console", (m) => {
    if (m.type() === "error") faults.push(m.text());
  });
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("request", (r) => {
    if (!r.url().startsWith(address) && !r.url().startsWith("data:")) faults.push(`asks for ${r.url()}`);
  });
  return page;
}

/** How many colours the canvas shows, and its picture; the whole page is kept as an artefact. */
export async function picture(page, name) {
  // A frame is drawn on the animation frame after it has come.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const png = await page.locator("#view").screenshot();
  await page.screenshot({ path: join(artefacts, `${name}.png`) });
  const colours = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const seen = new Set();
    let red = 0; // pixels of the cloth
    for (let i = 0; i < data.length; i += 4) {
      seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      if (data[i] > 2 * data[i + 1] && data[i] > 60) red += 1;
    }
    return { count: seen.size, red };
  }, [...png]);
  return { png, ...colours };
}

// The page: playback, switches, and the polling of a run that still grows.
import { control, FrameCache, getRun, getTopology, Stats, type Frame, type Run } from "./data";
import { number, Plots } from "./plots";
import { Stage, type Colouring } from "./stage";

const prefetched = 3;
const pollEvery = { live: 250, growing: 1500 }; // [ms]

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const button = (id: string) => element<HTMLButtonElement>(id);
const input = (id: string) => element<HTMLInputElement>(id);

class Viewer {
  private readonly cache = new FrameCache();
  private readonly plots = new Plots(element("plots"), (time) => this.seek(this.frameAt(time)));
  private wanted = 0;
  private shown = -1;
  private clock = 0; // of the playback, simulated [s]
  private playing = false;
  private last = performance.now();
  private resets = 0; // answers to what was asked before a reset are out of date
  private resetting = false;

  constructor(
    private run: Run,
    private readonly stage: Stage,
    private readonly stats: Stats,
  ) {
    document.title = `${run.title} - Pliant`;
    element("title").textContent = run.title;
    this.listBodies();
    this.connect();
    this.plots.set(stats);
    this.updateRun(run);
    this.seek(0);
    requestAnimationFrame((now) => this.tick(now));
    if (run.live || run.status === "running") this.poll();
  }

  private time(frame: number): number {
    return (this.run.frameSteps[frame] ?? 0) * this.run.step;
  }

  /** The last frame at or before a time. */
  private frameAt(time: number): number {
    const steps = this.run.frameSteps;
    let low = 0, high = steps.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (steps[middle] * this.run.step <= time + 1e-9) low = middle;
      else high = middle;
    }
    return low;
  }

  private get lastFrame(): number {
    return Math.max(0, this.run.frameSteps.length - 1);
  }

  private seek(frame: number): void {
    this.setPlaying(false);
    this.want(frame);
  }

  private want(frame: number): void {
    this.wanted = Math.min(this.lastFrame, Math.max(0, frame));
    this.clock = this.time(this.wanted);
  }

  private setPlaying(on: boolean): void {
    this.playing = on;
    button("play").textContent = on ? "Pause" : "Play";
    if (on && this.wanted === this.lastFrame) this.want(0);
  }

  private tick(now: number): void {
    const elapsed = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    // The clock waits for a frame that is still on its way.
    if (this.playing && this.shown === this.wanted) this.advance(elapsed);
    if (this.shown !== this.wanted && !this.resetting) this.load(this.wanted);
    this.stage.draw();
    requestAnimationFrame((next) => this.tick(next));
  }

  private advance(elapsed: number): void {
    this.clock += elapsed * Number(element<HTMLSelectElement>("speed").value);
    const end = this.time(this.lastFrame);
    if (this.clock > end + this.run.step) {
      if (input("loop").checked) this.clock = 0;
      else this.setPlaying(false);
    }
    this.wanted = this.frameAt(this.clock);
    for (let k = 1; k <= prefetched; ++k) if (this.wanted + k <= this.lastFrame) this.cache.prefetch(this.wanted + k);
  }

  private load(frame: number): void {
    const known = this.cache.peek(frame);
    if (known) return this.show(frame, known);
    this.cache.get(frame).then(
      () => undefined, // the next tick shows it, if it is still wanted
      (fault: Error) => {
        this.say(fault.message);
        this.setPlaying(false);
        this.shown = frame;
      },
    );
  }

  private show(number: number, frame: Frame): void {
    this.shown = number;
    this.stage.show(frame);
    element("scale").textContent = this.stage.scaleEnd();
    input("slider").value = String(number);
    element("time").textContent =
      `${frame.time.toFixed(3)} s · frame ${number} of ${this.lastFrame} · step ${frame.step}`;
    this.plots.setCursor(frame.time, frame.step - 1);
    this.report(frame);
    document.body.dataset.frame = String(number);
  }

  private report(frame: Frame): void {
    const row = this.stats.row(frame.step) ?? [];
    const entries = [["contacts with a force", String(frame.contacts.length / 6)]];
    row.forEach((value, i) => {
      const name = this.stats.columns[i];
      if (name.startsWith("s:")) entries.push([`${name.slice(2)} [ms]`, number(1000 * Number(value))]);
      else entries.push([name.replaceAll("_", " "), Number.isNaN(Number(value)) ? value : number(Number(value))]);
    });
    element("report").replaceChildren(
      ...entries.map((cells) => {
        const line = document.createElement("tr");
        for (const text of cells) line.insertCell().textContent = text;
        return line;
      }),
    );
  }

  private say(message: string): void {
    const place = element("message");
    place.textContent = message;
    place.hidden = message === "";
  }

  private updateRun(run: Run): void {
    this.run = run;
    input("slider").max = String(this.lastFrame);
    const frames = `${run.frameSteps.length} frames`;
    element("status").textContent = `${run.status} · method ${run.method} · step ${number(1000 * run.step)} ms · ${frames}`;
    if (run.message) this.say(run.message);
    element("live").hidden = !run.live;
    button("simulate").textContent = run.status === "running" ? "Pause simulation" : "Simulate";
    document.body.dataset.frames = String(run.frameSteps.length);
  }

  private async poll(): Promise<void> {
    try {
      const before = this.run.frameSteps.length, resets = this.resets;
      const run = await getRun();
      if (this.resetting || resets !== this.resets) return this.pollLater();
      this.updateRun(run);
      if (run.frameSteps.length < before) this.restart();
      if (await this.stats.update()) {
        this.plots.set(this.stats);
        this.shown = -1; // its report may have come
      }
      const follows = this.run.live && input("follow").checked && !this.playing;
      if (follows && resets === this.resets && this.run.frameSteps.length !== before) this.want(this.lastFrame);
    } catch (fault) {
      this.say(`the server does not answer (${(fault as Error).message})`);
    }
    this.pollLater();
  }

  private pollLater(): void {
    if (this.run.live || this.run.status === "running")
      setTimeout(() => this.poll(), this.run.live ? pollEvery.live : pollEvery.growing);
  }

  private async reset(): Promise<void> {
    this.resetting = true;
    this.resets += 1;
    try {
      await control("reset");
      this.updateRun(await getRun());
      this.restart();
    } finally {
      this.resetting = false;
    }
  }

  /** The run has begun anew. */
  private restart(): void {
    this.cache.clear();
    this.stats.clear();
    this.plots.set(this.stats);
    this.shown = -1;
    this.say("");
    this.want(0);
  }

  private listBodies(): void {
    this.run.bodies.forEach((body, i) => {
      const item = document.createElement("li"), label = document.createElement("label");
      const box = document.createElement("input"), colour = document.createElement("i");
      const kind = document.createElement("small");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => this.stage.setVisible(i, box.checked));
      colour.style.background = body.colour;
      kind.textContent = body.triangles > 0 ? `${body.kind}, ${body.triangles}` : body.kind;
      label.append(box, colour, body.name, kind);
      item.append(label);
      element("bodies").append(item);
    });
  }

  private connect(): void {
    const act = (action: string) => control(action).catch((fault: Error) => this.say(fault.message));
    const set = (id: string, change: (on: boolean) => void) =>
      input(id).addEventListener("change", () => change(input(id).checked));
    button("play").onclick = () => this.setPlaying(!this.playing);
    button("back").onclick = () => this.seek(this.wanted - 1);
    button("forth").onclick = () => this.seek(this.wanted + 1);
    button("home").onclick = () => this.stage.home();
    button("simulate").onclick = () => act(this.run.status === "running" ? "pause" : "play");
    button("single").onclick = () => act("step");
    button("reset").onclick = () => this.reset().catch((fault: Error) => this.say(fault.message));
    input("slider").oninput = () => {
      input("follow").checked = false;
      this.seek(Number(input("slider").value));
    };
    set("wireframe", (on) => this.stage.setWireframe(on));
    set("contacts", (on) => this.stage.setContacts(on));
    const colour = element<HTMLSelectElement>("colour");
    colour.onchange = () => {
      this.stage.setColouring(colour.value as Colouring);
      element("legend").hidden = colour.value === "body";
      element("scale").textContent = this.stage.scaleEnd();
    };
    window.addEventListener("keydown", (event) => {
      const at = event.target as HTMLElement;
      if (at.matches("input, select, button") || event.ctrlKey || event.metaKey || event.altKey) return;
      const keys: Record<string, () => void> = {
        " ": () => this.setPlaying(!this.playing),
        ArrowLeft: () => this.seek(this.wanted - 1),
        ArrowRight: () => this.seek(this.wanted + 1),
        Home: () => this.seek(0),
        End: () => this.seek(this.lastFrame),
        w: () => input("wireframe").click(),
        c: () => input("contacts").click(),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    const theme = (dark: boolean) => {
      document.documentElement.dataset.theme = dark ? "dark" : "light";
      this.stage.setTheme(dark);
      this.plots.set(this.stats);
      this.shown = -1;
    };
    button("theme").onclick = () => theme(document.documentElement.dataset.theme !== "dark");
    theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
  }
}

async function start(): Promise<void> {
  const stats = new Stats();
  const [run, topology] = await Promise.all([getRun(), getTopology(), stats.update()]);
  new Viewer(run, new Stage(element<HTMLCanvasElement>("view"), run, topology), stats);
}

start().catch((fault: Error) => {
  element("message").textContent = fault.message;
  element("message").hidden = false;
});

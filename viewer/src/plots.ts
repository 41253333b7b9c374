// Line plots over the time of the run, with a cursor at the frame that is shown.
import type { Stats } from "./data";

const colours = ["#2f6fdb", "#e8590c", "#2b8a3e", "#ae3ec9", "#c92a2a", "#0b7285"];
const mostStages = 5;

interface Series {
  name: string;
  values: Float64Array;
}

/** Some columns belong to a method: what the run does not have is left out. */
const line = (stats: Stats, columns: Record<string, string>): Series[] =>
  Object.entries(columns)
    .filter(([, column]) => stats.columns.includes(column))
    .map(([name, column]) => ({ name, values: stats.values(column) }));

/** Milliseconds of the stages that take longest. */
function stages(stats: Stats): Series[] {
  const all = stats.columns
    .filter((column) => column.startsWith("s:"))
    .map((column) => ({ name: column.slice(2), values: stats.values(column).map((s) => 1000 * s) }));
  const total = new Map(all.map((s) => [s, s.values.reduce((a, b) => a + b, 0)]));
  return all.sort((a, b) => total.get(b)! - total.get(a)!).slice(0, mostStages);
}

const kinds: { title: string; series: (stats: Stats) => Series[] }[] = [
  {
    title: "Energy [J]",
    series: (s) => line(s, { kinetic: "kinetic_energy", elastic: "elastic_energy", gravity: "gravity_energy" }),
  },
  {
    title: "Contacts",
    series: (s) =>
      line(s, {
        all: "contacts",
        "vertex-face": "contacts_vertex_face",
        "edge-edge": "contacts_edge_edge",
        plane: "contacts_plane",
        active: "active_contacts",
      }),
  },
  { title: "Refinement rounds", series: (s) => line(s, { rounds: "rounds", "most in a sub-step": "max_rounds" }) },
  {
    title: "Iterations",
    series: (s) => line(s, { linear: "linear_iterations", contact: "contact_iterations" }),
  },
  { title: "Milliseconds", series: stages },
];

export const number = (x: number) =>
  Number.isInteger(x) ? String(x) : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(2) : x.toPrecision(4);

class Plot {
  private readonly caption = document.createElement("figcaption");
  private readonly canvas = document.createElement("canvas");
  private readonly values: HTMLElement[] = [];
  private series: Series[] = [];
  private times: Float64Array = new Float64Array();
  private cursor = 0;

  constructor(place: HTMLElement, private readonly title: string, seek: (time: number) => void) {
    const figure = document.createElement("figure");
    figure.append(this.caption, this.canvas);
    place.append(figure);
    const onPointer = (event: PointerEvent) => {
      if (event.buttons !== 1 || this.times.length === 0) return;
      const box = this.canvas.getBoundingClientRect();
      seek(((event.clientX - box.left) / box.width) * this.end());
    };
    this.canvas.addEventListener("pointerdown", onPointer);
    this.canvas.addEventListener("pointermove", onPointer);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  set(times: Float64Array, series: Series[]): void {
    this.times = times;
    this.series = series;
    const title = document.createElement("b");
    title.textContent = this.title;
    this.caption.replaceChildren(title);
    this.values.length = 0;
    series.forEach((s, i) => {
      const entry = document.createElement("span");
      entry.style.color = colours[i % colours.length];
      this.caption.append(entry);
      this.values.push(entry);
      entry.textContent = s.name;
    });
    this.draw();
  }

  /** `row` is the step's row, or -1 before the first step. */
  setCursor(time: number, row: number): void {
    this.cursor = time;
    this.series.forEach((s, i) => {
      this.values[i].textContent = row in s.values ? `${s.name} ${number(s.values[row])}` : s.name;
    });
    this.draw();
  }

  private end(): number {
    return this.times.length > 0 ? this.times[this.times.length - 1] : 1;
  }

  private draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    const context = this.canvas.getContext("2d");
    if (!context || width === 0 || height === 0) return;
    this.canvas.width = width;
    this.canvas.height = height;
    let low = 0, high = 0;
    for (const s of this.series)
      for (const v of s.values) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    if (high === low) high = low + 1;
    const margin = 3 * ratio;
    const x = (time: number) => (time / this.end()) * (width - 1) + 0.5;
    const y = (value: number) => height - margin - ((value - low) / (high - low)) * (height - 2 * margin);
    const style = getComputedStyle(document.documentElement);
    context.lineWidth = 1;
    context.strokeStyle = style.getPropertyValue("--line");
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    context.beginPath();
    context.moveTo(0, y(0));
    context.lineTo(width, y(0));
    context.stroke();
    context.fillStyle = style.getPropertyValue("--faint");
    context.font = `${10 * ratio}px sans-serif`;
    context.fillText(number(high), 4 * ratio, 12 * ratio);
    this.series.forEach((s, i) => this.drawSeries(context, s, x, y, colours[i % colours.length], ratio));
    context.strokeStyle = style.getPropertyValue("--text");
    context.lineWidth = ratio;
    context.beginPath();
    context.moveTo(x(this.cursor), 0);
    context.lineTo(x(this.cursor), height);
    context.stroke();
  }

  /** Of the many values in a pixel column only the first, the extremes and the last, so that peaks stay. */
  private drawSeries(
    context: CanvasRenderingContext2D,
    series: Series,
    x: (time: number) => number,
    y: (value: number) => number,
    colour: string,
    ratio: number,
  ): void {
    context.strokeStyle = colour;
    context.lineWidth = 1.3 * ratio;
    context.beginPath();
    const n = Math.min(series.values.length, this.times.length);
    for (let i = 0; i < n; ) {
      const column = Math.floor(x(this.times[i]));
      let low = series.values[i], high = low, last = low;
      const first = low;
      for (; i < n && Math.floor(x(this.times[i])) === column; ++i) {
        last = series.values[i];
        low = Math.min(low, last);
        high = Math.max(high, last);
      }
      for (const v of low === high ? [low] : [first, low, high, last]) context.lineTo(column + 0.5, y(v));
    }
    context.stroke();
  }
}

export class Plots {
  private readonly plots: Plot[];

  constructor(place: HTMLElement, seek: (time: number) => void) {
    this.plots = kinds.map((kind) => new Plot(place, kind.title, seek));
  }

  set(stats: Stats): void {
    const times = stats.values("time");
    kinds.forEach((kind, i) => this.plots[i].set(times, kind.series(stats)));
  }

  setCursor(time: number, row: number): void {
    for (const plot of this.plots) plot.setCursor(time, row);
  }
}

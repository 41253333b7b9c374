// What the server sends, and a small store of frames.

export interface Body {
  name: string;
  kind: "cloth" | "solid" | "rigid" | "obstacle" | "plane" | "lattice";
  colour: string;
  firstVertex: number;
  vertices: number;
  firstTriangle: number;
  triangles: number;
  plane: number; // in Frame.planes, or -1
}

export interface Run {
  title: string;
  up: [number, number, number];
  step: number; // [s]
  steps: number;
  method: string;
  live: boolean;
  survey: {
    low: number[];
    high: number[];
    force: number;
    stress: { solid: number; cloth: number }; // ends of the scale [Pa], [N]; lattices share cloth's
    camera: { eye: number[]; target: number[]; aspect: number };
  };
  bodies: Body[];
  status: string;
  message: string;
  frameSteps: number[]; // the step whose state each frame holds
}

export interface Topology {
  rest: Float32Array;
  triangles: Uint32Array;
  // With lattices, whose vertices are put together from the nodes that frames hold; else these are empty.
  cells: Uint32Array; // eight points each
  carrier: Int32Array; // per vertex: its cell, or -1 - its point
  place: Float32Array; // per vertex: in its cell
}

/** Of all vertices, from `width` numbers for each point of a frame. */
export function atVertices(topology: Topology, points: Float32Array, width: number, out: Float32Array): void {
  const { cells, carrier, place } = topology;
  if (cells.length === 0) {
    out.set(points);
    return;
  }
  const weights = new Float64Array(8);
  for (let v = 0; v < carrier.length; ++v) {
    const cell = carrier[v];
    if (cell < 0) {
      for (let n = 0; n < width; ++n) out[width * v + n] = points[width * (-1 - cell) + n];
      continue;
    }
    const s = place[3 * v], t = place[3 * v + 1], u = place[3 * v + 2];
    for (let k = 0; k < 8; ++k) weights[k] = (k & 1 ? s : 1 - s) * (k & 2 ? t : 1 - t) * (k & 4 ? u : 1 - u);
    for (let n = 0; n < width; ++n) {
      let sum = 0;
      for (let k = 0; k < 8; ++k) sum += weights[k] * points[width * cells[8 * cell + k] + n];
      out[width * v + n] = sum;
    }
  }
}

export interface Frame {
  time: number; // [s]
  step: number;
  points: Float32Array; // positions, see atVertices()
  planes: Float32Array; // normal and offset
  contacts: Float32Array; // position and force on the first body
  stress: Float32Array; // per point: von Mises of solids [Pa], tension of cloth and lattices [N]
  bytes: number;
}

async function get(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.text()).trim() || `${path}: ${response.status}`);
  return response;
}

export async function getRun(): Promise<Run> {
  return (await get("api/run")).json();
}

export async function getTopology(): Promise<Topology> {
  const bytes = await (await get("api/topology")).arrayBuffer();
  const [vertices, triangles, cells] = new Uint32Array(bytes, 0, 3);
  const riders = cells > 0 ? vertices : 0;
  let at = 12;
  const skip = (numbers: number) => (at += 4 * numbers) - 4 * numbers;
  return {
    rest: new Float32Array(bytes, skip(3 * vertices), 3 * vertices),
    triangles: new Uint32Array(bytes, skip(3 * triangles), 3 * triangles),
    cells: new Uint32Array(bytes, skip(8 * cells), 8 * cells),
    carrier: new Int32Array(bytes, skip(riders), riders),
    place: new Float32Array(bytes, skip(3 * riders), 3 * riders),
  };
}

async function getFrame(number: number): Promise<Frame> {
  const bytes = await (await get(`api/frame/${number}`)).arrayBuffer();
  const [points, planes, contacts, stressed] = new Uint32Array(bytes, 0, 4);
  const [time, step] = new Float64Array(bytes, 16, 2);
  let at = 32;
  const take = (n: number) => {
    const part = new Float32Array(bytes, at, n);
    at += 4 * n;
    return part;
  };
  const frame = {
    time,
    step,
    points: take(3 * points),
    planes: take(4 * planes),
    contacts: take(6 * contacts),
    bytes: bytes.byteLength,
  };
  at += 8 * contacts; // their bodies
  return { ...frame, stress: take(stressed) };
}

export async function control(action: string): Promise<void> {
  const response = await fetch(`api/control/${action}`, { method: "POST" });
  if (!response.ok) throw new Error((await response.text()).trim());
}

/** Frames on demand; the ones used longest ago are forgotten first. */
export class FrameCache {
  private frames = new Map<number, Frame>();
  private pending = new Map<number, Promise<Frame>>();
  private bytes = 0;
  private generation = 0; // answers to requests from before clear() are not kept

  constructor(private readonly mostBytes = 256 << 20) {}

  peek(number: number): Frame | undefined {
    const frame = this.frames.get(number);
    if (frame) {
      this.frames.delete(number);
      this.frames.set(number, frame);
    }
    return frame;
  }

  get(number: number): Promise<Frame> {
    const known = this.peek(number);
    if (known) return Promise.resolve(known);
    let request = this.pending.get(number);
    if (!request) {
      const generation = this.generation;
      request = getFrame(number)
        .then((frame) => {
          if (generation === this.generation) this.add(number, frame);
          return frame;
        })
        .finally(() => {
          if (generation === this.generation) this.pending.delete(number);
        });
      this.pending.set(number, request);
    }
    return request;
  }

  /** Asks for a frame that will soon be shown; a fault shows when it is. */
  prefetch(number: number): void {
    if (this.frames.has(number) || this.pending.size > 3) return;
    this.get(number).catch(() => undefined);
  }

  clear(): void {
    this.generation += 1;
    this.frames.clear();
    this.pending.clear();
    this.bytes = 0;
  }

  private add(number: number, frame: Frame): void {
    this.frames.set(number, frame);
    this.bytes += frame.bytes;
    for (const [oldest, old] of this.frames) {
      if (this.bytes <= this.mostBytes || oldest === number) break;
      this.frames.delete(oldest);
      this.bytes -= old.bytes;
    }
  }
}

/** stats.csv: one row a step, read on as it grows. */
export class Stats {
  columns: string[] = [];
  rows: string[][] = [];

  /** True when there was something new. */
  async update(): Promise<boolean> {
    const text = await (await get(`api/stats?from=${this.rows.length}`)).text();
    const lines = text.split("\n").filter((line) => line.length > 0);
    if (lines.length === 0) return false;
    this.columns = lines[0].split(",");
    for (const line of lines.slice(1)) this.rows.push(line.split(","));
    return lines.length > 1;
  }

  clear(): void {
    this.rows = [];
  }

  values(column: string): Float64Array {
    const at = this.columns.indexOf(column);
    return Float64Array.from(this.rows, (row) => (at < 0 ? 0 : Number(row[at] ?? 0)));
  }

  /** The row of a step; steps count from 1. */
  row(step: number): string[] | undefined {
    return this.rows[step - 1];
  }
}

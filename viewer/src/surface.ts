// What is computed from the triangles of a frame.
import type { Body, Topology } from "./data";

const sharpCosine = Math.cos(0.7); // between a corner's triangle and its smooth normal

/** Smooth normals, weighted by area, for all vertices. */
export function vertexNormals(x: Float32Array, triangles: Uint32Array, normals: Float32Array): void {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    normals[a] += nx, normals[a + 1] += ny, normals[a + 2] += nz;
    normals[b] += nx, normals[b + 1] += ny, normals[b + 2] += nz;
    normals[c] += nx, normals[c + 1] += ny, normals[c + 2] += nz;
  }
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.sqrt(normals[i] ** 2 + normals[i + 1] ** 2 + normals[i + 2] ** 2) || 1;
    normals[i] /= length;
    normals[i + 1] /= length;
    normals[i + 2] /= length;
  }
}

/** Whether a body has edges, like a box or a letter, that smooth normals would smear; `smooth` are those at rest. */
export function isSharp(topology: Topology, smooth: Float32Array, body: Body): boolean {
  const { rest, triangles } = topology;
  const own = triangles.subarray(3 * body.firstTriangle, 3 * (body.firstTriangle + body.triangles));
  const flat = new Float32Array(9);
  const corners = new Float32Array(9);
  const one = new Uint32Array([0, 1, 2]);
  let sharp = 0;
  for (let t = 0; t < own.length; t += 3) {
    for (let k = 0; k < 9; ++k) corners[k] = rest[3 * own[t + Math.floor(k / 3)] + (k % 3)];
    vertexNormals(corners, one, flat);
    for (let k = 0; k < 3; ++k) {
      const i = 3 * own[t + k];
      if (flat[0] * smooth[i] + flat[1] * smooth[i + 1] + flat[2] * smooth[i + 2] < sharpCosine) ++sharp;
    }
  }
  return sharp > 0.05 * own.length;
}

/** Largest principal stretch minus one, at each vertex the largest of its triangles. */
export function elongations(topology: Topology, x: Float32Array): Float32Array {
  const { rest, triangles } = topology;
  const out = new Float32Array(rest.length / 3).fill(-1);
  const dot = (p: Float32Array, a: number, b: number, c: number, d: number) => {
    let sum = 0;
    for (let k = 0; k < 3; ++k) sum += (p[b + k] - p[a + k]) * (p[d + k] - p[c + k]);
    return sum;
  };
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    // The squared stretches are the eigenvalues of inv(R) D, with R and D the edges' dot products before and after.
    const r11 = dot(rest, a, b, a, b), r12 = dot(rest, a, b, a, c), r22 = dot(rest, a, c, a, c);
    const d11 = dot(x, a, b, a, b), d12 = dot(x, a, b, a, c), d22 = dot(x, a, c, a, c);
    const area = r11 * r22 - r12 * r12;
    if (!(area > 0)) continue;
    const half = (r22 * d11 - 2 * r12 * d12 + r11 * d22) / (2 * area);
    const product = (d11 * d22 - d12 * d12) / area;
    const stretch = Math.sqrt(half + Math.sqrt(Math.max(0, half * half - product))) - 1;
    for (const i of [a / 3, b / 3, c / 3]) out[i] = Math.max(out[i], stretch);
  }
  return out;
}

// The 3D view of one frame.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { atVertices, type Body, type Frame, type Run, type Topology } from "./data";
import { elongations, isSharp, vertexNormals } from "./surface";

const arrowLength = 0.12; // of the strongest force, over the size of the scene
const fullElongation = 0.1;

/** Which scale of stress a body's values are on; none for what does not deform. */
function scaleOf(kind: Body["kind"]): "solid" | "cloth" | undefined {
  if (kind === "solid") return "solid";
  return kind === "cloth" || kind === "lattice" ? "cloth" : undefined;
}

const mostWithShadows = 500_000; // triangles

/** What the colour of cloth, solids and lattices says. */
export type Colouring = "body" | "elongation" | "stress";

/** An arrow along +y of length and width 1. */
function arrowGeometry(): THREE.BufferGeometry {
  const shaft = new THREE.CylinderGeometry(0.35, 0.35, 0.75, 10).translate(0, 0.375, 0);
  const head = new THREE.ConeGeometry(1, 0.25, 14).translate(0, 0.875, 0);
  return mergeGeometries([shaft, head]);
}

/** With the prefix that leaves one to three digits before the point. */
function quantity(value: number, unit: string): string {
  const power = Math.min(3, Math.max(-2, Math.floor(Math.log10(value) / 3 + 1e-12)));
  return `${Number((value / 1000 ** power).toPrecision(3))} ${["µ", "m", "", "k", "M", "G"][power + 2]}${unit}`;
}

export class Stage {
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(THREE.MathUtils.radToDeg(0.6), 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly positions: THREE.BufferAttribute;
  private readonly normals: THREE.BufferAttribute;
  private readonly colours: THREE.BufferAttribute;
  private readonly bodies: THREE.Mesh[] = [];
  private readonly ground: THREE.Mesh;
  private readonly points: THREE.Points;
  private arrows: THREE.InstancedMesh;
  private readonly centre = new THREE.Vector3();
  private readonly size: number;
  private readonly up: THREE.Vector3;
  private strongest: number;
  private frame: Frame | undefined;
  private dirty = true;
  private turned = false; // the user has chosen a view
  private contacts = false;
  private colouring: Colouring = "body";
  private readonly fullStress: { solid: number; cloth: number };

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly run: Run,
    private readonly topology: Topology,
  ) {
    // Without a graphics card a million triangles take seconds; shadows draw all of them again.
    const large = topology.triangles.length > 3 * mostWithShadows;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !large });
    this.renderer.shadowMap.enabled = !large;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.up = new THREE.Vector3(...run.up);
    const low = new THREE.Vector3(...run.survey.low);
    const high = new THREE.Vector3(...run.survey.high);
    this.centre.addVectors(low, high).multiplyScalar(0.5);
    this.size = Math.max(1e-6, high.distanceTo(low));
    this.strongest = run.survey.force;
    this.fullStress = { ...run.survey.stress };

    const vertices = topology.rest.length;
    this.positions = new THREE.BufferAttribute(new Float32Array(vertices), 3).setUsage(THREE.DynamicDrawUsage);
    this.normals = new THREE.BufferAttribute(new Float32Array(vertices), 3).setUsage(THREE.DynamicDrawUsage);
    this.colours = new THREE.BufferAttribute(new Float32Array(vertices), 3).setUsage(THREE.DynamicDrawUsage);
    const smooth = new Float32Array(vertices);
    vertexNormals(topology.rest, topology.triangles, smooth);
    for (const body of run.bodies) this.addBody(body, isSharp(topology, smooth, body));

    this.ground = new THREE.Mesh(
      new THREE.CircleGeometry(30 * this.size, 64),
      new THREE.MeshLambertMaterial({ color: 0xffffff }),
    );
    this.ground.receiveShadow = true;
    this.ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
    this.scene.add(this.ground);

    this.points = new THREE.Points(
      new THREE.BufferGeometry(),
      new THREE.PointsMaterial({ color: 0x1d4ed8, size: 4, sizeAttenuation: false, depthTest: false }),
    );
    this.points.frustumCulled = false;
    this.points.renderOrder = 1;
    this.scene.add(this.points);
    this.arrows = this.makeArrows(64);
    this.addLights();

    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.controls.addEventListener("start", () => (this.turned = true));
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement ?? canvas);
    this.resize();
  }

  private addBody(body: Body, sharp: boolean): void {
    const plane = body.kind === "plane";
    const geometry = plane ? new THREE.PlaneGeometry(this.size, this.size) : new THREE.BufferGeometry();
    const material = new THREE.MeshStandardMaterial({
      color: body.colour,
      roughness: 0.65,
      side: THREE.DoubleSide,
      transparent: plane,
      opacity: plane ? 0.35 : 1,
      flatShading: sharp,
    });
    if (!plane) {
      const first = 3 * body.firstTriangle;
      const indices = this.topology.triangles.slice(first, first + 3 * body.triangles);
      geometry.setIndex(new THREE.BufferAttribute(indices, 1));
      geometry.setAttribute("position", this.positions);
      geometry.setAttribute("normal", this.normals);
      geometry.setAttribute("color", this.colours);
    }
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false; // the positions change under it
    mesh.castShadow = mesh.receiveShadow = !plane;
    this.bodies.push(mesh);
    this.scene.add(mesh);
  }

  private addLights(): void {
    const sky = new THREE.HemisphereLight(0xffffff, 0xb0a89c, 1.5);
    sky.position.copy(this.up);
    const side = new THREE.Vector3(0.45, 0, 0.35).applyQuaternion(this.turn());
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.copy(this.centre).addScaledVector(this.up, 2 * this.size).addScaledVector(side, 2 * this.size);
    sun.target.position.copy(this.centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 5;
    sun.shadow.normalBias = 0.004 * this.size;
    const box = sun.shadow.camera;
    box.left = box.bottom = -this.size;
    box.right = box.top = this.size;
    box.near = 0.1 * this.size;
    box.far = 6 * this.size;
    this.scene.add(sky, sun, sun.target);
  }

  /** From y up to the scene's own up. */
  private turn(): THREE.Quaternion {
    return new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
  }

  private makeArrows(capacity: number): THREE.InstancedMesh {
    const material = new THREE.MeshBasicMaterial({ color: 0x2563eb, depthTest: false, transparent: true });
    const arrows = new THREE.InstancedMesh(arrowGeometry(), material, capacity);
    arrows.frustumCulled = false;
    arrows.renderOrder = 1; // contacts lie between surfaces and shall be seen
    arrows.count = 0;
    this.scene.add(arrows);
    return arrows;
  }

  /** The view of `pliant render`: it sees all the motion. A narrow window steps back. */
  home(): void {
    this.turned = false;
    const { eye, target, aspect } = this.run.survey.camera;
    const centre = new THREE.Vector3(...target);
    const back = new THREE.Vector3(...eye).sub(centre).multiplyScalar(Math.max(1, aspect / this.camera.aspect));
    const distance = back.length();
    this.camera.position.copy(centre).add(back);
    this.camera.near = distance / 200;
    this.camera.far = 30 * Math.max(distance, this.size);
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.dirty = true;
  }

  setTheme(dark: boolean): void {
    const back = new THREE.Color(dark ? 0x1a1c21 : 0xe7eaee);
    this.scene.background = back;
    this.scene.fog = new THREE.Fog(back, 4 * this.size, 14 * this.size);
    (this.ground.material as THREE.MeshLambertMaterial).color.set(dark ? 0x2b2e35 : 0xd9dce0);
    this.dirty = true;
  }

  setVisible(body: number, visible: boolean): void {
    this.bodies[body].userData.hidden = !visible;
    if (this.frame) this.place(this.frame);
  }

  setWireframe(on: boolean): void {
    for (const mesh of this.bodies) (mesh.material as THREE.MeshStandardMaterial).wireframe = on;
    this.dirty = true;
  }

  setContacts(on: boolean): void {
    this.contacts = on;
    if (this.frame) this.placeContacts(this.frame);
  }

  setColouring(colouring: Colouring): void {
    this.colouring = colouring;
    const on = colouring !== "body";
    this.run.bodies.forEach((body, i) => {
      if (!scaleOf(body.kind)) return;
      const material = this.bodies[i].material as THREE.MeshStandardMaterial;
      material.vertexColors = on;
      material.color.set(on ? "#ffffff" : body.colour);
      material.needsUpdate = true;
    });
    if (this.frame) this.place(this.frame);
  }

  /** What the end of the colour scale stands for. */
  scaleEnd(): string {
    if (this.colouring === "elongation") return `${100 * fullElongation} % elongation`;
    const words = [];
    if (this.fullStress.solid > 0) words.push(`${quantity(this.fullStress.solid, "Pa")} stress`);
    if (this.fullStress.cloth > 0) words.push(`${quantity(this.fullStress.cloth, "N")} tension`);
    return words.join(", ") || "no stress";
  }

  show(frame: Frame): void {
    this.frame = frame;
    const x = this.positions.array as Float32Array;
    atVertices(this.topology, frame.points, 3, x);
    this.positions.needsUpdate = true;
    vertexNormals(x, this.topology.triangles, this.normals.array as Float32Array);
    this.normals.needsUpdate = true;
    this.place(frame);
  }

  private place(frame: Frame): void {
    if (this.colouring !== "body") this.colourVertices(this.parts(frame));
    this.placePlanes(frame);
    this.placeContacts(frame);
  }

  /** What is shown at each vertex, as a part of the scale. */
  private parts(frame: Frame): Float32Array {
    if (this.colouring === "elongation")
      return elongations(this.topology, this.positions.array as Float32Array).map((value) => value / fullElongation);
    const stress = new Float32Array(this.topology.rest.length / 3), out = new Float32Array(stress.length);
    atVertices(this.topology, frame.stress, 1, stress);
    this.raiseScale(stress);
    for (const body of this.run.bodies) {
      const scale = scaleOf(body.kind);
      if (!scale) continue;
      const end = this.fullStress[scale] || 1;
      for (let v = body.firstVertex; v < body.firstVertex + body.vertices; ++v) out[v] = stress[v] / end;
    }
    return out;
  }

  /** Of a scene that is simulated nobody knows the strongest stress before; the scale grows with it. */
  private raiseScale(stress: Float32Array): void {
    if (!this.run.live) return;
    for (const kind of ["solid", "cloth"] as const) {
      const bodies = this.run.bodies.filter((body) => scaleOf(body.kind) === kind);
      const values = bodies.flatMap((b) => [...stress.subarray(b.firstVertex, b.firstVertex + b.vertices)]);
      values.sort((a, b) => a - b);
      this.fullStress[kind] = Math.max(this.fullStress[kind], values[Math.floor(0.99 * (values.length - 1))] ?? 0);
    }
  }

  private colourVertices(parts: Float32Array): void {
    const cold = new THREE.Color("#3b5bdb"), middle = new THREE.Color("#d9d9d9"), hot = new THREE.Color("#d6336c");
    const colour = new THREE.Color();
    parts.forEach((part, i) => {
      const t = Math.min(1, Math.max(0, part));
      if (t < 0.5) colour.lerpColors(cold, middle, 2 * t);
      else colour.lerpColors(middle, hot, 2 * t - 1);
      this.colours.setXYZ(i, colour.r, colour.g, colour.b);
    });
    this.colours.needsUpdate = true;
  }

  /** The highest upward plane is the ground; the others are squares. Without one a ground lies below everything. */
  private placePlanes(frame: Frame): void {
    let ground = -1;
    let height = -Infinity;
    const planes = this.run.bodies.map((body) => {
      const [x, y, z, offset] = body.plane < 0 ? [0, 0, 0, 0] : frame.planes.subarray(4 * body.plane);
      return { normal: new THREE.Vector3(x, y, z), offset };
    });
    this.run.bodies.forEach((body, i) => {
      if (body.plane < 0 || planes[i].normal.dot(this.up) < 0.9999 || planes[i].offset <= height) return;
      ground = i;
      height = planes[i].offset;
    });
    if (ground < 0) height = new THREE.Vector3(...this.run.survey.low).dot(this.up) - 0.02 * this.size;
    this.ground.visible = ground < 0 || !this.bodies[ground].userData.hidden;
    this.ground.position.copy(this.centre).addScaledVector(this.up, height - this.centre.dot(this.up));
    this.bodies.forEach((mesh, i) => {
      mesh.visible = !mesh.userData.hidden && i !== ground;
      if (this.run.bodies[i].plane < 0) return;
      const { normal, offset } = planes[i];
      mesh.position.copy(this.centre).addScaledVector(normal, offset - this.centre.dot(normal));
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    });
    this.dirty = true;
  }

  private placeContacts(frame: Frame): void {
    const count = this.contacts ? frame.contacts.length / 6 : 0;
    this.dirty = true;
    this.points.visible = this.arrows.visible = count > 0;
    if (count === 0) return;
    if (count > this.arrows.instanceMatrix.count) {
      this.scene.remove(this.arrows);
      this.arrows.dispose();
      this.arrows = this.makeArrows(2 * count);
    }
    const places = new Float32Array(3 * count);
    const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion();
    const place = new THREE.Vector3(), force = new THREE.Vector3(), y = new THREE.Vector3(0, 1, 0);
    for (let i = 0; i < count; ++i) {
      place.fromArray(frame.contacts, 6 * i).toArray(places, 3 * i);
      this.strongest = Math.max(this.strongest, force.fromArray(frame.contacts, 6 * i + 3).length());
    }
    for (let i = 0; i < count; ++i) {
      place.fromArray(frame.contacts, 6 * i);
      force.fromArray(frame.contacts, 6 * i + 3);
      const length = (arrowLength * this.size * force.length()) / (this.strongest || 1);
      const width = Math.min(0.006 * this.size, 0.2 * length) + 1e-9;
      turn.setFromUnitVectors(y, force.normalize());
      this.arrows.setMatrixAt(i, matrix.compose(place, turn, new THREE.Vector3(width, length + 1e-9, width)));
    }
    this.arrows.count = count;
    this.arrows.instanceMatrix.needsUpdate = true;
    this.points.geometry.dispose();
    this.points.geometry = new THREE.BufferGeometry();
    this.points.geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.turned) this.home();
    this.dirty = true;
  }

  /** Draws if anything has changed. */
  draw(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}

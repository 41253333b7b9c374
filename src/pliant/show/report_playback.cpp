#include "pliant/show/report_parts.hpp"
#include "pliant/show/run_pictures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace pliant {
namespace {

/// Everything the script needs: data in `data`, a canvas, a button, a slider and a label by their ids. Normals come
/// from the derivatives of the position, so that only positions are stored.
constexpr char script[] = R"js(
(function () {
  "use strict";
  const decode = (s) => Uint8Array.from(atob(s), (c) => c.charCodeAt(0)).buffer;
  const positions = new Float32Array(decode(data.positions)), triangles = new Uint32Array(decode(data.triangles));
  const colours = new Uint8Array(decode(data.colours)), times = data.times, frames = times.length;
  const size = positions.length / frames, canvas = document.getElementById("view");
  const play = document.getElementById("play"), slider = document.getElementById("slider");
  const label = document.getElementById("time");
  const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) { document.getElementById("nogl").hidden = false; return; }
  const shader = (type, source) => {
    const s = gl.createShader(type);
    gl.shaderSource(s, source);
    gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
    return s;
  };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `#version 300 es
    in vec3 x; in vec3 c; uniform mat4 m; uniform vec3 eye; out vec3 d; out vec3 colour;
    void main() { d = x - eye; colour = c; gl_Position = m * vec4(x, 1.0); }`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float; in vec3 d; in vec3 colour; uniform vec3 up; out vec4 o;
    void main() {
      vec3 n = normalize(cross(dFdx(d), dFdy(d)));
      if (dot(n, d) > 0.0) n = -n;
      float light = 0.35 + 0.45 * max(dot(n, normalize(up + normalize(-d) * 0.8)), 0.0) + 0.2 * (0.5 + 0.5 * dot(n, up));
      o = vec4(pow(colour * light * 1.1, vec3(1.0 / 2.2)), 1.0);
    }`));
  gl.linkProgram(program);
  gl.useProgram(program);
  const attribute = (name, components, type, normalised) => {
    const buffer = gl.createBuffer(), place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, components, type, normalised, 0, 0);
    return buffer;
  };
  attribute("c", 3, gl.UNSIGNED_BYTE, true);
  gl.bufferData(gl.ARRAY_BUFFER, colours, gl.STATIC_DRAW);
  const moving = attribute("x", 3, gl.FLOAT, false);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
  gl.enable(gl.DEPTH_TEST);
  gl.clearColor(0.93, 0.94, 0.95, 1);

  let azimuth = 0.45, elevation = 0.35, distance = data.distance, frame = 0, running = true, clock = 0, shown = -1;
  const sub = (a, b) => a.map((v, i) => v - b[i]), dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((v) => v / Math.hypot(...a));
  function draw() {
    const w = canvas.clientWidth, h = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(w * ratio));
    canvas.height = Math.max(1, Math.round(h * ratio));
    gl.viewport(0, 0, canvas.width, canvas.height);
    const up = data.up, front = up[2] > 0.5 ? [0, -1, 0] : [0, 0, 1], side = cross(up, front);
    const back = front.map((f, i) => Math.cos(elevation) * (Math.cos(azimuth) * f + Math.sin(azimuth) * side[i])
      + Math.sin(elevation) * up[i]);
    const eye = data.centre.map((c, i) => c + distance * back[i]);
    const z = unit(sub(eye, data.centre)), x = unit(cross(up, z)), y = cross(z, x);
    const f = 1 / Math.tan(0.35), near = distance / 100, far = distance + 4 * data.size;
    const a = (far + near) / (near - far), b = 2 * far * near / (near - far), r = f * canvas.height / canvas.width;
    const t = [-dot(x, eye), -dot(y, eye), -dot(z, eye)], m = [];
    for (let k = 0; k < 3; ++k) m.push(r * x[k], f * y[k], a * z[k], -z[k]);
    m.push(r * t[0], f * t[1], a * t[2] + b, -t[2]);
    gl.uniformMatrix4fv(gl.getUniformLocation(program, "m"), false, m);
    gl.uniform3fv(gl.getUniformLocation(program, "eye"), eye);
    gl.uniform3fv(gl.getUniformLocation(program, "up"), up);
    gl.bindBuffer(gl.ARRAY_BUFFER, moving);
    gl.bufferData(gl.ARRAY_BUFFER, positions.subarray(frame * size, (frame + 1) * size), gl.DYNAMIC_DRAW);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.drawElements(gl.TRIANGLES, triangles.length, gl.UNSIGNED_INT, 0);
    label.textContent = times[frame].toFixed(3) + " s";
    slider.value = frame;
  }
  let last = performance.now();
  function tick(now) {
    if (running && frames > 1) {
      clock += Math.min((now - last) / 1000, 0.1); // a slow machine plays slowly and leaves nothing out
      if (clock > times[frames - 1] + 0.7) clock = times[0];
      frame = 0;
      while (frame + 1 < frames && times[frame + 1] <= clock) ++frame;
    }
    last = now;
    if (frame !== shown) { shown = frame; draw(); }
    requestAnimationFrame(tick);
  }
  const set = (on) => { running = on; play.textContent = on ? "Pause" : "Play"; clock = times[frame]; };
  play.onclick = () => set(!running);
  slider.max = frames - 1;
  slider.oninput = () => { set(false); frame = Number(slider.value); };
  canvas.onpointerdown = (e) => canvas.setPointerCapture(e.pointerId);
  canvas.onpointermove = (e) => {
    if (!e.buttons) return;
    azimuth -= 0.01 * e.movementX;
    elevation = Math.min(1.5, Math.max(-1.5, elevation + 0.01 * e.movementY));
    draw();
  };
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    distance *= Math.exp(0.001 * e.deltaY);
    draw();
  }, { passive: false });
  window.addEventListener("resize", draw);
  requestAnimationFrame(tick);
})();
)js";

constexpr Real playback_aspect = 1180.0 / 480; ///< of the canvas in the page's style

template <class T>
std::string encode(const std::vector<T>& values)
{
    return base64(std::as_bytes(std::span(values)));
}

std::uint8_t byte_of(Real x)
{
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(x, 0.0, 1.0)));
}

} // namespace

std::string base64(std::span<const std::byte> bytes)
{
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k)
            word = word << 8 | (k < n ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
        for (std::size_t k = 0; k < 4; ++k) out += k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

std::string base64(std::string_view bytes)
{
    return base64(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

std::string report_playback(const RunReader& reader, std::size_t most_bytes)
{
    const Index stored = reader.frame_count();
    const std::size_t frame_bytes = std::max<std::size_t>(1, reader.mesh().rest.size() * 3 * sizeof(float));
    const auto fitting = static_cast<Index>(std::min<std::size_t>(most_bytes / frame_bytes, 1 << 20));
    if (reader.triangles().empty() || fitting == 0)
        return "<p>The surface is too large for a playback in this page, or there is none: use <code>pliant "
               "render</code>.</p>";
    std::vector<float> positions;
    std::vector<Real> times;
    Box3 box;
    for (const Index f : RunPictures::spread(stored, std::min(stored, fitting))) {
        const Frame frame = reader.frame(f);
        times.push_back(frame.time);
        for (const Vec3& x : frame.positions) {
            for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(x[k]));
            box.add(x);
        }
    }
    std::vector<std::uint32_t> triangles;
    for (const Triangle& t : reader.triangles())
        for (const Index v : t) triangles.push_back(static_cast<std::uint32_t>(v));
    std::vector<std::uint8_t> colours(3 * reader.mesh().rest.size(), 128);
    const std::vector<Vec3> body_colour = body_colours(reader.bodies());
    for (Index b = 0; b < count(reader.bodies()); ++b) {
        const RunBody& body = reader.bodies()[b];
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
            for (int k = 0; k < 3; ++k) colours[static_cast<std::size_t>(3 * v + k)] = byte_of(body_colour[b][k]);
    }
    const Vec3 up = up_axis(reader.scene());
    PictureOptions framing;
    framing.view.fov = 0.7; // as in the script
    const Camera camera = RunPictures(reader, framing).camera(playback_aspect);
    const Vec3& centre = camera.target;
    const nlohmann::ordered_json data = {{"times", times},
                                         {"up", {up.x(), up.y(), up.z()}},
                                         {"centre", {centre.x(), centre.y(), centre.z()}},
                                         {"distance", (camera.eye - camera.target).norm()},
                                         {"size", std::max(box.diagonal(), 1e-9)},
                                         {"triangles", encode(triangles)},
                                         {"colours", encode(colours)},
                                         {"positions", encode(positions)}};
    std::string out = "<canvas id=\"view\"></canvas>\n<p class=\"controls\"><button id=\"play\">Pause</button> "
                      "<input id=\"slider\" type=\"range\" min=\"0\" max=\"0\" value=\"0\"> <span "
                      "id=\"time\"></span></p>\n<p id=\"nogl\" hidden>This browser has no WebGL 2.</p>\n";
    if (count(times) < stored)
        out += fmt::format("<p class=\"small\">{} of {} frames, so that the page stays small.</p>\n", times.size(),
                           stored);
    return out + "<script>\nconst data = " + data.dump() + ";\n" + script + "</script>\n";
}

} // namespace pliant

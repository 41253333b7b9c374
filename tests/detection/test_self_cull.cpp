#include "detection/surfaces.hpp"
#include "pliant/detection/detector.hpp"

#include <gtest/gtest.h>
#include <chrono>

using namespace pliant;

TEST(SelfCull, Debug)
{
    Surface s;
    const TriangleMesh grid = make_grid(1, 1, 50, 50);
    add_body(s, grid);
    Detector d(s);
    d.set_culling(Culling::sound);
    const Real edge = 1.0 / 49;
    for (Real r : {0.02, 0.05, 0.1, 0.15, 0.2}) {
        auto t0 = std::chrono::steady_clock::now();
        const Candidates c = d.candidates(s.rest, s.rest, r * edge);
        auto t1 = std::chrono::steady_clock::now();
        std::printf("r %g culled %g candidates %zu %zu  %g ms\n", r, d.stats().culled, c.vertex_face.size(), c.edge_edge.size(), 1e3*std::chrono::duration<double>(t1-t0).count());
    }
}

#include "pliant/detection/exit_face.hpp"

#include "pliant/geometry/tetrahedron.hpp"

#include <algorithm>
#include <limits>

namespace pliant {

std::optional<ExitFace> find_exit_face(const CollisionMesh& mesh, std::span<const Vec3> x, const PointInBody& point,
                                       const Vec3& direction)
{
    const Vec3& p = x[point.node];
    Index tet = point.tet, from = none;
    // A straight way through a body passes each tetrahedron once; rounding at corners may cost a few more steps.
    for (Index steps = 0; steps < count(mesh.tets) + 8; ++steps) {
        const Tet& corners = mesh.tets[tet];
        const TetFrame frame(x[corners[0]], x[corners[1]], x[corners[2]], x[corners[3]]);
        if (!(frame.det > 0)) return {};
        const Vec4 w = frame.weights(p), dw = frame.weights_along(direction);
        Real nearest = std::numeric_limits<Real>::infinity();
        int out = none;
        for (int k = 0; k < 4; ++k) {
            if (!(dw[k] < 0) || (from != none && mesh.tet_out[tet][k] == from)) continue;
            const Real s = -w[k] / dw[k];
            if (s >= nearest) continue;
            nearest = s;
            out = k;
        }
        if (out == none) return {};
        const Index behind = mesh.tet_out[tet][out];
        if (behind >= 0) {
            from = tet;
            tet = behind;
            continue;
        }
        ExitFace exit = {-1 - behind, Vec3::Zero(), std::max(nearest, 0.0)};
        const Vec4 at = (w + nearest * dw).cwiseMax(0);
        const Triangle& face = mesh.faces[exit.face];
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 4; ++k)
                if (face[i] == corners[k]) exit.weights[i] = at[k];
        const Real sum = exit.weights.sum();
        if (!(sum > 0)) return {};
        exit.weights /= sum;
        return exit;
    }
    return {};
}

} // namespace pliant

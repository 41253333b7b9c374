#pragma once
// The rows of one connected part, and its limits of length, eight at a time in single precision: what the augmented
// Lagrangian goes over in every iteration.
//
// With penalties rho per component, multipliers l and relative velocities u, a contact answers with
//   y_n = max(0, l_n - rho_n u_n),   y_t = clamp(l_t - rho_t u_t, +- mu y_n)   (pyramid; or the disc of that radius).
// A limit of length is a convex ball instead of a row along an old direction, because particles turn about each other
// by whole edges in a step: |s| <= R with s = d / h + v_a - v_b and R = l_max / h. It answers with the impulse
//   y = -rho (z - P z),   z = s - l / rho,   P the projection to the ball.

#include "pliant/contact/problem.hpp"
#include "pliant/linalg/multigrid.hpp"

namespace pliant {

/// A limit on the distance of two particles.
struct LengthBall {
    Index a, b;   ///< blocks
    Vec3 start;   ///< their distance vector at the start over the step, with the free velocities: s at dv = 0 [m/s]
    Real radius;  ///< [m/s]
    Real room;    ///< error that is still fine [m/s]
    Vec3 impulse; ///< on block a [N s]: warm start in, answer out
};

class RowLanes {
public:
    /// Sums over the rows at the present velocities.
    struct Residuals {
        Real natural_sq = 0;  ///< natural map, squared and summed over the contacts [(m/s)^2]
        Real gap = 0;         ///< largest error of a normal velocity over its room
        Real strain = 0;      ///< largest excess of a ball over its room
        bool changed = false; ///< other components push back than at the last answer
        void add(const Residuals& other);
    };

    /// Rows of `system.problem` with the given numbers, at the change of velocity dv; multipliers as warm start.
    /// Penalties are what the lighter side of a row answers with.
    void build(const ContactSystem& system, std::span<const Index> rows, std::span<const LengthBall> balls,
               FrictionCone cone, const LaneOrder& order, const Vec3s& dv, const Multipliers& lambda);
    bool empty() const { return rows_ == 0; }
    /// How far what the contacts carry moves their penalties, on average, over the room.
    Real load() const;
    /// From now on penalties are at least so stiff that what a row carries moves it by a part of its room; else the
    /// load of a heavy body, or of many layers, on light ones is passed on a hundredth at a time.
    void go_by_load();

    /// y for u, and how good it is.
    Residuals answer();
    /// force += J^T y.
    void add_impulses(LaneVectors& force) const;
    /// What the contacts' stiffness adds to the diagonal blocks: an upper bound of J^T diag(rho) J over the active
    /// ones.
    void add_stiffness(LaneBlocks& C) const;
    /// What the balls' stiffness adds between their ends.
    std::vector<Multigrid::Coupling> couplings() const;

    /// out += J^T K J d with the stiffness K of the last answer().
    void add_response(const LaneVectors& d, LaneVectors& out);

    /// ju = J d, for the line search.
    void set_direction(const LaneVectors& d);
    /// -ju . y(u + alpha ju), with the friction bounds of the last answer(), and its derivative.
    std::array<double, 2> slope(float alpha) const;
    void advance(float alpha); ///< u += alpha ju

    void update_multipliers();  ///< l = y, and penalties by load follow it
    void stiffen(float factor); ///< all penalties
    /// Before an update: stiffens the penalties of components that push and whose velocity [m/s], if above the given
    /// one, has neither turned nor fallen by half since the last call. A row that is about to let go, or a heavy body
    /// that is about to stick, would otherwise come nearer to it by a few per cent an update.
    void stiffen_slow(float least_velocity);
    /// From now on the bounds of friction change with the multipliers only, so that there is a function to minimise
    /// between updates: slower where bounds follow the normals without harm, surer where they chase each other.
    void freeze_bounds() { frozen_ = true; }
    void free_bounds() { frozen_ = false; }
    void read(std::span<const Index> rows, Multipliers& lambda, std::span<LengthBall> balls) const;

private:
    static constexpr Index width = Float8::width;
    using Plane = std::vector<float>;
    using Planes = std::array<Plane, 3>;

    /// A row seen from one of its lanes.
    struct Touch {
        Index row;
        float weight; ///< of the impulse
        float share;  ///< of the row's stiffness that this lane gets
    };
    struct ArmTouch {
        Index row;
        Eigen::Vector3f arm;
        float share;
    };

    void resize(const ContactProblem& problem, std::span<const Index> rows, Index balls);
    void set_contact(Index at, const ContactSystem& system, const Row& row, const LaneOrder& order, const Vec3s& dv,
                     const Vec3& lambda);
    void set_ball(Index at, const ContactSystem& system, const LengthBall& ball, const LaneOrder& order,
                  const Vec3s& dv);
    void set_penalties(Index at, const Mat3& response, const Mat3& frame);
    void list_touches();
    /// Penalties by load for the present multipliers, changed by a factor within these bounds.
    void follow_load(float least, float most);
    Float8x3 relative(Index row, const LaneVectors& v) const;
    Float8x3 axis(const Planes& p, Index row) const
    {
        return {Float8::load(&p[0][row]), Float8::load(&p[1][row]), Float8::load(&p[2][row])};
    }
    static void set(Planes& p, Index row, const Float8x3& v)
    {
        v.x.store(&p[0][row]);
        v.y.store(&p[1][row]);
        v.z.store(&p[2][row]);
    }
    /// body(first row) for every eight rows.
    template <class Body>
    void for_rows(Body&& body) const
    {
        parallel_for(
            rows_ / width, [&](Index chunk) { body(width * chunk); }, chunks_a_task);
    }
    void gather(const Planes& impulse, LaneVectors& force) const;
    Float8 natural_map_sq(Index row, const Float8x3& u, const Float8x3& y) const;
    Residuals answer_contacts(Index row);
    Residuals answer_balls(Index row);
    bool remember_stiffness(Index row, const std::array<Float8, 6>& stiffness);

    Index contacts_ = 0, balls_ = 0;  ///< rows that are no padding
    Index first_ball_ = 0, rows_ = 0; ///< padded: balls begin at a chunk of their own
    FrictionCone cone_ = FrictionCone::pyramid;
    bool frozen_ = false;
    Real dt_ = 0;
    // Per row. Of balls only u, l, y, ju, rho[0] and room are used; their frame is the world.
    Planes normal_, tangent1_, tangent2_;
    Planes u_, ju_, l_, y_;
    Planes rho_;
    Plane least_rho_;           ///< of normals and balls, where penalties go by the load; else empty
    Planes slow_u_, slow_rate_; ///< of stiffen_slow: velocities at the last call, and how stiff it has made them
    Plane friction_, bound_, room_, natural_; ///< natural_: 1 / trace of the response; room_: allowed velocity error
    Plane radius_;
    Planes impulse_;                 ///< y in world axes
    Planes response_;                ///< K J d in world axes
    std::array<Plane, 6> stiffness_; ///< sum of rho a a^T over the active components
    // Entries and arms, eight rows at a time: as many slots a chunk as the longest of its rows has.
    std::vector<Index> entry_begin_, entry_lane_, arm_begin_, arm_lane_; ///< none: an empty place, weight 0
    Plane entry_weight_;
    Planes arm_;
    std::vector<Index> touched_, touch_begin_;
    std::vector<Touch> touches_;
    std::vector<Index> arm_touched_, arm_touch_begin_;
    std::vector<ArmTouch> arm_touches_;
};

} // namespace pliant

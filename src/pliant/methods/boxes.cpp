#include "pliant/methods/boxes.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

using O = BoxesOptions;
using V = OptionValue;

constexpr Real margin = 0.05; ///< in cells: pairs this close may come to overlap while others are pushed apart

constexpr int impact_rounds = 3;    ///< over what overlaps after the move
constexpr int velocity_rounds = 10; ///< over all contacts: stacks of a few bodies stop in them

// clang-format off
constexpr MethodOption options[] = {
    {.path = "contact.boxes", .kind = OptionKind::choice, .words = "content cells", .fallback = "content",
     .meaning = "What collides. `content`: the smallest box around what each cell holds, which deforms with the cell; `cells`: the cells themselves, for comparison.",
     .set = setter<O>([](O& o, const V& v) { o.extent = v.word == "cells" ? BoxExtent::cells : BoxExtent::content; })},
    {.path = "contact.planes", .kind = OptionKind::choice, .words = "safe paper", .fallback = "safe",
     .meaning = "Planes around a deformed box. `safe`: all eight nodes of the box are behind each, and boxes that cross without a node inside are found; `paper`: the four nodes of a side are behind its plane, and nodes are tested against planes.",
     .set = setter<O>([](O& o, const V& v) { o.planes = v.word == "paper" ? BoxPlanes::paper : BoxPlanes::safe; })},
    {.path = "contact.inner-nodes", .kind = OptionKind::integer, .range = between(0, 10), .fallback = "1",
     .meaning = "With `planes: paper`, points inside of a box that are tested like its nodes: so many along each axis, 1 is the centre.",
     .set = setter<O>([](O& o, const V& v) { o.inner = static_cast<int>(v.number); })},
    {.path = "contact.order", .kind = OptionKind::choice, .words = "passes paper", .fallback = "passes",
     .meaning = "`passes`: all overlaps are found, then taken away in groups that share nothing, in parallel, and again until `overlap` is reached; `paper`: one pair after the other, once, on one thread.",
     .set = setter<O>([](O& o, const V& v) { o.order = v.word == "paper" ? BoxOrder::paper : BoxOrder::passes; })},
    {.path = "contact.passes", .kind = OptionKind::integer, .range = between(1, 1000), .fallback = "6",
     .meaning = "Most passes in a sub-step.",
     .set = setter<O>([](O& o, const V& v) { o.passes = static_cast<int>(v.number); })},
    {.path = "contact.overlap", .kind = OptionKind::number, .range = at_least(0), .fallback = "0.02",
     .meaning = "Overlap of boxes, as a part of a cell's side, at which passes end; half of it is left, so that what rests in contact stays in contact.",
     .set = setter<O>([](O& o, const V& v) {
         o.tolerance = v.number;
         o.law.left = v.number / 2;
     })},
    {.path = "contact.push", .kind = OptionKind::choice, .words = "point cell", .fallback = "point",
     .meaning = "What a collision moves. `point`: the nodes of the cell next to where its box reaches into the other; `cell`: all eight alike, as in the paper.",
     .set = setter<O>([](O& o, const V& v) { o.law.push = v.word == "cell" ? BoxPush::cell : BoxPush::point; })},
    {.path = "contact.alpha", .kind = OptionKind::number, .range = between(0, 2), .fallback = "1",
     .meaning = "Part of the velocity with which two boxes approach that a collision takes: 1 stops them, 2 throws them back.",
     .set = setter<O>([](O& o, const V& v) { o.law.alpha = v.number; })},
    {.path = "contact.beta", .kind = OptionKind::number, .range = between(0, 1), .fallback = "1",
     .meaning = "Part of the velocity with which two boxes slide that a collision takes, as far as `friction` allows.",
     .set = setter<O>([](O& o, const V& v) { o.law.beta = v.number; })},
};
// clang-format on

std::string why_no_boxes(const Model& model, const Body& body)
{
    if (body.plane || body.lattice != none) return "";
    if (body.obstacle != none && model.obstacles[body.obstacle].vertices)
        return "its vertices move one by one, and this method knows obstacles that keep their shape only";
    if (body.obstacle != none)
        return body.closed ? "" : "its mesh is open, and only a closed one has an inside to be kept out of";
    return "it has no lattice whose cells could collide";
}

std::vector<std::uint8_t> fixed_blocks(const Model& model)
{
    std::vector<std::uint8_t> fixed(static_cast<std::size_t>(model.block_count()), 0);
    for (const Pin& pin : model.pins) fixed[pin.block] = 1;
    return fixed;
}

/// Of boxes and of boxes with obstacles, when they were last found; in cells.
Real deepest_overlap(const LatticeBoxes& boxes, const std::vector<ObstacleOverlap>& touching)
{
    Real deepest = boxes.deepest_overlap();
    for (const ObstacleOverlap& o : touching) deepest = std::max(deepest, o.overlap.depth / boxes.cell(o.cell).side);
    return deepest;
}

std::vector<std::array<Index, 2>> sorted(std::vector<std::array<Index, 2>> pairs)
{
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

/// The deepest overlap of boxes, or of a box and an obstacle, in cells.
class BoxMeasure final : public StateMeasure {
public:
    BoxMeasure(const Model& model, const BoxesOptions& o)
        : model_(model), boxes_(box_cells(model, o.extent), {o.planes, o.inner}, sorted(model.no_contact)),
          obstacles_(model)
    {}
    const char* what() const override { return "overlap of boxes in cells"; }
    Real at(const Vec3s& position, Real time) override
    {
        boxes_.update(position);
        boxes_.find_candidates(0);
        boxes_.find_overlaps();
        return deepest_overlap(boxes_, obstacles_.find(model_, boxes_, time));
    }

private:
    const Model& model_;
    LatticeBoxes boxes_;
    BoxObstacles obstacles_;
};

} // namespace

std::vector<BoxCell> box_cells(const Model& model, BoxExtent extent)
{
    std::vector<BoxCell> cells;
    for (const Lattice& l : model.lattices)
        for (Index c = 0; c < l.mesh->cell_count(); ++c) {
            BoxCell cell;
            cell.block = l.mesh->corners[c];
            for (Index& b : cell.block) b += l.first_block;
            const LatticeMesh::Part part = extent == BoxExtent::cells ? LatticeMesh::Part{} : l.mesh->content[c];
            cell.low = part.low;
            cell.high = part.high;
            cell.body = l.body;
            cell.place = l.mesh->cell_place[c];
            cell.side = l.mesh->side;
            cells.push_back(cell);
        }
    return cells;
}

MethodInfo boxes_method()
{
    return {
        .name = "boxes",
        .about = "explicit steps of lattices, whose cells' boxes push each other apart: fast with millions of "
                 "triangles, but surfaces may overlap a little",
        .promise = [](const MethodOptions&) { return Promise{}; },
        .why_not = why_no_boxes,
        .options = options,
        .default_options = []() -> std::any { return O(); },
        .columns = BoxesReport::member_names,
        .empty_memory = []() -> Record { return BoxesMemory(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<BoxMethod>(world, o.get<O>());
        },
        .make_measure = [](const Model& model, const MethodOptions& o) -> std::unique_ptr<StateMeasure> {
            return std::make_unique<BoxMeasure>(model, o.get<O>());
        },
    };
}

BoxMethod::BoxMethod(const World& world, const BoxesOptions& options_in)
    : options_(options_in), stepper_(world.model, Integrator::symplectic_euler), matching_(world.model),
      boxes_(box_cells(world.model, options_in.extent), {options_in.planes, options_in.inner},
             sorted(world.model.no_contact)),
      obstacles_(world.model), response_(boxes_, world.model.mass, fixed_blocks(world.model), options_in.law)
{
    boxes_.watch(
        [this](Index i, const Box& around) { return obstacles_.may_come_near(around, boxes_.cell(i).side / 2); });
}

StepReport BoxMethod::step(World& world, Real dt)
{
    StepReport report;
    report.own.use<BoxesReport>();
    const Model& model = world.model;
    State& state = world.state;
    memory_ = state.memory.use<BoxesMemory>();
    for (std::size_t j = 0; j < memory_.a.size(); ++j) {
        if (memory_.a[j] >= 0) boxes_.keep_awake(memory_.a[j]);
        boxes_.keep_awake(memory_.b[j]);
    }
    Correction correction;
    correction.motion = [&](const State& start, Real h, Vec3s& path) {
        if (!matching_.empty()) {
            const ScopedTimer timer(report.profile, "match");
            matching_.correct(start.position, h, path);
        }
        if (options_.order == BoxOrder::passes) stop_approach(model, start, h, path, report);
    };
    const Real end = state.time + dt;
    report.substeps = take_stable_substeps(model, state, dt, 1, [&](Real h, bool last) {
        stepper_.substep(model, state, h, correction);
        options_.order == BoxOrder::passes ? take_overlaps_away(model, state, h, report)
                                           : collide_in_order(model, state, h, report);
        if (inner_states == InnerStates::kept && !last)
            report.inner.push_back({state.time, state.position, state.orientation});
    });
    state.memory = memory_;
    state.time = end; // the sum of the sub-steps up to rounding
    ++state.step;
    return report;
}

Real BoxMethod::find(const Model& model, const State& state, Search search)
{
    const Vec3s& x = state.position;
    moved_.resize(x.size());
    if (search == Search::near) {
        touching_ = &obstacles_.find(model, boxes_, state.time, true);
        pairs_ = &boxes_.find_near();
    } else if (search == Search::overlaps) {
        touching_ = &obstacles_.find(model, boxes_, state.time);
        pairs_ = &boxes_.find_overlaps(too_deep());
    } else {
        touching_ = &obstacles_.find_again(model, boxes_, x, moved_);
        pairs_ = &boxes_.find_overlaps_again(x, moved_, too_deep());
    }
    std::fill(moved_.begin(), moved_.end(), std::uint8_t(0));
    return search == Search::near ? 0 : deepest_overlap(boxes_, *touching_);
}

/// Impulses on what touches at the start of a sub-step, or would touch on its way: what rests then does not move, and
/// hardly anything has to be taken back.
void BoxMethod::stop_approach(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report)
{
    BoxesReport& own = report.own.use<BoxesReport>();
    {
        const ScopedTimer timer(report.profile, "boxes");
        boxes_.update(start.position);
    }
    {
        const ScopedTimer timer(report.profile, "respond");
        response_.load(path, free_velocity_);
        velocity_ = free_velocity_;
        push_as_before(dt);
    }
    {
        const ScopedTimer timer(report.profile, "hash");
        own.candidates = count(boxes_.find_candidates(margin * boxes_.smallest_side(), velocity_, dt));
        velocity_ = free_velocity_;
    }
    {
        const ScopedTimer timer(report.profile, "overlaps");
        find(model, start, Search::near);
    }
    const ScopedTimer timer(report.profile, "respond");
    make_contacts(model, -std::numeric_limits<Real>::infinity());
    set_wanted(model, dt);
    recall(dt);
    for (int round = 0; round < velocity_rounds; ++round)
        for_contacts([&](BoxContact& c) { BoxResponse::relax(c, velocity_); });
    BoxResponse::store(velocity_, path);
    memory_ = remember(dt);
    add_contacts(dt, report);
    report.contact_count = static_cast<int>(
        std::ranges::count_if(contacts_, [](const BoxContact& c) { return c.gap == 0 || !c.impulse.isZero(0); }));
    report.active_contacts = count(report.contacts);
}

/// What overlaps at the end of a sub-step is pushed apart, each pair with its boxes as the others have left them.
void BoxMethod::take_overlaps_away(const Model& model, State& state, Real dt, StepReport& report)
{
    BoxesReport& own = report.own.use<BoxesReport>();
    {
        const ScopedTimer timer(report.profile, "boxes");
        boxes_.update(state.position);
    }
    for (own.passes = 0;; ++own.passes) {
        {
            const ScopedTimer timer(report.profile, "overlaps");
            own.overlap = find(model, state, own.passes == 0 ? Search::overlaps : Search::again);
        }
        if (own.passes == 0) own.collisions = boxes_.overlap_count() + count(*touching_);
        if (own.overlap <= options_.tolerance || own.passes >= options_.passes) break;
        const ScopedTimer timer(report.profile, "respond");
        make_contacts(model, too_deep());
        if (own.passes == 0) { // what has just hit must not go on: matching shapes would turn the shift into speed
            response_.load(state.velocity, velocity_);
            free_velocity_ = velocity_;
            set_wanted(model, dt);
            for (int round = 0; round < impact_rounds; ++round)
                for_contacts([&](BoxContact& c) { BoxResponse::relax(c, velocity_); });
            BoxResponse::store(velocity_, state.velocity);
        }
        for_contacts(
            [&](const BoxContact& c) {
                if (c.depth > 0) response_.shift(is_untouched(c) ? c : renewed(c, state), state.position, moved_);
            },
            128);
    }
    own.inverted_boxes = boxes_.inverted_count();
}

/// [Jung, fig. 4]: after a sub-step one pair after the other, on one thread, each with its boxes as those before have
/// left them.
void BoxMethod::collide_in_order(const Model& model, State& state, Real dt, StepReport& report)
{
    BoxesReport& own = report.own.use<BoxesReport>();
    own = {};
    memory_ = {};
    {
        const ScopedTimer timer(report.profile, "boxes");
        boxes_.update(state.position);
    }
    {
        const ScopedTimer timer(report.profile, "hash");
        own.candidates = count(boxes_.find_candidates(margin * boxes_.smallest_side()));
    }
    const ScopedTimer timer(report.profile, "respond");
    find(model, state, Search::overlaps);
    own.collisions = boxes_.overlap_count() + count(*touching_);
    response_.load(state.velocity, velocity_);
    const auto act = [&](BoxContact contact, const Vec3& wall) {
        response_.set_wanted(contact, wall, velocity_, dt);
        BoxResponse::relax(contact, velocity_);
        response_.shift(contact, state.position, moved_);
    };
    for (const auto& [a, b] : boxes_.candidates()) {
        boxes_.update(a, state.position);
        boxes_.update(b, state.position);
        const BoxPair found{a, b, boxes_.overlap_of(a, b)};
        if (!(found.overlap.depth > 0)) continue;
        const Real friction = model.friction.between(boxes_.cell(a).body, boxes_.cell(b).body);
        act(response_.contact(found, friction), Vec3::Zero());
    }
    for (Index i = count(*pairs_); i < count(*pairs_) + count(*touching_); ++i)
        if (const BoxContact now = renewed(made(model, i), state); now.corners > 0)
            act(now, wall_velocity(model, i, dt));
    BoxResponse::store(velocity_, state.velocity);
    own.passes = 1;
    own.overlap = find(model, state, Search::again);
    own.inverted_boxes = boxes_.inverted_count();
    report.contact_count = own.collisions;
}

void BoxMethod::make_contacts(const Model& model, Real deeper)
{
    const Index pairs = count(*pairs_);
    sources_.clear();
    for (Index i = 0; i < pairs; ++i) {
        const auto& [a, b, overlap] = (*pairs_)[i];
        if (overlap.depth > deeper * boxes_.side(a, b)) sources_.push_back(i);
    }
    for (Index i = 0; i < count(*touching_); ++i) {
        const ObstacleOverlap& o = (*touching_)[i];
        if (o.overlap.depth > deeper * boxes_.cell(o.cell).side) sources_.push_back(pairs + i);
    }
    colours_.group(count(sources_), boxes_, model.block_count(), [&](Index i) -> std::array<Index, 2> {
        const auto [a, b] = cells_of(sources_[i]);
        return {std::max(a, none), b};
    });
    const std::vector<Index>& order = colours_.order();
    contacts_.resize(order.size());
    parallel_for(
        count(order), [&](Index i) { contacts_[i] = made(model, sources_[order[i]]); }, 256);
}

Real BoxMethod::friction_of(const Model& model, Index source) const
{
    const auto [a, b] = cells_of(source);
    return model.friction.between(a < 0 ? -1 - a : boxes_.cell(a).body, boxes_.cell(b).body);
}

BoxContact BoxMethod::made(const Model& model, Index source) const
{
    const Index pairs = count(*pairs_);
    BoxContact contact;
    if (source < pairs) {
        contact = response_.contact((*pairs_)[source], friction_of(model, source));
    } else {
        const ObstacleOverlap& o = (*touching_)[source - pairs];
        contact = response_.contact(o.cell, {o.overlap.normal, o.offset}, friction_of(model, source));
    }
    contact.source = source;
    return contact;
}

std::array<Index, 2> BoxMethod::cells_of(Index source) const
{
    const Index pairs = count(*pairs_);
    if (source < pairs) return {(*pairs_)[source].a, (*pairs_)[source].b};
    const ObstacleOverlap& o = (*touching_)[source - pairs];
    return {-1 - o.body, o.cell};
}

void BoxMethod::push_as_before(Real dt)
{
    if (memory_.acceleration.empty()) return;
    parallel_for(
        count(velocity_),
        [&](Index i) {
            const Vec3 v = dt * memory_.acceleration[i];
            velocity_[i] += Real4(v.x(), v.y(), v.z(), 0);
        },
        4096);
}

void BoxMethod::recall(Real dt)
{
    // Both lists are sorted: pairs by their cells, and then boxes at obstacles by their cell.
    const auto before = [](const std::array<Index, 2>& p, const std::array<Index, 2>& q) {
        if ((p[0] < 0) != (q[0] < 0)) return q[0] < 0;
        return p[0] < 0 ? p[1] < q[1] : p < q;
    };
    start_.assign(pairs_->size() + touching_->size(), Vec3::Zero());
    std::size_t i = 0;
    for (std::size_t j = 0; j < memory_.a.size(); ++j) {
        const std::array<Index, 2> known = {memory_.a[j], memory_.b[j]};
        while (i < sources_.size() && before(cells_of(sources_[i]), known)) ++i;
        for (std::size_t s = i; s < sources_.size() && !before(known, cells_of(sources_[s])); ++s)
            if (cells_of(sources_[s]) == known) start_[sources_[s]] = dt * memory_.force[j];
    }
    for_contacts([&](BoxContact& c) { BoxResponse::begin(c, start_[c.source], velocity_); });
}

BoxesMemory BoxMethod::remember(Real dt) const
{
    std::vector<const BoxContact*> pushing(pairs_->size() + touching_->size(), nullptr);
    for (const BoxContact& c : contacts_)
        if (!c.impulse.isZero(0)) pushing[c.source] = &c;
    BoxesMemory memory;
    for (const BoxContact* c : pushing) {
        if (!c) continue;
        const std::array<Index, 2> cells = cells_of(c->source);
        memory.a.push_back(cells[0]);
        memory.b.push_back(cells[1]);
        memory.force.push_back(c->impulse / dt);
    }
    memory.acceleration.resize(velocity_.size());
    parallel_for(
        count(velocity_),
        [&](Index i) {
            alignas(32) Real change[4];
            (velocity_[i] - free_velocity_[i]).store(change);
            memory.acceleration[i] = Vec3(change[0], change[1], change[2]) / dt;
        },
        4096);
    return memory;
}

void BoxMethod::set_wanted(const Model& model, Real dt)
{
    parallel_for(
        count(contacts_),
        [&](Index i) {
            BoxContact& c = contacts_[i];
            response_.set_wanted(c, wall_velocity(model, c.source, dt), free_velocity_, dt);
        },
        1024);
}

Vec3 BoxMethod::wall_velocity(const Model& model, Index source, Real dt) const
{
    if (source < count(*pairs_)) return Vec3::Zero();
    const ObstacleOverlap& o = (*touching_)[source - count(*pairs_)];
    return obstacles_.velocity(model, o.body, o.position, dt);
}

bool BoxMethod::is_untouched(const BoxContact& contact) const
{
    const auto end = contact.block.begin() + contact.corners;
    return std::none_of(contact.block.begin(), end, [&](Index b) { return moved_[b] != 0; });
}

BoxContact BoxMethod::renewed(const BoxContact& contact, const State& state)
{
    const Index pairs = count(*pairs_);
    boxes_.update(contact.b, state.position);
    if (contact.source < pairs) {
        boxes_.update(contact.a, state.position);
        const BoxPair now = {contact.a, contact.b, boxes_.overlap_of(contact.a, contact.b)};
        return now.overlap.depth > 0 ? response_.contact(now, contact.friction) : BoxContact();
    }
    const ObstacleOverlap now = obstacles_.look(boxes_, contact.b, (*touching_)[contact.source - pairs].body);
    if (now.body == none) return {};
    return response_.contact(contact.b, {now.overlap.normal, now.offset}, contact.friction);
}

void BoxMethod::add_contacts(Real dt, StepReport& report) const
{
    report.contacts.clear();
    const Index pairs = count(*pairs_);
    const auto centre = [&](Index cell) -> const Vec3& { return boxes_.box(cell).centre; };
    for (const BoxContact& c : contacts_) {
        if (c.impulse.isZero(0)) continue;
        const Index body = boxes_.cell(c.b).body;
        if (c.source < pairs) {
            report.contacts.push_back(
                {(centre(c.a) + centre(c.b)) / 2, c.normal, c.impulse / dt, body, boxes_.cell(c.a).body});
        } else {
            const ObstacleOverlap& o = (*touching_)[c.source - pairs];
            report.contacts.push_back({o.position, c.normal, c.impulse / dt, body, o.body});
        }
    }
}

} // namespace pliant

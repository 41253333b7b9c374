// Cost of one implicit step's parts per element: assembly of force and stiffness, and one product of the solver, beside
// the time to stream the same bytes in the same run; and the speed-up of two threads.

#include "timing.hpp"

#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pliant;

namespace {

World cloth_world(Index springs)
{
    const Index side = std::max<Index>(4, Index(std::lround(std::sqrt(springs / 6.0)))); // six springs a vertex
    WorldBuilder builder;
    BodyOptions options;
    options.name = "cloth";
    builder.add_cloth(make_grid(1, 1, side, side), {}, options, GridShape{side, side});
    return builder.build();
}

World solid_world(Index tets)
{
    const Index side = std::max<Index>(2, Index(std::lround(std::cbrt(tets / 6.0))));
    WorldBuilder builder;
    BodyOptions options;
    options.name = "block";
    builder.add_solid(make_tet_box({1, 1, 1}, {side, side, side}), {}, options);
    return builder.build();
}

struct Times {
    Real assemble, product;
};

Times measure(const World& world)
{
    LinearSystem system(world.model);
    Vec3s x(world.state.position.size(), Vec3::Ones()), y;
    Times t;
    t.assemble = best_seconds([&] { system.assemble(world.model, world.state, 0.004); });
    t.product = best_seconds([&] { system.A().multiply(x, y); }, 25);
    return t;
}

} // namespace

int main()
{
    std::printf("%-7s %9s | %13s %13s | %13s %9s | %s\n", "model", "elements", "assembly ns/el", "product ns/el",
                "product GB/s", "/ stream", "two threads: assembly, product");
    for (const char* kind : {"cloth", "solid"}) {
        Real smallest = 0, largest = 0;
        for (Index n : {1'000, 10'000, 100'000, 300'000}) {
            const bool cloth = kind[0] == 'c';
            const World world = cloth ? cloth_world(n) : solid_world(n);
            const Index elements = world.model.batches[0]->element_count();
            const LinearSystem system(world.model);
            const std::size_t bytes = system.A().bytes();
            set_thread_count(1);
            const Times one = measure(world);
            const Real stream = stream_seconds(bytes);
            set_thread_count(2);
            const Times two = measure(world);
            std::printf("%-7s %9d | %13.1f %13.1f | %13.1f %9.2f | %.2fx %.2fx\n", kind, elements,
                        1e9 * one.assemble / elements, 1e9 * one.product / elements, 1e-9 * bytes / one.product,
                        one.product / stream, one.assemble / two.assemble, one.product / two.product);
            const Real cost = one.assemble / elements;
            smallest = smallest == 0 ? cost : std::min(smallest, cost);
            largest = std::max(largest, cost);
        }
        std::printf("%-7s assembly per element: largest over smallest %.2f (goal: at most 1.5)\n", kind,
                    largest / smallest);
    }
    return 0;
}

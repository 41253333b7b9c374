#include "pliant/contact/problem.hpp"
#include "pliant/core/union_find.hpp"

#include <cmath>

namespace pliant {

ContactParts contact_parts(const ContactProblem& problem, const std::vector<Index>& component,
                           const Vec3s& free_velocity, Real slowest, Rowless rowless)
{
    const Index n = count(component);
    UnionFind sets(n);
    const auto first_block = [&](const Row& r) {
        return r.entry_begin < r.entry_end ? problem.entries[r.entry_begin].block : problem.arms[r.arm_begin].block;
    };
    for (const Row& r : problem.rows) {
        const Index first = component[first_block(r)];
        for (Index k = r.entry_begin; k < r.entry_end; ++k) sets.join(first, component[problem.entries[k].block]);
        for (Index k = r.arm_begin; k < r.arm_end; ++k) sets.join(first, component[problem.arms[k].block]);
    }
    ContactParts parts;
    parts.slowest = slowest;
    std::vector<Index> number(component.size(), none); // of the part that a block leads
    std::vector<Index> rows;                           // per part
    for (const Row& r : problem.rows) {
        const Index leader = sets.find(component[first_block(r)]);
        if (number[leader] == none) {
            number[leader] = parts.count++;
            parts.velocity_scale.push_back(0);
            rows.push_back(0);
        }
        const Index part = number[leader];
        parts.of_row.push_back(part);
        parts.velocity_scale[part] += (r.u0 + problem.relative_velocity(r, free_velocity)).squaredNorm();
        ++rows[part];
    }
    for (Index i = 0; i < n; ++i) {
        Index& part = number[sets.find(component[i])];
        if (part == none && rowless == Rowless::included) {
            part = parts.count++;
            parts.velocity_scale.push_back(0);
            rows.push_back(1);
        }
        parts.of_block.push_back(part);
    }
    parts.fine.assign(static_cast<std::size_t>(parts.count), 0);
    for (Index p = 0; p < parts.count; ++p)
        parts.velocity_scale[p] = std::max(std::sqrt(parts.velocity_scale[p] / rows[p]), slowest);
    return parts;
}

ContactProblem subproblem(const ContactProblem& problem, const std::vector<Index>& rows)
{
    ContactProblem part;
    for (const Index j : rows) {
        Row row = problem.rows[j];
        part.entries.insert(part.entries.end(), problem.entries.begin() + row.entry_begin,
                            problem.entries.begin() + row.entry_end);
        part.arms.insert(part.arms.end(), problem.arms.begin() + row.arm_begin, problem.arms.begin() + row.arm_end);
        row.entry_begin = count(part.entries) - (row.entry_end - row.entry_begin);
        row.entry_end = count(part.entries);
        row.arm_begin = count(part.arms) - (row.arm_end - row.arm_begin);
        row.arm_end = count(part.arms);
        part.rows.push_back(row);
    }
    return part;
}

} // namespace pliant

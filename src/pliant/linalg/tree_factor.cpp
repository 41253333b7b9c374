#include "pliant/linalg/tree_factor.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <atomic>

namespace pliant {
namespace {

constexpr Index panel_columns = 96; ///< columns of the responses that one thread sums at a time

/// Adds the lower triangle of a child's update to a front that is split in L (own columns) and the rest.
void extend_add(const Eigen::MatrixXd& child, const std::vector<Index>& up, Index own, Eigen::MatrixXd& L,
                Eigen::MatrixXd& rest)
{
    for (Index j = 0; j < count(up); ++j)
        for (int c = 0; c < 3; ++c) {
            const bool is_own = up[j] < own;
            const Index column = 3 * (is_own ? up[j] : up[j] - own) + c, shift = is_own ? 0 : 3 * own;
            Real* to = is_own ? L.col(column).data() : rest.col(column).data();
            const Real* from = child.col(3 * j + c).data();
            for (Index i = j; i < count(up); ++i)
                for (int r = 0; r < 3; ++r) to[3 * up[i] - shift + r] += from[3 * i + r];
        }
}

} // namespace

TreeFactor::TreeFactor(const BlockPattern& pattern, const std::vector<Index>& blocks, const Vec3s& rest)
    : blocks_(blocks), tree_(pattern, blocks, rest), place_of_(static_cast<std::size_t>(pattern.rows()), none),
      fronts_(tree_.nodes().size())
{
    for (Index place = 0; place < tree_.block_count(); ++place) place_of_[tree_.block_at(place)] = place;
}

bool TreeFactor::factorise_node(const BlockMatrix& A, Index k)
{
    const EliminationNode& node = tree_.nodes()[k];
    auto& [L, update] = fronts_[k];
    const Index own = 3 * node.own(), border = 3 * count(node.border);
    L.setZero(own + border, own);
    update.setZero(border, border);
    for (const auto& [slot, row, column] : node.sources)
        L.block<3, 3>(3 * row, 3 * column) += A.block(slot).transpose();
    for (const Index child : node.children) {
        extend_add(fronts_[child].update, tree_.nodes()[child].up, node.own(), L, update);
        fronts_[child].update.resize(0, 0);
    }
    if (own == 0) return true;
    Eigen::Ref<Eigen::MatrixXd> L11(L.topRows(own));
    if (Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(L11).info() != Eigen::Success) return false; // in place
    if (border == 0) return true;
    auto L21 = L.bottomRows(border);
    L11.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(L21);
    update.selfadjointView<Eigen::Lower>().rankUpdate(L21, -1);
    return true;
}

bool TreeFactor::factorise(const BlockMatrix& A)
{
    assert(count(place_of_) == A.pattern().rows());
    std::atomic<bool> positive = true;
    for (const std::vector<Index>& level : tree_.levels()) {
        parallel_for(
            count(level),
            [&](Index i) {
                if (positive && !factorise_node(A, level[i])) positive = false;
            },
            1);
        if (!positive) return false;
    }
    return true;
}

void TreeFactor::solve(const Vec3s& b, Vec3s& x) const
{
    assert(b.size() == place_of_.size() && x.size() == b.size()); // not finite where a run explodes: the run says so
    Eigen::VectorXd w(3 * tree_.block_count());
    for (Index place = 0; place < tree_.block_count(); ++place) w.segment<3>(3 * place) = b[tree_.block_at(place)];
    Eigen::VectorXd outside;
    for (std::size_t k = 0; k < fronts_.size(); ++k) { // L y = b
        const EliminationNode& node = tree_.nodes()[k];
        const Eigen::MatrixXd& L = fronts_[k].L;
        const Index own = 3 * node.own();
        if (own == 0) continue;
        auto y = w.segment(3 * node.begin, own);
        L.topRows(own).triangularView<Eigen::Lower>().solveInPlace(y);
        outside.noalias() = L.bottomRows(L.rows() - own) * y;
        for (Index q = 0; q < count(node.border); ++q) w.segment<3>(3 * node.border[q]) -= outside.segment<3>(3 * q);
    }
    for (std::size_t k = fronts_.size(); k-- > 0;) { // L^T x = y
        const EliminationNode& node = tree_.nodes()[k];
        const Eigen::MatrixXd& L = fronts_[k].L;
        const Index own = 3 * node.own();
        if (own == 0) continue;
        auto y = w.segment(3 * node.begin, own);
        outside.resize(L.rows() - own);
        for (Index q = 0; q < count(node.border); ++q) outside.segment<3>(3 * q) = w.segment<3>(3 * node.border[q]);
        y.noalias() -= L.bottomRows(L.rows() - own).transpose() * outside;
        L.topRows(own).triangularView<Eigen::Lower>().transpose().solveInPlace(y);
    }
    for (Index place = 0; place < tree_.block_count(); ++place) x[tree_.block_at(place)] = w.segment<3>(3 * place);
}

std::vector<std::vector<Index>> TreeFactor::columns_of_nodes(std::span<const ColumnEntry> entries) const
{
    std::vector<std::vector<Index>> columns(fronts_.size());
    for (const ColumnEntry& e : entries)
        for (Index c = 0; c < e.columns; ++c) columns[tree_.node_of(place_of_[e.block])].push_back(e.first_column + c);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        for (const Index child : tree_.nodes()[k].children)
            columns[k].insert(columns[k].end(), columns[child].begin(), columns[child].end());
        std::sort(columns[k].begin(), columns[k].end());
        columns[k].erase(std::unique(columns[k].begin(), columns[k].end()), columns[k].end());
    }
    return columns;
}

Real TreeFactor::response_flops(std::span<const ColumnEntry> entries, Index columns) const
{
    const std::vector<std::vector<Index>> reached = columns_of_nodes(entries);
    Real flops = Real(columns) * columns;
    for (std::size_t k = 0; k < reached.size(); ++k) {
        const EliminationNode& node = tree_.nodes()[k];
        const Real own = 3.0 * node.own(), border = 3.0 * count(node.border), m = Real(reached[k].size());
        flops += own * m * m + own * (own + 2 * border) * m;
    }
    return flops;
}

Eigen::MatrixXd TreeFactor::responses(std::span<const ColumnEntry> entries, Index columns) const
{
    assert(std::ranges::all_of(entries, [&](const ColumnEntry& e) {
        return place_of_[e.block] != none && e.columns <= 3 && e.first_column >= 0 &&
               e.first_column + e.columns <= columns && e.value.leftCols(e.columns).allFinite();
    }));
    const std::vector<std::vector<Index>> reached = columns_of_nodes(entries);
    std::vector<std::vector<const ColumnEntry*>> entering(fronts_.size());
    for (const ColumnEntry& e : entries) entering[tree_.node_of(place_of_[e.block])].push_back(&e);
    std::vector<Eigen::MatrixXd> Y(fronts_.size()), carry(fronts_.size()); // L^-1 J^T at the own rows, what is left
    const auto place_in = [](const std::vector<Index>& sorted, Index value) {
        return Index(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
    };
    const auto pass = [&](Index k) {
        const EliminationNode& node = tree_.nodes()[k];
        if (reached[k].empty()) return;
        const Index own = 3 * node.own();
        Y[k].setZero(own, count(reached[k]));
        carry[k].setZero(3 * count(node.border), count(reached[k]));
        for (const ColumnEntry* e : entering[k])
            for (Index c = 0; c < e->columns; ++c)
                Y[k].col(place_in(reached[k], e->first_column + c))
                    .segment<3>(3 * (place_of_[e->block] - node.begin)) += e->value.col(c);
        for (const Index child : node.children) {
            const std::vector<Index>& up = tree_.nodes()[child].up;
            for (Index c = 0; c < count(reached[child]); ++c) {
                const Index column = place_in(reached[k], reached[child][c]);
                for (Index q = 0; q < count(up); ++q) {
                    auto to = up[q] < node.own() ? Y[k].col(column).segment<3>(3 * up[q])
                                                 : carry[k].col(column).segment<3>(3 * (up[q] - node.own()));
                    to += carry[child].col(c).segment<3>(3 * q);
                }
            }
            carry[child].resize(0, 0);
        }
        if (own == 0) return;
        const Eigen::MatrixXd& L = fronts_[k].L;
        L.topRows(own).triangularView<Eigen::Lower>().solveInPlace(Y[k]);
        carry[k].noalias() -= L.bottomRows(L.rows() - own) * Y[k];
    };
    for (const std::vector<Index>& level : tree_.levels())
        parallel_for(
            count(level), [&](Index i) { pass(level[i]); }, 1);

    // B = sum over nodes of Y^T Y, lower triangle, panel by panel of its columns.
    Eigen::MatrixXd B = Eigen::MatrixXd::Zero(columns, columns);
    parallel_for((columns + panel_columns - 1) / panel_columns,
                 [&](Index panel) {
                     Eigen::MatrixXd part;
                     for (std::size_t k = 0; k < Y.size(); ++k) {
                         const Index from = place_in(reached[k], panel * panel_columns),
                                     to = place_in(reached[k], (panel + 1) * panel_columns), all = count(reached[k]);
                         if (from == to || Y[k].rows() == 0) continue;
                         part.noalias() = Y[k].rightCols(all - from).transpose() * Y[k].middleCols(from, to - from);
                         for (Index c = from; c < to; ++c)
                             for (Index r = c; r < all; ++r)
                                 B(reached[k][r], reached[k][c]) += part(r - from, c - from);
                     }
                 },
                 1);
    B.triangularView<Eigen::StrictlyUpper>() = B.transpose();
    return B;
}

PartFactors::PartFactors(const BlockPattern& pattern, const std::vector<Index>& part, Index parts, Vec3s rest)
    : part_(part), rest_(std::move(rest)), entries_(static_cast<std::size_t>(parts))
{
    assert(count(part) == pattern.rows() && count(rest_) == pattern.rows());
    assert(std::ranges::all_of(part, [&](Index p) { return p >= 0 && p < parts; }));
    for (Index i = 0; i < pattern.rows(); ++i) entries_[part[i]].blocks.push_back(i);
}

void PartFactors::forget()
{
    for (Entry& e : entries_) e.made = false;
}

const TreeFactor& PartFactors::symbolic(const BlockPattern& pattern, Index part) const
{
    Entry& e = entries_[part];
    if (!e.factor) e.factor = std::make_unique<TreeFactor>(pattern, e.blocks, rest_);
    return *e.factor;
}

const TreeFactor* PartFactors::factor(const BlockMatrix& A, Index part) const
{
    Entry& e = entries_[part];
    symbolic(A.pattern(), part);
    if (!e.made) e.positive = e.factor->factorise(A);
    e.made = true;
    return e.positive ? e.factor.get() : nullptr;
}

} // namespace pliant

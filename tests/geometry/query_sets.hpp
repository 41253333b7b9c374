#pragma once
// Reads the collision queries of Wang et al. 2021: exact rationals with ground truth, 8 rows a query.

#include "pliant/core/error.hpp"
#include "pliant/geometry/ccd.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pliant {

struct CcdQuery {
    CcdPoints x_t0, x_t1;
    bool collides = false;
};

struct QuerySet {
    std::string name;
    std::vector<CcdQuery> vertex_face, edge_edge;
};

inline std::filesystem::path data_directory()
{
    if (const char* data = std::getenv("PLIANT_DATA")) return data;
    return std::filesystem::path(PLIANT_SOURCE_DIR) / "../shared/data";
}

inline std::vector<CcdQuery> read_queries(const std::filesystem::path& file)
{
    using Rational = boost::multiprecision::cpp_rational;
    std::vector<CcdQuery> queries;
    std::ifstream in(file);
    std::string line, cell;
    for (int row = 0; std::getline(in, line); row = (row + 1) % 8) {
        if (row == 0) queries.emplace_back();
        std::istringstream cells(line);
        Vec3& x = row < 4 ? queries.back().x_t0[row] : queries.back().x_t1[row - 4];
        for (int axis = 0; axis < 3; ++axis) {
            std::getline(cells, cell, ',');
            const boost::multiprecision::cpp_int numerator(cell);
            std::getline(cells, cell, ',');
            const Rational exact(numerator, boost::multiprecision::cpp_int(cell));
            x[axis] = static_cast<double>(exact);
            if (Rational(x[axis]) != exact) throw Error(file.string() + ": a coordinate is not a double.");
        }
        std::getline(cells, cell);
        queries.back().collides = std::stoi(cell) != 0;
    }
    return queries;
}

/// Every set found in the data directory, sorted by name; empty when there is none.
inline std::vector<QuerySet> read_query_sets()
{
    namespace fs = std::filesystem;
    std::vector<QuerySet> sets;
    const fs::path root = data_directory() / "ccd-queries";
    if (!fs::is_directory(root)) return sets;
    std::vector<fs::path> directories;
    for (const auto& entry : fs::directory_iterator(root))
        if (entry.is_directory()) directories.push_back(entry.path());
    std::sort(directories.begin(), directories.end());
    for (const fs::path& directory : directories) {
        QuerySet set;
        set.name = directory.filename().string();
        for (const auto& [type, queries] :
             {std::pair("vertex-face", &set.vertex_face), std::pair("edge-edge", &set.edge_edge)}) {
            if (!fs::is_directory(directory / type)) continue;
            std::vector<fs::path> files;
            for (const auto& entry : fs::directory_iterator(directory / type))
                if (entry.path().extension() == ".csv") files.push_back(entry.path());
            std::sort(files.begin(), files.end());
            for (const fs::path& file : files) {
                const std::vector<CcdQuery> more = read_queries(file);
                queries->insert(queries->end(), more.begin(), more.end());
            }
        }
        sets.push_back(std::move(set));
    }
    return sets;
}

} // namespace pliant

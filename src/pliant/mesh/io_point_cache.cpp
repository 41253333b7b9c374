// Point caches: PC2 (little-endian) and MDD (big-endian), both of floats.

#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace pliant {
namespace {

/// Four bytes at a time, with the place for messages.
class WordReader {
public:
    WordReader(std::string_view bytes, const std::string& name, bool big_endian)
        : bytes_(bytes), name_(name), big_endian_(big_endian)
    {}

    void skip(std::size_t n) { at_ += n; }
    std::size_t left() const { return at_ < bytes_.size() ? bytes_.size() - at_ : 0; }
    std::int32_t integer() { return std::bit_cast<std::int32_t>(word()); }
    Real real()
    {
        const Real value = std::bit_cast<float>(word());
        if (!std::isfinite(value))
            throw Error(name_ + ": byte " + std::to_string(at_ - 4) + ": a number is not finite.");
        return value;
    }
    Vec3 point()
    {
        const Real x = real(), y = real(), z = real();
        return {x, y, z};
    }

private:
    std::uint32_t word()
    {
        if (left() < 4)
            throw Error(name_ + ": the file ends at byte " + std::to_string(bytes_.size()) + ", too early.");
        std::array<unsigned char, 4> b;
        std::memcpy(b.data(), bytes_.data() + at_, 4);
        at_ += 4;
        std::uint32_t w = 0;
        for (int k = 0; k < 4; ++k) w = w << 8 | b[static_cast<std::size_t>(big_endian_ ? k : 3 - k)];
        return w;
    }

    std::string_view bytes_;
    std::string name_;
    bool big_endian_;
    std::size_t at_ = 0;
};

/// Refuses sizes that the file cannot hold before anything is allocated.
void check_counts(const WordReader& in, std::int64_t points, std::int64_t samples, const std::string& name)
{
    if (points <= 0 || samples <= 0) throw Error(name + ": the file has no points or no samples.");
    if (static_cast<std::int64_t>(in.left() / 12) / points < samples)
        throw Error(name + ": " + std::to_string(samples) + " samples of " + std::to_string(points) +
                    " points do not fit into the file; is it cut off?");
}

void read_samples(WordReader& in, std::int64_t points, std::int64_t samples, PointCache& cache)
{
    for (std::int64_t s = 0; s < samples; ++s) {
        Vec3s& sample = cache.samples.emplace_back();
        sample.reserve(static_cast<std::size_t>(points));
        for (std::int64_t p = 0; p < points; ++p) sample.push_back(in.point());
    }
}

} // namespace

PointCache parse_pc2(std::string_view bytes, const std::string& name)
{
    constexpr std::string_view magic("POINTCACHE2\0", 12);
    if (!bytes.starts_with(magic)) throw Error(name + ": is not a PC2 file; it starts with other letters.");
    WordReader in(bytes, name, false);
    in.skip(magic.size());
    if (const std::int32_t version = in.integer(); version != 1)
        throw Error(name + ": is a PC2 file of version " + std::to_string(version) + "; only version 1 is known.");
    PointCache cache;
    const std::int32_t points = in.integer();
    cache.start_frame = in.real();
    cache.frame_step = in.real();
    const std::int32_t samples = in.integer();
    if (!(cache.frame_step > 0)) throw Error(name + ": its sample rate is not greater than 0.");
    check_counts(in, points, samples, name);
    read_samples(in, points, samples, cache);
    return cache;
}

PointCache parse_mdd(std::string_view bytes, const std::string& name)
{
    WordReader in(bytes, name, true);
    PointCache cache;
    const std::int32_t samples = in.integer(), points = in.integer();
    check_counts(in, points, samples, name);
    for (std::int32_t s = 0; s < samples; ++s) {
        cache.times.push_back(in.real());
        if (s > 0 && !(cache.times[static_cast<std::size_t>(s)] > cache.times[static_cast<std::size_t>(s) - 1]))
            throw Error(name + ": the times of its samples do not increase.");
    }
    check_counts(in, points, samples, name);
    read_samples(in, points, samples, cache);
    return cache;
}

PointCache read_point_cache(const std::filesystem::path& path)
{
    const std::string extension = path.extension().string();
    if (extension == ".pc2") return parse_pc2(read_file(path), path.string());
    if (extension == ".mdd") return parse_mdd(read_file(path), path.string());
    throw Error(path.string() + ": a point cache ends in .pc2 or .mdd.");
}

} // namespace pliant

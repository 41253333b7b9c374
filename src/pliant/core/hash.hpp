#pragma once
// FNV-1a over the bytes of plain values: the state hash that a run prints and that tests compare bit for bit.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace pliant {

class Hash {
public:
    void bytes(const void* data, std::size_t size)
    {
        const auto* p = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ p[i]) * 0x100000001b3ULL;
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    void add(T x) { bytes(&x, sizeof x); }
    template <class Fixed>
    void add(const std::vector<Fixed>& items) ///< Fixed: a fixed-size type without padding (Vec3, Quat, double)
    {
        if (!items.empty()) bytes(items.data(), items.size() * sizeof(Fixed));
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

} // namespace pliant

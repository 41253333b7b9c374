#pragma once
// Named arrays in one binary file with a checksum: frames, the mesh and checkpoints all use it. A file is written
// under a temporary name, flushed to the disk and renamed, so that a reader sees a whole file or none.
//
// Layout, little-endian: "PLIANT\r\n", kind (8 bytes), version (u32), number of arrays (u32); per array: name
// (24 bytes), type (u32, see ArrayFile::Type), components (u32), count (u64); the arrays' data in the same order, each
// padded to 8 bytes; checksum of everything before it (u64). docs/run-directory.md describes it for other programs.

#include "pliant/core/types.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// The disk refused: what() names the file and the reason. The run so far is kept.
class StorageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Replaces a file by the given bytes, all or nothing. Throws StorageError.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_atomically(const std::filesystem::path& path, std::string_view text);

/// 64-bit checksum over 8-byte words: any change of a single word changes it.
std::uint64_t checksum(std::span<const std::byte> bytes);

class ArrayFile {
public:
    enum class Type : std::uint32_t { f64 = 1, i32 = 2, i64 = 3, u8 = 4 };

    /// `kind` has at most 8 characters and says what the file is.
    ArrayFile(std::string kind, std::uint32_t version) : kind_(std::move(kind)), version_(version) {}

    void add(std::string_view name, const Vec3s& values);
    void add(std::string_view name, const std::vector<Real>& values, std::uint32_t components = 1);
    void add(std::string_view name, const std::vector<Index>& values, std::uint32_t components = 1);
    void add(std::string_view name, const std::vector<std::int64_t>& values, std::uint32_t components = 1);
    void add(std::string_view name, const std::string& bytes);

    bool has(std::string_view name) const;
    // A missing array, or one of another type, is an Error that names the file.
    Vec3s vectors(std::string_view name) const;
    std::vector<Real> reals(std::string_view name) const;
    std::vector<Index> indices(std::string_view name) const;
    std::vector<std::int64_t> integers(std::string_view name) const;
    std::string text(std::string_view name) const;

    std::uint32_t version() const { return version_; }
    void save(const std::filesystem::path& path) const;
    /// Throws Error when the file is missing, damaged, of another kind or of a later version than `newest`.
    static ArrayFile load(const std::filesystem::path& path, std::string_view kind, std::uint32_t newest);

private:
    struct Array {
        std::string name;
        Type type;
        std::uint32_t components;
        std::uint64_t count; ///< items of `components` values
        std::vector<std::byte> data;
    };
    void add_bytes(std::string_view name, Type type, std::uint32_t components, const void* data, std::size_t values);
    const Array& find(std::string_view name, Type type) const;
    template <class T>
    std::vector<T> values(std::string_view name, Type type) const;

    std::string kind_;
    std::uint32_t version_;
    std::string path_; ///< where it was loaded from, for messages
    std::vector<Array> arrays_;
};

} // namespace pliant

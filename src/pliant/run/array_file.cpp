#include "pliant/run/array_file.hpp"

#include "pliant/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace pliant {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian; add byte swaps for this machine");

constexpr char magic[] = "PLIANT\r\n"; // the line end shows a transfer in text mode
constexpr std::size_t kind_size = 8, name_size = 24;

std::size_t type_size(ArrayFile::Type type)
{
    switch (type) {
    case ArrayFile::Type::f64:
    case ArrayFile::Type::i64:
        return 8;
    case ArrayFile::Type::i32:
        return 4;
    case ArrayFile::Type::u8:
        return 1;
    }
    return 0;
}

std::size_t padded(std::size_t size)
{
    return (size + 7) / 8 * 8;
}

void append(std::vector<std::byte>& out, const void* data, std::size_t size)
{
    const auto* p = static_cast<const std::byte*>(data);
    out.insert(out.end(), p, p + size);
}
void append_name(std::vector<std::byte>& out, std::string_view name, std::size_t size)
{
    append(out, name.data(), name.size());
    out.resize(out.size() + size - name.size());
}
template <class T>
void append_value(std::vector<std::byte>& out, T value)
{
    append(out, &value, sizeof value);
}

/// Reads a file front to back; running past its end is damage.
class Cursor {
public:
    Cursor(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

    std::span<const std::byte> take(std::size_t size)
    {
        if (size > bytes_.size()) damaged();
        const auto part = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return part;
    }
    template <class T>
    T value()
    {
        T v;
        std::memcpy(&v, take(sizeof v).data(), sizeof v);
        return v;
    }
    std::string name(std::size_t size)
    {
        const auto part = take(size);
        const char* begin = reinterpret_cast<const char*>(part.data());
        return std::string(begin, strnlen(begin, size));
    }
    std::size_t left() const { return bytes_.size(); }
    [[noreturn]] void damaged() const { throw Error(path_ + ": the file is damaged"); }

private:
    std::span<const std::byte> bytes_;
    const std::string& path_;
};

std::vector<std::byte> read_bytes(const std::filesystem::path& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw Error(path.string() + ": cannot open: " + std::strerror(errno));
    std::vector<std::byte> bytes;
    std::size_t used = 0;
    for (;;) {
        if (used == bytes.size()) bytes.resize(std::max<std::size_t>(65536, 2 * bytes.size()));
        const ssize_t n = ::read(file, bytes.data() + used, bytes.size() - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            const int reason = errno;
            ::close(file);
            throw Error(path.string() + ": cannot read: " + std::strerror(reason));
        }
        if (n == 0) break;
        used += static_cast<std::size_t>(n);
    }
    ::close(file);
    bytes.resize(used);
    return bytes;
}

} // namespace

void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes)
{
    const std::string temporary = path.string() + ".tmp";
    int file = -1;
    const auto give_up = [&](int reason) {
        if (file >= 0) ::close(file);
        ::unlink(temporary.c_str());
        throw StorageError("cannot write " + path.string() + ": " + std::strerror(reason));
    };
    file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) give_up(errno);
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) give_up(errno);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    if (::fsync(file) != 0) give_up(errno);
    const int closed = ::close(file);
    file = -1;
    if (closed != 0) give_up(errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) give_up(errno);
}

void write_atomically(const std::filesystem::path& path, std::string_view text)
{
    write_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::uint64_t checksum(std::span<const std::byte> bytes)
{
    // For a fixed word the update is a bijection of h, and for a fixed h one of the word.
    std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ bytes.size();
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const std::size_t n = std::min<std::size_t>(8, bytes.size());
        std::memcpy(&word, bytes.data(), n);
        h = (h ^ word) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
        bytes = bytes.subspan(n);
    }
    return h;
}

void ArrayFile::add_bytes(std::string_view name, Type type, std::uint32_t components, const void* data,
                          std::size_t values)
{
    if (name.size() > name_size) throw std::logic_error("array name too long");
    Array a{std::string(name), type, components, values / components, {}};
    append(a.data, data, values * type_size(type));
    arrays_.push_back(std::move(a));
}

void ArrayFile::add(std::string_view name, const Vec3s& values)
{
    add_bytes(name, Type::f64, 3, values.data(), 3 * values.size());
}
void ArrayFile::add(std::string_view name, const std::vector<Real>& values, std::uint32_t components)
{
    add_bytes(name, Type::f64, components, values.data(), values.size());
}
void ArrayFile::add(std::string_view name, const std::vector<Index>& values, std::uint32_t components)
{
    add_bytes(name, Type::i32, components, values.data(), values.size());
}
void ArrayFile::add(std::string_view name, const std::vector<std::int64_t>& values, std::uint32_t components)
{
    add_bytes(name, Type::i64, components, values.data(), values.size());
}
void ArrayFile::add(std::string_view name, const std::string& bytes)
{
    add_bytes(name, Type::u8, 1, bytes.data(), bytes.size());
}

bool ArrayFile::has(std::string_view name) const
{
    for (const Array& a : arrays_)
        if (a.name == name) return true;
    return false;
}

const ArrayFile::Array& ArrayFile::find(std::string_view name, Type type) const
{
    for (const Array& a : arrays_)
        if (a.name == name && a.type == type) return a;
    throw Error(path_ + ": there is no array '" + std::string(name) + "' of the right type");
}

template <class T>
std::vector<T> ArrayFile::values(std::string_view name, Type type) const
{
    const Array& a = find(name, type);
    std::vector<T> out(a.data.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), a.data.data(), a.data.size());
    return out;
}

Vec3s ArrayFile::vectors(std::string_view name) const
{
    const Array& a = find(name, Type::f64);
    if (a.components != 3) throw Error(path_ + ": array '" + std::string(name) + "' does not hold vectors");
    Vec3s out(a.count);
    if (!out.empty()) std::memcpy(static_cast<void*>(out.data()), a.data.data(), a.data.size());
    return out;
}
std::vector<Real> ArrayFile::reals(std::string_view name) const
{
    return values<Real>(name, Type::f64);
}
std::vector<Index> ArrayFile::indices(std::string_view name) const
{
    return values<Index>(name, Type::i32);
}
std::vector<std::int64_t> ArrayFile::integers(std::string_view name) const
{
    return values<std::int64_t>(name, Type::i64);
}
std::string ArrayFile::text(std::string_view name) const
{
    const Array& a = find(name, Type::u8);
    return std::string(reinterpret_cast<const char*>(a.data.data()), a.data.size());
}

void ArrayFile::save(const std::filesystem::path& path) const
{
    std::vector<std::byte> out;
    append(out, magic, 8);
    append_name(out, kind_, kind_size);
    append_value(out, version_);
    append_value(out, static_cast<std::uint32_t>(arrays_.size()));
    for (const Array& a : arrays_) {
        append_name(out, a.name, name_size);
        append_value(out, static_cast<std::uint32_t>(a.type));
        append_value(out, a.components);
        append_value(out, a.count);
    }
    for (const Array& a : arrays_) {
        append(out, a.data.data(), a.data.size());
        out.resize(padded(out.size()));
    }
    append_value(out, checksum(out));
    write_atomically(path, out);
}

ArrayFile ArrayFile::load(const std::filesystem::path& path, std::string_view kind, std::uint32_t newest)
{
    const std::string name = path.string();
    const std::vector<std::byte> bytes = read_bytes(path);
    Cursor all(bytes, name);
    if (bytes.size() < 32) all.damaged();
    if (all.name(8) != magic) throw Error(name + ": not a Pliant file");
    std::uint64_t stored = 0;
    std::memcpy(&stored, bytes.data() + bytes.size() - 8, 8);
    const auto body = std::span(bytes).first(bytes.size() - 8);
    if (stored != checksum(body)) all.damaged();
    Cursor in(body.subspan(8), name);
    const std::string found_kind = in.name(kind_size);
    if (found_kind != kind) throw Error(name + ": holds a " + found_kind + ", not a " + std::string(kind));
    ArrayFile file(found_kind, in.value<std::uint32_t>());
    file.path_ = name;
    if (file.version_ > newest)
        throw Error(name + ": written by a newer Pliant (format " + std::to_string(file.version_) + ")");
    const auto arrays = in.value<std::uint32_t>();
    if (arrays > in.left() / 40) in.damaged();
    for (std::uint32_t i = 0; i < arrays; ++i) {
        Array a;
        a.name = in.name(name_size);
        a.type = static_cast<Type>(in.value<std::uint32_t>());
        a.components = in.value<std::uint32_t>();
        a.count = in.value<std::uint64_t>();
        if (type_size(a.type) == 0 || a.components == 0 || a.components > 1024 || a.count > bytes.size()) in.damaged();
        file.arrays_.push_back(std::move(a));
    }
    for (Array& a : file.arrays_) {
        const std::size_t size = a.count * a.components * type_size(a.type);
        const auto data = in.take(padded(size)).first(size);
        a.data.assign(data.begin(), data.end());
    }
    return file;
}

} // namespace pliant

// Every allocation of the program goes through here: one above the bound throws. (A file of its own, because compilers
// that see both sides of it complain about malloc behind new.)

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t most_memory = std::size_t(256) << 20; ///< that a reader may ask for at once [bytes]

} // namespace

void* operator new(std::size_t size)
{
    if (size > most_memory) throw std::bad_alloc();
    if (void* p = std::malloc(size > 0 ? size : 1)) return p;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept
{
    return size > most_memory ? nullptr : std::malloc(size > 0 ? size : 1);
}
void operator delete(void* p) noexcept
{
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept
{
    std::free(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept
{
    std::free(p);
}

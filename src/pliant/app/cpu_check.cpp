// Compiled for any processor: the rest of the program would die of an illegal instruction without a word.

#ifdef PLIANT_NEEDS_AVX2

#include <unistd.h>

namespace {

__attribute__((constructor(101))) void check_processor()
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return;
    constexpr char message[] = "pliant: this build needs a processor with AVX2 (x86-64-v3); "
                               "configure with -DPLIANT_ARCH=any for older ones\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(2);
}

} // namespace

#endif

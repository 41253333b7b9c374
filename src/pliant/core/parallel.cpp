#include "pliant/core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <memory>

namespace pliant {
namespace {

std::unique_ptr<tbb::global_control> limit;
int current_threads = 0;
thread_local bool serially = false;

} // namespace

void set_thread_count(int threads)
{
    limit.reset();
    current_threads = threads > 0 ? threads : tbb::info::default_concurrency();
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<std::size_t>(current_threads));
}

Serially::Serially(bool wanted) : before_(serially)
{
    serially |= wanted;
}

Serially::~Serially()
{
    serially = before_;
}

bool runs_serially()
{
    return serially || thread_count() == 1;
}

int thread_count()
{
    return current_threads > 0 ? current_threads : tbb::info::default_concurrency();
}

} // namespace pliant

#include "pliant/core/interrupt.hpp"

#include <utility>

namespace pliant {
namespace {

thread_local const std::function<bool()>* current = nullptr;

} // namespace

InterruptScope::InterruptScope(std::function<bool()> wanted) : wanted_(std::move(wanted)), before_(current)
{
    if (wanted_) current = &wanted_;
}

InterruptScope::~InterruptScope()
{
    current = before_;
}

void poll_interrupt()
{
    if (current && (*current)()) throw Interrupted();
}

} // namespace pliant

#pragma once
#include <stdexcept>
#include <string>

namespace pliant {

/// Bad input: what() is one complete sentence for the user that names the place, the fault and the cure.
/// The command line prints it and exits with 2.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace pliant

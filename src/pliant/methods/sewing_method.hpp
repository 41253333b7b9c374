#pragma once
// Garments: a method around another one that ties seams as soon as their two sides have come together.

#include "pliant/methods/method.hpp"

namespace pliant {

/// Takes the steps of the method that `options` name; after a step it ties each seam whose partners are within the gap
/// of their body. Tying moves them into one place: that motion is tested like that of a step, keeps the certified
/// distance and becomes the last piece of the step's path; a seam that something lies in the way of waits.
std::unique_ptr<Method> make_sewing_method(const World& world, const MethodOptions& options);

} // namespace pliant

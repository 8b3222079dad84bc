// The projections of an LSH signature: one window times all hyperplanes.
//
// Thread safety: immutable (pure functions).
#pragma once

#include <cstddef>

namespace weir::synopses {

// Hyperplanes lie in blocks of this many, so that every target uses whole vectors and reads the
// table from front to back: planes[(block · window + i) · kLshBlock + j] is entry i of hyperplane
// block · kLshBlock + j.
inline constexpr std::size_t kLshBlock = 32;

// sums[j] = Σ_{i < window} values[i] · entry i of hyperplane j, for the blocks' every hyperplane.
// Product and sum are rounded apart (no fma) and added in the order of i, so all targets give the
// same bits.
void project(const double* values, std::size_t window, const float* planes, std::size_t blocks,
             double* sums);
// Its scalar twin.
void project_scalar(const double* values, std::size_t window, const float* planes,
                    std::size_t blocks, double* sums);

}  // namespace weir::synopses

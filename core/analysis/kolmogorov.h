// The distribution of Kolmogorov's and Smirnov's statistics for n values, in logarithms where they
// are small. Formulas: Simard and L'Ecuyer, "Computing the Two-Sided Kolmogorov-Smirnov
// Distribution", Journal of Statistical Software 39 (11), 2011; Marsaglia, Tsang and Wang, same
// journal 8 (18), 2003; Pelz and Good, J. R. Statist. Soc. B 38 (2), 1976.
#pragma once

#include <cstdint>

namespace cuset {

// ln P(D_n >= x), two-sided, n >= 1; 0 for x <= 1/(2n), minus infinity for x >= 1. It does not
// underflow. Above P = 1e-300 it equals ln scipy.stats.kstwo.sf within 1e-6 for n up to a million;
// beyond, SciPy leaves out a term of 4/9 n x^4.
double log_kolmogorov_sf(std::int64_t n, double x);

// ln P(D_n^+ >= x), one-sided, n >= 1, 0 < x < 1.
double log_smirnov_sf(std::int64_t n, double x);

} // namespace cuset

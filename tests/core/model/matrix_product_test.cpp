// Products on tiles against float64, in every orientation and at sizes that fill no block.
#include <cmath>
#include <gtest/gtest.h>

#include "core/model/matrix_product.h"
#include "core/model/tile_product.h"

namespace cuset {
namespace {

struct Shape {
    std::int64_t rows, columns, depth;
};

at::Tensor random(std::int64_t rows, std::int64_t columns, bool transposed, at::ScalarType type) {
    const at::Tensor t = transposed ? at::randn({columns, rows}).t() : at::randn({rows, columns});
    return t.to(type);
}

double relative_error(const at::Tensor& found, const at::Tensor& expected) {
    return ((found.to(at::kDouble) - expected).norm() / expected.norm()).item<double>();
}

// As a processor without tiles would do it: one rounding for each product and sum.
at::Tensor in_order(const at::Tensor& left, const at::Tensor& right) {
    at::Tensor sum = at::zeros({left.size(0), right.size(1)});
    for (std::int64_t k = 0; k < left.size(1); ++k)
        sum.add_(at::outer(left.select(1, k), right.select(0, k)));
    return sum;
}

class MatrixProduct : public ::testing::TestWithParam<Shape> {
protected:
    void SetUp() override { at::manual_seed(5); }
};

TEST_P(MatrixProduct, Float32LosesNoMoreThanFloat32Arithmetic) {
    const auto [m, n, k] = GetParam();
    for (const bool left_turned : {false, true})
        for (const bool right_turned : {false, true}) {
            const at::Tensor a = random(m, k, left_turned, at::kFloat);
            const at::Tensor b = random(k, n, right_turned, at::kFloat);
            const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
            const double error = relative_error(matrix_product(a, b), exact);
            EXPECT_LE(error, 1.2 * relative_error(in_order(a, b), exact) + 1e-7)
                << left_turned << right_turned;
        }
}

// The sides whose numbers are bfloat16 ones need fewer products; one number that is not makes its
// rows of 32 an exception.
TEST_P(MatrixProduct, Float32OfBfloat16NumbersIsAsExact) {
    const auto [m, n, k] = GetParam();
    for (const bool left_narrow : {false, true})
        for (const bool right_narrow : {false, true})
            for (const bool spoiled : {false, true}) {
                at::Tensor a = random(m, k, false, left_narrow ? at::kBFloat16 : at::kFloat);
                at::Tensor b = random(k, n, true, right_narrow ? at::kBFloat16 : at::kFloat);
                a = a.to(at::kFloat);
                b = b.t().to(at::kFloat).t();
                if (spoiled) {
                    a[m / 2][k - 1] = 1.f + std::ldexp(1.f, -20);
                    b[k / 2][n - 1] = 1.f + std::ldexp(1.f, -23);
                }
                const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
                const double error = relative_error(matrix_product(a, b), exact);
                EXPECT_LE(error, 1.2 * relative_error(in_order(a, b), exact) + 1e-7)
                    << left_narrow << right_narrow << spoiled;
            }
}

TEST_P(MatrixProduct, Bfloat16IsRoundedOnce) {
    const auto [m, n, k] = GetParam();
    const at::Tensor a = random(m, k, false, at::kBFloat16), b = random(k, n, true, at::kBFloat16);
    const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
    at::Tensor wide = at::empty({m, n});
    matrix_product({{a, b}}, wide);
    if (cpu::has_tiles()) { // torch rounds to bfloat16 first
        EXPECT_LE(relative_error(wide, exact), 1e-6);
    }
    // Uniform rounding to 8 bits: 2^-9 / sqrt(3) of a value at most.
    EXPECT_LE(relative_error(matrix_product(a, b), exact), 0.0025);
}

TEST_P(MatrixProduct, TermsAreSummedOntoWhatIsThere) {
    const auto [m, n, k] = GetParam();
    const at::Tensor a = random(m, k, false, at::kFloat), b = random(k, n, true, at::kFloat);
    const at::Tensor c = random(m, 24, false, at::kFloat), d = random(24, n, true, at::kFloat);
    const at::Tensor start = at::randn({m, n});
    const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble))
        + at::mm(c.to(at::kDouble), d.to(at::kDouble)) + start.to(at::kDouble);
    at::Tensor out = start.clone();
    matrix_product({{a, b}, {c, d}}, out, true);
    EXPECT_LE(relative_error(out, exact), 2e-6);
}

TEST_P(MatrixProduct, ABatchIsItsMembers) {
    const auto [m, n, k] = GetParam();
    const at::Tensor a = at::randn({3, m, k}), b = at::randn({3, n, k}).transpose(1, 2);
    at::Tensor out = at::empty({3, m, n});
    batched_product(a, b, out);
    EXPECT_LE(relative_error(out, at::bmm(a.to(at::kDouble), b.to(at::kDouble))), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Model, MatrixProduct,
                         ::testing::Values(Shape{1, 1, 1}, Shape{33, 47, 65}, Shape{100, 31, 1500},
                                           Shape{5, 300, 4500}, Shape{32, 32, 32},
                                           Shape{97, 131, 201}, Shape{100, 65, 1600},
                                           Shape{66, 70, 4500}, Shape{128, 96, 96}));

TEST(MatrixProduct, WhatIsNotFiniteStaysSo) {
    for (const std::int64_t side : {40, 100}) { // on torch's way and on the tiles'
        at::Tensor a = at::ones({side, side});
        a[1][7] = std::nanf("");
        a[2][3] = INFINITY;
        const at::Tensor out = matrix_product(a, at::full({side, side}, 1.5));
        EXPECT_EQ(out[0][0].item<float>(), 1.5f * static_cast<float>(side));
        EXPECT_FALSE(std::isfinite(out[1][2].item<float>()));
        EXPECT_FALSE(std::isfinite(out[2][2].item<float>()));
    }
}

TEST(MatrixProduct, OneRowOfALinearLayerEqualsManyRows) {
    at::manual_seed(6);
    const at::Tensor x = at::randn({20, 90}), weight = at::randn({70, 90}), bias = at::randn({70});
    at::Tensor all = at::empty({20, 70}), one = at::empty({1, 70});
    linear_product(x, weight, bias, all);
    linear_product(x.narrow(0, 3, 1), weight, bias, one);
    EXPECT_LE(relative_error(one, all.narrow(0, 3, 1).to(at::kDouble)), 1e-6);
    EXPECT_LE(relative_error(all, at::linear(x, weight, bias).to(at::kDouble)), 1e-6);
}

} // namespace
} // namespace cuset

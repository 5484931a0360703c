#include "core/model/matrix_product.h"

#include <algorithm>

#include "core/model/cpu_elements.h"
#include "core/model/tile_product.h"

namespace cuset {
namespace {

// Of one side at a time: 24 MiB.
constexpr std::int64_t packed_elements = std::int64_t{12} << 20;

constexpr std::int64_t small_product = 1 << 22; // multiplications and additions
constexpr std::int64_t fewest_rows = 8; // that repay the packing of the other side
constexpr std::int64_t narrow_side = 64; // at which torch's float32 product is as fast

bool fits(const at::Tensor& t) {
    return t.is_cpu() && (t.scalar_type() == at::kFloat || t.scalar_type() == at::kBFloat16)
        && (t.stride(0) == 1 || t.stride(1) == 1);
}

bool use_tiles(const std::vector<MatrixTerm>& terms, const at::Tensor& target) {
    if (!cpu::has_tiles() || !target.is_cpu() || target.stride(1) != 1 || target.numel() == 0
        || terms.front().left.size(1) == 0)
        return false;
    for (const MatrixTerm& term : terms)
        if (!fits(term.left) || !fits(term.right)
            || term.left.scalar_type() != terms.front().left.scalar_type()
            || term.right.scalar_type() != terms.front().left.scalar_type())
            return false;
    return target.scalar_type() == at::kFloat
        || (target.scalar_type() == at::kBFloat16
            && terms.front().left.scalar_type() == at::kBFloat16);
}

cpu::Element element_of(const at::Tensor& t) {
    return t.scalar_type() == at::kFloat ? cpu::Element::float32 : cpu::Element::bfloat16;
}

cpu::MatrixView view(const at::Tensor& t) {
    return {t.data_ptr(), element_of(t), t.size(0), t.size(1), t.stride(0), t.stride(1)};
}

void multiply_part(const std::vector<MatrixTerm>& terms, const at::Tensor& target, bool adds) {
    static thread_local cpu::TileStorage storage;
    std::vector<cpu::ProductTerm> parts;
    std::int64_t depth = 0;
    for (const MatrixTerm& term : terms) {
        parts.push_back({view(term.left), view(term.right)});
        depth += term.left.size(1);
    }
    const cpu::TileProduct product(
        parts, {target.data_ptr(), element_of(target), target.stride(0), adds}, storage);
    // What one thread does in some microseconds wakes no other.
    const std::int64_t all = std::max(product.pack_units(), product.multiply_units());
    const std::int64_t part = target.numel() * depth < small_product ? all : 1;
    cpu::for_each_part(product.pack_units(), part,
                       [&](std::int64_t first, std::int64_t last) { product.pack(first, last); });
    cpu::for_each_part(product.multiply_units(), part, [&](std::int64_t first, std::int64_t last) {
        product.multiply(first, last);
    });
}

// In parts of rows, columns and, for one term into float32, depth, so that what is packed is small.
void multiply_tiles(const std::vector<MatrixTerm>& terms, const at::Tensor& target, bool adds) {
    constexpr std::int64_t most_depth = 4096;
    const std::int64_t depth = terms.front().left.size(1);
    if (terms.size() == 1 && depth > most_depth && target.scalar_type() == at::kFloat) {
        for (std::int64_t k = 0; k < depth; k += most_depth) {
            const std::int64_t n = std::min(most_depth, depth - k);
            multiply_tiles({{terms[0].left.narrow(1, k, n), terms[0].right.narrow(0, k, n)}},
                           target, adds || k > 0);
        }
        return;
    }
    std::int64_t packed_depth = 0;
    for (const MatrixTerm& term : terms)
        packed_depth += term.left.size(1) * (term.left.scalar_type() == at::kFloat ? 3 : 1);
    const std::int64_t side = std::max<std::int64_t>(256, packed_elements / packed_depth / 64 * 64);
    for (std::int64_t row = 0; row < target.size(0); row += side)
        for (std::int64_t column = 0; column < target.size(1); column += side) {
            const std::int64_t rows = std::min(side, target.size(0) - row);
            const std::int64_t columns = std::min(side, target.size(1) - column);
            std::vector<MatrixTerm> part;
            for (const MatrixTerm& term : terms)
                part.push_back(
                    {term.left.narrow(0, row, rows), term.right.narrow(1, column, columns)});
            multiply_part(part, target.narrow(0, row, rows).narrow(1, column, columns), adds);
        }
}

// Three terms for a number are worth their packing only where each is used often.
bool is_narrow(const MatrixTerm& term) {
    return term.left.scalar_type() == at::kFloat
        && std::min({term.left.size(0), term.left.size(1), term.right.size(1)}) <= narrow_side;
}

bool repays_tiles(const at::Tensor& left, const at::Tensor& right, const at::Tensor& target) {
    const MatrixTerm term{left, right};
    return !is_narrow(term) && use_tiles({term}, target);
}

void multiply_torch(const MatrixTerm& term, at::Tensor target, bool adds) {
    const bool same = term.left.scalar_type() == target.scalar_type();
    if (!adds && same)
        at::mm_out(target, term.left, term.right);
    else if (!adds)
        target.copy_(at::mm(term.left, term.right));
    else if (same)
        target.addmm_(term.left, term.right);
    else
        target.add_(at::mm(term.left, term.right));
}

} // namespace

void matrix_product(const std::vector<MatrixTerm>& terms, const at::Tensor& target, bool adds) {
    // bfloat16 is rounded once, after the last term; float32 has no need of that.
    if (terms.front().left.scalar_type() == at::kBFloat16 && use_tiles(terms, target)) {
        multiply_tiles(terms, target, adds);
        return;
    }
    for (const MatrixTerm& term : terms) {
        if (repays_tiles(term.left, term.right, target))
            multiply_tiles({term}, target, adds);
        else
            multiply_torch(term, target, adds);
        adds = true;
    }
}

void linear_product(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::Tensor& target) {
    if (input.size(0) >= fewest_rows) {
        if (bias.defined())
            target.copy_(bias.expand_as(target));
        matrix_product({{input, weight.t()}}, target, bias.defined());
    } else if (bias.defined()) {
        at::addmm_out(target, bias, input, weight.t());
    } else {
        at::mm_out(target, input, weight.t());
    }
}

at::Tensor matrix_product(const at::Tensor& left, const at::Tensor& right) {
    at::Tensor out = at::empty({left.size(0), right.size(1)}, left.options());
    matrix_product({{left, right}}, out);
    return out;
}

void batched_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& target,
                     bool adds) {
    if (target.numel() > 0 && target.size(1) >= fewest_rows
        && repays_tiles(left[0], right[0], target[0])) {
        for (std::int64_t i = 0; i < target.size(0); ++i)
            multiply_tiles({{left[i], right[i]}}, target[i], adds);
        return;
    }
    at::Tensor out = target;
    if (!adds && left.scalar_type() == out.scalar_type())
        at::bmm_out(out, left, right);
    else if (!adds)
        out.copy_(at::bmm(left, right));
    else
        out.add_(at::bmm(left, right));
}

} // namespace cuset

// SPDX-License-Identifier: Apache-2.0
// AscendQuant, AscendDequant, AscendAntiQuant: rows of elements, scaled and shifted in the steps that the reference names.
#include "twin/calls_quant.hpp"

#include <memory>

#include "library_rows.hpp"

namespace twin {

using namespace library;

namespace {

// Which element of a factor belongs to (row, column): row / row_group · width + column / column_group.
struct Spread {
  std::uint64_t row_group = 1, column_group = 1, width = 0;  // width 0: the same for every row
  std::uint64_t elements = 1;
  std::uint64_t at(std::uint64_t row, std::uint64_t column) const { return row / row_group * width + column / column_group; }
};
struct Shape {
  std::uint64_t rows, columns, used;  // used: of a row
  std::uint64_t dst_columns;
  Spread scale, offset;
};

float to_half_and_back(float x) { return half_to_float(float_to_half(x)); }

class Factor {
 public:
  Factor(Instruction& i, const QuantFactor& f, const Spread& spread, bool half)
      : form_(f.form), spread_(spread), half_(half), value_(rounded(f.value)) {
    if (form_ == QuantFactor::Tensor) numbers_ = std::make_unique<Numbers>(i, f.view);
  }
  bool given() const { return form_ != QuantFactor::None; }
  float of(std::uint64_t row, std::uint64_t column, std::uint8_t* state) {
    return numbers_ ? rounded(numbers_->get(spread_.at(row, column), state)) : value_;
  }

 private:
  float rounded(double x) const {
    const auto single = static_cast<float>(x);
    return half_ ? to_half_and_back(single) : single;
  }
  QuantFactor::Form form_;
  Spread spread_;
  bool half_;
  float value_;
  std::unique_ptr<Numbers> numbers_;
};

// Declares the operands; false if the instruction is not to be executed.
bool begin(Instruction& i, Operands& operands, const QuantOperands& at, const Shape& s, std::uint64_t work_bytes) {
  operands.read(&at.src, s.rows * s.columns, "the source");
  if (at.scale.form == QuantFactor::Tensor) operands.read(&at.scale.view, s.scale.elements, "the scale");
  if (at.offset.form == QuantFactor::Tensor) operands.read(&at.offset.view, s.offset.elements, "the offset");
  operands.write(&at.dst, s.rows * s.dst_columns, "the destination");
  if (at.src.space == at.dst.space && at.src.addr == at.dst.addr)
    i.refuse(Kind::Overlap, format("%s: the destination lies over the source", i.name()), "place them apart", &at.dst);
  if (at.has_work) operands.work(&at.work, work_bytes);
  return s.rows * s.columns != 0;
}

// add_first: (x + offset) · scale, else x · scale + offset. in_half: every step is rounded to half.
void run(Instruction& i, const QuantOperands& at, const Shape& s, bool add_first, bool in_half) {
  Numbers source(i, at.src), result(i, at.dst);
  Factor scale(i, at.scale, s.scale, in_half), offset(i, at.offset, s.offset, in_half);
  const auto step = [&](float x) { return in_half ? to_half_and_back(x) : x; };
  const std::uint8_t unused = s.used < s.dst_columns ? left_padding(i) : kDefined;
  for (std::uint64_t r = 0; r < s.rows; ++r) {
    for (std::uint64_t c = 0; c < s.used; ++c) {
      std::uint8_t state = kDefined;
      float x = step(static_cast<float>(source.get(r * s.columns + c, &state)));
      if (add_first && offset.given()) x = step(x + offset.of(r, c, &state));
      x = step(x * scale.of(r, c, &state));
      if (!add_first && offset.given()) x = step(x + offset.of(r, c, &state));
      result.put(r * s.dst_columns + c, x, state);
    }
    for (std::uint64_t c = s.used; c < s.dst_columns; ++c) result.leave(r * s.dst_columns + c, unused);
  }
}

const char* cost_row(const QuantOperands& at) { return at.scale.form == QuantFactor::Tensor ? "TwoVectors" : "OneVector"; }

}  // namespace

void library_quant(const LibraryQuant& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_quant(call, site); }) {
    Instruction i(Pipe::V, "AscendQuant", site);
    const QuantOperands& at = call.at;
    const bool channels = at.scale.form == QuantFactor::Tensor;
    if (channels && (call.scale_count == 0 || call.scale_count % 32 || call.count % call.scale_count))
      i.refuse(Kind::Limit,
               format("AscendQuant of %u elements with scaleCount %u: a multiple of 32 that divides the count", call.count,
                      call.scale_count),
               "give calCount whole rows of scaleCount elements");
    if (at.offset.form == QuantFactor::Tensor && call.offset_count != call.scale_count)
      i.refuse(Kind::Limit, format("AscendQuant: offsetCount %u, scaleCount %u", call.offset_count, call.scale_count),
               "give both the same count");
    Shape s{1, call.count, call.count, call.count, {}, {}};
    if (channels && call.scale_count) {
      s.columns = s.used = s.dst_columns = call.scale_count;
      s.rows = call.count / call.scale_count;
    }
    s.scale.elements = s.offset.elements = call.scale_count;
    const bool wide = at.src.dtype == DType::F32;
    // The source and both factors as halves, and those repeated for every row.
    const std::uint64_t work = std::uint64_t{call.count} * 2 * (channels ? 3 : 1);
    i.cost(cost_row(at), (3 + 2 * wide + 2 * channels) * repeats(call.count, DType::F16), DType::F16);
    Operands operands(i);
    if (begin(i, operands, at, s, work) && i.issue()) {
      run(i, at, s, false, true);
      operands.spoil_work();
    }
  }
  close(site);
}

void library_dequant(const LibraryDequant& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_dequant(call, site); }) {
    Instruction i(Pipe::V, "AscendDequant", site);
    const QuantOperands& at = call.at;
    const std::uint32_t size = size_bytes(at.dst.dtype), a_block = kBlockBytes / size;
    Shape s{call.m, call.n, call.used, 0, {}, {}};
    if (s.rows == 0) {  // by the count alone
      if (call.used == 0 || call.n % call.used)
        i.refuse(Kind::Limit, format("AscendDequant of %u elements with %u scales", call.n, call.used),
                 "give a count that is a multiple of the elements of deqScale");
      s.rows = call.used ? call.n / call.used : 0;
      s.columns = s.dst_columns = call.used;
    } else {
      if (call.n % 8)
        i.refuse(Kind::Alignment, format("AscendDequant: rows of n = %u int32 do not fill blocks of 32 bytes", call.n),
                 "pad n to a multiple of 8");
      if (call.used == 0 || call.used > call.n)
        i.refuse(Kind::Limit, format("AscendDequant: calCount %u of rows of n = %u", call.used, call.n),
                 "at least one, and not more than n");
      const bool folds = call.single_row && call.m == 1 && call.used && call.used % a_block == 0 && call.n % call.used == 0;
      if (folds) {
        s.rows = call.n / call.used;
        s.columns = call.used;
      }
      s.dst_columns = (s.columns + a_block - 1) / a_block * a_block;
    }
    s.scale.elements = s.used;
    const std::uint64_t total = s.rows * s.columns;
    i.cost(cost_row(at), (2 + (at.dst.dtype != DType::F32)) * repeats(total, DType::F32), DType::F32);
    Operands operands(i);
    if (begin(i, operands, at, s, (total + s.used) * sizeof(float)) && i.issue()) {
      run(i, at, s, false, false);
      operands.spoil_work();
    }
  }
  close(site);
}

void library_anti_quant(const LibraryAntiQuant& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_anti_quant(call, site); }) {
    Instruction i(Pipe::V, "AscendAntiQuant", site);
    i.take_int4();
    const QuantOperands& at = call.at;
    const std::uint64_t k = call.k, n = k ? call.elements / k : 0;
    if (k == 0 || call.elements % k)
      i.refuse(Kind::Limit, format("AscendAntiQuant: k = %u does not divide the %u elements of src", call.k, call.elements),
               "give src its real size (SetSize)");
    if (call.elements * std::uint64_t{size_bits(at.src.dtype)} / 8 % kBlockBytes || call.elements % 16)
      i.refuse(Kind::Alignment, format("AscendAntiQuant of %u elements: they do not fill blocks of 32 bytes", call.elements),
               "pad src");
    if (call.turned && k * size_bits(at.src.dtype) / 8 % kBlockBytes)
      i.refuse(Kind::Alignment, format("AscendAntiQuant: turned rows of k = %u do not fill blocks of 32 bytes", call.k),
               "pad k");
    Shape s{call.turned ? n : k, call.turned ? k : n, call.turned ? k : n, call.turned ? k : n, {}, {}};
    const auto spread = [&](const QuantFactor& f, std::uint64_t height, std::uint64_t width, const char* what) {
      Spread out;
      if (f.form != QuantFactor::Tensor) return out;
      const std::uint64_t groups = call.turned ? width : height;
      if ((call.turned ? height : width) != n || groups == 0 || k % groups) {
        i.refuse(Kind::Limit,
                 format("AscendAntiQuant: %s of (%llu, %llu) for src of (%llu, %llu)", what,
                        static_cast<unsigned long long>(height), static_cast<unsigned long long>(width),
                        static_cast<unsigned long long>(s.rows), static_cast<unsigned long long>(s.columns)),
                 call.turned ? "(n, groups of k), in shapeInfo or by SetShapeInfo"
                             : "(groups of k, n), in shapeInfo or by SetShapeInfo");
        return out;
      }
      out.elements = height * width;
      out.width = width;
      (call.turned ? out.column_group : out.row_group) = k / groups;
      return out;
    };
    s.scale = spread(at.scale, call.scale_height, call.scale_width, "the scale");
    s.offset = spread(at.offset, call.offset_height, call.offset_width, "the offset");
    const bool wide = at.dst.dtype == DType::BF16;
    const DType type = wide ? DType::F32 : DType::F16;
    const std::uint64_t passes = (wide ? 4 : 2) + (at.offset.form != QuantFactor::None);
    i.cost(cost_row(at), passes * repeats(call.elements, type), type);
    Operands operands(i);
    const std::uint64_t work = wide ? (call.elements + s.scale.elements + s.offset.elements) * sizeof(float) : 0;
    if (begin(i, operands, at, s, work) && i.issue()) {
      run(i, at, s, true, !wide);
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin

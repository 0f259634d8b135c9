// SPDX-License-Identifier: Apache-2.0
// What the library's functions on rows share: their operands, checked against one another, and elements with their states.
#pragma once

#include <optional>
#include <vector>

#include "library_common.hpp"

namespace twin::library {

// The operands of one step. Each begins at a block and lies inside its tensor; what is written may take the very place of a
// source if `in_place`, and lies over no other operand; the temporary over none.
class Operands {
 public:
  explicit Operands(Instruction& i, bool in_place = true) : i_(i), in_place_(in_place) {}
  Operands(const Operands&) = delete;
  ~Operands() = default;

  // Null: the call does without it.
  void read(const View* v, std::uint64_t elements, const char* what) { declare(v, elements, what, Role::Read); }
  void write(const View* v, std::uint64_t elements, const char* what) { declare(v, elements, what, Role::Write); }
  void work(const View* v, std::uint64_t wanted_bytes) {
    if (!v) return;
    work_ = std::min(v->bytes, wanted_bytes);
    if (!work_) return;
    work_view_ = v;
    i_.require_aligned(*v, kBlockBytes, "the temporary");
    i_.write(*v, 0, work_);
    meet_others({v, work_, "the temporary", Role::Work});
  }
  // Behind the arithmetic: the temporary has no value.
  void spoil_work() const {
    if (work_view_)
      States(i_, *work_view_)
          .set(0, work_, new_origin(format("the temporary of %s at %s", i_.name(), to_string(i_.site()).c_str())));
  }

 private:
  enum class Role : std::uint8_t { Read, Write, Work };
  struct Entry {
    const View* view;
    std::uint64_t bytes;
    const char* what;
    Role role;
  };

  void declare(const View* v, std::uint64_t elements, const char* what, Role role) {
    if (!v || !elements) return;
    const std::uint64_t bytes = (elements * size_bits(v->dtype) + 7) / 8;
    i_.require_aligned(*v, kBlockBytes, what);
    if (role == Role::Read) {
      i_.read(*v, 0, bytes);
    } else {
      i_.write(*v, 0, bytes);
    }
    meet_others({v, bytes, what, role});
  }
  void meet_others(const Entry& e) {
    for (const Entry& o : all_) {
      if (e.view->space != o.view->space || (e.role == Role::Read && o.role == Role::Read)) continue;
      if (e.view->addr >= o.view->addr + o.bytes || o.view->addr >= e.view->addr + e.bytes) continue;
      const bool place = in_place_ && e.view->addr == o.view->addr && e.role != o.role &&
                         size_bytes(e.view->dtype) == size_bytes(o.view->dtype) && e.role != Role::Work &&
                         o.role != Role::Work;
      if (!place)
        i_.refuse(Kind::Overlap, format("%s: %s lies over %s", i_.name(), e.what, o.what),
                  in_place_ ? "place them apart; a result may only take the very place of a source" : "place them apart",
                  e.view);
    }
    all_.push_back(e);
  }

  Instruction& i_;
  bool in_place_;
  const View* work_view_ = nullptr;
  std::uint64_t work_ = 0;
  std::vector<Entry> all_;
};

// One operand's elements.
class Numbers {
 public:
  Numbers(Instruction& i, const View& v) : bytes_(i.bytes(v)), states_(i, v), dtype_(v.dtype), size_(size_bytes(v.dtype)) {}
  double get(std::uint64_t k, std::uint8_t* state) {
    if (dtype_ == DType::I4) {
      *state = meet(*state, states_.of(k / 2, 1));
      return int4_of(bytes_[k / 2], k % 2);
    }
    *state = meet(*state, states_.of(k * size_, size_));
    return library::get(bytes_ + k * size_, dtype_);
  }
  void put(std::uint64_t k, double x, std::uint8_t state) {
    library::put(bytes_ + k * size_, dtype_, x);
    states_.set(k * size_, size_, state);
  }
  void leave(std::uint64_t k, std::uint8_t state) { states_.set(k * size_, size_, state); }
  std::uint32_t size() const { return size_; }

 private:
  std::uint8_t* bytes_;
  States states_;
  DType dtype_;
  std::uint32_t size_;
};

inline std::optional<Numbers> numbers(Instruction& i, const View* v) {
  return v ? std::optional<Numbers>(std::in_place, i, *v) : std::nullopt;
}

// A tensor of one value a row, 32 bytes of it; null: nothing.
class PerRow {
 public:
  PerRow(Instruction& i, const View* view) : i_(i), view_(view) {}  // declared by the caller
  PerRow(Instruction& i, const View* view, std::uint32_t rows, bool written) : PerRow(i, view) {
    if (!view) return;
    i.require_aligned(*view, kBlockBytes, "a tensor of one value a row");
    if (written) {
      i.write(*view, 0, std::uint64_t{rows} * kBlockBytes);
    } else {
      i.read(*view, 0, std::uint64_t{rows} * kBlockBytes);
    }
  }
  double value(std::uint64_t row, std::uint8_t* state) const {
    *state = meet(*state, States(i_, *view_).of(row * kBlockBytes, size_bytes(view_->dtype)));
    return load_float(i_.bytes(*view_) + row * kBlockBytes, view_->dtype);
  }
  void fill(std::uint64_t row, double x, std::uint8_t state) const {
    if (!view_) return;
    const std::uint32_t size = size_bytes(view_->dtype);
    for (std::uint32_t k = 0; k < kBlockBytes; k += size)
      store_float(i_.bytes(*view_) + row * kBlockBytes + k, view_->dtype, x);
    States(i_, *view_).set(row * kBlockBytes, kBlockBytes, state);
  }

 private:
  Instruction& i_;
  const View* view_;
};

// What the padding of rows holds afterwards.
inline std::uint8_t left_padding(const Instruction& i) {
  return new_origin(format("%s at %s leaves the padding of its rows", i.name(), to_string(i.site()).c_str()));
}

inline void require_floats(Instruction& i, DType dtype) {
  if (dtype != DType::F16 && dtype != DType::F32)
    i.refuse(Kind::Limit, format("%s on %s: half and float only", i.name(), name(dtype)), "cast first");
}
// Rows of `columns` elements, `used` of them with values.
inline void require_shape(Instruction& i, std::uint64_t rows, std::uint64_t columns, std::uint64_t used, const char* fix) {
  if (rows == 0 || columns == 0 || used == 0 || used > columns)
    i.refuse(Kind::Limit,
             format("%s of %llu rows of %llu elements, %llu of them used", i.name(), static_cast<unsigned long long>(rows),
                    static_cast<unsigned long long>(columns), static_cast<unsigned long long>(used)),
             fix);
}
// Where element `column` of a row lies, counted in elements.
inline std::uint64_t place(bool nz, std::uint64_t rows, std::uint64_t columns, std::uint64_t row, std::uint64_t column) {
  return nz ? (column / 16 * rows + row) * 16 + column % 16 : row * columns + column;
}
inline void require_fractals(Instruction& i, bool nz, std::uint64_t rows, std::uint64_t columns) {
  if (nz && (rows % 16 || columns % 16))
    i.refuse(Kind::Alignment,
             format("%s on Nz data of %llu rows of %llu elements: whole fractals of 16 x 16", i.name(),
                    static_cast<unsigned long long>(rows), static_cast<unsigned long long>(columns)),
             "pad both, and give their own sizes as oriSrcM and oriSrcK");
}
inline void require_blocks(Instruction& i, std::uint64_t columns, DType dtype) {
  if (columns * size_bytes(dtype) % kBlockBytes)
    i.refuse(Kind::Alignment,
             format("%s: rows of %llu elements do not fill blocks of 32 bytes", i.name(),
                    static_cast<unsigned long long>(columns)),
             "pad the rows, and give their own length too");
}

// So many passes of floats over the elements, and for halves the casts of each operand of that size.
inline void passes_cost(Instruction& i, std::uint64_t passes, std::uint64_t elements, DType dtype, std::uint64_t operands) {
  i.cost("OneVector", (passes + (dtype == DType::F32 ? 0 : operands)) * repeats(elements, DType::F32), DType::F32);
}

}  // namespace twin::library

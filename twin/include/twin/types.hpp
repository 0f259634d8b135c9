// SPDX-License-Identifier: Apache-2.0
// The words that the kernel-facing headers and the engine share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "twin/half.hpp"
#include "twin/int4.hpp"

namespace twin {

// In the order of the lanes that a profiler shows. ALL only names a barrier.
// HCCL: what communicates beside a core. No flag and no barrier knows it.
enum class Pipe : std::uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, HCCL, ALL };
inline constexpr int kPipes = 8;
const char* name(Pipe pipe);
const char* lane_name(Pipe pipe);  // as the vendor's profiler calls it

enum class Space : std::uint8_t { GM, UB, L1, L0A, L0B, L0C, BT, FB };
inline constexpr int kSpaces = 8;
const char* name(Space space);

enum class CoreKind : std::uint8_t { AIV, AIC };

enum class DType : std::uint8_t { I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, I4 };
inline constexpr std::uint32_t bit(DType dtype) { return 1u << static_cast<int>(dtype); }
// Of I4, the byte that holds two of them.
inline constexpr std::uint32_t size_bytes(DType dtype) {
  constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 1};
  return kBytes[static_cast<int>(dtype)];
}
inline constexpr std::uint32_t size_bits(DType dtype) { return dtype == DType::I4 ? 4 : size_bytes(dtype) * 8; }
const char* name(DType dtype);

template <class T>
struct DTypeOf;
#define TWIN_DTYPE(type, value)                   \
  template <>                                     \
  struct DTypeOf<type> {                          \
    static constexpr DType kValue = DType::value; \
  };
TWIN_DTYPE(std::int8_t, I8)
TWIN_DTYPE(std::uint8_t, U8)
TWIN_DTYPE(bool, U8)
TWIN_DTYPE(std::int16_t, I16)
TWIN_DTYPE(std::uint16_t, U16)
TWIN_DTYPE(std::int32_t, I32)
TWIN_DTYPE(std::uint32_t, U32)
TWIN_DTYPE(std::int64_t, I64)
TWIN_DTYPE(std::uint64_t, U64)
TWIN_DTYPE(half, F16)
TWIN_DTYPE(bfloat16_t, BF16)
TWIN_DTYPE(float, F32)
TWIN_DTYPE(AscendC::int4b_t, I4)
#undef TWIN_DTYPE

// The bytes that so many elements take, the byte in which one begins, and the elements in so many bytes.
template <class T>
constexpr std::uint64_t bytes_of(std::uint64_t count) {
  return DTypeOf<T>::kValue == DType::I4 ? (count + 1) / 2 : count * size_bytes(DTypeOf<T>::kValue);
}
template <class T>
constexpr std::uint64_t offset_of(std::uint64_t index) {
  return DTypeOf<T>::kValue == DType::I4 ? index / 2 : index * size_bytes(DTypeOf<T>::kValue);
}
template <class T>
constexpr std::uint64_t elements_in(std::uint64_t bytes) {
  return DTypeOf<T>::kValue == DType::I4 ? bytes * 2 : bytes / size_bytes(DTypeOf<T>::kValue);
}
// Whether it begins inside that byte.
template <class T>
constexpr bool splits_byte(std::uint64_t index) {
  return DTypeOf<T>::kValue == DType::I4 && index % 2 != 0;
}

// A line of kernel code. As a default argument it is the line of the call, in GCC and in clang, from C++17 on.
// Not to be made of {}, which is some other parameter's value when a kernel writes it last.
struct Site {
  constexpr Site(const char* name, std::uint32_t number) : file(name), line(number) {}
  const char* file;
  std::uint32_t line;
  static constexpr Site none() { return {"", 0}; }
  static constexpr Site here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

// A tensor as an instruction gets it: where it lies, how long it is, and which buffer of a TPipe it came from.
struct View {
  Space space = Space::UB;
  DType dtype = DType::U8;
  std::uint8_t cache_hint = 0;   // 1: CACHE_MODE_DISABLE
  bool splits_byte = false;      // I4: it begins with the second of a byte's two, where nothing can begin
  std::uint32_t tensor = 0;      // the tensor that it is, or is a part of (declare_tensor); 0: unknown
  std::uint32_t buffer = 0;      // queue buffer, 0 if none
  std::uint32_t generation = 0;  // of that buffer when it was allocated
  std::uint64_t addr = 0;        // bytes from the start of the memory; for GM a host address
  std::uint64_t bytes = 0;       // 0: length unknown, as for a GlobalTensor made without one
};
static_assert(sizeof(View) == 32, "calls copy several");

// An operand that may be absent. By value, so that a call can be kept for later as it is; otherwise used like a pointer.
class MaybeView {
 public:
  MaybeView() = default;
  MaybeView(const View* view) : given_(view != nullptr), view_(view ? *view : View{}) {}
  operator const View*() const& { return given_ ? &view_ : nullptr; }
  operator const View*() const&& = delete;  // it would not outlive the statement
  const View* operator->() const { return *this; }

 private:
  bool given_ = false;
  View view_;
};

}  // namespace twin

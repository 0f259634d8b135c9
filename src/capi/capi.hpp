// SPDX-License-Identifier: Apache-2.0
// What the files of the C interface share: handles, the fence around exceptions, and reading of structs that grow.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "tessera/attention.hpp"
#include "tessera/tessera.h"

struct tessera_problem {
  tessera::Problem value;
};

struct tessera_plan {
  tessera::Plan value;
  std::string implementation;
};

namespace tessera::capi {

inline tessera_code write_error(tessera_error* error, tessera_code code, std::string_view message) noexcept {
  if (error != nullptr) {
    const std::size_t length = std::min(message.size(), sizeof(error->message) - 1);
    std::memcpy(error->message, message.data(), length);
    error->message[length] = '\0';
  }
  return code;
}

inline tessera_code write_error(tessera_error* error, const Status& status) noexcept {
  return write_error(error, static_cast<tessera_code>(status.code()), status.message());
}
static_assert(static_cast<int>(StatusCode::invalid) == TESSERA_INVALID);
static_assert(static_cast<int>(StatusCode::unsupported) == TESSERA_UNSUPPORTED);
static_assert(static_cast<int>(StatusCode::out_of_memory) == TESSERA_OUT_OF_MEMORY);

/// Calls body() -> Status; nothing leaves but a code and a message.
template <class Body>
tessera_code fenced(tessera_error* error, Body&& body) noexcept {
  try {
    return write_error(error, body());
  } catch (const std::bad_alloc&) {
    return write_error(error, TESSERA_OUT_OF_MEMORY, "an allocation was refused");
  } catch (const std::exception& e) {
    return write_error(error, TESSERA_INTERNAL, e.what());
  } catch (...) {
    return write_error(error, TESSERA_INTERNAL, "an exception of unknown type");
  }
}

inline Status null_argument(std::string_view name) { return Status::invalid(std::string(name) + " is null"); }

/// Not null, and at least as large as the first version of the struct.
template <class T>
Status check_struct_size(const T* from, std::string_view name) {
  if (from == nullptr) return null_argument(name);
  if (from->struct_size < sizeof(T)) {
    return Status::invalid(std::string(name) + ".struct_size is " + std::to_string(from->struct_size) + ", at least " +
                           std::to_string(sizeof(T)) + " was expected");
  }
  return {};
}

/// The caller's version of a struct as ours. What his has and ours lacks must be zero.
template <class T>
Result<T> read_struct(const T* from, std::string_view name) {
  if (Status status = check_struct_size(from, name); !status) return status;
  const std::size_t theirs = from->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  if (theirs > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + theirs, [](unsigned char b) { return b != 0; })) {
    return Status::unsupported(std::string(name) + ".struct_size is " + std::to_string(theirs) +
                               ", and a field beyond the " + std::to_string(sizeof(T)) +
                               " bytes that this version knows is set");
  }
  return *from;
}

/// The same for options that may be null: then the defaults.
template <class T>
Result<T> read_options(const T* from, std::string_view name) {
  if (from == nullptr) return T{};
  return read_struct(from, name);
}

/// Writes our struct into one of the caller's version: what he does not know is cut, what we do not know is zero.
template <class T>
void write_struct(T ours, T* to, std::size_t theirs) noexcept {
  ours.struct_size = theirs;
  std::memset(static_cast<void*>(to), 0, theirs);
  std::memcpy(static_cast<void*>(to), &ours, std::min(theirs, sizeof(T)));
}

template <class T>
void init_struct(const T& defaults, T* to, std::size_t theirs) noexcept {
  if (to != nullptr && theirs >= sizeof(to->struct_size)) write_struct(defaults, to, theirs);
}

Status write_text(std::string_view text, char* buffer, std::size_t buffer_bytes, std::size_t* needed_bytes);

Result<DType> to_dtype(std::int32_t dtype, std::string_view name);

inline ConstTensor to_tensor(const tessera_const_tensor& t) noexcept {
  return {t.data, {t.stride_outer, t.stride_seq, t.stride_head}};
}
inline Tensor to_tensor(const tessera_tensor& t) noexcept { return {t.data, {t.stride_outer, t.stride_seq, t.stride_head}}; }

/// A caller's pool behind the C++ seam.
class BorrowedExecutor final : public Executor {
 public:
  explicit BorrowedExecutor(const tessera_executor& executor) noexcept : executor_(executor) {}
  int concurrency() const noexcept override { return executor_.concurrency(executor_.self); }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    executor_.parallel(executor_.self, count, task, context);
  }

 private:
  tessera_executor executor_;
};

Status check_executor(const tessera_executor* executor, std::string_view name);

}  // namespace tessera::capi

// SPDX-License-Identifier: Apache-2.0
// Data types, status codes and Result: the vocabulary of every other header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/export.hpp"

namespace tessera {

/// Element type of Q, K, V and O. Scores, softmax and sums are always float32.
enum class DType : std::uint8_t { f32, f16, bf16 };

constexpr std::size_t size_of(DType dtype) noexcept { return dtype == DType::f32 ? 4 : 2; }

/// "f32", "f16" or "bf16".
constexpr std::string_view name_of(DType dtype) noexcept {
  return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : "bf16";
}

enum class StatusCode : std::uint8_t {
  ok,
  invalid,        // the caller's mistake; the message names the argument and the value
  unsupported,    // nobody here does it; the message says which part
  out_of_memory,  // an allocation was refused; nothing was lost
};

/// The outcome of a call. The library never prints, aborts or throws across the C ABI.
class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status invalid(std::string message) { return {StatusCode::invalid, std::move(message)}; }
  static Status unsupported(std::string message) { return {StatusCode::unsupported, std::move(message)}; }
  static Status out_of_memory(std::string message) { return {StatusCode::out_of_memory, std::move(message)}; }

  bool ok() const noexcept { return code_ == StatusCode::ok; }
  explicit operator bool() const noexcept { return ok(); }
  StatusCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

 private:
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  const Status& status() const noexcept { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tessera

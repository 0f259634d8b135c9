// SPDX-License-Identifier: Apache-2.0
// The host's description of tiling data, from which the kernel's struct is made. GET_TILING_DATA in a kernel takes the
// struct of REGISTER_TILING_DATA_CLASS where the kernel names none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "twin/tiling.hpp"

#define BEGIN_TILING_DATA_DEF(Name) struct Name {
#define TILING_DATA_FIELD_DEF(type, name)       \
  type name{};                                  \
  void set_##name(type value) { name = value; } \
  type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_ARR(type, count, name)                            \
  type name[count]{};                                                           \
  void set_##name(const type* value) { std::memcpy(name, value, sizeof name); } \
  type* get_##name() { return name; }
#define TILING_DATA_FIELD_DEF_STRUCT(Struct, name) Struct name{};
// Written with a semicolon behind it and without.
#define END_TILING_DATA_DEF                                                                                   \
  void SaveToBuffer(void* buffer, std::size_t capacity) const {                                               \
    std::memcpy(buffer, static_cast<const void*>(this), capacity < sizeof(*this) ? capacity : sizeof(*this)); \
  }                                                                                                           \
  std::size_t GetDataSize() const { return sizeof(*this); }                                                   \
  }                                                                                                           \
  ;
#define REGISTER_TILING_DATA_CLASS(Operator, Struct)                                                                       \
  [[maybe_unused]] inline constexpr ::twin::RegisteredTiling<Struct, ::twin::is_inner_tiling(#Operator)> TWIN_TILING_JOIN( \
      twin_tiling_of_##Operator, __LINE__){};
#define TWIN_TILING_JOIN(a, b) TWIN_TILING_JOIN_(a, b)
#define TWIN_TILING_JOIN_(a, b) a##b

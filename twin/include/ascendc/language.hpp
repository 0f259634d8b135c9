// SPDX-License-Identifier: Apache-2.0
// Small things that kernels expect from the device's headers besides instructions: type traits, assertions, the workspace.
#pragma once

#include <cstdlib>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ascendc/tiling.hpp"

namespace AscendC {

template <class T, class U>
struct IsSameType {
  static constexpr bool value = std::is_same<T, U>::value;
};
template <bool condition, class T, class F>
struct Conditional {
  using type = typename std::conditional<condition, T, F>::type;
};

// The device's part of the standard library has a namespace of its own.
namespace Std {
using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::apply;
using std::bool_constant;
using std::common_type;
using std::common_type_t;
using std::conditional;
using std::conditional_t;
using std::conjunction;
using std::conjunction_v;
using std::decay;
using std::decay_t;
using std::declval;
using std::disjunction;
using std::disjunction_v;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::forward_as_tuple;
using std::get;
using std::ignore;
using std::index_sequence;
using std::index_sequence_for;
using std::integer_sequence;
using std::integral_constant;
using std::is_arithmetic;
using std::is_arithmetic_v;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_constructible;
using std::is_constructible_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_empty;
using std::is_empty_v;
using std::is_enum;
using std::is_enum_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_function;
using std::is_function_v;
using std::is_integral;
using std::is_integral_v;
using std::is_lvalue_reference;
using std::is_lvalue_reference_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_rvalue_reference;
using std::is_rvalue_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_signed;
using std::is_signed_v;
using std::is_trivially_copyable;
using std::is_trivially_copyable_v;
using std::is_unsigned;
using std::is_unsigned_v;
using std::is_void;
using std::is_void_v;
using std::is_volatile;
using std::is_volatile_v;
using std::make_index_sequence;
using std::make_integer_sequence;
using std::make_tuple;
using std::move;
using std::negation;
using std::negation_v;
using std::remove_all_extents;
using std::remove_all_extents_t;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::swap;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_cat;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;
using std::underlying_type;
using std::underlying_type_t;
using std::void_t;
template <std::size_t value>
using Int = std::integral_constant<std::size_t, value>;
template <class T>
using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T, class U>
TWIN_API constexpr T max(const T a, const U b) {
  return a > b ? a : static_cast<T>(b);
}
template <class T, class U>
TWIN_API constexpr T min(const T a, const U b) {
  return a < b ? a : static_cast<T>(b);
}
}  // namespace Std

// The twin's library needs no workspace of the system: SyncAll and cross-core flags work without. The pointer is kept.
namespace detail {
inline GM_ADDR& system_workspace() {
  static thread_local GM_ADDR pointer = nullptr;
  return pointer;
}
}  // namespace detail
TWIN_API void SetSysWorkspace(GM_ADDR workspace) { detail::system_workspace() = workspace; }
TWIN_API void SetSysWorkSpace(GM_ADDR workspace) { detail::system_workspace() = workspace; }
TWIN_API GM_ADDR GetSysWorkSpacePtr() { return detail::system_workspace(); }

namespace detail {
// Ends the program: on the device the core stops.
TWIN_API void assertion_failed(const char* condition, Site site = Site::here()) {
  std::printf("%s:%u: assertion failed: %s\n", site.file, site.line, condition);
  std::fflush(stdout);
  std::exit(1);
}
}  // namespace detail

}  // namespace AscendC

#ifndef ASSERT
#define ASSERT(condition) ((condition) ? (void)0 : ::AscendC::detail::assertion_failed(#condition))
#endif
#ifndef ascendc_assert
#define ascendc_assert(condition, ...) ASSERT(condition)
#endif

// The scalar unit's functions, without a namespace. Templates: a program that has <math.h>'s own keeps them. Without these a
// float would go to C's integer abs and its double sqrt.
template <class T, class = std::enable_if_t<std::is_same<T, float>::value || std::is_same<T, half>::value>>
TWIN_API T abs(T value) {
  return value < T(0.0f) ? T(-static_cast<float>(value)) : value;
}
template <class T, class = std::enable_if_t<std::is_same<T, float>::value || std::is_same<T, half>::value>>
TWIN_API T sqrt(T value) {
  return T(__builtin_sqrtf(static_cast<float>(value)));
}

// SPDX-License-Identifier: Apache-2.0
// A list that grows by pages, so that nothing is copied when it does. Its pages come from lists that were there before: a
// fresh page of the system's costs as much as ten instructions (0.25 µs a 4 KB, cleared and mapped).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace twin {

// Elements are plain data. Lists are made and end under HostLock.
template <class T>
class Pages {
  static_assert(std::is_trivially_destructible<T>::value, "pages are handed on as they are");

 public:
  Pages() = default;
  Pages(Pages&&) = default;
  Pages& operator=(Pages&&) = default;
  ~Pages() {
    for (auto& page : pages_) {
      if (spare().size() < kSpares) spare().push_back(std::move(page));
    }
  }

  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return pages_[i / kElements][i % kElements]; }
  T& operator[](std::size_t i) { return pages_[i / kElements][i % kElements]; }
  void push_back(const T& value) {
    if (size_ == pages_.size() * kElements) add_page();
    (*this)[size_++] = value;
  }
  void resize(std::size_t n) {  // of an empty list
    while (pages_.size() * kElements < n) add_page();
    for (auto& page : pages_) std::fill_n(page.get(), kElements, T{});
    size_ = n;
  }

 private:
  static constexpr std::size_t kElements = 1024;
  static constexpr std::size_t kSpares = (std::size_t{32} << 20) / (kElements * sizeof(T));  // 32 MB
  using Page = std::unique_ptr<T[]>;

  static std::vector<Page>& spare() {
    static auto* const pages = new std::vector<Page>;  // outlives every exit handler
    return *pages;
  }
  void add_page() {
    if (spare().empty()) {
      pages_.push_back(Page(new T[kElements]));
    } else {
      pages_.push_back(std::move(spare().back()));
      spare().pop_back();
    }
  }

  std::vector<Page> pages_;
  std::size_t size_ = 0;
};

}  // namespace twin

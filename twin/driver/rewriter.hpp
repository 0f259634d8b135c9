// SPDX-License-Identifier: Apache-2.0
// The pass over a source's tokens behind rewrite(): what it knows on its way. Three parts: the pass itself with names and
// spellings (rewrite.cpp), kernels and their types (rewrite_kernels.cpp), launches (rewrite_launches.cpp).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rewrite.hpp"
#include "words.hpp"

namespace twincc {

class Rewriter : private Words {
 public:
  Rewriter(const std::string& source, const std::set<std::string>& typing) : Words(source), typing_(typing) {}
  Source run();

 private:
  struct Edit {
    std::size_t begin, end;
    std::string with;
  };

  void fail(std::size_t i, const std::string& why);
  // Open braces outside of preprocessor lines: those of namespaces and extern "C" leave a kernel nameable where it stands.
  void scope(std::size_t i);
  bool in_namespace() const;
  void own_name(std::size_t i);
  void constant(std::size_t i);
  void spelling(std::size_t i);
  void device_function(std::size_t i);
  // A kernel with the name of a function of C gets another one.
  void rename(std::size_t i);
  // A word made by ## begins where the first of its pieces does.
  std::size_t pasted(std::size_t i) const;
  static std::string one_line(std::string s);
  static bool is_c_name(const std::string& name);

  void kernel(std::size_t global);
  void types(Kernel& k, std::size_t from, std::size_t end);
  int condition(std::size_t i) const;
  bool plain_type(std::size_t i) const;
  void types_outside();
  void parameters(Kernel& k, std::size_t from, std::size_t end);
  std::string registration(const Kernel& k) const;
  static std::string launch_function(const Kernel& k);

  void launch(std::size_t open);

  static constexpr const char* kRenamed = "twin_kernel_";  // as launch.cpp knows it
  std::vector<Edit> edits_;
  std::vector<bool> scopes_;
  std::vector<std::pair<std::string, std::string>> by_key_;  // KERNEL_TASK_TYPE of the kernel at hand
  const std::set<std::string>& typing_;
  std::vector<std::pair<std::size_t, std::size_t>> bodies_;  // of kernels
  std::set<std::string> device_words_ = {"__aicore__", "__global__"};
  Source out_;
};

}  // namespace twincc

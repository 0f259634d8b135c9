// SPDX-License-Identifier: Apache-2.0
// Kernel types that only the preprocessor knows: chosen by #if, given by a macro. With TWIN_READ_TYPES its output keeps
// KERNEL_TASK_TYPE… as words, and twin_types_of(kernel, otherwise) behind each body whose types it has to tell.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "words.hpp"

namespace twincc {

// Of these macros those that stand for KERNEL_TASK_TYPE…, by themselves or by others.
std::set<std::string> typing_macros(const std::map<std::string, std::set<std::string>>& macros);

class TypeReader {
 public:
  // The output of one pass of the compiler over a unit, with its line marks. All passes must say the same.
  void read(const std::string& preprocessed);

  // "file:12: kernel k ..." if a type is unknown or a kernel has two, "" if not.
  const std::string& error() const { return error_; }
  // For each kernel what TWIN_TYPES_OF_<kernel> must be defined as.
  std::map<std::string, std::string> registrations() const;
  // KERNEL_TYPE_... of KERNEL_TASK_TYPE_DEFAULT, in kernels and outside of them.
  const std::set<std::string>& defaults() const { return defaults_; }
  // One of the kernels runs on both kinds of cores.
  bool mix() const;

 private:
  struct Said {
    std::string type, at;
  };
  using ByKey = std::map<std::string, Said>;  // by tiling key, "" for all others
  struct Types {
    std::string otherwise;
    ByKey by_key;
  };

  ByKey body(const Words& words, const std::vector<std::size_t>& code, std::size_t close, const std::string& kernel);
  void say(ByKey* types, const std::string& key, const Said& said, const std::string& kernel);
  void fail(const std::string& why);

  std::map<std::string, Types> kernels_;
  std::set<std::string> defaults_;
  std::string error_;
};

}  // namespace twincc

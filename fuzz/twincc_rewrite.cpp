// SPDX-License-Identifier: Apache-2.0
// What twincc does to a kernel's text: never a crash; lines keep their numbers; what it does not change it gives back; what
// it made it understands again. And the reader of clang's output for --device-check.
#include "twin/driver/rewrite.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/check.hpp"
#include "twin/driver/device_check.hpp"

static std::string no_source(const twincc::Place&) { return ""; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const twincc::Source s = twincc::rewrite(text);
  const bool mark = text.compare(0, 3, "\xEF\xBB\xBF") == 0;
  FUZZ_CHECK(s.changed || s.text == text.substr(mark ? 3 : 0), "%s", text.c_str());
  if (s.error.empty())
    FUZZ_CHECK(std::count(s.text.begin(), s.text.end(), '\n') == std::count(text.begin(), text.end(), '\n'), "%s",
               text.c_str());
  for (const twincc::Kernel& k : s.kernels) {
    FUZZ_CHECK(!k.name.empty(), "%s", text.c_str());
    FUZZ_CHECK(k.line >= 1, "%s", text.c_str());
    twincc::host_parameters(k);
    twincc::engine_type(k.type, s.uses_cube, s.uses_vector);
  }
  for (const auto& [first, last] : s.device_lines) FUZZ_CHECK(first >= 1 && first <= last, "%s", text.c_str());
  std::map<std::string, std::set<std::string>> reached;
  twincc::check_calls(twincc::read_module(text), "/twin", no_source, &reached);
  return 0;
}

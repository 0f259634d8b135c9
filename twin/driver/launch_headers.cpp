// SPDX-License-Identifier: Apache-2.0
// The text of headers that the vendor's build makes, and of those that the twin lacks.
#include "unit.hpp"

namespace twincc {

namespace {
constexpr const char* kLaunchHead =
    "#pragma once\n#include \"twin/engine.hpp\"\n#ifndef ACLRT_LAUNCH_KERNEL\n#define ACLRT_LAUNCH_KERNEL(kernel) "
    "aclrtlaunch_##kernel\n#endif\n";
}

std::string launch_header(const Kernel& kernel) {
  return kLaunchHead + ("extern \"C\" std::uint32_t aclrtlaunch_" + kernel.name +
                        "(std::uint32_t twin_blocks, void* twin_stream" + host_parameters(kernel).declared + ");\n");
}

// The linker must find the kernel's file, hence the address of its function; arguments go by their values, since its
// parameters are not known here.
std::string launch_header(const std::string& name) {
  return kLaunchHead + ("extern \"C\" void twin_needs_" + name + "() __asm__(\"aclrtlaunch_" + name + "\");\n" +
                        "template <class... Arguments>\nstd::uint32_t aclrtlaunch_" + name +
                        "(::twin::BlocksAt blocks, const void* stream, const Arguments&... arguments) {\n" +
                        "  return ::twin::launch_by_name(\"" + name + "\", &twin_needs_" + name +
                        ", blocks.on(stream), {::twin::Argument(arguments)...});\n}\n");
}

std::string missing_header(const std::string& name) {
  return "#error \"<" + name +
         "> of the vendor is not in the twin: docs/twin_api.md lists what is; with -I give a header of your own\"\n";
}

}  // namespace twincc

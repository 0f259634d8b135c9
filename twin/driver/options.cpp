// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace twincc {
namespace {

constexpr const char* kHelp = R"(usage: twincc [options] files...
Compiles Ascend C for this host: kernels run on the twin, which checks and times them.

  twincc kernel.asc -o kernel && ./kernel          one file with kernel and main
  twincc main.cpp kernel.cpp -o app                several files; aclrtlaunch_NAME.h is made
  twincc -c kernel.cpp && twincc main.cpp kernel.o the same in two steps
  TWIN=timing ./kernel                             where its time goes (modelled)

  files                    .asc .cpp .cc .cxx .cce (compiled), .o .a .so (linked)
  -o FILE                  the program (a.out), or the object with -c
  -c                       compile only
  --cce-auto-sync=on|off   the device compiler adds the barriers it would add (on), or the kernel must have them (off)
  --no-gm-pointers         accesses of GM through plain pointers are neither checked nor timed: the compiler announces
                           no loads and stores to the twin, as it does not where -fsanitize=address or =thread is given
  --device-check[=error]   what the device compiler would refuse is an error: recursion, virtual functions, allocation,
                           exceptions, double, host functions, pointers of the wrong memory. Needs clang.
  --device-check=warn      the same as warnings: the default where clang is installed
  --device-check=off       no such check
  --clang=PROGRAM          the clang for that check
  --cxx=PROGRAM            the compiler to use, g++ or clang++
  --keep DIR               leave the rewritten sources in DIR
  -v                       print the commands
Every other option goes to the compiler: -I -D -U -include -std -O -g -W -f -m, and -l -L -Wl, to the linker.
Without -std, -O or -g: -std=c++17 -O1 -g; -g without -O is -O0, to step through. Options of the device compiler that have no meaning here are accepted.

The finished program obeys the variable TWIN, a list with commas:
  TWIN=device=910B3,auto-sync=off,timing,html=t.html,json=r.json ./a.out
Its exit status is its own, or 1 if it would be 0 and the twin found something.
)";

// Libraries of the vendor's runtime, which the twin replaces.
bool is_vendor_library(const std::string& a) {
  static const std::set<std::string> kVendor = {
      "-lascendcl",       "-lruntime",    "-lregister", "-ltiling_api",  "-lplatform", "-lerror_manager", "-lprofapi",
      "-lge_common_base", "-lascendalog", "-lmmpa",     "-lascend_dump", "-lc_sec",    "-lunified_dlog"};
  return kVendor.count(a) != 0;
}

bool is_source(const std::string& a) {
  const std::string extension = std::filesystem::path(a).extension().string();
  return extension == ".asc" || extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".cce";
}

void device_check(Options& o, const std::string& a) {
  const std::string value = a.size() > 14 ? a.substr(15) : "error";
  if (value == "error" || value == "on") {
    o.device_check = DeviceCheck::Error;
  } else if (value == "warn") {
    o.device_check = DeviceCheck::Warn;
  } else if (value == "off") {
    o.device_check = DeviceCheck::Off;
  } else {
    fail("--device-check is error, warn or off, not '" + value + "'");
  }
}

// Options of the device compiler: those that say what the twin does anyway are accepted, others are refused by name.
bool is_vendor_option(const std::string& a) {
  if (starts_with(a, "--npu-arch=")) {
    if (a != "--npu-arch=dav-2201") fail("the twin models dav-2201 (910B) only, not '" + a.substr(11) + "'");
    return true;
  }
  if (starts_with(a, "--cce-aicore-arch=")) {
    if (!starts_with(a, "--cce-aicore-arch=dav-c220"))
      fail("the twin models dav-c220 (910B) only, not '" + a.substr(18) + "'");
    return true;
  }
  if (starts_with(a, "--cce-soc-version=")) {
    if (!starts_with(a, "--cce-soc-version=Ascend910B"))
      fail("the twin models Ascend910B1 to B4 only, not '" + a.substr(18) + "'");
    return true;
  }
  return a == "-xasc" || a == "-xcce" || a == "--cce-aicore-lang" || a == "--cce-disable-kernel-global-attr-check" ||
         starts_with(a, "--cce-aicore-jump-expand") || starts_with(a, "--cce-soc-core-type=");
}

void compiler_option(Options& o, const std::string& a) {
  if (starts_with(a, "-I")) o.include_dirs.push_back(a.substr(2));
  if (starts_with(a, "-isystem")) o.system_dirs.push_back(a.substr(8));
  o.has_std |= starts_with(a, "-std=");
  o.has_level |= starts_with(a, "-O");
  o.has_debug |= starts_with(a, "-g");
  o.steps |= a == "-g" || a == "-g2" || a == "-g3" || starts_with(a, "-ggdb");
  if (a == "-E" || a == "-S" || a == "-M" || a == "-MM")
    fail(a + ": twincc makes objects and programs; --keep DIR leaves the rewritten source, for your compiler's " + a);
  o.flags.push_back(a);
}

}  // namespace

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&](const std::string& option) -> std::string {
      if (++i >= argc) fail(option + " needs a value");
      return argv[i];
    };
    if (a == "-h" || a == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (a == "-o") {
      o.out = value("-o");
    } else if (a == "-c") {
      o.compile_only = true;
    } else if (a == "-v") {
      o.verbose = true;
    } else if (starts_with(a, "--cxx=")) {
      o.cxx = a.substr(6);
    } else if (starts_with(a, "--clang=")) {
      o.clang = a.substr(8);
    } else if (a == "--keep") {
      o.keep = value("--keep");
    } else if (a == "--cce-auto-sync=on" || a == "--cce-auto-sync") {
      o.auto_sync = true;
    } else if (a == "--cce-auto-sync=off") {
      o.auto_sync = false;
    } else if (starts_with(a, "--cce-auto-sync")) {
      fail("--cce-auto-sync is on or off, not '" + a + "'");
    } else if (a == "--device-check" || starts_with(a, "--device-check=")) {
      device_check(o, a);
    } else if (a == "--no-gm-pointers") {
      o.pointers = false;
    } else if (is_vendor_option(a) || is_vendor_library(a)) {
      continue;
    } else if (starts_with(a, "--cce-")) {
      fail("option '" + a + "' of the device compiler is not supported");
    } else if (a == "-mllvm") {
      const std::string what = value(a);
      if (what.find("cce") == std::string::npos) o.flags.insert(o.flags.end(), {a, what});
    } else if (a == "-x") {
      const std::string language = value("-x");
      if (language != "asc" && language != "c++" && language != "cce")
        fail("-x " + language + ": asc, cce and c++ are known");
    } else if (a.empty()) {
      fail("an empty argument");
    } else if (a[0] != '-' && is_source(a)) {
      o.sources.push_back(a);
    } else if (a[0] != '-' || starts_with(a, "-l") || starts_with(a, "-L") || starts_with(a, "-Wl,")) {
      if (a[0] != '-' && !std::filesystem::exists(a)) fail("no such file: " + a);
      o.linked.push_back(a);
    } else if (a == "-I" || a == "-isystem" || a == "-include" || a == "-D" || a == "-U" || a == "-iquote") {
      const std::string next = value(a);
      o.flags.insert(o.flags.end(), {a, next});
      if (a == "-include") o.included.push_back(next);
      if (a == "-isystem") o.system_dirs.push_back(next);
      if (a == "-include") o.flags.insert(o.flags.end(), {a, "twin/tiling_names.hpp"});
      if (a == "-I" || a == "-iquote") o.include_dirs.push_back(next);
    } else {
      compiler_option(o, a);
    }
  }
  if (o.sources.empty() && o.linked.empty()) fail("no input files (twincc --help)");
  if (o.compile_only && !o.out.empty() && o.sources.size() > 1) fail("-o with -c takes one source");
  if (o.cxx.empty()) o.cxx = find_program({TWIN_CXX, "g++", "clang++", "c++"});
  if (o.cxx.empty()) fail("no C++ compiler found: install g++ or clang++, or name one with --cxx=");
  if (o.device_check != DeviceCheck::Off) {
    const bool wanted = !o.clang.empty() || o.device_check == DeviceCheck::Error;
    o.clang = find_program(o.clang.empty() ? std::vector<std::string>{"clang++", "clang++-19", "clang++-18", "clang++-17",
                                                                      "clang++-16", "clang++-15", "clang++-14"}
                                           : std::vector<std::string>{o.clang});
    if (o.clang.empty() && wanted)
      fail("--device-check needs clang++, which is not there: install clang, or --clang=PROGRAM");
    if (o.clang.empty()) o.device_check = DeviceCheck::Off;
    if (o.device_check == DeviceCheck::Auto) o.device_check = DeviceCheck::Warn;
  }
  return o;
}

}  // namespace twincc

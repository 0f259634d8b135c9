// SPDX-License-Identifier: Apache-2.0
// twincc: compiles a file with Ascend C kernels for the host, so that they run on the twin. See docs/twin.md.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "rewrite.hpp"

namespace fs = std::filesystem;
using twincc::Kernel;
using twincc::Source;

namespace {

constexpr const char* kHelp = R"(usage: twincc [options] files...
Compiles Ascend C for the host: kernels run on the twin, which checks and times them.
  files                    .asc .cpp .cc .cxx .cce (compiled), .o .a .so (linked)
  -o FILE                  the program (a.out), or the object with -c
  -c                       compile only
  --cce-auto-sync=on|off   the device compiler adds the barriers it would add (on), or the kernel must have them (off)
  --cxx=PROGRAM            the compiler to use, g++ or clang++
  --keep DIR               leave the rewritten sources in DIR
  -v                       print the commands
Every other option goes to the compiler. The finished program obeys the variable TWIN:
  TWIN=device=910B3,auto-sync=off,timing,trace=t.json,json=r.json ./a.out
)";

struct Options {
  std::string cxx = TWIN_CXX, out, keep;
  bool compile_only = false, verbose = false, auto_sync = true, has_std = false, has_level = false, has_debug = false;
  std::vector<std::string> flags, sources, linked;
  std::vector<std::string> include_dirs;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "twincc: %s\n", why.c_str());
  std::exit(2);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) fail("cannot write " + path.string());
}

bool starts_with(const std::string& s, const char* with) { return s.compare(0, std::strlen(with), with) == 0; }

void run(const Options& o, const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& a : command) {
    if (o.verbose) std::fprintf(stderr, "%s ", a.c_str());
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  if (o.verbose) std::fputc('\n', stderr);
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("cannot start a process");
  if (child == 0) {
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "twincc: cannot run %s\n", argv[0]);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::exit(WIFEXITED(status) && WEXITSTATUS(status) != 127 ? 1 : 2);
}

// Where the headers and the library are: beside an installed twincc, or where they were built.
fs::path home(const char* what_installed, const char* built) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = self.parent_path().parent_path() / what_installed;
  return !error && fs::exists(installed) ? installed : fs::path(built);
}

Options parse(int argc, char** argv) {
  Options o;
  // Libraries of the vendor's runtime, which the twin replaces.
  static const std::set<std::string> kVendor = {
      "-lascendcl",       "-lruntime",    "-lregister", "-ltiling_api",  "-lplatform", "-lerror_manager", "-lprofapi",
      "-lge_common_base", "-lascendalog", "-lmmpa",     "-lascend_dump", "-lc_sec",    "-lunified_dlog"};
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&](const char* option) -> std::string {
      if (++i >= argc) fail(std::string(option) + " needs a value");
      return argv[i];
    };
    const std::string extension = fs::path(a).extension().string();
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
    } else if (a == "--keep") {
      o.keep = value("--keep");
    } else if (a == "--cce-auto-sync=on" || a == "--cce-auto-sync") {
      o.auto_sync = true;
    } else if (a == "--cce-auto-sync=off") {
      o.auto_sync = false;
    } else if (starts_with(a, "--cce-auto-sync")) {
      fail("--cce-auto-sync is on or off, not '" + a + "'");
    } else if (starts_with(a, "--npu-arch=")) {
      if (a != "--npu-arch=dav-2201") fail("the twin models dav-2201 (910B) only, not '" + a.substr(11) + "'");
    } else if (starts_with(a, "--cce-") || a == "-xasc" || a == "--device-check") {
      fail("option '" + a + "' is not supported");
    } else if (a == "-x") {
      const std::string language = value("-x");
      if (language != "asc" && language != "c++") fail("-x " + language + ": asc and c++ are known");
    } else if (kVendor.count(a)) {
      continue;
    } else if (a[0] != '-' && (extension == ".asc" || extension == ".cpp" || extension == ".cc" || extension == ".cxx" ||
                               extension == ".cce")) {
      o.sources.push_back(a);
    } else if (a[0] != '-' || starts_with(a, "-l") || starts_with(a, "-L") || starts_with(a, "-Wl,")) {
      o.linked.push_back(a);
    } else {
      if (a == "-I" || a == "-isystem" || a == "-include" || a == "-D" || a == "-U" || a == "-iquote") {
        const std::string next = value(a.c_str());
        o.flags.push_back(a);
        o.flags.push_back(next);
        if (a == "-I" || a == "-iquote") o.include_dirs.push_back(next);
        continue;
      }
      if (starts_with(a, "-I")) o.include_dirs.push_back(a.substr(2));
      o.has_std |= starts_with(a, "-std=");
      o.has_level |= starts_with(a, "-O");
      o.has_debug |= starts_with(a, "-g");
      o.flags.push_back(a);
    }
  }
  if (o.sources.empty() && o.linked.empty()) fail("no input files (twincc --help)");
  if (o.compile_only && !o.out.empty() && o.sources.size() > 1) fail("-o with -c takes one source");
  return o;
}

// A source and the quoted headers it includes, rewritten into the work folder where one of them launches kernels.
class Unit {
 public:
  Unit(const Options& o, const fs::path& file, fs::path work)
      : o_(o), file_(fs::absolute(file).lexically_normal()), work_(std::move(work)) {
    main_ = load(file_);
    headers(main_, file_.parent_path());
  }

  bool mix() const {
    for (const auto& [path, s] : all_) {
      if (s.names_core_kind) return true;
    }
    return uses_cube() && uses_vector();
  }
  bool uses_cube() const { return any(&Source::uses_cube); }
  bool uses_vector() const { return any(&Source::uses_vector); }

  // Definitions of kernels in the file and in its headers, one for each name.
  std::vector<Kernel> kernels() const {
    std::vector<Kernel> out;
    std::set<std::string> known;
    for (const auto& [path, s] : all_) {
      for (const Kernel& k : s.kernels) {
        if (k.defined && known.insert(k.name).second) out.push_back(k);
      }
    }
    return out;
  }

  fs::path write() {
    for (const auto& [path, s] : all_) {
      if (path != file_ && s.launches)
        write_file(work_ / "include" / fs::relative(path, file_.parent_path()), line_mark(path) + s.text);
    }
    std::string tail = "\n#line 1 \"" + file_.string() + " (twincc)\"\n";
    for (const Kernel& k : kernels()) {
      tail += "namespace { [[maybe_unused]] const bool twin_type_" + k.name + " = ::twin::register_kernel_type(\"" + k.name +
              "\", ::twin::KernelType::" + twincc::engine_type(k.type, uses_cube(), uses_vector()) + "); }\n";
      if (!k.is_template && !in_namespace(k)) tail += entry(k);
    }
    const fs::path out = work_ / "include" / (file_.filename().string() + ".cpp");
    write_file(out, line_mark(file_) + main_.text + tail);
    return out;
  }

 private:
  Source load(const fs::path& path) {
    Source s = twincc::rewrite(read_file(path));
    if (!s.error.empty()) fail(path.string() + ": " + s.error);
    all_.emplace_back(path, s);
    return s;
  }
  void headers(const Source& s, const fs::path& folder) {
    for (const std::string& include : s.quoted_includes) {
      std::vector<fs::path> where = {folder};
      where.insert(where.end(), o_.include_dirs.begin(), o_.include_dirs.end());
      for (const fs::path& dir : where) {
        const fs::path path = (dir / include).lexically_normal();
        if (!fs::exists(path) || !seen_.insert(fs::absolute(path).string()).second) continue;
        headers(load(fs::absolute(path).lexically_normal()), path.parent_path());
        break;
      }
    }
  }
  bool any(bool Source::*what) const {
    for (const auto& [path, s] : all_) {
      if (s.*what) return true;
    }
    return false;
  }
  // Only extern "C" kernels and those of the global namespace can be named at the end of the file.
  bool in_namespace(const Kernel& k) const {
    const std::string text = main_.text;
    const std::size_t at = text.find(k.name);
    if (at == std::string::npos) return true;  // defined in a header: its launch is in this file
    const auto count = [&](char c) { return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), c); };
    return count('{') != count('}') && text.find("extern \"C\" {") == std::string::npos;
  }
  // Other files launch the kernel by its name, or by the function that ACLRT_LAUNCH_KERNEL names.
  static std::string entry(const Kernel& k) {
    std::string parameters = "std::uint32_t twin_blocks, void*", arguments;
    for (const std::string& p : k.parameters) {
      parameters += ", " + twincc::host_parameter(p);
      arguments += (arguments.empty() ? "" : ", ") + twincc::parameter_name(p);
    }
    return "namespace { [[maybe_unused]] const bool twin_registered_" + k.name + " = ::twin::Launch<decltype(" + k.name +
           "), " + k.name + ">::registered(); }\nextern \"C\" std::uint32_t aclrtlaunch_" + k.name + "(" + parameters +
           ") {\n  ::twin::launcher<decltype(" + k.name + "), " + k.name + ">(twin_blocks)(" + arguments +
           ");\n  return 0;\n}\n";
  }
  static std::string line_mark(const fs::path& path) { return "#line 1 \"" + path.string() + "\"\n"; }

  const Options& o_;
  fs::path file_, work_;
  Source main_;
  std::vector<std::pair<fs::path, Source>> all_;
  std::set<std::string> seen_;
};

std::string launch_header(const Kernel& k) {
  std::string parameters = "std::uint32_t twin_blocks, void* twin_stream";
  for (const std::string& p : k.parameters) parameters += ", " + twincc::host_parameter(p);
  return "#pragma once\n#include \"twin/engine.hpp\"\n#ifndef ACLRT_LAUNCH_KERNEL\n#define ACLRT_LAUNCH_KERNEL(kernel) "
         "aclrtlaunch_##kernel\n#endif\n"
         "extern \"C\" std::uint32_t aclrtlaunch_" +
         k.name + "(" + parameters + ");\n";
}

fs::path compile(const Options& o, const fs::path& original, Unit& unit, const fs::path& shared, const fs::path& work) {
  const fs::path source = unit.write();
  std::vector<std::string> command = {o.cxx};
  if (!o.has_std) command.push_back("-std=c++17");
  if (!o.has_level) command.push_back("-O1");
  if (!o.has_debug) command.push_back("-g");
  std::istringstream extra(TWIN_FLAGS);
  for (std::string flag; extra >> flag;) command.push_back(flag);
  command.insert(
      command.end(),
      {"-x", "c++", "-Wno-unknown-pragmas", "-I" + home("include/tessera-twin", TWIN_INCLUDE).string(),
       "-I" + shared.string(), "-include", "twin/qualifiers.hpp", "-include", "twin/engine.hpp", "-iquote",
       fs::absolute(original).parent_path().string(), std::string("-DTWIN_AUTO_SYNC=") + (o.auto_sync ? "1" : "0")});
  command.insert(command.end(), o.flags.begin(), o.flags.end());
  struct Pass {
    const char* name;
    const char* define;
  };
  std::vector<Pass> passes = {{"host", nullptr}};
  if (unit.mix()) passes.insert(passes.end(), {{"aic", "-D__DAV_C220_CUBE__=1"}, {"aiv", "-D__DAV_C220_VEC__=1"}});
  std::vector<std::string> objects;
  for (const Pass& pass : passes) {
    const fs::path object = work / (std::string(pass.name) + ".o");
    std::vector<std::string> full = command;
    if (pass.define) full.push_back(pass.define);
    // Unique symbols of inline variables cannot be made local; clang has none.
    if (pass.define && o.cxx.find("clang") == std::string::npos) full.push_back("-fno-gnu-unique");
    full.insert(full.end(), {"-c", source.string(), "-o", object.string()});
    run(o, full);
    if (pass.define) {
      // The three copies define the same names: those of the device passes become local, inline functions and templates
      // included.
      const fs::path merged = work / (std::string(pass.name) + ".merged.o");
      run(o, {"ld", "-r", "--force-group-allocation", object.string(), "-o", merged.string()});
      run(o, {"objcopy", "--keep-global-symbol=twincc_keeps_nothing_global", merged.string()});
      objects.push_back(merged.string());
    } else {
      objects.push_back(object.string());
    }
  }
  if (objects.size() == 1) return objects[0];
  const fs::path whole = work / "whole.o";
  std::vector<std::string> join = {"ld", "-r", "-o", whole.string()};
  join.insert(join.end(), objects.begin(), objects.end());
  run(o, join);
  return whole;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  char pattern[] = "/tmp/tessera-twincc.XXXXXX";
  fs::path work = o.keep;
  if (o.keep.empty()) {
    if (!mkdtemp(pattern)) fail("cannot make a folder in /tmp");
    work = pattern;
  }
  struct Cleaner {
    fs::path path;
    ~Cleaner() {
      std::error_code ignored;
      if (!path.empty()) fs::remove_all(path, ignored);
    }
  };
  static Cleaner cleaner;  // static: exit() runs it too
  if (o.keep.empty()) cleaner.path = work;
  std::vector<Unit> units;
  for (std::size_t i = 0; i < o.sources.size(); ++i) units.emplace_back(o, o.sources[i], work / std::to_string(i));
  for (const Unit& unit : units) {
    for (const Kernel& k : unit.kernels()) write_file(work / "launch" / ("aclrtlaunch_" + k.name + ".h"), launch_header(k));
  }
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const fs::path object = compile(o, o.sources[i], units[i], work / "launch", work / std::to_string(i));
    if (o.compile_only) {
      const fs::path out = o.out.empty() ? fs::path(o.sources[i]).filename().replace_extension(".o") : fs::path(o.out);
      fs::copy_file(object, out, fs::copy_options::overwrite_existing);
    } else {
      objects.push_back(object.string());
    }
  }
  if (o.compile_only) return 0;
  std::vector<std::string> link = {o.cxx};
  for (const std::string& flag : o.flags) {
    if (starts_with(flag, "-fsanitize") || starts_with(flag, "-static") || starts_with(flag, "-pthread") ||
        starts_with(flag, "-fopenmp"))
      link.push_back(flag);
  }
  std::istringstream extra(TWIN_FLAGS);
  for (std::string flag; extra >> flag;) link.push_back(flag);
  link.insert(link.end(), objects.begin(), objects.end());
  link.insert(link.end(), o.linked.begin(), o.linked.end());
  link.insert(link.end(), {home("lib/libtessera_twin.a", TWIN_LIBRARY).string(), "-o", o.out.empty() ? "a.out" : o.out});
  run(o, link);
  return 0;
}

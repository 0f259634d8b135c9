// SPDX-License-Identifier: Apache-2.0
// twincc: compiles a file with Ascend C kernels for the host, so that they run on the twin. See docs/twin.md.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "device_check.hpp"
#include "options.hpp"
#include "unit.hpp"

namespace fs = std::filesystem;
using namespace twincc;

namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// What makes the rewritten source compile, whatever is made of it.
std::vector<std::string> source_flags(const Options& o, const Unit& unit, const fs::path& shared) {
  std::vector<std::string> flags = {"-x", "c++", "-include", "twin/qualifiers.hpp", "-include", "twin/engine.hpp"};
  const auto add = [&](const std::vector<std::string>& more) { flags.insert(flags.end(), more.begin(), more.end()); };
  if (!o.has_std) flags.push_back("-std=c++17");
  add(unit.search_options());
  // -isystem: the twin's headers raise none of the warnings that are asked for.
  add({"-isystem", include_home().string(), "-I" + shared.string()});
  add({std::string("-DTWIN_AUTO_SYNC=") + (o.auto_sync ? "1" : "0"), "-DTWIN_UNIT_TYPE=" + unit.type()});
  for (const std::string& name : unit.own_library_names()) flags.push_back("-DTWIN_OWN_" + name);
  for (const auto& [kernel, text] : unit.types().registrations()) flags.push_back("-DTWIN_TYPES_OF_" + kernel + "=" + text);
  return flags;
}

// Of the user's options those that another compiler than the chosen one must see.
std::vector<std::string> portable_flags(const Options& o) {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < o.flags.size(); ++i) {
    const std::string& f = o.flags[i];
    const bool separate = f == "-I" || f == "-isystem" || f == "-include" || f == "-D" || f == "-U" || f == "-iquote";
    if (separate && i + 1 < o.flags.size()) {
      flags.insert(flags.end(), {f, o.flags[i + 1]});
      ++i;
    } else if (starts_with(f, "-I") || starts_with(f, "-D") || starts_with(f, "-U") || starts_with(f, "-std=")) {
      flags.push_back(f);
    }
  }
  return flags;
}

// A sanitizer to which loads and stores are announced already, or code that is made at link time.
bool rules_out_announcing(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& f) {
    if (!starts_with(f, "-fsanitize=")) return starts_with(f, "-flto");
    for (const char* const kind : {"address", "thread", "memory"}) {
      if (f.find(kind) != std::string::npos) return true;
    }
    return false;
  });
}

// Has the compiler call a function of the twin's before each load and store (src/gm_callbacks.cpp). It defines a macro with
// the sanitizer, which is not there.
std::vector<std::string> announcing_flags(const Options& o) {
  if (o.cxx.find("clang") != std::string::npos) {
    return {"-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm", "-tsan-instrument-atomics=0",
            "-mllvm", "-tsan-instrument-read-before-write=1",
            // Calls that are joined have no line of their own.
            "-mllvm", "-enable-tail-merge=0"};
  }
  return {"-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0", "-Wno-tsan", "-U__SANITIZE_THREAD__"};
}

// Of calls that compilers make of large copies nothing is announced: they get the names of src/gm_copies.cpp.
void rename_copies(const Options& o, const fs::path& object) {
  run(o, {"objcopy", "--redefine-sym=memcpy=twin_memcpy", "--redefine-sym=memmove=twin_memmove",
          "--redefine-sym=memset=twin_memset", object.string()});
}

// What the preprocessor makes of the source says the types of kernels. A kernel that only some passes see counts too.
void read_types(const Options& o, Unit& unit, const std::vector<std::string>& command, const fs::path& source,
                const fs::path& work) {
  TypeReader types;
  for (const char* pass : {"-DTWIN_READ_TYPES", "-D__DAV_C220_CUBE__=1", "-D__DAV_C220_VEC__=1"}) {
    const fs::path out = work / "types.ii", errors = work / "types.txt";
    std::vector<std::string> full = command;
    full.insert(full.end(), {"-DTWIN_READ_TYPES", "-UTWIN_UNIT_TYPE", pass, "-E", source.string(), "-o", out.string()});
    const int status = execute(o, full, {}, errors);
    if (status != 0) {
      std::fputs(read_file(errors).c_str(), stderr);
      std::exit(status == 127 ? 2 : 1);
    }
    types.read(read_file(out));
  }
  if (!types.error().empty()) fail(types.error());
  unit.take_types(std::move(types));
}

fs::path compile(const Options& o, Unit& unit, const fs::path& shared, const fs::path& work) {
  const fs::path source = unit.write();
  std::vector<std::string> command = {o.cxx};
  // -g is asked for to step through the kernel: with -Og, too, lines have no instruction and variables no value.
  if (!o.has_level) command.push_back(o.steps ? "-O0" : "-O1");
  // In DWARF 5 the files of a source that is not the one compiled are off by one to binutils before 2.41, which names lines.
  command.push_back("-gdwarf-4");
  if (!o.has_debug) command.push_back("-g");
  const auto add = [&](const std::vector<std::string>& more) { command.insert(command.end(), more.begin(), more.end()); };
  add(words(TWIN_FLAGS));
  add({"-Wno-unknown-pragmas"});
  // The configuration of a Matmul in a kernel's header is of internal linkage, and so is the object's type; all is one file.
  if (o.cxx.find("clang") == std::string::npos) add({"-Wno-subobject-linkage"});
  if (unit.unclear_types()) {
    std::vector<std::string> preprocess = command;
    const std::vector<std::string> before = source_flags(o, unit, shared);
    preprocess.insert(preprocess.end(), before.begin(), before.end());
    preprocess.insert(preprocess.end(), o.flags.begin(), o.flags.end());
    read_types(o, unit, preprocess, source, work);
  }
  const std::vector<std::string> flags = source_flags(o, unit, shared);
  add(flags);
  add(o.flags);
  const bool pointers = o.pointers && !rules_out_announcing(o.flags) && !rules_out_announcing(words(TWIN_FLAGS));
  if (pointers) add(announcing_flags(o));
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
    if (pointers) rename_copies(o, object);
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
  if (o.device_check != DeviceCheck::Off && unit.has_kernels()) {
    std::vector<std::string> check = flags;
    const std::vector<std::string> more = portable_flags(o);
    check.insert(check.end(), more.begin(), more.end());
    if (!device_check(o, unit, source, check, work / "check")) std::exit(1);
  }
  if (objects.size() == 1) return objects[0];
  fs::path whole = work / "whole.o";
  std::vector<std::string> join = {"ld", "-r", "-o", whole.string()};
  join.insert(join.end(), objects.begin(), objects.end());
  run(o, join);
  return whole;
}

void link(const Options& o, const std::vector<std::string>& objects) {
  std::vector<std::string> command = {o.cxx};
  const auto add = [&](const std::vector<std::string>& more) { command.insert(command.end(), more.begin(), more.end()); };
  for (std::size_t i = 0; i < o.flags.size(); ++i) {
    const std::string& flag = o.flags[i];
    if (flag == "-I" || flag == "-isystem" || flag == "-include" || flag == "-D" || flag == "-U" || flag == "-iquote") {
      ++i;  // and its value: of no use to the linker
    } else if (!starts_with(flag, "-I") && !starts_with(flag, "-D") && !starts_with(flag, "-U") &&
               !starts_with(flag, "-W")) {
      command.push_back(flag);
    }
  }
  add(words(TWIN_FLAGS));
  add(objects);
  add(o.linked);
  add({library_home().string(), "-o", o.out.empty() ? "a.out" : o.out});
  run(o, command);
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
  units.reserve(o.sources.size());
  for (std::size_t i = 0; i < o.sources.size(); ++i) units.emplace_back(o, o.sources[i], work / std::to_string(i));
  const fs::path launch = work / "launch";
  for (const Unit& unit : units) {
    for (const std::string& name : unit.launch_headers())
      write_file(launch / ("aclrtlaunch_" + name + ".h"), launch_header(name));
  }
  for (const Unit& unit : units) {
    for (const std::string& name : unit.missing_headers()) write_file(launch / name, missing_header(name));
  }
  for (const Unit& unit : units) {
    for (const Kernel& k : unit.kernels()) write_file(launch / ("aclrtlaunch_" + k.name + ".h"), launch_header(k));
  }
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const fs::path object = compile(o, units[i], launch, work / std::to_string(i));
    if (o.compile_only) {
      const fs::path out = o.out.empty() ? fs::path(o.sources[i]).filename().replace_extension(".o") : fs::path(o.out);
      std::error_code error;
      fs::copy_file(object, out, fs::copy_options::overwrite_existing, error);
      if (error) fail("cannot write " + out.string());
    } else {
      objects.push_back(object.string());
    }
  }
  if (!o.compile_only) link(o, objects);
  return 0;
}

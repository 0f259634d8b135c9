// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "device_check.hpp"

namespace twincc {
std::string readable(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : symbol;
  std::free(text);
  return out;
}

const std::vector<std::string>& host_mathematics() {
  static const std::vector<std::string> kNames = {"sqrt",  "fma", "exp", "exp2", "exp10", "log", "log2",
                                                  "log10", "pow", "sin", "cos",  "tan",   "tanh"};
  return kNames;
}

namespace {

bool begins(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }
// A lambda's: "f()::$_0::operator()(int) const", "f()::{lambda(int)#1}::operator()(int) const".
bool ends_with_call(const std::string& name) {
  const std::size_t call = name.rfind("::operator()(");
  return call != std::string::npos && call > 0 &&
         (name[call - 1] == '}' || name.rfind("::$_", call) != std::string::npos ||
          name.rfind("'lambda", call) != std::string::npos);
}
bool is_any(const std::string& s, std::initializer_list<const char*> list) {
  return std::find(list.begin(), list.end(), s) != list.end();
}

// What a runtime symbol stands for in the source; "" if nothing that a kernel may not have.
std::string forbidden(const std::string& s) {
  for (const char* allocator : {"_Znw", "_Zna", "_Zdl", "_Zda"}) {
    if (begins(s, allocator))
      return "allocates memory (new or delete): a kernel has none to allocate from, use a TBuf or a queue";
  }
  if (is_any(s, {"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "strdup"}))
    return "allocates memory (" + s + "): a kernel has none to allocate from, use a TBuf or a queue";
  if (is_any(s, {"__cxa_throw", "__cxa_allocate_exception", "__cxa_rethrow", "__cxa_begin_catch"}))
    return "uses exceptions: the core has none, hand a status on instead";
  if (s == "__dynamic_cast" || begins(s, "_ZTI"))
    return "asks for a type at run time (typeid or dynamic_cast): the core has no type information";
  if (begins(s, "_ZTV"))
    return "makes an object with virtual functions (" + readable(s).substr(11) + "): use templates instead";
  if (begins(s, "__cxa_guard_"))
    return "has a static local that is initialised at run time: pass it along, or make it constexpr";
  return "";
}

// llvm.exp.f32 is what __builtin_expf becomes: "exp". "" for what the scalar unit has (a square root, least and greatest,
// counts of bits) and for what is no mathematics.
std::string host_mathematics_of(const std::string& symbol) {
  if (!begins(symbol, "llvm.")) return "";
  const std::string name = symbol.substr(5, symbol.find('.', 5) - 5);
  const std::vector<std::string>& all = host_mathematics();
  return name != "sqrt" && name != "fma" && std::find(all.begin(), all.end(), name) != all.end() ? name : "";
}

class Graph {
 public:
  Graph(const std::map<std::string, IrFunction>& module, const std::string& twin, std::string (*source_line)(const Place&))
      : module_(module), twin_(twin), source_line_(source_line) {}

  std::vector<Complaint> run(std::map<std::string, std::set<std::string>>* reached) {
    for (const auto& [name, f] : module_) {
      if (f.defined && f.kernel) visit(f);
    }
    for (const auto& [name, f] : module_) {
      if (f.defined && f.kernel) collect(f, (*reached)[name]);
    }
    return {complaints_.begin(), complaints_.end()};
  }

 private:
  enum State { Unseen, Open, Closed };

  bool of_the_twin(const IrFunction& f) const { return begins(f.at.file, twin_.c_str()) || begins(f.symbol, "_ZN4twin"); }
  static bool of_the_host(const IrFunction& f) {
    return begins(f.at.file, "/usr/") || f.at.file.find("/include/c++/") != std::string::npos ||
           f.at.file.find("/lib/clang/") != std::string::npos;
  }
  // Functions that are the device's without a mark: the compiler's own, lambdas, defaulted ones, constexpr.
  bool marked(const IrFunction& f) const {
    if (f.artificial || f.aicore || f.kernel) return true;
    if (ends_with_call(readable(f.symbol))) return true;
    const std::string line = source_line_(f.at), before = source_line_({f.at.file, f.at.line - 1});
    return line.find("constexpr") != std::string::npos || line.find("= default") != std::string::npos ||
           line.find("=default") != std::string::npos || before.find("constexpr") != std::string::npos;
  }
  void complain(const Place& at, const std::string& what) {
    Complaint c;
    c.at = at;
    c.what = what;
    complaints_.insert(std::move(c));
  }

  void visit(const IrFunction& f) {
    state_[&f] = Open;
    path_.push_back(&f);
    for (const Place& at : f.doubles) complain(at, "computes with double: the core has none, write 1.0f and float");
    // A throw names the type that it throws, too.
    std::set<Place> thrown;
    for (const Reference& r : f.references) {
      if (r.symbol == "__cxa_throw") thrown.insert(r.at);
    }
    for (const Reference& r : f.references) {
      if (!(begins(r.symbol, "_ZTI") && thrown.count(r.at))) refer(f, r);
    }
    path_.pop_back();
    state_[&f] = Closed;
  }
  void collect(const IrFunction& f, std::set<std::string>& into) const {
    if (state_.count(&f) == 0 || !into.insert(f.symbol).second) return;
    for (const Reference& r : f.references) {
      const auto found = module_.find(r.symbol);
      if (found != module_.end()) collect(found->second, into);
    }
  }
  // AscendC::Std is the device's part of the standard library; on the twin its names are the host's.
  bool is_of_the_devices_std(const Reference& call, const IrFunction& f) const {
    return source_line_(call.at).find("Std::") != std::string::npos || begins(f.symbol, "_ZNSt5tuple");
  }
  void refer(const IrFunction& from, const Reference& r) {
    const std::string mathematics = host_mathematics_of(r.symbol);
    if (!mathematics.empty())
      return complain(r.at, "calls " + mathematics + " of the host's library (__builtin_" + mathematics +
                                "f): a kernel has no such library");
    if (begins(r.symbol, "llvm.") || r.symbol == "__clang_call_terminate" || r.symbol == "printf") return;
    const std::string why = forbidden(r.symbol);
    if (!why.empty()) return complain(r.at, why);
    const auto found = module_.find(r.symbol);
    if (found == module_.end()) return;  // a constant or a variable
    const IrFunction& f = found->second;
    if (of_the_twin(f)) return;
    if (f.defined && of_the_host(f) && is_of_the_devices_std(r, f)) return;
    if (f.defined ? of_the_host(f) : !f.aicore)
      return complain(r.at, "calls " + readable(f.symbol) + " of the host's library: a kernel has " +
                                (f.defined || begins(f.symbol, "_Z") ? "only __aicore__ functions" : "no such library"));
    if (!f.defined) return;
    if (!marked(f))
      complain(r.at, "calls " + readable(f.symbol) + ", which is not __aicore__ (declared at line " +
                         std::to_string(f.at.line) + ")");
    if (state_[&f] == Open) return recursion(from, f, r.at);
    if (state_[&f] == Unseen) visit(f);
  }
  void recursion(const IrFunction& from, const IrFunction& to, const Place& at) {
    std::string way = readable(to.symbol);
    if (&from != &to) {
      for (auto f = std::find(path_.begin(), path_.end(), &to) + 1; f != path_.end(); ++f)
        way += " -> " + readable((*f)->symbol);
    }
    complain(at, "recursion: " + way + " -> " + readable(to.symbol) + "; a kernel's call depth must be known, write a loop");
  }

  const std::map<std::string, IrFunction>& module_;
  const std::string twin_;
  std::string (*source_line_)(const Place&);
  std::map<const IrFunction*, State> state_;
  std::vector<const IrFunction*> path_;
  std::set<Complaint> complaints_;
};

}  // namespace

std::vector<Complaint> check_calls(const std::map<std::string, IrFunction>& module, const std::string& twin_headers,
                                   std::string (*source_line)(const Place&),
                                   std::map<std::string, std::set<std::string>>* reached) {
  return Graph(module, twin_headers, source_line).run(reached);
}

}  // namespace twincc

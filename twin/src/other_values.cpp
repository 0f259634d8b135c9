// SPDX-License-Identifier: Apache-2.0
// The launch again, with other values in place of those that the timing-only mode has skipped: it must not matter. The runs
// are those of a child process: what a kernel does with a strange value (an index out of its table, a loop that does not
// end) harms nothing, and is known by how the child ends.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <optional>

#include "engine.hpp"
#include "launched.hpp"
#include "stand_ins.hpp"

namespace twin {
namespace {

// A run costs about as much as so many records for each core that has to be set up, and all together may cost so many.
constexpr std::uint64_t kRecordsACore = 200, kMostRecords = 4'000'000;
constexpr int kFewestRuns = 5;  // three with one value for all, then one with a value a read, and one with a value a core

// ---- in the child ----
class Runs {
 public:
  Runs(Launched& first, const RunAgain& run, Rerun::Last* last) : first_(first), run_(run), rerun_(first, last) {}

  std::optional<Finding> look() {
    std::uint64_t cost = 0, all = 0;
    for (const auto& core : first_.cores) cost += core->appended + kRecordsACore;
    for (int runs = 0; rerun_.next(); ++runs) {
      all += cost;
      if (runs >= kFewestRuns && all > kMostRecords) break;
      Launched later;
      again(&later);
      if (later.diverged) return blame(later);
    }
    return std::nullopt;
  }
  // Only the run that ended badly, with its values for one line.
  std::string once(const Rerun::Last& bad, std::uint32_t site) {
    rerun_.repeat(bad.way, bad.shift, site);
    Launched later;
    again(&later);
    return ".";
  }
  std::string tried() const {
    const auto [count, of] = rerun_.tried();
    return count == of ? "" : format("%zu of %zu", count, of);
  }

 private:
  void again(Launched* later) {
    restore_gm(first_);
    later->rerun = &rerun_;
    run_(*later);
  }
  // Which line's values did it? The others get 1 once more. If no line does it alone, the last one read before is named;
  // if it is no value's doing, none.
  Finding blame(const Launched& later) {
    const std::vector<std::uint32_t> sites = rerun_.sites();
    rerun_.repeat(Rerun::kNobody);
    Launched same;
    again(&same);
    if (same.diverged) return divergence(first_, same, Rerun::kNobody);
    for (const std::uint32_t site : sites) {
      if (sites.size() == 1) break;
      rerun_.repeat(site);
      Launched alone;
      again(&alone);
      if (alone.diverged) return divergence(first_, alone, site);
    }
    return divergence(first_, later, Rerun::kNoSite);
  }

  Launched& first_;
  const RunAgain& run_;
  Rerun rerun_;
};

std::string packed(const std::optional<Finding>& f, const std::string& tried) {
  std::string out;
  const auto add = [&out](const std::string& s) { (out += s) += '\0'; };
  add(tried);
  if (f) {
    for (const std::string* s : {&f->what, &f->line_a, &f->line_b, &f->core, &f->pipe_a, &f->fix}) add(*s);
  }
  return out + '.';
}

void write_all(int to, const std::string& s) {
  for (std::size_t at = 0; at < s.size();) {
    const ssize_t n = ::write(to, s.data() + at, s.size() - at);
    if (n <= 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

// What the kernel prints was printed by the first run. Ten times what the process has used up so far is more than all runs
// take, unless a loop is endless.
void be_quiet(rlim_t seconds) {
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) _exit(3);
  rlimit cpu{}, core{0, 0};
  getrlimit(RLIMIT_CPU, &cpu);
  cpu.rlim_cur = std::min(cpu.rlim_cur, seconds);
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_CORE, &core);
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU}) std::signal(s, SIG_DFL);
  mute_reports(true);
}

// ---- in the parent ----
std::string read_all(int from) {
  std::string out;
  char part[4096];
  for (ssize_t n; (n = ::read(from, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    out.append(part, n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

struct End {
  std::string said;
  int status = 0;
  bool good() const { return !said.empty() && said.back() == '.'; }
};
// Runs f in a child process: what it returns, and how it ended.
template <class F>
std::optional<End> in_child(const F& f) {
  int ends[2] = {-1, -1};
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const pid_t id = pipe(ends) == 0 ? fork() : -1;
  if (id < 0) {
    std::perror("twin: timing-only: no values were tried in place of the skipped ones");
    return std::nullopt;
  }
  if (id == 0) {
    be_quiet(10 + 10 * static_cast<rlim_t>(used.ru_utime.tv_sec));
    write_all(ends[1], f());
    _exit(0);
  }
  close(ends[1]);
  End end{read_all(ends[0])};
  close(ends[0]);
  while (waitpid(id, &end.status, 0) < 0 && errno == EINTR) continue;
  return end;
}

std::vector<std::string> unpacked(const std::string& s) {
  std::vector<std::string> out;
  for (std::size_t at = 0, end; (end = s.find('\0', at)) != std::string::npos; at = end + 1)
    out.push_back(s.substr(at, end - at));
  return out;
}

Finding bad_end(const Rerun::Last& last, int status) {
  Finding f{Kind::SkippedData};
  const bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  f.what = format("with %s in place of the value read here, which the timing-only mode has skipped (%s), the kernel %s",
                  stand_in_text(last.value).c_str(), skipped_by(last.state).c_str(),
                  endless ? "does not come to an end: a loop depends on it" : "crashes: an index or address depends on it");
  f.line_a = to_string(site_of(last.site));
  f.pipe_a = name(Pipe::S);
  f.fix = hint_for_skipped();
  return f;
}

}  // namespace

std::string hint_for_skipped() { return "say which value to go on with: TWIN_HINT(x.GetValue(i), value), from twin_hint.h"; }

void try_other_values(Launched& first, const RunAgain& run) {
  bool needed = false;
  for (const auto& core : first.cores) needed |= !core->skipped_reads.empty();
  if (!needed) return;
  static auto* const last = [] {
    void* const shared = mmap(nullptr, sizeof(Rerun::Last), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::bad_alloc();
    return new (shared) Rerun::Last;
  }();
  std::optional<End> end = in_child([&] {
    Runs runs(first, run, last);
    const std::optional<Finding> found = runs.look();
    return packed(found, runs.tried());
  });
  if (!end) return;
  if (!end->good()) {
    // As above: which line's value does it alone?
    const Rerun::Last bad = *last;
    for (const std::uint32_t site : Rerun(first, last).sites()) {
      const std::optional<End> alone = in_child([&] { return Runs(first, run, last).once(bad, site); });
      if (alone && !alone->good()) return report(bad_end(*last, alone->status));
    }
    return report(bad_end(bad, end->status));
  }
  const std::vector<std::string> words = unpacked(end->said);
  if (words.size() == 7) {
    Finding f{Kind::SkippedData, words[1], words[2], words[3], words[4], words[5]};
    f.fix = words[6];
    report(std::move(f));
  } else if (!words[0].empty() && settings().print_timing) {
    std::fprintf(stderr, "twin: timing-only: %s values were tried in place of the skipped ones that %s reads: it is large\n",
                 words[0].c_str(), first.kernel.c_str());
  }
}

}  // namespace twin

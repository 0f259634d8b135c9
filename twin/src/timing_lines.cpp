// SPDX-License-Identifier: Apache-2.0
// Lines of a timing that only the program's debug information knows: they are asked for when somebody looks at them, since
// that takes longer than many a launch.
#include <algorithm>
#include <tuple>

#include "code_lines.hpp"
#include "timeline.hpp"

namespace twin {
namespace {

constexpr char kMark = '\1';  // in front of the number of a line that has not been asked for

bool name_line(std::string* line) {
  if (line->empty() || line->front() != kMark) return false;
  *line = to_string(site_of(static_cast<std::uint32_t>(std::stoul(line->substr(1)))));
  return true;
}

// Several addresses of a program may be of one line.
template <class T, class Key, class Add>
void join(std::vector<T>* all, Key&& key, Add&& add) {
  std::map<decltype(key(all->front())), std::size_t> known;
  std::vector<T> out;
  for (T& one : *all) {
    const auto [at, fresh] = known.try_emplace(key(one), out.size());
    if (fresh) {
      out.push_back(std::move(one));
    } else {
      add(&out[at->second], one);
    }
  }
  *all = std::move(out);
}

}  // namespace

std::string line_for_later(std::uint32_t site) {
  return is_code(site_of(site)) ? kMark + std::to_string(site) : to_string(site_of(site));
}

void sort_lines(Timing* t) {
  std::stable_sort(t->lines.begin(), t->lines.end(),
                   [](const HotLine& a, const HotLine& b) { return a.busy_cycles > b.busy_cycles; });
  std::stable_sort(t->critical_path.begin(), t->critical_path.end(), [](const LineCost& a, const LineCost& b) {
    return std::tie(b.cycles, a.line, a.what, a.because_line) < std::tie(a.cycles, b.line, b.what, b.because_line);
  });
}

void name_lines(Timing* t) {
  bool any = false;
  for (HotLine& l : t->lines) any |= name_line(&l.line);
  for (LineCost& l : t->critical_path) {
    any |= name_line(&l.line);
    any |= name_line(&l.because_line);
  }
  if (!any) return;
  join(
      &t->lines, [](const HotLine& l) { return std::make_tuple(l.line, l.pipe, l.name); },
      [](HotLine* to, const HotLine& l) {
        to->count += l.count;
        to->busy_cycles += l.busy_cycles;
        to->bytes += l.bytes;
        to->critical_cycles += l.critical_cycles;
      });
  join(
      &t->critical_path, [](const LineCost& l) { return std::make_tuple(l.what, l.line, l.name, l.because_line); },
      [](LineCost* to, const LineCost& l) { to->cycles += l.cycles; });
  sort_lines(t);
}

}  // namespace twin

// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace twin {

extern const char* const kBuiltInDevices;  // devices/910b.device, made a string by the build

namespace {

const char* const kPathNames[kPaths] = {"None",    "GmToL1", "GmToL1Nz", "GmToUb",  "GmToL0", "UbToGm", "L0cToGm",
                                        "L0cToL1", "L1ToGm", "L1ToL0a",  "L1ToL0b", "L1ToBt", "UbToUb", "UbToL1"};

const char* const kNumbers[] = {"clock_mhz",
                                "cube_cores",
                                "vector_cores",
                                "hbm_bytes",
                                "hbm_bytes_per_second",
                                "l2_bytes",
                                "l2_line_bytes",
                                "l2_ways",
                                "l2_read_bytes_per_second",
                                "l2_total_bytes_per_second",
                                "hbm_read_bytes_per_second",
                                "hbm_stream_bytes_per_second",
                                "hbm_large_copy_bytes_per_second",
                                "small_copy_bytes",
                                "large_copy_bytes",
                                "small_row_bytes",
                                "gm_line_turn_cycles",
                                "unaligned_copy_factor",
                                "hbm_latency_cycles",
                                "l2_latency_cycles",
                                "cross_core_flag_cycles",
                                "ub_bytes",
                                "l1_bytes",
                                "l0a_bytes",
                                "l0b_bytes",
                                "l0c_bytes",
                                "bt_bytes",
                                "fb_bytes",
                                "cube_macs_per_cycle",
                                "queue_depth",
                                "issue_cycles",
                                "vector_issue_cycles",
                                "flag_cycles",
                                "mte1_latency_cycles",
                                "fix_latency_cycles",
                                "mte3_latency_cycles"};

std::string trim(const std::string& s) {
  const auto first = s.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

// A finite number that is not negative and of a size a machine may have.
bool to_number(const std::string& text, double* value) {
  char* end = nullptr;
  *value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size() && std::isfinite(*value) && *value >= 0 && *value < 1e18;
}

bool is_count(const std::string& key) {
  const auto ends_in = [&](const std::string& end) {
    return key.size() >= end.size() && key.compare(key.size() - end.size(), end.size(), end) == 0;
  };
  return ends_in("_bytes") || ends_in("_cores") || ends_in("_ways") || ends_in("_depth");
}

std::string parse_cost(const std::string& text, InstructionCost* cost) {
  std::istringstream words(text);
  std::string first, second, fixed;
  words >> first >> second;
  if (!to_number(first, &cost->per_unit)) return "cycles a unit is no number: '" + first + "'";
  cost->per_unit_16 = cost->per_unit;
  if (second != "+") {
    if (!to_number(second, &cost->per_unit_16)) return "16-bit cycles a unit is no number: '" + second + "'";
    words >> second;
  }
  words >> fixed;
  if (second != "+" || !to_number(fixed, &cost->fixed)) return "a cost ends in '+ fixed cycles'";
  return words >> fixed ? "text after the fixed cycles: '" + fixed + "'" : "";
}

std::string parse_move(const std::string& text, MoveCost* move) {
  std::istringstream words(text);
  *move = {};
  for (std::string word; words >> word;) {
    if (word == "limit") {
      if (!(words >> word) || !to_number(word, &move->bytes_per_cycle) || move->bytes_per_cycle <= 0)
        return "'limit' needs bytes a cycle";
      if (words >> word) return "text after the limit: '" + word + "'";
      return move->points.empty() ? "no bytes:cycles point" : "";
    }
    const auto colon = word.find(':');
    std::pair<double, double> point;
    if (colon == std::string::npos || !to_number(word.substr(0, colon), &point.first) ||
        !to_number(word.substr(colon + 1), &point.second) ||
        (!move->points.empty() && point.first <= move->points.back().first)) {
      return "not a rising bytes:cycles point: '" + word + "'";
    }
    move->points.push_back(point);
  }
  return "no 'limit'";
}

// derived: the device started from another one, which has every row there is.
std::string parse_entry(const std::string& key, const std::string& value, const std::string& source, bool derived,
                        Device* device) {
  std::istringstream words(key);
  std::string kind, what;
  words >> kind >> what;
  device->sources[key] = source;
  if (kind == "cost" && !what.empty()) {
    InstructionCost cost;
    cost.name = what;
    if (derived && !device->costs.count(what)) {
      std::string rows;
      for (const auto& [row, unused] : device->costs) rows += (rows.empty() ? "" : ", ") + row;
      return "no instruction uses a cost row '" + what + "'; the rows are " + rows;
    }
    const std::string error = parse_cost(value, &cost);
    device->costs[what] = cost;
    return error.empty() ? "" : "'" + key + "': " + error;
  }
  if (kind == "move" && !what.empty()) {
    for (int p = 1; p < kPaths; ++p) {
      if (what != kPathNames[p]) continue;
      const std::string error = parse_move(value, &device->moves[p]);
      return error.empty() ? "" : "'" + key + "': " + error;
    }
    return "unknown path '" + what + "'";
  }
  if (std::find(std::begin(kNumbers), std::end(kNumbers), key) == std::end(kNumbers)) return "unknown name '" + key + "'";
  double number = 0;
  if (!to_number(value, &number) || number <= 0) return "'" + key + "' needs a positive number, not '" + value + "'";
  if (is_count(key) && number != std::floor(number)) return "'" + key + "' needs a whole number, not '" + value + "'";
  device->numbers[key] = number;
  return "";
}

std::string what_is_missing(const Device& device) {
  for (const char* number : kNumbers) {
    if (!device.numbers.count(number)) return number;
  }
  for (int p = 1; p < kPaths; ++p) {
    if (device.moves[p].points.empty()) return std::string("move ") + kPathNames[p];
  }
  for (const char* cost : {"Unlisted", "Mmad", "MmadQueued", "Scalar"}) {
    if (!device.costs.count(cost)) return std::string("cost ") + cost;
  }
  const bool sane =
      device.at("cube_cores") <= 1024 && device.at("vector_cores") <= 2048 && device.at("l1_bytes") <= (1 << 26) &&
      device.at("ub_bytes") <= (1 << 26) && device.at("l0a_bytes") <= (1 << 26) && device.at("l0b_bytes") <= (1 << 26) &&
      device.at("l0c_bytes") <= (1 << 26) && device.at("bt_bytes") <= (1 << 26) && device.at("fb_bytes") <= (1 << 26) &&
      device.at("l2_bytes") <= 1e12 && device.at("l2_ways") <= 1024 && device.at("l2_line_bytes") >= 16 &&
      device.at("l2_ways") * device.at("l2_line_bytes") <= device.at("l2_bytes");
  return sane ? "" : "a size within reason (cores, local memories, L2)";
}

}  // namespace

const char* name(Path path) { return kPathNames[static_cast<int>(path)]; }

double MoveCost::cycles(double bytes) const {
  const auto& last = points.back();
  if (bytes >= last.first) return last.second + (bytes - last.first) / bytes_per_cycle;
  if (bytes <= points.front().first) return points.front().second;
  for (std::size_t i = 1;; ++i) {
    if (bytes <= points[i].first) {
      const double share = (bytes - points[i - 1].first) / (points[i].first - points[i - 1].first);
      return points[i - 1].second + share * (points[i].second - points[i - 1].second);
    }
  }
}

double Device::at(const std::string& key) const { return numbers.at(key); }

const InstructionCost& Device::cost(const std::string& row) const {
  const auto found = costs.find(row);
  return found != costs.end() ? found->second : costs.at("Unlisted");
}

bool parse_devices(const std::string& text, std::map<std::string, Device>* devices, std::string* error) {
  std::istringstream lines(text);
  std::string line;
  Device* device = nullptr;
  bool derived = false;
  std::map<std::string, int> given;     // keys of this section, and their lines
  std::map<std::string, int> sections;  // lines
  const auto fail = [&](int number, const std::string& why) {
    *error = "line " + std::to_string(number) + ": " + why;
    return false;
  };
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      line = trim(line.substr(0, line.find('#')));
      if (line.back() != ']') return fail(number, "a section ends in ']'");
      const std::string inside = line.substr(1, line.size() - 2);
      const auto colon = inside.find(':');
      const std::string name = trim(inside.substr(0, colon));
      if (name.empty()) return fail(number, "a device needs a name");
      if (devices->count(name)) return fail(number, "there is a device '" + name + "' already");
      derived = colon != std::string::npos;
      Device start;
      if (derived) {
        const std::string base = trim(inside.substr(colon + 1));
        if (!devices->count(base)) return fail(number, "no device '" + base + "' to start from");
        start = devices->at(base);
      }
      start.name = name;
      device = &((*devices)[name] = start);
      sections[name] = number;
      given.clear();
      continue;
    }
    if (!device) return fail(number, "a number before the first [device]");
    const auto semicolon = line.find(';');
    const auto equals = line.find('=');
    const std::string key = trim(line.substr(0, std::min(equals, semicolon)));
    if (semicolon == std::string::npos || trim(line.substr(semicolon + 1)).empty())
      return fail(number, "'" + key + "' has no source ('; where from')");
    if (equals == std::string::npos || equals > semicolon) return fail(number, "'" + key + "': not 'name = value ; source'");
    const auto [first, fresh] = given.try_emplace(key, number);
    if (!fresh) return fail(number, "'" + key + "' was given in line " + std::to_string(first->second) + " already");
    const std::string why = parse_entry(key, trim(line.substr(equals + 1, semicolon - equals - 1)),
                                        trim(line.substr(semicolon + 1)), derived, device);
    if (!why.empty()) return fail(number, why);
  }
  for (const auto& [name, number] : sections) {
    const std::string missing = what_is_missing(devices->at(name));
    if (!missing.empty()) return fail(number, "device '" + name + "' lacks " + missing);
  }
  return true;
}

const Device* find_device(const std::string& name_or_path, std::string* error) {
  static std::map<std::string, Device> devices;
  if (devices.empty() && !parse_devices(kBuiltInDevices, &devices, error)) return nullptr;
  const auto found = devices.find(name_or_path);
  if (found != devices.end()) return &found->second;
  std::ifstream file(name_or_path);
  if (!file) {
    *error = "no device and no device file '" + name_or_path + "'; built in are";
    for (const auto& [name, unused] : devices) *error += " " + name;
    return nullptr;
  }
  std::stringstream text;
  text << file.rdbuf();
  std::map<std::string, Device> own = devices;  // so that "[mine : 910B2]" works
  if (!parse_devices(text.str(), &own, error)) {
    *error = name_or_path + ": " + *error;
    return nullptr;
  }
  std::vector<const Device*> fresh;
  std::string names;
  for (const auto& [name, device] : own) {
    if (devices.count(name)) continue;
    names += (fresh.empty() ? "" : ", ") + name;
    fresh.push_back(&device);
  }
  if (fresh.size() == 1) return &(devices[name_or_path] = *fresh[0]);
  *error = name_or_path + (fresh.empty() ? ": defines no new device"
                                         : ": defines several devices (" + names + "), and one is used: a file each");
  return nullptr;
}

std::vector<std::string> device_names() {
  std::string error;
  std::vector<std::string> names;
  std::map<std::string, Device> devices;
  if (parse_devices(kBuiltInDevices, &devices, &error)) {
    for (const auto& [name, device] : devices) names.push_back(name);
  }
  return names;
}

}  // namespace twin

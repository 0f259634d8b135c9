// SPDX-License-Identifier: Apache-2.0
// A worker that a script drives: one request a line, fields parted by tabs, one line of answer each.
//
//   lengths PROBLEM                   ok <query length> <key length of each sequence>
//   load PROBLEM THREADS IMPL FOLDER  reads q.bin, k.bin and v.bin: rows of all sequences one after the other, [token, head,
//                                     dim], in the problem's dtype; lays them out as the problem says. IMPL may be empty
//   run REPEATS                       ok <seconds of each>
//   output FILE                       writes O, [token, head, dim]
//   memory                            ok <bytes that workspace, O and run take together, at their peak>
//
// Answers begin with "ok" or "error"; after an error the worker goes on.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/inputs.hpp"
#include "bench/memory.hpp"
#include "bench/modes.hpp"
#include "tessera/attention.hpp"

namespace tessera::bench {
namespace {

using Fields = std::vector<std::string>;

Fields split(const std::string& line) {
  Fields fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

Result<std::vector<char>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::invalid("cannot read " + path);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

class Worker {
 public:
  Result<std::string> answer(const Fields& request) {
    if (request.empty()) return Status::invalid("an empty request");
    if (request[0] == "lengths" && request.size() == 2) return lengths(request[1]);
    if (request[0] == "load" && request.size() == 5)
      return load(request[1], std::atoi(request[2].c_str()), request[3], request[4]);
    if (!plan_) return Status::invalid("\"" + request[0] + "\" is unknown, lacks a field, or comes before \"load\"");
    if (request[0] == "run" && request.size() == 2) return run(std::atoi(request[1].c_str()));
    if (request[0] == "output" && request.size() == 2) return output(request[1]);
    if (request[0] == "memory") return memory();
    return Status::invalid("\"" + request[0] + "\" is unknown or lacks a field");
  }

 private:
  static Result<std::string> lengths(const std::string& text) {
    const auto problem = Problem::parse(text);
    if (!problem.ok()) return problem.status();
    std::string out = std::to_string(problem->query_length(0));
    for (std::int64_t b = 0; b < problem->batch; ++b) out += ' ' + std::to_string(problem->key_length(b));
    return out;
  }

  Result<std::string> load(const std::string& text, int threads, const std::string& impl, const std::string& folder) {
    const auto problem = Problem::parse(text);
    if (!problem.ok()) return problem.status();
    plan_.reset();
    auto plan = tessera::plan(*problem, {threads, impl});
    if (!plan.ok()) return plan.status();
    auto inputs = Inputs::make(*problem, 1);
    if (!inputs.ok()) return inputs.status();
    auto workspace = Arena::make(plan->workspace_bytes());
    if (!workspace.ok()) return workspace.status();
    inputs_ = std::move(*inputs);
    workspace_ = std::move(*workspace);
    if (Status status = fill(*problem, folder); !status) return status;
    plan_ = std::move(*plan);
    return std::string(plan_->implementation());
  }

  Status fill(const Problem& problem, const std::string& folder) {
    const std::size_t element = size_of(problem.dtype);
    const auto q = read_file(folder + "/q.bin"), k = read_file(folder + "/k.bin"), v = read_file(folder + "/v.bin");
    if (!q.ok() || !k.ok() || !v.ok()) return !q.ok() ? q.status() : !k.ok() ? k.status() : v.status();
    std::int64_t tokens = 0;
    for (std::int64_t b = 0; b < problem.batch; ++b) tokens += problem.key_length(b);
    const auto bytes = [&](std::int64_t rows, std::int64_t heads, std::int64_t dim) {
      return static_cast<std::size_t>(rows * heads * dim) * element;
    };
    if (q->size() != bytes(problem.total_queries(), problem.num_q_heads, problem.head_dim_qk) ||
        k->size() != bytes(tokens, problem.num_kv_heads, problem.head_dim_qk) ||
        v->size() != bytes(tokens, problem.num_kv_heads, problem.head_dim_v)) {
      return Status::invalid("the files of " + folder + " have another size than the problem");
    }
    std::memcpy(inputs_.q_row(0, 0), q->data(), q->size());
    const std::size_t k_row = element * static_cast<std::size_t>(problem.head_dim_qk);
    const std::size_t v_row = element * static_cast<std::size_t>(problem.head_dim_v);
    const char *k_at = k->data(), *v_at = v->data();
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t token = 0; token < problem.key_length(b); ++token) {
        for (std::int64_t head = 0; head < problem.num_kv_heads; ++head, k_at += k_row, v_at += v_row) {
          std::memcpy(inputs_.k_row(b, token, head), k_at, k_row);
          std::memcpy(inputs_.v_row(b, token, head), v_at, v_row);
        }
      }
    }
    return {};
  }

  Status run_once(const Arena& workspace) const {
    return plan_->run(inputs_.tensors(), workspace.data(), plan_->workspace_bytes());
  }

  Result<std::string> run(int repeats) const {
    std::string out;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      if (Status status = run_once(workspace_); !status) return status;
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      out += std::string(out.empty() ? "" : " ") + std::to_string(seconds.count() * 1e9) + "e-9";
    }
    return out;
  }

  Result<std::string> output(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(inputs_.o()), static_cast<std::streamsize>(inputs_.o_bytes()));
    if (!file) return Status::invalid("cannot write " + path);
    return std::string(path);
  }

  Result<std::string> memory() const {
    const PeakMemory memory;
    std::vector<std::byte> workspace(plan_->workspace_bytes() + kWorkspaceAlignment);
    void* at = workspace.data();
    std::size_t space = workspace.size();
    std::align(kWorkspaceAlignment, plan_->workspace_bytes(), at, space);
    if (Status status = plan_->run(inputs_.tensors(), at, plan_->workspace_bytes()); !status) return status;
    return std::to_string(memory.extra_bytes() + static_cast<std::int64_t>(inputs_.o_bytes()));  // O was there before
  }

  std::optional<Plan> plan_;
  Inputs inputs_;
  Arena workspace_;
};

}  // namespace

int serve(std::FILE* in, std::FILE* out) {
  Worker worker;
  std::string line;
  for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const auto answer = worker.answer(split(line));
    std::fprintf(out, "%s\t%s\n", answer.ok() ? "ok" : "error",
                 answer.ok() ? answer->c_str() : answer.status().message().c_str());
    std::fflush(out);
    line.clear();
  }
  return 0;
}

}  // namespace tessera::bench

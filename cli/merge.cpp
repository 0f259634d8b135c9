// SPDX-License-Identifier: Apache-2.0
// tessera merge: partial results (o, lse) over different keys become the result over all of them.
#include <fmt/format.h>

#include <cmath>

#include "cli/attend_tensors.hpp"
#include "cli/command.hpp"
#include "cli/files.hpp"
#include "cli/half.hpp"
#include "cli/text.hpp"
#include "tessera/executor.hpp"
#include "tessera/implementations.hpp"
#include "tessera/merge.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kFooter =
    R"(Each file has o [b, sq, hq, dv] (or [total, hq, dv]) and lse, float32 and natural log, [b, hq, sq] (or [hq, total]), as
'tessera attend -o' writes them: the same queries over different keys. The merge is
  lse = log(sum exp(lse_i)),   o = sum exp(lse_i - lse) o_i,   in the order given.
Give a sink to one of the partial results only. Without -o a summary is printed.

Examples:
  tessera attend prefix.safetensors -o a.safetensors
  tessera attend suffix.safetensors --causal bottom-right -o b.safetensors
  tessera merge a.safetensors b.safetensors -o all.safetensors --threads 8)";

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  int threads = 0;  // 0: every core the process may use
  bool json = false;
};

/// The library's pool, of which at most so many threads are used.
class LimitedPool final : public Executor {
 public:
  explicit LimitedPool(int threads) noexcept : threads_(threads) {}
  int concurrency() const noexcept override { return threads_; }
  void parallel(int count, void (*task)(void* context, int index), void* context) override {
    default_executor().parallel(count, task, context);
  }

 private:
  int threads_;
};

struct Part {
  AlignedBuffer o, lse;
};

struct Shapes {
  std::string dtype;
  std::vector<std::int64_t> o, lse;
};

Part load_part(const std::string& path, Shapes& shapes, MergeProblem& problem, bool first) {
  const auto file = value_of(SafetensorsFile::open(path));
  const TensorReader reader(file);
  const auto &o = reader.required("o"), &lse = reader.required("lse");
  if (first) {
    if (o.shape.size() != 3 && o.shape.size() != 4) reader.refuse(o, "it must be [b, sq, hq, dv] or [total, hq, dv]");
    problem.dtype = reader.float_dtype(o);
    problem.batch = o.shape.size() == 4 ? o.shape[0] : 1;
    problem.seqlen_q = o.shape[o.shape.size() - 3];
    problem.num_q_heads = o.shape[o.shape.size() - 2];
    problem.head_dim_v = o.shape.back();
    shapes = {o.dtype, o.shape, {problem.num_q_heads, problem.seqlen_q}};
    if (o.shape.size() == 4) shapes.lse.insert(shapes.lse.begin(), problem.batch);
  }
  if (o.dtype != shapes.dtype) reader.refuse(o, fmt::format("the first file's is {}", shapes.dtype));
  if (o.shape != shapes.o) reader.refuse(o, "its shape must be that of the first file");
  if (lse.dtype != "F32") reader.refuse(lse, "the dtype must be F32");
  if (lse.shape != shapes.lse) {
    reader.refuse(lse, fmt::format("its shape must be {}, to go with \"o\" {}", TensorInfo{"", "", shapes.lse}.shape_text(),
                                   o.shape_text()));
  }
  return {reader.load(o), reader.load(lse)};
}

void report(const Options& options, int threads, const MergeProblem& problem, const Shapes& shapes, const Part& merged) {
  double squares = 0;
  const auto count = problem.batch * problem.seqlen_q * problem.num_q_heads * problem.head_dim_v;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = widen(problem.dtype, merged.o.data(), i);
    squares += std::isfinite(x) ? x * x : 0;
  }
  std::vector<double> o_first, lse_first;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(4, count); ++i)
    o_first.push_back(widen(problem.dtype, merged.o.data(), i));
  for (std::int64_t i = 0; i < std::min<std::int64_t>(4, problem.batch * problem.num_q_heads * problem.seqlen_q); ++i) {
    lse_first.push_back(merged.lse.as<float>()[i]);
  }
  if (options.json) {
    Json json = {
        {"parts", options.inputs.size()},
        {"threads", threads},
        {"o", {{"dtype", name_of(problem.dtype)}, {"shape", shapes.o}, {"norm", std::sqrt(squares)}, {"first", o_first}}},
        {"lse", {{"dtype", "f32"}, {"shape", shapes.lse}, {"first", lse_first}}}};
    if (!options.output.empty()) json["output"] = options.output;
    print_json(json);
    return;
  }
  const std::size_t parts = options.inputs.size();
  fmt::print("merged    {} partial {} on {} {}\n", parts, parts == 1 ? "result" : "results", threads,
             threads == 1 ? "thread" : "threads");
  fmt::print("o         {} {}   norm {:.6g}   first {}\n", name_of(problem.dtype), TensorInfo{"", "", shapes.o}.shape_text(),
             std::sqrt(squares), list_text(o_first));
  fmt::print("lse       f32 {}   first {}\n", TensorInfo{"", "", shapes.lse}.shape_text(), list_text(lse_first));
  if (!options.output.empty()) fmt::print("wrote     {}: o, lse\n", options.output);
}

ExitCode merge(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : machine_info().cores;
  check(check_output(options.output, options.inputs), "-o");  // before anything is computed
  MergeProblem problem;
  Shapes shapes;
  std::vector<Part> parts;
  for (const auto& path : options.inputs) parts.push_back(load_part(path, shapes, problem, parts.empty()));

  const Strides strides{problem.seqlen_q * problem.num_q_heads * problem.head_dim_v,
                        problem.num_q_heads * problem.head_dim_v, problem.head_dim_v};
  std::vector<PartialResult> partials;
  partials.reserve(parts.size());
  for (const auto& part : parts) partials.push_back({{part.o.data(), strides}, part.lse.as<float>()});
  Part merged{value_of(AlignedBuffer::make(parts[0].o.size(), "the output")),
              value_of(AlignedBuffer::make(parts[0].lse.size(), "the output"))};
  LimitedPool pool(threads);
  check(tessera::merge(problem, partials, {merged.o.data(), strides}, merged.lse.as<float>(), &pool), options.inputs[0]);

  if (!options.output.empty()) {
    const TensorToWrite tensors[] = {{"o", shapes.dtype, shapes.o, merged.o.data(), merged.o.size()},
                                     {"lse", "F32", shapes.lse, merged.lse.data(), merged.lse.size()}};
    check(write_safetensors(options.output, tensors, {{"made_by", "tessera merge"}}));
  }
  report(options, threads, problem, shapes, merged);
  return kDone;
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("merge", "Merge partial results (o, lse) over different keys into one");
  auto options = std::make_shared<Options>();
  command->add_option("input", options->inputs, "Files with o and lse")
      ->required()
      ->check(not_empty())
      ->type_name("PART.safetensors");
  command->add_option("-o,--output", options->output, "Write the merged o and lse to this file")
      ->check(not_empty())
      ->type_name("OUT.safetensors");
  add_threads_option(*command, options->threads);
  command->add_flag("--json", options->json, "The summary as JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return merge(*options); }; });
}

}  // namespace tessera::cli

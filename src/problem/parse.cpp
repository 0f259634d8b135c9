// SPDX-License-Identifier: Apache-2.0
// The problem string. Grammar: tokens apart by blanks, each at most once, in any order:
//
//   f32|f16|bf16  b<n>  hq<n>  hkv<n>  d<n> | dqk<n> dv<n>  sq<n>  skv<n>
//   causal | causal-tl   win<left>,<right> | win-tl<left>,<right>   (-1: unbounded)
//   scale<x>  softcap<x>  alibi  sink  bias  mask
//   page<n> | hpage<n>   kvchunk<n>   ragged<min>-<max>  seed<n>
//
// Defaults: b1, sq1, hkv as hq, skv as the max of ragged. A dtype, hq, d and skv (or ragged) must be there.
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "base/refused.hpp"
#include "problem/lengths.hpp"
#include "tessera/problem.hpp"

namespace tessera {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxDistance = std::numeric_limits<std::int64_t>::max();  // windows and chunks, as validate() has it
constexpr std::int64_t kMaxRaggedBatch = std::int64_t{1} << 24;                  // lengths drawn are stored: 64 MiB

/// What a token is for. Tokens of one kind exclude each other.
enum class Kind {
  dtype,
  b,
  hq,
  hkv,
  d,
  dqk,
  dv,
  sq,
  skv,
  causal,
  win,
  scale,
  softcap,
  alibi,
  sink,
  bias,
  mask,
  page,
  kvchunk,
  ragged,
  seed,
  count
};

/// A token in quotes, as a message shows it.
std::string quoted(std::string_view token) {
  constexpr std::size_t kMost = 64;
  return "'" + std::string(token.substr(0, kMost)) + (token.size() > kMost ? "..." : "") + "'";
}

template <class T>
bool read_number(std::string_view text, T min, T max, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= min && value <= max;
}

bool read_pair(std::string_view text, char separator, std::int64_t min, std::int64_t max, std::int64_t& a, std::int64_t& b) {
  const auto cut = text.find(separator, text.empty() ? 0 : 1);  // a leading '-' is a sign
  return cut != std::string_view::npos && read_number(text.substr(0, cut), min, max, a) &&
         read_number(text.substr(cut + 1), min, max, b);
}

bool read_real(std::string_view text, double min, double& value) {
  return read_number(text, min, std::numeric_limits<double>::max(), value);
}

class Parser {
 public:
  Result<Problem> parse(std::string_view text) {
    for (std::size_t at = 0;;) {
      at = text.find_first_not_of(kBlanks, at);
      if (at == std::string_view::npos) break;
      const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
      if (Status status = token(text.substr(at, end - at)); !status) return status;
      at = end;
    }
    if (Status status = finish(); !status) return status;
    if (Status status = problem_.validate(); !status) return status;
    return std::move(problem_);
  }

 private:
  Status token(std::string_view t);
  Status word(std::string_view t, Kind kind, bool& flag);
  Status integer(std::string_view t, std::size_t prefix, Kind kind, std::int64_t min, std::int64_t& value,
                 std::int64_t max = kMaxNumber);
  Status real(std::string_view t, std::size_t prefix, Kind kind, double min, double& value);
  Status alignment(std::string_view t, bool top_left);
  Status window(std::string_view t);
  Status once(std::string_view t, Kind kind);
  Status finish();
  bool has(Kind kind) const { return !seen_[static_cast<int>(kind)].empty(); }

  static Status malformed(std::string_view t, const std::string& expected) {
    return Status::invalid("problem: token " + quoted(t) + " is malformed; expected " + expected);
  }

  Problem problem_;
  std::string_view seen_[static_cast<int>(Kind::count)];
  std::string_view aligned_by_;  // the token that chose the alignment
};

Status Parser::once(std::string_view t, Kind kind) {
  std::string_view& before = seen_[static_cast<int>(kind)];
  if (!before.empty()) {
    return Status::invalid("problem: token " + quoted(t) + " is repeated" + (before == t ? "" : " after " + quoted(before)));
  }
  before = t;
  return {};
}

Status Parser::word(std::string_view t, Kind kind, bool& flag) {
  flag = true;
  return once(t, kind);
}

Status Parser::integer(std::string_view t, std::size_t prefix, Kind kind, std::int64_t min, std::int64_t& value,
                       std::int64_t max) {
  if (!read_number(t.substr(prefix), min, max, value)) {
    return malformed(t, "a whole number in [" + std::to_string(min) + ", " + std::to_string(max) + "] after '" +
                            std::string(t.substr(0, prefix)) + "'");
  }
  return once(t, kind);
}

Status Parser::real(std::string_view t, std::size_t prefix, Kind kind, double min, double& value) {
  if (!read_real(t.substr(prefix), min, value)) {
    return malformed(
        t, "a finite number" + std::string(min > 0 ? " above 0" : "") + " after '" + std::string(t.substr(0, prefix)) + "'");
  }
  return once(t, kind);
}

Status Parser::alignment(std::string_view t, bool top_left) {
  const Alignment asked = top_left ? Alignment::top_left : Alignment::bottom_right;
  if (!aligned_by_.empty() && asked != problem_.alignment) {
    return Status::invalid("problem: tokens " + quoted(aligned_by_) + " and " + quoted(t) +
                           " ask for different alignments; add or drop '-tl' in both");
  }
  problem_.alignment = asked;
  aligned_by_ = t;
  return {};
}

Status Parser::window(std::string_view t) {
  const bool top_left = t.starts_with("win-tl");
  if (!read_pair(t.substr(top_left ? 6 : 3), ',', -1, kMaxDistance, problem_.window_left, problem_.window_right)) {
    return malformed(t, "'win<left>,<right>' or 'win-tl<left>,<right>' with whole numbers from -1");
  }
  if (Status status = once(t, Kind::win); !status) return status;
  return alignment(t, top_left);
}

Status Parser::token(std::string_view t) {
  Problem& p = problem_;
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    if (t == name_of(dtype)) {
      p.dtype = dtype;
      return once(t, Kind::dtype);
    }
  }
  if (t == "causal" || t == "causal-tl") {
    if (Status status = word(t, Kind::causal, p.causal); !status) return status;
    return alignment(t, t == "causal-tl");
  }
  if (t == "alibi") return word(t, Kind::alibi, p.has_alibi);
  if (t == "sink") return word(t, Kind::sink, p.has_sink);
  if (t == "bias") return word(t, Kind::bias, p.has_bias);
  if (t == "mask") return word(t, Kind::mask, p.has_mask);
  if (t.starts_with("win")) return window(t);
  if (t.starts_with("scale"))
    return real(t, 5, Kind::scale, std::numeric_limits<double>::lowest(), p.softmax_scale.emplace());
  if (t.starts_with("softcap")) return real(t, 7, Kind::softcap, std::numeric_limits<double>::min(), p.softcap);
  if (t.starts_with("ragged")) {
    if (!read_pair(t.substr(6), '-', 0, kMaxNumber, p.ragged_min, p.ragged_max) || p.ragged_min > p.ragged_max) {
      return malformed(t, "'ragged<min>-<max>' with whole numbers, min <= max");
    }
    return once(t, Kind::ragged);
  }
  if (t.starts_with("seed")) {
    if (!read_number(t.substr(4), std::uint64_t{0}, ~std::uint64_t{0}, p.seed.emplace())) {
      return malformed(t, "a whole number of 64 bits after 'seed'");
    }
    return once(t, Kind::seed);
  }
  if (t.starts_with("page") || t.starts_with("hpage")) {
    p.kv_layout = t[0] == 'h' ? KvLayout::paged_head_major : KvLayout::paged_token_major;
    return integer(t, t[0] == 'h' ? 5 : 4, Kind::page, 1, p.page_size);
  }
  if (t.starts_with("kvchunk")) return integer(t, 7, Kind::kvchunk, 1, p.kv_chunk, kMaxDistance);
  if (t.starts_with("hkv")) return integer(t, 3, Kind::hkv, 1, p.num_kv_heads);
  if (t.starts_with("hq")) return integer(t, 2, Kind::hq, 1, p.num_q_heads);
  if (t.starts_with("skv")) return integer(t, 3, Kind::skv, 0, p.seqlen_kv);
  if (t.starts_with("sq")) return integer(t, 2, Kind::sq, 0, p.seqlen_q);
  if (t.starts_with("dqk")) return integer(t, 3, Kind::dqk, 1, p.head_dim_qk);
  if (t.starts_with("dv")) return integer(t, 2, Kind::dv, 1, p.head_dim_v);
  const bool digit_follows = t.size() > 1 && ((t[1] >= '0' && t[1] <= '9') || t[1] == '-');
  if (t[0] == 'd' && digit_follows) {
    if (Status status = integer(t, 1, Kind::d, 1, p.head_dim_qk); !status) return status;
    p.head_dim_v = p.head_dim_qk;
    return {};
  }
  if (t[0] == 'b' && digit_follows) return integer(t, 1, Kind::b, 1, p.batch);
  return Status::invalid("problem: token " + quoted(t) + " is unknown");
}

Status Parser::finish() {
  const auto missing = [](const char* what) { return Status::invalid(std::string("problem: ") + what + " is missing"); };
  if (!has(Kind::dtype)) return missing("a dtype (f32, f16 or bf16)");
  if (!has(Kind::hq)) return missing("hq<n>");
  if (has(Kind::d) && (has(Kind::dqk) || has(Kind::dv))) {
    const Kind other = has(Kind::dqk) ? Kind::dqk : Kind::dv;
    return Status::invalid("problem: tokens " + quoted(seen_[static_cast<int>(Kind::d)]) + " and " +
                           quoted(seen_[static_cast<int>(other)]) + " exclude each other");
  }
  if (!has(Kind::d) && !(has(Kind::dqk) && has(Kind::dv))) return missing("d<n>, or both dqk<n> and dv<n>,");
  if (!has(Kind::skv) && !has(Kind::ragged)) return missing("skv<n> or ragged<min>-<max>");
  if (!has(Kind::hkv)) problem_.num_kv_heads = problem_.num_q_heads;
  if (!has(Kind::ragged)) return {};

  const std::string ragged = quoted(seen_[static_cast<int>(Kind::ragged)]);
  if (!has(Kind::skv)) problem_.seqlen_kv = problem_.ragged_max;
  if (problem_.ragged_max > problem_.seqlen_kv) {
    return Status::invalid("problem: token " + ragged + " asks for more keys than skv" + std::to_string(problem_.seqlen_kv));
  }
  if (problem_.batch > kMaxRaggedBatch) {
    return Status::invalid("problem: token " + ragged + " with b" + std::to_string(problem_.batch) + "; at most b" +
                           std::to_string(kMaxRaggedBatch));
  }
  problem_.seqlens_kv =
      problem::draw_lengths(problem_.batch, problem_.ragged_min, problem_.ragged_max, problem_.seed.value_or(0));
  return {};
}

}  // namespace

Result<Problem> Problem::parse(std::string_view text) try { return Parser{}.parse(text); } catch (const std::bad_alloc&) {
  return base::refused("problem");
}

}  // namespace tessera

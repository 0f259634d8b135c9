// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "tessera/problem.hpp"

namespace tessera {
namespace {

class Printer {
 public:
  void word(std::string_view token) {
    if (!text_.empty()) text_ += ' ';
    text_ += token;
  }
  void integer(std::string_view token, std::int64_t value) {
    word(token);
    text_ += base::number(value);
  }
  /// The shortest digits that read back as the same double.
  void real(std::string_view token, double value) {
    word(token);
    text_ += base::shortest(value);
  }
  void pair(std::string_view token, std::int64_t a, char separator, std::int64_t b) {
    integer(token, a);
    text_ += separator;
    text_ += base::number(b);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct Lengths {
  std::int64_t min, max;
};

template <class Length>
Lengths extremes(std::int64_t batch, Length length) {
  Lengths l{length(0), length(0)};
  for (std::int64_t b = 1; b < batch; ++b) l = {std::min(l.min, length(b)), std::max(l.max, length(b))};
  return l;
}

void print_masks(const Problem& p, Printer& out) {
  const bool top_left = p.alignment == Alignment::top_left;
  const bool window = p.window_left >= 0 || p.window_right >= 0;
  if (p.causal) out.word(top_left ? "causal-tl" : "causal");
  // Without causal, win-tl-1,-1 is how an alignment that only ALiBi sees is written.
  if (window || (top_left && !p.causal)) out.pair(top_left ? "win-tl" : "win", p.window_left, ',', p.window_right);
}

}  // namespace

std::string Problem::to_string() const {
  const bool drawn = ragged_max > 0 || seed.has_value();
  const bool ragged = !seqlens_kv.empty() || !cu_seqlens_kv.empty();
  const bool well_formed = (cu_seqlens_q.empty() || static_cast<std::int64_t>(cu_seqlens_q.size()) > batch) &&
                           (seqlens_kv.empty() || static_cast<std::int64_t>(seqlens_kv.size()) >= batch) &&
                           (cu_seqlens_kv.empty() || static_cast<std::int64_t>(cu_seqlens_kv.size()) > batch);
  Lengths queries{seqlen_q, seqlen_q}, keys{seqlen_kv, seqlen_kv};
  if (well_formed && batch > 0) {
    if (!cu_seqlens_q.empty()) queries = extremes(batch, [&](std::int64_t b) { return query_length(b); });
    if (ragged) keys = extremes(batch, [&](std::int64_t b) { return key_length(b); });
  }
  if (ragged && drawn && ragged_max >= keys.max && ragged_min <= keys.min) keys = {ragged_min, ragged_max};

  Printer out;
  out.word(name_of(dtype));
  out.integer("b", batch);
  out.integer("hq", num_q_heads);
  out.integer("hkv", num_kv_heads);
  if (head_dim_qk == head_dim_v) {
    out.integer("d", head_dim_qk);
  } else {
    out.integer("dqk", head_dim_qk);
    out.integer("dv", head_dim_v);
  }
  out.integer("sq", queries.max);
  out.integer("skv", std::max(seqlen_kv, keys.max));
  print_masks(*this, out);
  if (softmax_scale) out.real("scale", *softmax_scale);
  if (softcap != 0) out.real("softcap", softcap);
  if (has_alibi) out.word("alibi");
  if (has_sink) out.word("sink");
  if (has_bias) out.word("bias");
  if (has_mask) out.word("mask");
  if (paged()) out.integer(kv_layout == KvLayout::paged_head_major ? "hpage" : "page", page_size);
  if (kv_chunk > 0) out.integer("kvchunk", kv_chunk);
  if (ragged) out.pair("ragged", keys.min, '-', keys.max);
  if (seed) out.word("seed" + base::number(*seed));
  return out.take();
}

}  // namespace tessera

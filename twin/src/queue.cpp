// SPDX-License-Identifier: Apache-2.0
// TPipe's memory and the queues of a core: each buffer goes idle → allocated → queued → taken → idle.
#include <cstring>
#include <exception>

#include "engine.hpp"

namespace twin {
namespace {

constexpr int kPipeFlags = 3;         // M_MTE1, ids 0 to 2
constexpr int kTensorsAPosition = 8;  // the reference of AllocTensor, for this chip

Finding queue_finding(const Queue* q, const std::string& what, Site site, std::uint32_t other, const std::string& fix) {
  Finding f{Kind::Queue, what, to_string(site), other ? to_string(site_of(other)) : "", core().label(), "", "", "", fix};
  if (!q) return f;
  f.pipe_a = name(q->producer);
  f.pipe_b = name(q->consumer);
  if (!q->buffers.empty()) f.tensor = tensor_text(core().buffers[q->buffers[0]].tensor);
  return f;
}

Buffer* buffer_of(Queue* q, const View& tensor) {
  Core& c = core();
  if (!tensor.buffer || tensor.buffer >= c.buffers.size() || c.buffers[tensor.buffer].queue != q) return nullptr;
  return &c.buffers[tensor.buffer];
}

View view_of(const Queue& q, std::uint32_t number, DType dtype) {
  const Buffer& b = core().buffers[number];
  View view;
  view.space = q.space;
  view.dtype = dtype;
  view.tensor = b.tensor;
  view.buffer = number;
  view.generation = b.generation;
  view.addr = b.addr;
  view.bytes = b.bytes;
  return view;
}

// What was reported is taken as mended: the run goes on as if the memory were large enough. kMost: for kernels whose sizes
// are not meant.
void grow(Memory& m, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = 16 << 20;
  if (bytes <= m.bytes || bytes > kMost) return;
  std::vector<std::uint8_t> larger(2 * bytes, 0);
  std::memcpy(larger.data(), m.data, m.bytes);
  std::memcpy(larger.data() + bytes, m.state, m.bytes);
  m.grown = std::move(larger);
  m.data = m.grown.data();
  m.state = m.data + bytes;
  m.bytes = bytes;
  if (!m.fractal.empty()) m.fractal.resize(bytes / 32 + 1, 0);
}

}  // namespace

std::uint64_t pipe_allocate(Space space, std::uint64_t bytes, const char* what, Site site) {
  Core& c = core();
  std::uint64_t& top = c.allocated[int(space)];
  const std::uint64_t at = top;
  top += (bytes + 31) & ~std::uint64_t{31};
  const std::uint64_t device = c.memory[int(space)].device_bytes;
  const std::uint64_t capacity = device - std::min(space == Space::L1 ? c.tscm_bytes : 0, device);
  if (top > capacity && capacity) {
    report({Kind::Capacity,
            format("InitBuffer of %s: %s would hold %llu bytes of %llu", what, name(space),
                   static_cast<unsigned long long>(top), static_cast<unsigned long long>(capacity)),
            to_string(site), "", c.label(), "", "", hex_range(name(space), at, top), "use smaller or fewer buffers"});
    grow(c.memory[int(space)], top);
  }
  return at;
}

void*& pipe_slot() { return core().pipe; }
std::uint64_t& tiling_key() {
  static thread_local std::uint64_t key = 0;  // set by the thread that launches next
  return key;
}

void settle_queues(Space space, std::uint64_t begin, std::uint64_t end, Site site) {
  Core& c = core();
  for (Buffer& b : c.buffers) {
    if (!b.queue || b.queue->space != space || !b.used || b.addr < begin || b.addr >= end) continue;
    c.take_over(b.queue->producer, b.freed, b.queue->consumer, site_id(site));
    b.used = false;
  }
}

// Ids are taken anew after it, so no flag of a queue can be left set: each has been waited for (assumed of the TPipe; the
// page of TBufPool's Reset says so).
void pipe_reset(Site site) {
  Core& c = core();
  for (int s = 0; s < kSpaces; ++s) settle_queues(Space(s), 0, ~std::uint64_t{0}, site);
  c.allocated.fill(0);
  c.events.clear();
  if (c.pipe_flags) c.events[{Pipe::M, Pipe::MTE1}] = (1 << kPipeFlags) - 1;
}

// On a cube core a TPipe keeps some flags set while it lives.
void pipe_begin(Site site) {
  Core& c = core();
  if (c.kind == CoreKind::AIC && !c.pipe_flags) {
    for (int id = 0; id < kPipeFlags; ++id) set_flag(Pipe::M, Pipe::MTE1, id, site);
    c.pipe_flags = true;
  }
  pipe_reset(site);
}
void pipe_end(Site site) {
  if (!in_kernel() || std::uncaught_exceptions() > 0) return;
  Core& c = core();
  if (!c.pipe_flags) return;
  c.pipe_flags = false;
  for (int id = 0; id < kPipeFlags; ++id) wait_flag(Pipe::M, Pipe::MTE1, id, site);
}

static void add_buffer(Queue& q, Site site) {
  Core& c = core();
  Buffer b;
  b.bytes = q.bytes;
  b.queue = &q;
  b.placed = q.space != Space::L1 || c.kind == CoreKind::AIC;
  if (b.placed) {
    b.addr = pipe_allocate(q.space, q.bytes, "a queue", site);
    b.tensor = declare_tensor(q.what, q.space, Maker::TPipe, b.addr, b.bytes, site);
  }
  q.buffers.push_back(static_cast<std::uint32_t>(c.buffers.size()));
  q.idle.push_back(q.buffers.back());
  c.buffers.push_back(b);
}

Queue* queue_init(const char* what, Space space, Pipe producer, Pipe consumer, int depth, int num, std::uint64_t bytes,
                  Site site, bool shared) {
  Core& c = core();
  if (space == Space::L1 && c.kind == CoreKind::AIV) producer = consumer = Pipe::MTE3;  // what it sends its cube core
  c.queues.push_back(
      {what, space, producer, consumer, depth, (bytes + 31) & ~std::uint64_t{31}, {}, {}, {}, site_id(site), shared});
  Queue& q = c.queues.back();
  if (num < 1 || bytes == 0)
    report(queue_finding(&q, format("InitBuffer with %d buffers of %llu bytes", num, static_cast<unsigned long long>(bytes)),
                         site, 0, num < 1 ? "give it at least one buffer" : "give each buffer a size"));
  for (int i = 0; i < num; ++i) add_buffer(q, site);
  return &q;
}

static void check_position(const Queue& q, Site site) {
  int taken = 1;
  for (const Buffer& other : core().buffers)
    taken += other.queue && other.state != Buffer::Idle && other.queue->what == q.what;
  if (taken != kTensorsAPosition + 1) return;
  report(queue_finding(&q,
                       format("AllocTensor of a tensor number %d at position %s: a position has events for %d", taken,
                              q.what, kTensorsAPosition),
                       site, q.site, "free tensors earlier, or merge queues; the core may hang"));
}

View queue_alloc(Queue* q, DType dtype, Site site) {
  Core& c = core();
  if (!q) {
    report(queue_finding(q, "AllocTensor from a queue without buffers", site, 0, "InitBuffer first"));
    return {};
  }
  if (q->idle.empty()) {
    report(queue_finding(q, format("AllocTensor: all %zu buffers of the queue are in use", q->buffers.size()), site,
                         c.buffers[q->buffers[0]].site,
                         "FreeTensor what DeQue gave, or give the queue more buffers; the core would hang"));
    if (c.allocated[int(q->space)] + q->bytes > c.memory[int(q->space)].bytes) return view_of(*q, q->buffers[0], dtype);
    add_buffer(*q, site_of(q->site));  // goes on as if the queue had one more
  } else {
    check_position(*q, site);
  }
  const std::uint32_t number = q->idle.front();
  q->idle.pop_front();
  Buffer& b = c.buffers[number];
  if (!b.placed) {
    b.placed = true;
    b.addr = tscm_place(b.bytes, q->shared, site);
    b.tensor = declare_tensor(q->what, q->space, Maker::TPipe, b.addr, b.bytes, site_of(q->site));
  }
  b.state = Buffer::Allocated;
  ++b.generation;
  b.site = site_id(site);
  if (b.used) c.take_over(q->producer, b.freed, q->consumer, b.site);
  b.used = false;
  return view_of(*q, number, dtype);
}

void queue_enque(Queue* q, const View& tensor, Site site, Pipe from) {
  Core& c = core();
  Buffer* b = q ? buffer_of(q, tensor) : nullptr;
  if (!b || (b->state != Buffer::Allocated && b->state != Buffer::Taken)) {
    const char* const why = !b                           ? "a tensor that is not this queue's"
                            : b->state == Buffer::Queued ? "a tensor that is already in the queue"
                                                         : "a tensor that AllocTensor did not give";
    report(queue_finding(q, format("EnQue of %s", why), site, b ? b->site : 0,
                         "AllocTensor, fill, EnQue, DeQue, use, FreeTensor: in this order, from one queue"));
    return;
  }
  if (static_cast<int>(q->waiting.size()) >= std::max(q->depth, 1)) {
    report(queue_finding(
        q, format("EnQue of %zu tensors one after the other into a queue of depth %d", q->waiting.size() + 1, q->depth),
        site, c.buffers[q->waiting.back()].site, "DeQue in between, or give the queue that depth: TQue<position, depth>"));
  }
  b->state = Buffer::Queued;
  b->site = site_id(site);
  b->filled_by = from == Pipe::ALL ? q->producer : from;
  b->filled = c.hand_over(b->filled_by, b->site);
  q->waiting.push_back(tensor.buffer);
}

View queue_deque(Queue* q, DType dtype, Site site, Pipe to) {
  Core& c = core();
  if (!q || q->waiting.empty()) {
    report(queue_finding(q, "DeQue from an empty queue", site, q ? q->site : 0, "EnQue first; the core would hang"));
    return q && !q->buffers.empty() ? view_of(*q, q->buffers[0], dtype) : View{};
  }
  const std::uint32_t number = q->waiting.front();
  q->waiting.pop_front();
  Buffer& b = c.buffers[number];
  b.state = Buffer::Taken;
  b.site = site_id(site);
  c.take_over(to == Pipe::ALL ? q->consumer : to, b.filled, b.filled_by, b.site);
  return view_of(*q, number, dtype);
}

void queue_free(Queue* q, const View& tensor, Site site) {
  Core& c = core();
  Buffer* b = q ? buffer_of(q, tensor) : nullptr;
  if (!b || b->state == Buffer::Idle || b->generation != tensor.generation) {
    report(queue_finding(
        q, !b ? "FreeTensor of a tensor that is not this queue's" : "FreeTensor of a tensor that was already given back",
        site, b ? b->site : 0, "free each tensor once, in the queue it came from"));
    return;
  }
  if (b->state == Buffer::Queued) {
    report(queue_finding(q, "FreeTensor of a tensor that is still in the queue", site, b->site, "DeQue it first"));
    for (auto at = q->waiting.begin(); at != q->waiting.end(); ++at) {
      if (*at == tensor.buffer) {
        q->waiting.erase(at);
        break;
      }
    }
  }
  b->state = Buffer::Idle;
  b->site = site_id(site);
  b->freed = c.hand_over(q->consumer, b->site);  // also of a tensor that never went through the queue
  b->used = true;
  q->idle.push_back(tensor.buffer);
}

int queue_waiting(const Queue* q) { return q ? static_cast<int>(q->waiting.size()) : 0; }
bool queue_has_idle(const Queue* q) { return q && !q->idle.empty(); }
bool queue_vacant(const Queue* q) { return q && static_cast<int>(q->waiting.size()) < std::max(q->depth, 1); }

void check_queues_at_end(Core& c) {
  for (const Buffer& b : c.buffers) {
    if (!b.queue || b.state == Buffer::Idle || b.state == Buffer::Allocated) continue;
    const char* const state = b.state == Buffer::Queued ? "is still in the queue (EnQue without DeQue)"
                                                        : "was not given back (DeQue without FreeTensor)";
    Finding f{Kind::Queue};
    f.what = format("at the end of the kernel a tensor %s", state);
    f.line_a = to_string(site_of(b.site));
    f.core = c.label();
    f.tensor = tensor_text(b.tensor);
    f.fix = "one DeQue and one FreeTensor for each EnQue";
    report(std::move(f));
  }
}

}  // namespace twin

// SPDX-License-Identifier: Apache-2.0
// What the kernel-facing headers ask of the engine, other than instructions: launches, scalar accesses, flags, queues.
// Every call acts on the core whose instruction stream is running.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "twin/types.hpp"

#ifndef TWIN_AUTO_SYNC
#define TWIN_AUTO_SYNC 1  // the device compiler's --cce-auto-sync, on by default there too
#endif

namespace twin {

// ---- the core that runs ----
CoreKind core_kind();
std::int64_t block_idx();      // mix, on a vector core: 2 × block + sub-block
std::int64_t core_block();     // the block alone, which the two vector cores of a cube core share
std::int64_t block_num();      // as launched
std::int64_t sub_block_idx();  // 0 or 1 on the vector cores of a mix kernel
std::int64_t task_ratio();     // vector cores a cube core; 0 or 1 without a partner
std::int64_t system_cycle();   // instructions that this core has issued: time is modelled after the run
void trap(const char* why, Site site);
void refuse_bytes(const char* name, Site site);                  // an instruction of 16 bits, called with single bytes
void refuse_call(const char* what, const char* fix, Site site);  // arguments that no instruction can be made of
// Prints up to `count` elements, and where they lie. Looks at them as a debugger does: no access of the kernel's.
void dump(const View& view, std::uint32_t desc, std::uint32_t count, Site site);
std::uint8_t* local_pointer(const View& view, Site site);
// A tensor again, from a pointer that GetPhyAddr gave out: [pointer, the end of the memory it lies in).
View local_view(const void* pointer, DType dtype, Site site);
// The same of a pointer into this memory, whose value may also be a number of bytes from its begin.
View local_view(Space space, const void* pointer, DType dtype, Site site);
std::uint64_t local_capacity_bytes(Space space);

// ---- tensors, so that reports can name them ----
// The number of the tensor that a line declares. Local: two tensors are the same if their ranges, line and maker are.
enum class Maker : std::uint8_t { Static, TPipe };  // placed by the kernel, or by a TPipe
std::uint32_t declare_tensor(const char* what, Space space, Maker maker, std::uint64_t addr, std::uint64_t bytes, Site site);
const std::uint32_t* keep_shape(const std::uint32_t words[9]);  // the same words, where they stay

// ---- the scalar pipe ----
// Copies size bytes between `value` and the tensor, through the scalar unit.
void scalar_load(const View& view, std::uint64_t offset_bytes, void* value, std::uint32_t size_bytes, Site site);
// keep: bits of a single byte that the store leaves as they are.
void scalar_store(const View& view, std::uint64_t offset_bytes, const void* value, std::uint32_t size_bytes, Site site,
                  std::uint8_t keep = 0);
void cache_clean(const View& view, bool whole_cache, Site site);  // DataCacheCleanAndInvalid
void data_sync_barrier(Site site);

// ---- the timing-only mode (twin_hint.h) ----
void hint_begin();
bool hint_end();  // whether a skipped value was read since
template <class Value, class Assumed>
auto hinted(Value&& value, Assumed assumed) {
  hint_begin();
  const std::decay_t<decltype(value())> real = value();
  return hint_end() ? static_cast<std::decay_t<decltype(value())>>(assumed) : real;
}

// ---- order inside a core ----
void set_flag(Pipe from, Pipe to, int id, Site site);
void wait_flag(Pipe from, Pipe to, int id, Site site);
void pipe_barrier(Pipe pipe, Site site);
int alloc_event(Pipe from, Pipe to, bool keep, Site site);  // keep: AllocEventID; otherwise FetchEventID
void release_event(Pipe from, Pipe to, int id, Site site);

// ---- order between cores ----
// raw: by the compiler's own names, which take ids up to 15 (the page of ffts_cross_core_sync) where CrossCoreSetFlag
// takes 10.
void cross_core_set(int mode, Pipe pipe, int id, bool raw, Site site);
void cross_core_wait(int mode, Pipe pipe, int id, bool raw, Site site);
void sync_all(bool vector_only, Site site);
// Flags in GM: a block sets, another one waits for it. Event kTurns is the one of WaitPreBlock and NotifyNextBlock.
inline constexpr int kTurns = -1;
void block_set(const View& gm_workspace, const View& ub_workspace, int block, int event, Site site);
void block_wait(const View& gm_workspace, const View& ub_workspace, int block, int event, Site site);
void turn_wait(const View& gm_workspace, const View& ub_workspace, Site site);
void turn_notify(const View& gm_workspace, const View& ub_workspace, Site site);
void turns_begin(const View& gm_workspace, const View& ub_workspace, Site site);
// GroupBarrier: each of `waiters` vector cores waits until each of `arrivers` has arrived as often as it has waited.
struct Group {
  std::uint64_t workspace = 0;  // in GM, 512 bytes a waiter
  std::uint32_t arrivers = 0, waiters = 0;
};
void group_begin(const Group& group, Site site);
void group_arrive(const Group& group, std::uint32_t index, Site site);
void group_wait(const Group& group, std::uint32_t index, Site site);
void sync_all_soft(const View& gm_workspace, const View& ub_workspace, int used_cores, Site site);

// ---- vector mask register and store mode ----
void set_mask(std::uint64_t high, std::uint64_t low);
void set_mask_counter(bool counter_mode);
bool mask_counter(Site site);
enum class Atomic : std::uint8_t { None, Add, Max, Min };
void set_atomic(Atomic kind, DType dtype, Site site);
Atomic atomic_kind();
DType atomic_dtype();

// ---- accesses to be reported ----
struct WatchCall {
  unsigned which = 0;                  // of four
  std::uint32_t start = 0, end = 0;    // blocks of 32 bytes: behind `start`, up to and with `end`
  bool reads[3] = {}, writes[3] = {};  // by the scalar unit, the vector unit, the moves
  bool on = false;
};
void watch_ub(const WatchCall& call, Site site);

// ---- TPipe ----
void*& pipe_slot();           // the core's TPipe, for GetTPipePtr
std::uint64_t& tiling_key();  // for TILING_KEY_IS
struct Queue;
std::uint64_t pipe_allocate(Space space, std::uint64_t bytes, const char* what, Site site);  // the offset of the buffer
void pipe_begin(Site site);
void pipe_end(Site site);
void pipe_reset(Site site);
// Buffers between the two calls come from a part of the memory: the next one begins at `next`; pool_leave returns where
// the one after them would. Past `end` is reported.
void pool_enter(Space space, std::uint64_t next);
std::uint64_t pool_leave(Space space, std::uint64_t end, Site site);
// The queues with buffers in [begin, end) wait for what FreeTensor has set.
void settle_queues(Space space, std::uint64_t begin, std::uint64_t end, Site site);
// What InitBuffer has left of a memory, less what the library keeps for itself.
View pipe_rest(Space space, Site site);
// position pairs are given as pipes: who fills a buffer, who reads it. `what` names the queue in reports: "VECIN queue".
// shared: TSCM that both vector cores of a block have at one place.
Queue* queue_init(const char* what, Space space, Pipe producer, Pipe consumer, int depth, int num, std::uint64_t bytes,
                  Site site, bool shared = false);
View queue_alloc(Queue* queue, DType dtype, Site site);
// ALL: the queue's own pipe. A tensor that DeQue gave may go in once more.
void queue_enque(Queue* queue, const View& tensor, Site site, Pipe from = Pipe::ALL);
View queue_deque(Queue* queue, DType dtype, Site site, Pipe to = Pipe::ALL);
void queue_free(Queue* queue, const View& tensor, Site site);
int queue_waiting(const Queue* queue);  // tensors between EnQue and DeQue
bool queue_has_idle(const Queue* queue);
bool queue_vacant(const Queue* queue);

// ---- launches ----
enum class KernelType : std::uint8_t { Unset, AivOnly, AicOnly, MixAiv10, MixAic10, MixAic11, MixAic12 };
using Invoke = void (*)(const void* arguments);  // runs one core's stream

// An argument of a launch that knows the kernel by its name only.
struct Argument {
  template <class T>
  Argument(const T& value) {  // NOLINT: implicit, one for each argument
    if constexpr (std::is_pointer<T>::value || std::is_null_pointer<T>::value) {
      kind = Pointer, pointer = (const void*)value;
    } else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value) {
      kind = Integer, integer = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_floating_point<T>::value) {
      kind = Real, real = static_cast<double>(value);
    } else {
      static_assert(std::is_trivially_copyable<T>::value, "a kernel takes plain data by value");
      kind = Bytes, pointer = &value, size_bytes = sizeof value;
    }
  }
  enum Kind : std::uint8_t { Pointer, Integer, Real, Bytes } kind;
  const void* pointer = nullptr;
  std::int64_t integer = 0;
  double real = 0;
  std::size_t size_bytes = 0;
};
struct BlocksAt {
  template <class N>
  BlocksAt(N n, Site s = Site::here()) : blocks(static_cast<std::uint32_t>(n)), site(s) {}  // NOLINT
  BlocksAt on(const void* its_stream) const {
    BlocksAt other = *this;
    other.stream = its_stream;
    return other;
  }
  std::uint32_t blocks;
  Site site = Site::none();
  const void* stream = nullptr;
};
// `needed` is only there to be linked. Ends the program if the arguments are not the kernel's.
std::uint32_t launch_by_name(const char* kernel, void (*needed)(), BlocksAt at, std::initializer_list<Argument> arguments);
// Launches with those arguments; null, or what is wrong with them.
using InvokeByName = const char* (*)(const Argument* arguments, std::size_t count, BlocksAt at);
struct LaunchRequest {
  const char* kernel;  // its spelling, the same in every pass
  Site site = Site::none();
  std::uint32_t blocks;
  const void* arguments;  // a tuple that Invoke understands
  bool auto_sync;
  KernelType type = KernelType::Unset;  // Unset: as registered under the kernel's name
  const void* stream = nullptr;         // null: the default one
  void (*note_scalars)(const void* arguments) = nullptr;
};
// For the timing-only mode: numbers that a kernel may compare with. Those that stand in the source, in code for the device
// and elsewhere, and those that a launch is given.
bool register_literals(std::initializer_list<double> device, std::initializer_list<double> other);
void note_scalar(double value);
void note_words(const void* words, std::size_t bytes);
template <class T>
void note_argument(const T& a) {
  if constexpr (std::is_arithmetic<T>::value) {
    note_scalar(static_cast<double>(a));
  } else if constexpr (std::is_class<T>::value && std::is_convertible<T, float>::value) {
    note_scalar(static_cast<double>(static_cast<float>(a)));
  } else if constexpr (std::is_class<T>::value) {
    note_words(&a, sizeof a);
  }
}
// A mix kernel is compiled three times (host, AIC, AIV): each pass registers its own copy under one spelling.
enum class Pass : std::uint8_t { Host, Aic, Aiv };
// Under which a kernel is known: how it is written, and if that stands in an unnamed namespace, the file that is compiled.
std::string kernel_spelling(const char* pretty, const char* unit);
// this_header: where the twin's headers lie, so that their lines are not taken for a kernel's.
bool register_kernel(const char* kernel, Pass pass, Invoke invoke, InvokeByName by_name, const char* this_header = __FILE__);
// tiling_key −1: any key. unit: the file that is compiled, for a kernel in an unnamed namespace.
bool register_kernel_type(const char* kernel_name, KernelType type, std::int64_t tiling_key = -1, const char* unit = "");
void launch(const LaunchRequest& request);

#if defined(__DAV_C220_CUBE__)
inline constexpr Pass kPass = Pass::Aic;
#elif defined(__DAV_C220_VEC__)
inline constexpr Pass kPass = Pass::Aiv;
#else
inline constexpr Pass kPass = Pass::Host;
#endif

// k<<<blocks, l2, stream>>>(args...) becomes twin::launcher<decltype(k), k>(blocks, l2, stream)(args...).
template <class Signature, Signature* kKernel>
class Launch;

template <class... Parameters, void (*kKernel)(Parameters...)>
class Launch<void(Parameters...), kKernel> {
 public:
  Launch(std::uint32_t blocks, const void* stream, Site site) : blocks_(blocks), stream_(stream), site_(site) {}
  Launch on(const void* stream) const {
    Launch other = *this;
    other.stream_ = stream;
    return other;
  }
  Launch as(KernelType type) const {
    Launch other = *this;
    other.type_ = type;
    return other;
  }
  Launch auto_sync(bool on) const {
    Launch other = *this;
    other.auto_sync_ = on;
    return other;
  }

  template <class... Given>
  void operator()(Given&&... given) const {
    static_assert(sizeof...(Given) == sizeof...(Parameters),
                  "the launch passes another number of arguments than the kernel takes");
    const Tuple arguments(convert<std::decay_t<Parameters>>(given)...);
    (void)kRegistered;
    launch({spelling(), site_, blocks_, &arguments, auto_sync_, type_, stream_, &note_scalars});
  }

  // Twincc's way to register a kernel that another file launches.
  static bool registered() { return kRegistered; }

 private:
  using Tuple = std::tuple<std::decay_t<Parameters>...>;
  static const char* spelling() {
#if defined(__clang__) && defined(__cpp_rtti)  // clang 14 prints a template's function without its arguments
    static const std::string whole = std::string(typeid(Launch).name()) + ' ' + __PRETTY_FUNCTION__;
#else
    static const std::string whole = __PRETTY_FUNCTION__;
#endif
    static const std::string name = kernel_spelling(whole.c_str(), __BASE_FILE__);
    return name.c_str();
  }
  static void invoke(const void* arguments) { std::apply(kKernel, *static_cast<const Tuple*>(arguments)); }
  static void note_scalars(const void* arguments) {
    std::apply([](const auto&... a) { (note_argument(a), ...); }, *static_cast<const Tuple*>(arguments));
  }
  static const char* by_name(const Argument* arguments, std::size_t count, BlocksAt at) {
    if (count != sizeof...(Parameters)) return "another number of arguments than the kernel takes";
    return by_name(arguments, at, std::index_sequence_for<Parameters...>());
  }
  template <std::size_t... I>
  static const char* by_name(const Argument* arguments, BlocksAt at, std::index_sequence<I...>) {
    if (!(fits<std::decay_t<Parameters>>(arguments[I]) && ...)) return "an argument of another type than the kernel takes";
    Launch(at.blocks, at.stream, at.site)(given<std::decay_t<Parameters>>(arguments[I])...);
    return nullptr;
  }
  template <class T>
  static constexpr bool is_number = std::is_arithmetic<T>::value || std::is_enum<T>::value;
  // half and bfloat16_t, which the host may give as numbers.
  template <class T>
  static constexpr bool is_like_number = !std::is_aggregate<T>::value && std::is_constructible<T, double>::value;
  template <class T>
  static bool fits(const Argument& a) {
    if constexpr (std::is_pointer<T>::value) return a.kind == Argument::Pointer;
    if constexpr (is_number<T>) return a.kind == Argument::Integer || a.kind == Argument::Real;
    return a.kind == Argument::Bytes ? a.size_bytes == sizeof(T) : is_like_number<T> && a.kind != Argument::Pointer;
  }
  template <class T>
  static T given(const Argument& a) {
    if constexpr (std::is_pointer<T>::value) {
      return (T)a.pointer;
    } else if constexpr (is_number<T>) {
      return a.kind == Argument::Integer ? static_cast<T>(a.integer) : static_cast<T>(a.real);
    } else {
      if constexpr (is_like_number<T>) {
        if (a.kind != Argument::Bytes) return T(a.kind == Argument::Integer ? static_cast<double>(a.integer) : a.real);
      }
      alignas(T) unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, a.pointer, sizeof(T));
      return *reinterpret_cast<T*>(bytes);
    }
  }
  // GM_ADDR parameters take any pointer, as they do on the device.
  template <class Parameter, class Given>
  static Parameter convert(Given& given) {
    if constexpr (std::is_pointer<Parameter>::value && std::is_pointer<std::decay_t<Given>>::value) {
      return (Parameter)given;
    } else {
      return static_cast<Parameter>(given);
    }
  }
  static inline const bool kRegistered = register_kernel(spelling(), kPass, &invoke, &by_name);

  std::uint32_t blocks_;
  const void* stream_;
  Site site_ = Site::none();
  KernelType type_ = KernelType::Unset;
  bool auto_sync_ = TWIN_AUTO_SYNC != 0;
};

// The middle one is the size of L2 memory to reserve or null, of no consequence here; the last one the stream.
template <class Signature, Signature* kKernel, class Blocks, class L2 = std::nullptr_t, class Stream = std::nullptr_t>
Launch<Signature, kKernel> launcher(Blocks blocks, const L2& = {}, const Stream& stream = {}, Site site = Site::here()) {
  const void* on = nullptr;
  if constexpr (std::is_convertible<Stream, const void*>::value) on = stream;
  return Launch<Signature, kKernel>(static_cast<std::uint32_t>(blocks), on, site);
}

// A parameter that takes whatever pointer the host has, for the functions that ACLRT_LAUNCH_KERNEL names.
class AnyPointer {
 public:
  AnyPointer(const void* pointer) : pointer_(pointer) {}  // NOLINT: that is its purpose
  template <class T>
  operator T*() const {  // NOLINT
    return (T*)const_cast<void*>(pointer_);
  }

 private:
  const void* pointer_;
};

}  // namespace twin

// twincc writes these behind a kernel's body. Other files launch the kernel by its name, or by the function that
// ACLRT_LAUNCH_KERNEL names; a kernel in a header may be registered by several files.
#define TWIN_KERNEL_TYPE(name, type, key)                                                                                 \
  namespace {                                                                                                             \
  [[maybe_unused]] const bool TWIN_JOIN(twin_type_##name,                                                                 \
                                        __COUNTER__) = ::twin::register_kernel_type(#name, ::twin::KernelType::type, key, \
                                                                                    __BASE_FILE__);                       \
  }
#define TWIN_KERNEL(name, function, parameters, arguments)                                                         \
  namespace {                                                                                                      \
  [[maybe_unused]] const bool twin_registered_##name = ::twin::Launch<decltype(function), function>::registered(); \
  }                                                                                                                \
  extern "C" __attribute__((weak)) std::uint32_t aclrtlaunch_##name parameters {                                   \
    ::twin::launcher<decltype(function), function>(twin_blocks, nullptr, twin_stream) arguments;                   \
    return 0;                                                                                                      \
  }
// In place of TWIN_KERNEL_TYPE where the types are chosen by #if or given by a macro: twincc reads them from the
// preprocessor's output, and defines TWIN_TYPES_OF_<kernel>.
#ifdef TWIN_READ_TYPES
#define TWIN_TYPES_OF(name, otherwise) twin_types_of(name, otherwise)
#else
#define TWIN_TYPES_OF(name, otherwise) TWIN_TYPES_OF_(name)
#define TWIN_TYPES_OF_(name) TWIN_TYPES_OF_##name
#endif
#define TWIN_JOIN(a, b) TWIN_JOIN_(a, b)
#define TWIN_JOIN_(a, b) a##b

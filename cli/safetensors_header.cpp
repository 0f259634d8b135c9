// SPDX-License-Identifier: Apache-2.0
// The JSON header: a SAX parser that knows the one shape a header may have, then the checks between tensors.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/printable.hpp"
#include "cli/safetensors.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t kMaxShownName = 64;

std::string shown(std::string_view name) {
  std::string text = "\"";  // appended to: GCC 12 warns wrongly of "\"" + std::string (its bug 105651)
  return text += printable(name, kMaxShownName) + "\"";
}

// A header is { "__metadata__": {string: string}, NAME: {"dtype": s, "shape": [n...], "data_offsets": [n, n]} ... }.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string error;

  bool start_object(std::size_t) override {
    switch (state_) {
      case State::start:
        state_ = State::names;
        return true;
      case State::tensor_value:
        state_ = State::tensor;
        return true;
      case State::metadata_value:
        state_ = State::metadata;
        return true;
      default:
        return fail("an object where none may stand");
    }
  }
  bool end_object() override {
    if (state_ == State::names) state_ = State::done;
    if (state_ == State::metadata) state_ = State::names;
    if (state_ == State::tensor) return finish_tensor();
    return true;
  }
  bool key(string_t& name) override {
    switch (state_) {
      case State::names:
        return begin_entry(name);
      case State::metadata:
        metadata_key_ = name;
        if (header.metadata.contains(name)) return fail("metadata key " + shown(name) + " appears twice");
        return true;
      default:
        return begin_field(name);
    }
  }
  bool string(string_t& value) override {
    if (state_ == State::metadata) {
      header.metadata[metadata_key_] = value;
      return true;
    }
    if (state_ != State::dtype) return fail("the string " + shown(value) + " where none may stand");
    tensor_.dtype = value;
    state_ = State::tensor;
    return true;
  }
  bool start_array(std::size_t) override {
    if (state_ == State::shape_value)
      state_ = State::shape;
    else if (state_ == State::offsets_value)
      state_ = State::offsets;
    else
      return fail("an array where none may stand");
    return true;
  }
  bool end_array() override {
    if (state_ == State::offsets && offsets_.size() != 2) return fail("data_offsets must hold two numbers");
    state_ = State::tensor;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return fail("a size over 2^63");
      if (tensor_.shape.size() == kMaxRank) return fail("more than " + std::to_string(kMaxRank) + " axes");
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (state_ != State::offsets) return fail("the number " + std::to_string(value) + " where none may stand");
    if (offsets_.size() == 2) return fail("data_offsets must hold two numbers");
    offsets_.push_back(value);
    return true;
  }
  bool number_integer(number_integer_t value) override { return fail("a negative number, " + std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override {
    return fail("the number " + shown(text) + ", which is no whole number of 64 bits");
  }
  bool null() override { return fail("a null"); }
  bool boolean(bool) override { return fail("a boolean"); }
  bool binary(binary_t&) override { return fail("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return fail("not JSON, near byte " + std::to_string(position));
  }

 private:
  enum class State {
    start,
    names,
    tensor_value,
    tensor,
    dtype,
    shape_value,
    shape,
    offsets_value,
    offsets,
    metadata_value,
    metadata,
    done
  };

  bool fail(std::string message) {
    if (error.empty())
      error = state_ == State::start || tensor_.name.empty() ? std::move(message)
                                                             : "tensor " + shown(tensor_.name) + ": " + message;
    return false;
  }
  bool begin_entry(const std::string& name) {
    tensor_ = {};
    offsets_.clear();
    if (!names_.insert(name).second) return fail("the name " + shown(name) + " appears twice");
    if (name == "__metadata__") {
      state_ = State::metadata_value;
      return true;
    }
    if (name.empty()) return fail("a tensor without a name");
    tensor_.name = name;
    state_ = State::tensor_value;
    fields_ = 0;
    return true;
  }
  bool begin_field(const std::string& name) {
    static constexpr std::pair<std::string_view, State> kFields[] = {
        {"dtype", State::dtype}, {"shape", State::shape_value}, {"data_offsets", State::offsets_value}};
    if (state_ != State::tensor) return fail("the key " + shown(name) + " where none may stand");
    for (unsigned bit = 0; bit < 3; ++bit) {
      if (kFields[bit].first != name) continue;
      if (fields_ & (1u << bit)) return fail(name + " appears twice");
      fields_ |= 1u << bit;
      state_ = kFields[bit].second;
      return true;
    }
    return fail("unknown key " + shown(name) + " (a tensor has dtype, shape and data_offsets)");
  }
  bool finish_tensor() {
    if (fields_ != 7) return fail("dtype, shape and data_offsets are required");
    tensor_.begin = offsets_[0];
    tensor_.end = offsets_[1];
    header.tensors.push_back(std::move(tensor_));
    tensor_ = {};
    state_ = State::names;
    return true;
  }

  State state_ = State::start;
  TensorInfo tensor_;
  unsigned fields_ = 0;  // one bit a field seen
  std::vector<std::uint64_t> offsets_;
  std::set<std::string> names_;
  std::string metadata_key_;
};

std::string range_text(const TensorInfo& tensor) {
  std::string text = "[";  // appended to: GCC 12 warns wrongly of "[" + std::string (its bug 105651)
  text += std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + ")";
  return text;
}

Status check_size(const TensorInfo& tensor) {
  std::int64_t elements = 1;
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  for (const auto n : tensor.shape) {
    if (!empty && __builtin_mul_overflow(elements, n, &elements)) {
      return Status::invalid("tensor " + shown(tensor.name) + ": shape " + tensor.shape_text() + " overflows");
    }
  }
  const int bits = bits_of_dtype(tensor.dtype);
  if (bits == 0) return {};  // not known here: its bytes cannot be checked, and nobody reads them
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(empty ? 0 : elements, bits, &total) || total % 8 != 0 || total / 8 != tensor.bytes()) {
    return Status::invalid("tensor " + shown(tensor.name) + ": " + printable(tensor.dtype, kMaxShownName) + " " +
                           tensor.shape_text() + " does not fill the " + std::to_string(tensor.bytes()) +
                           " bytes of its data_offsets");
  }
  return {};
}

// The format's rule: the data section is covered whole, each byte by one tensor.
Status check_cover(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::vector<const TensorInfo*> order;
  for (const auto& tensor : header.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  std::uint64_t at = 0;
  for (const auto* tensor : order) {
    const auto offsets = range_text(*tensor);
    if (tensor->begin != at) {
      return Status::invalid("tensor " + shown(tensor->name) + ": data_offsets " + offsets +
                             (tensor->begin < at ? " overlap another tensor's" : " leave a hole before them"));
    }
    at = tensor->end;
  }
  if (at != data_bytes) {
    return Status::invalid("the tensors cover " + std::to_string(at) + " bytes of data, the file has " +
                           std::to_string(data_bytes));
  }
  return {};
}

}  // namespace

std::int64_t TensorInfo::elements() const noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t n = 1;
  for (const auto s : shape) n *= s;
  return n;
}

std::string TensorInfo::shape_text() const {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int bits_of_dtype(std::string_view dtype) noexcept {
  static constexpr std::pair<std::string_view, int> kBits[] = {
      {"F64", 64},    {"I64", 64},    {"U64", 64},    {"C64", 64},    {"F32", 32},    {"I32", 32}, {"U32", 32},
      {"F16", 16},    {"BF16", 16},   {"I16", 16},    {"U16", 16},    {"I8", 8},      {"U8", 8},   {"BOOL", 8},
      {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
  for (const auto& [name, bits] : kBits) {
    if (name == dtype) return bits;
  }
  return 0;
}

const TensorInfo* SafetensorsHeader::find(std::string_view name) const noexcept {
  for (const auto& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes) {
  if (json.empty() || json.front() != '{') return Status::invalid("the header does not begin with '{'");
  HeaderReader reader;
  const bool parsed = nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  if (!parsed || !reader.error.empty()) return Status::invalid("header: " + reader.error);
  for (const auto& tensor : reader.header.tensors) {
    if (tensor.begin > tensor.end || tensor.end > data_bytes) {
      return Status::invalid("tensor " + shown(tensor.name) + ": data_offsets " + range_text(tensor) +
                             " are not inside the " + std::to_string(data_bytes) + " bytes of data");
    }
    if (auto status = check_size(tensor); !status) return status;
  }
  if (auto status = check_cover(reader.header, data_bytes); !status) return status;
  return std::move(reader.header);
}

Result<std::uint64_t> safetensors_header_length(std::span<const std::byte> prefix, std::uint64_t file_bytes) {
  if (prefix.size() < 8 || file_bytes < 8) {
    return Status::invalid("only " + std::to_string(file_bytes) + " bytes: too short for a safetensors file");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = (length << 8) | std::to_integer<std::uint64_t>(prefix[i]);
  const auto says = "the header says it has " + std::to_string(length) + " bytes, ";
  if (length > kMaxHeaderBytes) {
    return Status::invalid(says + "over the limit of " + std::to_string(kMaxHeaderBytes) + " (is this a safetensors file?)");
  }
  if (length > file_bytes - 8) {
    return Status::invalid(says + "the file has " + std::to_string(file_bytes - 8) +
                           " after its length (is this a safetensors file?)");
  }
  return length;
}

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file) {
  const auto length = safetensors_header_length(file.first(std::min<std::size_t>(file.size(), 8)), file.size());
  if (!length) return length.status();
  const std::string_view json(reinterpret_cast<const char*>(file.data()) + 8, *length);
  auto header = parse_safetensors_header(json, file.size() - 8 - *length);
  if (header) header->data_begin = 8 + *length;
  return header;
}

}  // namespace tessera::cli

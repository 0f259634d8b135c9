// SPDX-License-Identifier: Apache-2.0
// LoadImageToLocal: pixels of an image in GM, changed on their way into L1 as SetAippFunctions says. What comes out is
// (height, width, channels), channels filled up. In this order: channels change places, the colour space, the type; padding
// last, in the type that comes out.
#include "twin/calls_aipp.hpp"

#include <algorithm>
#include <cmath>

#include "cube_common.hpp"
#include "element.hpp"

namespace twin {
namespace {

enum Format : std::uint8_t { kYuv420 = 0, kXrgb = 1, kRgb = 4, kYuv400 = 9 };

struct Picture {
  const Aipp& a;
  ImageWindow w;
  int channels() const { return a.format == kXrgb ? 4 : a.format == kYuv400 ? 1 : 3; }
  // Bytes of a pixel in the first plane.
  std::uint64_t step() const { return a.format == kYuv420 ? 1 : channels(); }
  std::uint64_t height() const { return a.single_line ? 1 : w.height; }
  std::uint64_t out_width() const { return std::uint64_t{w.left} + w.width + w.right; }
  std::uint64_t out_height() const { return w.top + height() + w.bottom; }
  std::uint32_t out_channels() const { return a.channel_mode == 1 ? 4 : kBlockBytes / size_bytes(a.dtype); }
  std::uint64_t bytes() const { return out_width() * out_height() * out_channels() * size_bytes(a.dtype); }
  std::uint64_t row(std::uint64_t y) const { return ((w.y + y) * w.source_width + w.x) * step(); }
  std::uint64_t chroma_row(std::uint64_t y) const { return (w.y + y) / 2 * w.source_width + w.x / 2 * 2; }
};

// Where a coordinate of the padded picture takes its pixel, or −1: a constant.
std::int64_t source_of(std::int64_t at, std::int64_t before, std::int64_t size, std::int64_t after, std::uint32_t mode) {
  const std::int64_t k = at - before;
  if (k >= 0 && k < size) return k;
  std::int64_t from = -1;
  if (mode == 1) from = k < 0 ? 0 : size - 1;
  if (mode == 2) from = k < 0 ? k + before : k - after;
  if (mode == 3) from = k < 0 ? -1 - k : 2 * size - 1 - k;
  return mode == 0 ? -1 : std::min(std::max<std::int64_t>(from, 0), size - 1);
}

std::uint8_t to_byte(std::int64_t value) {
  return static_cast<std::uint8_t>(std::min<std::int64_t>(std::max<std::int64_t>(value, 0), 255));
}

// The four channels of a pixel as they come out of the source: in their new places and colours.
void pixel(const Picture& p, const std::uint8_t* image, const std::uint8_t* chroma, std::uint64_t x, std::uint64_t y,
           std::uint8_t out[4]) {
  const Aipp& a = p.a;
  const std::uint8_t* const at = image + p.row(y) + x * p.step();
  if (a.format == kYuv420) {
    const std::uint8_t* const uv = chroma + p.chroma_row(y) + x / 2 * 2;
    out[0] = *at, out[1] = uv[a.swap_uv], out[2] = uv[!a.swap_uv];
  } else {
    for (int c = 0; c < p.channels(); ++c) out[c] = at[c];
  }
  if (a.format == kXrgb && a.swap_ax) std::rotate(out, out + 1, out + 4);
  if (a.swap_rb && a.format == kRgb) std::swap(out[0], out[2]);
  if (a.swap_rb && a.format == kXrgb) a.swap_ax ? std::swap(out[0], out[2]) : std::swap(out[1], out[3]);
  if (!a.csc) return;
  std::int64_t in[3];
  for (int c = 0; c < 3; ++c) in[c] = std::int64_t{out[c]} - a.bias_in[c];
  for (int r = 0; r < 3; ++r) {
    const std::int64_t sum = a.matrix[r][0] * in[0] + a.matrix[r][1] * in[1] + a.matrix[r][2] * in[2];
    out[r] = to_byte((sum >> 8) + a.bias_out[r]);
  }
}

float convert(const Aipp& a, int channel, std::uint8_t value) {
  const float centred = static_cast<float>(value) - static_cast<float>(a.mean[channel]);
  if (a.dtype == DType::I8) return std::min(std::max(centred, -128.0f), 127.0f);
  return (centred - a.min[channel]) * a.var[channel];
}
void put(std::uint8_t* at, DType dtype, float value) {
  if (dtype == DType::F16) {
    const std::uint16_t bits = float_to_half(value);
    std::memcpy(at, &bits, 2);
  } else {
    *at = static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
  }
}

void check_functions(Instruction& i, const View& dst, const Aipp& a) {
  i.require(a.dtype == dst.dtype, Kind::Limit,
            format("LoadImageToLocal of %s, after SetAippFunctions of %s", name(dst.dtype), name(a.dtype)),
            "the tensor and AippParams have the same element type");
  i.require(a.format == kYuv420 || a.format == kXrgb || a.format == kRgb || a.format == kYuv400, Kind::Limit,
            format("SetAippFunctions: format %u", a.format), "use a value of AippInputFormat");
  i.require(a.has_chroma || a.format != kYuv420, Kind::Limit, "SetAippFunctions: YUV420SP_U8 without the tensor of U and V",
            "give src1");
  i.require(a.padding_mode <= 3, Kind::Limit, format("SetAippFunctions: paddingMode %u", a.padding_mode), "it is 0 to 3");
  i.require(a.channel_mode <= 1, Kind::Limit, format("SetAippFunctions: cPaddingMode %u", a.channel_mode), "it is 0 or 1");
  i.require(a.round_mode == 0, Kind::Limit,
            format("SetAippFunctions: dtcRoundMode %u, of which the twin covers 0 only", a.round_mode), "use 0");
  i.require(!(a.swap_uv && a.format != kYuv420), Kind::Limit, "SetAippFunctions: isSwapUV is for YUV420SP_U8",
            "leave it out");
  i.require(!(a.swap_ax && a.format != kXrgb), Kind::Limit, "SetAippFunctions: isSwapAX is for XRGB8888_U8", "leave it out");
  i.require(!(a.swap_rb && a.format != kXrgb && a.format != kRgb), Kind::Limit,
            "SetAippFunctions: isSwapRB is for RGB888_U8 and XRGB8888_U8", "leave it out");
  i.require(!(a.csc && (a.format == kYuv400 || (a.format == kXrgb && !a.swap_ax))), Kind::Limit,
            "SetAippFunctions: the colour space of three channels, which must be the first",
            "set isSwapAX, or use another format");
  const std::uint32_t alignment = a.format == kXrgb ? 4 : a.format == kYuv420 ? 2 : 1;
  if (alignment > 1) {
    i.require_aligned(a.image, alignment, "src0 of SetAippFunctions");
    if (a.has_chroma) i.require_aligned(a.chroma, alignment, "src1 of SetAippFunctions");
  }
}
void check_window(Instruction& i, const View& dst, const Picture& p) {
  const ImageWindow& w = p.w;
  i.require(dst.space == Space::L1, Kind::Limit, format("LoadImageToLocal into %s", name(dst.space)),
            "it goes from GM to L1, positions A1 and B1");
  i.require_aligned(dst, kBlockBytes, "the destination");
  i.require(w.width >= 2 && w.width <= 4095 && (p.a.single_line || (w.height >= 2 && w.height <= 4095)), Kind::Limit,
            format("LoadImageToLocal: %u × %u pixels, each side 2 to 4095", w.width, w.height), "load the image in parts");
  i.require(w.x % 2 == 0 && w.x <= 4095 && w.y <= 4095, Kind::Limit,
            format("LoadImageToLocal: from pixel %u of row %u", w.x, w.y), "horizStartPos is even; both are at most 4095");
  if (p.a.format == kYuv420) {
    i.require(w.y % 2 == 0 && w.source_width % 2 == 0, Kind::Limit,
              format("LoadImageToLocal of YUV420SP: from row %u, of rows of %u pixels", w.y, w.source_width),
              "two rows and two columns share U and V: even numbers");
  }
  i.require(w.source_width >= 2 && w.source_width <= 4095 && w.x + w.width <= w.source_width, Kind::OutOfBounds,
            format("LoadImageToLocal: pixels %u to %u of rows of %u", w.x, w.x + w.width, w.source_width),
            "horizStartPos + horizSize <= srcHorizSize <= 4095");
  i.require(std::max(std::max(w.top, w.bottom), std::max(w.left, w.right)) <= 32, Kind::Limit,
            "LoadImageToLocal: more than 32 pixels of padding", "at most 32 on each side");
  i.require(p.a.padding_mode != 0 || w.top + w.bottom == 0, Kind::Limit,
            "LoadImageToLocal: paddingMode 0 pads on the left and on the right only", "use another mode, or write the rows");
}

}  // namespace

void set_aipp(const Aipp& aipp) {
  TWIN_HOLD_BACK(Pipe::MTE2, { set_aipp(aipp); })
  core().cube.aipp = std::make_shared<const Aipp>(aipp);
}

void load_image_to_local(const View& dst, const ImageWindow& window, Site site) {
  TWIN_HOLD_BACK(Pipe::MTE2, { load_image_to_local(dst, window, site); })
  Instruction i(Pipe::MTE2, "LoadImageToLocal", site);
  const std::shared_ptr<const Aipp> aipp = core().cube.aipp;
  if (!aipp) {
    i.refuse(Kind::Limit, "LoadImageToLocal before SetAippFunctions", "it has the image and its format");
    i.issue();
    return;
  }
  const Picture p{*aipp, window};
  check_functions(i, dst, *aipp);
  check_window(i, dst, p);
  if (!i.refused()) {
    for (std::uint64_t y = 0; y < p.height(); ++y) {
      i.read(aipp->image, p.row(y), window.width * p.step());
      if (aipp->format == kYuv420 && (y == 0 || (window.y + y) % 2 == 0))
        i.read(aipp->chroma, p.chroma_row(y), (window.width + 1) / 2 * 2);
    }
    i.write(dst, 0, p.bytes());
  }
  i.move(Path::GmToL1, p.bytes());
  if (!i.issue()) return;
  const std::uint32_t size = size_bytes(dst.dtype), channels = p.out_channels();
  const std::uint8_t* const image = i.bytes(aipp->image);
  const std::uint8_t* const chroma = aipp->format == kYuv420 ? i.bytes(aipp->chroma) : nullptr;
  States ds(i, dst);
  States is(i, aipp->image);
  std::uint8_t* out = i.bytes(dst);
  std::uint64_t at = 0;
  for (std::uint64_t y = 0; y < p.out_height(); ++y) {
    for (std::uint64_t x = 0; x < p.out_width(); ++x, at += channels * size) {
      const std::int64_t sx =
          source_of(static_cast<std::int64_t>(x), window.left, window.width, window.right, aipp->padding_mode);
      const std::int64_t sy = source_of(static_cast<std::int64_t>(y), window.top, static_cast<std::int64_t>(p.height()),
                                        window.bottom, aipp->padding_mode);
      const bool constant = sx < 0 || sy < 0;
      std::uint8_t in[4] = {};
      std::uint8_t state = kDefined;
      if (!constant) {
        const auto px = static_cast<std::uint64_t>(sx), py = static_cast<std::uint64_t>(sy);
        pixel(p, image, chroma, px, py, in);
        state = is.of(p.row(py) + px * p.step(), p.step());
        if (chroma && state == kDefined) state = States(i, aipp->chroma).of(p.chroma_row(py) + px / 2 * 2, 2);
      }
      for (std::uint32_t c = 0; c < channels; ++c) {
        const int channel = static_cast<int>(c);
        const float value = channel >= p.channels() ? aipp->channel_padding
                            : constant              ? aipp->padding[channel]
                                                    : convert(*aipp, channel, in[channel]);
        put(out + at + c * size, dst.dtype, value);
      }
      ds.set(at, channels * size, state);
    }
  }
}

}  // namespace twin

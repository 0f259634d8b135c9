// SPDX-License-Identifier: Apache-2.0
// LoadData 3D: the matrix of a convolution out of an image, without storing it.
#include "cube_common.hpp"

namespace twin {
namespace {

struct Image {  // with the filter laid over it
  Load3d p;
  std::uint32_t c0, size;
  std::int64_t out_width() const { return extent(p.width, p.pad_left, p.pad_right, p.filter_w, p.dilation_w, p.stride_w); }
  std::int64_t out_height() const { return extent(p.height, p.pad_top, p.pad_bottom, p.filter_h, p.dilation_h, p.stride_h); }
  std::uint64_t depth() const { return std::uint64_t{p.channels} * p.filter_w * p.filter_h; }
  std::uint64_t bytes() const { return std::uint64_t{p.channels} * p.height * p.width * size; }
  // The byte of element (m, k), or −1 in the padding.
  std::int64_t at(std::uint64_t m, std::uint64_t k) const {
    const std::int64_t wo = static_cast<std::int64_t>(m) % out_width(), ho = static_cast<std::int64_t>(m) / out_width();
    const std::uint64_t c = k % c0, tap = k / c0;
    const auto kw = static_cast<std::int64_t>(tap % p.filter_w),
               kh = static_cast<std::int64_t>(tap / p.filter_w % p.filter_h);
    const std::uint64_t c1 = tap / p.filter_w / p.filter_h;
    const std::int64_t x = wo * p.stride_w + kw * p.dilation_w - p.pad_left;
    const std::int64_t y = ho * p.stride_h + kh * p.dilation_h - p.pad_top;
    if (x < 0 || y < 0 || x >= p.width || y >= p.height) return -1;
    return ((static_cast<std::int64_t>(c1) * p.height + y) * p.width + x) * c0 * size + static_cast<std::int64_t>(c) * size;
  }

 private:
  static std::int64_t extent(std::uint32_t in, std::uint32_t before, std::uint32_t after, std::uint32_t filter,
                             std::uint32_t dilation, std::uint32_t stride) {
    const std::int64_t room = std::int64_t{in} + before + after - (std::int64_t{filter} - 1) * dilation - 1;
    return room < 0 || stride == 0 ? 0 : room / stride + 1;
  }
};

void check(Instruction& i, const View& dst, const View& src, const Image& image) {
  const Load3d& p = image.p;
  if (!(src.space == Space::L1 && (dst.space == Space::L0A || dst.space == Space::L0B)))
    i.refuse(Kind::Limit,
             format("LoadData (3D) from %s to %s: it goes from L1 to L0A or L0B", name(src.space), name(dst.space)),
             "use positions A1 and A2, or B1 and B2");
  if (!(dst.space == Space::L0A || image.size >= 2))
    i.refuse(Kind::Limit, format("LoadData (3D) of %s into L0B: 16-bit and 32-bit elements only", name(dst.dtype)),
             "use LoadData 2D");
  i.require(!p.transpose || (dst.space == Space::L0A && image.size == 2), Kind::Limit,
            "LoadData (3D): enTranspose is for 16-bit elements into L0A", "leave it false");
  if (!(p.channels > 0 && p.channels % image.c0 == 0))
    i.refuse(Kind::Limit,
             format("LoadData (3D): channelSize %u is not a multiple of %u, which is all that the twin covers", p.channels,
                    image.c0),
             "pad the channels");
  if (!(p.height >= 1 && p.height <= 32767 && p.width >= 1 && p.width <= 32767))
    i.refuse(Kind::Limit, format("LoadData (3D): l1H %u, l1W %u, each 1 to 32767", p.height, p.width), "split the image");
  if (!(p.stride_w >= 1 && p.stride_w <= 63 && p.stride_h >= 1 && p.stride_h <= 63))
    i.refuse(Kind::Limit, format("LoadData (3D): strideW %u, strideH %u, each 1 to 63", p.stride_w, p.stride_h),
             "use other strides");
  if (!(p.filter_w >= 1 && p.filter_h >= 1 && p.dilation_w >= 1 && p.dilation_h >= 1))
    i.refuse(Kind::Limit,
             format("LoadData (3D): filter %u × %u, dilation %u × %u, each at least 1", p.filter_w, p.filter_h, p.dilation_w,
                    p.dilation_h),
             "1 for a plain matrix");
  // A fractal is 16 rows of C0; in L0B, and transposed, the two change places.
  const bool turned = dst.space == Space::L0B || p.transpose;
  const std::uint32_t rows = turned ? image.c0 : 16, columns = turned ? 16 : image.c0;
  if (!(p.m_start % rows == 0 && p.k_start % columns == 0 && p.m_extent % rows == 0 && p.k_extent % columns == 0))
    i.refuse(Kind::Alignment,
             format("LoadData (3D): mStartPt %u and mExtension %u are multiples of %u, kStartPt %u and kExtension %u of %u",
                    p.m_start, p.m_extent, rows, p.k_start, p.k_extent, columns),
             "load whole fractals");
  i.require(image.out_width() > 0 && image.out_height() > 0, Kind::Limit,
            "LoadData (3D): the filter does not fit into the padded image", "check l1H, l1W, padList and the filter");
  if (!(std::uint64_t{p.k_start} + p.k_extent <= image.depth()))
    i.refuse(Kind::OutOfBounds,
             format("LoadData (3D): columns up to %u of a matrix that has %llu", p.k_start + p.k_extent,
                    static_cast<unsigned long long>(image.depth())),
             "kStartPt + kExtension <= channelSize * filterH * filterW");
  i.require_aligned(dst, kFractalBytes, "the destination");
  i.require_aligned(src, kBlockBytes, "the source");
}

}  // namespace

void set_load_image(std::uint32_t height, std::uint32_t width, const std::uint8_t pads[4]) {
  if (core().stands(Pipe::MTE1)) {
    return core().hold_back(Pipe::MTE1, [height, width, p = std::vector<std::uint8_t>(pads, pads + 4)] {
      set_load_image(height, width, p.data());
    });
  }
  CubeRegisters& r = core().cube;
  r.image_height = height;
  r.image_width = width;
  for (int k = 0; k < 4; ++k) r.pads[k] = pads[k];
}
void set_load_padding(std::uint64_t bits) {
  TWIN_HOLD_BACK(Pipe::MTE1, { set_load_padding(bits); })
  core().cube.padding = bits;
}

void cube_load_3d(const View& dst, const View& src, const Load3d& load, Site site) {
  TWIN_HOLD_BACK(Pipe::MTE1, { cube_load_3d(dst, src, load, site); })
  Instruction i(Pipe::MTE1, "LoadData (3D)", site);
  CubeRegisters& reg = core().cube;
  Image image{load, kBlockBytes / size_bytes(dst.dtype), size_bytes(dst.dtype)};
  Load3d& p = image.p;
  if (p.keep_image) {
    p.height = reg.image_height;
    p.width = reg.image_width;
    p.pad_left = reg.pads[0], p.pad_right = reg.pads[1], p.pad_top = reg.pads[2], p.pad_bottom = reg.pads[3];
  } else {
    const std::uint8_t pads[4] = {static_cast<std::uint8_t>(p.pad_left), static_cast<std::uint8_t>(p.pad_right),
                                  static_cast<std::uint8_t>(p.pad_top), static_cast<std::uint8_t>(p.pad_bottom)};
    set_load_image(p.height, p.width, pads);
  }
  if (!p.keep_padding) reg.padding = p.padding;
  check(i, dst, src, image);
  const std::uint32_t size = image.size, c0 = image.c0;
  const std::uint64_t total = std::uint64_t{p.m_extent} * p.k_extent;
  i.read(src, 0, image.bytes());
  i.write(dst, 0, total * size);
  i.move(path_into(dst.space, src.space), total * size);
  if (total == 0 || !i.issue()) return;
  States ds(i, dst), ss(i, src);
  const bool turned = dst.space == Space::L0B || p.transpose;
  // Rows of fractals: 16 wide one way, C0 the other. L0B holds (k, n) column-major: m is its k, k its n.
  const auto place = [&](std::uint64_t m, std::uint64_t k) -> std::uint64_t {
    if (dst.space == Space::L0B) return ((m / c0 * (p.k_extent / 16) + k / 16) * 16 + k % 16) * 32 + m % c0 * size;
    const std::uint64_t row = turned ? k : m, column = turned ? m : k;
    const std::uint64_t across = (turned ? p.m_extent : p.k_extent) / c0;
    return ((row / 16 * across + column / c0) * 16 + row % 16) * 32 + column % c0 * size;
  };
  const auto pixels = static_cast<std::uint64_t>(image.out_width() * image.out_height());
  std::uint8_t beyond = 0;
  for (std::uint64_t m = 0; m < p.m_extent; ++m) {
    for (std::uint64_t k = 0; k < p.k_extent; ++k) {
      const std::uint64_t to = place(m, k);
      std::uint8_t* const d = i.bytes(dst) + to;
      if (m + p.m_start >= pixels) {  // rows of the last fractal that no pixel fills
        if (!beyond)
          beyond = new_origin(format("LoadData (3D) at %s fills rows past the last pixel", to_string(site).c_str()));
        std::memset(d, 0, size);
        ds.set(to, size, beyond);
        continue;
      }
      const std::int64_t from = image.at(m + p.m_start, k + p.k_start);
      std::memcpy(d, from < 0 ? reinterpret_cast<const std::uint8_t*>(&reg.padding) : i.bytes(src) + from, size);
      ds.set(to, size, from < 0 ? kDefined : ss.of(static_cast<std::uint64_t>(from), size));
    }
  }
  std::memset(core().memory[int(dst.space)].fractal.data() + dst.addr / 32, 1, total * size / 32);
}

}  // namespace twin
